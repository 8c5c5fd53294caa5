import * as vscode from 'vscode';

/** What is in a folder. One that is not there, or cannot be read, holds nothing. */
export async function readFolder(folder: vscode.Uri): Promise<readonly [string, vscode.FileType][]> {
  return vscode.workspace.fs.readDirectory(folder).then(undefined, () => []);
}
