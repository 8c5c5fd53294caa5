import { homedir } from 'node:os';
import * as vscode from 'vscode';
import { newChat } from '../chat/edits.ts';

const MAX_NAME_TRIES = 1000;

/** A chat that can be written to; the old side of a diff, for instance, cannot. */
export function isChat({ path, scheme }: vscode.Uri): boolean {
  const writable = scheme === 'untitled' || vscode.workspace.fs.isWritableFileSystem(scheme) === true;
  return path.endsWith('.chat.md') && writable;
}

/** The chat in front of the user, if there is one. */
export function activeChat(): vscode.TextDocument | undefined {
  const active = vscode.window.activeTextEditor?.document;
  if (active && isChat(active.uri)) return active;
  return vscode.window.visibleTextEditors.find((editor) => isChat(editor.document.uri))?.document;
}

/** Creates a chat and shows it. Resolves to nothing when the user does not say where it should go. */
export async function createChat(
  folder?: vscode.Uri,
  content?: string,
): Promise<vscode.TextDocument | undefined> {
  const uri = await findPlace(folder ?? defaultFolder());
  if (!uri) return undefined;
  await vscode.workspace.fs.writeFile(uri, new TextEncoder().encode(newChat(content)));
  const document = await vscode.workspace.openTextDocument(uri);
  const editor = await vscode.window.showTextDocument(document, { preview: false });
  moveToEnd(editor);
  return document;
}

export function moveToEnd(editor: vscode.TextEditor): void {
  const end = editor.document.positionAt(editor.document.getText().length);
  editor.selection = new vscode.Selection(end, end);
  editor.revealRange(editor.selection);
}

function defaultFolder(): vscode.Uri | undefined {
  const beside = activeChat()?.uri;
  if (beside?.scheme === 'file') return vscode.Uri.joinPath(beside, '..');
  return vscode.workspace.workspaceFolders?.[0]?.uri;
}

async function findPlace(folder: vscode.Uri | undefined): Promise<vscode.Uri | undefined> {
  if (!folder) {
    const defaultUri = vscode.Uri.joinPath(vscode.Uri.file(homedir()), 'new.chat.md');
    const uri = await vscode.window.showSaveDialog({
      title: 'New Chat',
      defaultUri,
      filters: { Chat: ['chat.md'] },
    });
    return uri && !isChat(uri) ? uri.with({ path: `${uri.path}.chat.md` }) : uri;
  }
  for (let number = 1; number <= MAX_NAME_TRIES; number += 1) {
    const uri = vscode.Uri.joinPath(folder, number === 1 ? 'new.chat.md' : `new-${number}.chat.md`);
    if (!(await exists(uri))) return uri;
  }
  throw new Error(`There are too many new chats in ${folder.fsPath}. Rename some.`);
}

async function exists(uri: vscode.Uri): Promise<boolean> {
  try {
    await vscode.workspace.fs.stat(uri);
    return true;
  } catch (error) {
    if (error instanceof vscode.FileSystemError && error.code === 'FileNotFound') return false;
    throw error;
  }
}
