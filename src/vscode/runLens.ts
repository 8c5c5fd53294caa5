import * as vscode from 'vscode';
import { ChatReader } from '../chat/chatReader.ts';
import { planLenses } from './lensPlan.ts';

export const CHAT_FILES: vscode.DocumentSelector = { pattern: '**/*.chat.md' };

/** Run, Stop, Resume and Fork above the turns that they are about. */
export class RunLens implements vscode.CodeLensProvider, vscode.Disposable {
  readonly #isRunning: (chat: vscode.Uri) => boolean;
  readonly #changed = new vscode.EventEmitter<void>();
  /** Each knows its document's text of a moment ago, so that a keystroke costs one turn and not the whole file. */
  readonly #readers = new WeakMap<vscode.TextDocument, ChatReader>();
  readonly onDidChangeCodeLenses = this.#changed.event;

  constructor(isRunning: (chat: vscode.Uri) => boolean) {
    this.#isRunning = isRunning;
  }

  dispose(): void {
    this.#changed.dispose();
  }

  /** A run has begun or ended. */
  refresh(): void {
    this.#changed.fire();
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const text = document.getText();
    const reader = this.#readers.get(document) ?? new ChatReader();
    this.#readers.set(document, reader);
    const uri = document.uri;
    return planLenses(text, reader.read(text), this.#isRunning(uri)).map(({ offset, title, command }) => {
      const position = document.positionAt(offset);
      const argument = { uri, line: position.line };
      return new vscode.CodeLens(new vscode.Range(position, position), {
        // The editor lays a lens out as a row, in which a plain space behind an icon has no width.
        title: title.replace(') ', ')\u00a0'),
        command,
        arguments: [argument],
      });
    });
  }
}
