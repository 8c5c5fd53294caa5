import * as vscode from 'vscode';
import { ASSET_FOLDER } from '../../base/names.ts';
import { isChat, readFolder } from '../chat/chatFiles.ts';

/** Without a chat, the assets of the whole workspace. */
export interface GalleryScope {
  readonly chat?: vscode.Uri;
}

/** There is one panel per scope. */
export function scopeKey({ chat }: GalleryScope): string {
  return chat?.toString() ?? '';
}

/** Reads the state of a page. Anything invalid means the workspace. */
export function readScope(state: unknown): GalleryScope {
  const address = typeof state === 'object' && state !== null && 'chat' in state ? state.chat : undefined;
  if (typeof address !== 'string') return {};
  try {
    const chat = vscode.Uri.parse(address, true);
    return isChat(chat) ? { chat } : {};
  } catch {
    return {};
  }
}

export function assetsIn(folder: vscode.Uri): vscode.Uri {
  return vscode.Uri.joinPath(folder, ASSET_FOLDER);
}

const MAX_CHATS = 5_000;

/** The chats that may link to assets, and their folders. */
export async function findPlaces(
  { chat }: GalleryScope,
  globalStorage: vscode.Uri,
): Promise<{ readonly chats: readonly vscode.Uri[]; readonly folders: readonly vscode.Uri[] }> {
  const folderOf = (uri: vscode.Uri) =>
    uri.scheme === 'untitled' ? globalStorage : vscode.Uri.joinPath(uri, '..');
  if (!chat) {
    const chats = await vscode.workspace.findFiles('**/*.chat.md', '**/node_modules/**', MAX_CHATS);
    return { chats, folders: unique(chats.map(folderOf)) };
  }
  const folder = folderOf(chat);
  const beside = await readFolder(folder);
  const chats = beside
    .filter(([name, type]) => name.endsWith('.chat.md') && type & vscode.FileType.File)
    .map(([name]) => vscode.Uri.joinPath(folder, name));
  return { chats: unique([chat, ...chats]), folders: [folder] };
}

function unique(uris: readonly vscode.Uri[]): readonly vscode.Uri[] {
  return [...new Map(uris.map((uri) => [uri.toString(), uri])).values()];
}

export interface ActionDeps {
  readonly scope: GalleryScope;
  /** For temporary files. */
  readonly storage: vscode.Uri;
}
