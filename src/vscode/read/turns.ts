import * as vscode from 'vscode';
import { TurnShapes } from '../../chat/outline/turnShape.ts';
import type { Runs } from '../run/runs.ts';
import { TurnColors } from './colors.ts';
import { TurnFolds } from './folds.ts';
import { TurnSymbols } from './symbols.ts';

const CHATS: vscode.DocumentSelector = { language: 'markdown', pattern: '**/*.chat.md' };

/** Colors, folds and outline of turns. */
export class Turns implements vscode.Disposable {
  readonly #disposables: vscode.Disposable;

  constructor(runs: Runs) {
    const shapes = new TurnShapes();
    const folds = new TurnFolds(shapes, runs);
    this.#disposables = vscode.Disposable.from(
      new TurnColors(),
      folds,
      vscode.languages.registerFoldingRangeProvider(CHATS, folds),
      vscode.languages.registerDocumentSymbolProvider(CHATS, new TurnSymbols(shapes), {
        label: vscode.l10n.t('Chat turns'),
      }),
    );
  }

  dispose(): void {
    this.#disposables.dispose();
  }
}
