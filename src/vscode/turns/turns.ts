import type * as vscode from 'vscode';

/** Turns in the editor: colours, folds, outline. */
export class Turns implements vscode.Disposable {
  dispose(): void {}
}
