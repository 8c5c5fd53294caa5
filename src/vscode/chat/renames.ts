import * as vscode from 'vscode';
import { renamedPath } from './paths.ts';

export interface Renamed {
  readonly oldUri: vscode.Uri;
  readonly newUri: vscode.Uri;
}

/** The new address of a file that was renamed, or whose folder was. */
export function movedUri(uri: vscode.Uri, { oldUri, newUri }: Renamed): vscode.Uri | undefined {
  if (oldUri.scheme !== uri.scheme || oldUri.authority !== uri.authority) return undefined;
  const path = renamedPath(uri.path, oldUri.path, newUri.path);
  return path === undefined ? undefined : newUri.with({ path });
}

const MAX_RENAMED = 100;
/** In the order of time. Buttons and lenses may still have the old address of a chat. */
const renames: Renamed[] = [];

export function followRenames(): vscode.Disposable {
  return vscode.workspace.onDidRenameFiles(({ files }) => {
    renames.push(...files);
    renames.splice(0, renames.length - MAX_RENAMED);
  });
}

/** The present address of a chat. */
export function latestUri(uri: vscode.Uri): vscode.Uri {
  return renames.reduce((now, renamed) => movedUri(now, renamed) ?? now, uri);
}

/** Called for a new file, which may have the old address of another one. */
export function forgetRenames(uri: vscode.Uri): void {
  const kept = renames.filter(({ oldUri }) => oldUri.toString() !== uri.toString());
  renames.splice(0, renames.length, ...kept);
}
