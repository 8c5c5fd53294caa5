import * as vscode from 'vscode';
import { TurnShapes } from '../../chat/turnShape.ts';
import { TurnColors } from './turnColors.ts';
import { TurnFolds } from './turnFolds.ts';
import { TurnSymbols } from './turnSymbols.ts';

const CHATS: vscode.DocumentSelector = { language: 'markdown', pattern: '**/*.chat.md' };

/** Turns in the editor: colours, folds, outline. */
export class Turns implements vscode.Disposable {
  readonly #disposables: vscode.Disposable;

  constructor() {
    const shapes = new TurnShapes();
    const folds = new TurnFolds(shapes);
    this.#disposables = vscode.Disposable.from(
      new TurnColors(),
      folds,
      vscode.languages.registerFoldingRangeProvider(CHATS, folds),
      vscode.languages.registerDocumentSymbolProvider(CHATS, new TurnSymbols(shapes), {
        label: vscode.l10n.t('Chat turns'),
      }),
    );
    folds.begin();
  }

  dispose(): void {
    this.#disposables.dispose();
  }
}
