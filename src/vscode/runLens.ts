import * as vscode from 'vscode';
import { planLenses } from './lensPlan.ts';
import { chatOf } from './openChats.ts';

export const CHAT_FILES: vscode.DocumentSelector = { pattern: '**/*.chat.md' };

/** Run, Stop, Resume and Fork above the turns that they are about. */
export class RunLens implements vscode.CodeLensProvider, vscode.Disposable {
  readonly #isRunning: (chat: vscode.Uri) => boolean;
  readonly #changed = new vscode.EventEmitter<void>();
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
    const uri = document.uri;
    return planLenses(text, chatOf(document), this.#isRunning(uri)).map(({ offset, title, command }) => {
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
