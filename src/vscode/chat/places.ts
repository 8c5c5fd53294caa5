import { dirname } from 'node:path';
import * as vscode from 'vscode';

export interface ChatPlaces {
  /** Relative links start here. */
  readonly folder: string;
  /** The folder that contains `cmdassets/`. */
  readonly assetsIn: string;
  /** Links must not lead out of these: the workspace folders, or without one the chat's folder. */
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
