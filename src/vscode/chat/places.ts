import { dirname } from 'node:path';
import * as vscode from 'vscode';

/** Where the files of a chat are, on a disk. */
export interface ChatPlaces {
  /** From which its links count. */
  readonly folder: string;
  /** The folder that holds its `cmdassets/`. */
  readonly assetsIn: string;
  /** Out of which nothing leads: the folders of the workspace; without one, the folder of the chat. */
  readonly roots: readonly string[];
}

export function placesOf(chat: vscode.Uri, globalStorage: vscode.Uri): ChatPlaces {
  const saved = chat.scheme === 'file';
  const open = (vscode.workspace.workspaceFolders ?? []).flatMap((each) =>
    each.uri.scheme === 'file' ? [each.uri.fsPath] : [],
  );
  const storage = globalStorage.fsPath;
  const folder = saved ? dirname(chat.fsPath) : (open[0] ?? storage);
  const roots = open.length > 0 || !saved ? open : [folder];
  return { folder, assetsIn: saved ? folder : storage, roots };
}
