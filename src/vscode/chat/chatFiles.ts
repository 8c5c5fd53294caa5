import { homedir } from 'node:os';
import { dirname } from 'node:path';
import * as vscode from 'vscode';
import { newChat } from '../../chat/edits/append.ts';
import type { WrittenCall } from '../../chat/format/callInfo.ts';
import type { Chat } from '../../chat/format/chat.ts';
import { ChatReader } from '../../chat/format/parse.ts';
import { chatStem } from '../../chat/outline/title.ts';
import type { RunOutcome } from '../../ports/document.ts';
import { type Fields, readFields, readUri } from '../ui/commandArguments.ts';
import { failed, NO_CHAT, RUNNING, tell, UNTRUSTED } from '../ui/outcomes.ts';
import { forgetRenames, latestUri } from './renames.ts';
import { textTabs } from './tabs.ts';

const MAX_NAME_TRIES = 1000;

/** A chat that can be written to, unlike the old side of a diff. */
export function isChat({ path, scheme }: vscode.Uri): boolean {
  const writable = scheme === 'untitled' || vscode.workspace.fs.isWritableFileSystem(scheme) === true;
  return path.endsWith('.chat.md') && writable;
}

export function chatName({ path }: Pick<vscode.Uri, 'path'>): string {
  return nameOf({ path }).replace(/\.chat\.md$/, '');
}

function nameOf({ path }: Pick<vscode.Uri, 'path'>): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** The chat in the active editor or preview, or else in any visible editor. */
export function activeChat(): vscode.TextDocument | undefined {
  const active = vscode.window.activeTextEditor?.document;
  if (active && isChat(active.uri)) return active;
  const visible = vscode.window.visibleTextEditors.find((editor) => isChat(editor.document.uri));
  return previewedChat() ?? visible?.document;
}

/** The tab of a preview has only the name of its file. */
function previewedChat(): vscode.TextDocument | undefined {
  const { input, label = '' } = vscode.window.tabGroups.activeTabGroup.activeTab ?? {};
  if (!(input instanceof vscode.TabInputWebview) || !input.viewType.endsWith('markdown.preview'))
    return undefined;
  const named = vscode.workspace.textDocuments.filter(
    ({ uri }) => isChat(uri) && label.endsWith(` ${nameOf(uri)}`),
  );
  return named.length === 1 ? named[0] : undefined;
}

export async function findChat(fields: Fields, name = 'uri'): Promise<vscode.TextDocument | undefined> {
  const uri = readUri(fields, name);
  if (!uri) return activeChat();
  if (!isChat(uri))
    throw new TypeError(vscode.l10n.t('{0} is not a chat: its name must end in .chat.md.', uri.path));
  return vscode.workspace.openTextDocument(latestUri(uri));
}

/** Runs a command on the chat that its argument names, or the active one. Tells the user if that is not possible. */
export async function withChat<T>(
  argument: unknown,
  work: (document: vscode.TextDocument, fields: Fields) => Promise<T>,
  requires: {
    readonly trust?: boolean;
    /** The chat must not be running here. */
    readonly idleIn?: { isRunning(chat: vscode.Uri): boolean };
  } = {},
): Promise<T | RunOutcome> {
  const fields = readFields(argument);
  const document = await findChat(fields);
  if (!document) return tell(failed(NO_CHAT));
  if (requires.trust && !vscode.workspace.isTrusted) return tell(failed(UNTRUSTED));
  if (requires.idleIn?.isRunning(document.uri)) return tell(failed(RUNNING), { uri: document.uri });
  return work(document, fields);
}

export function openDocument(uri: vscode.Uri): vscode.TextDocument | undefined {
  const key = uri.toString();
  return vscode.workspace.textDocuments.find((each) => each.uri.toString() === key);
}

/** The current text of a chat, also after a rename. An untitled chat that was closed no longer exists. */
export async function readChat(chat: string): Promise<{ readonly uri: vscode.Uri; readonly text: string }> {
  const uri = latestUri(vscode.Uri.parse(chat, true));
  const open = openDocument(uri);
  if (!open && uri.scheme === 'untitled') throw new Error('The chat was closed.');
  const document = open ?? (await vscode.workspace.openTextDocument(uri));
  return { uri, text: document.getText() };
}

interface NewChat {
  readonly folder: vscode.Uri;
  readonly stem: string;
  readonly text: string;
}

/** Creates and shows a chat. Resolves to undefined if the user cancels. */
export async function createChat(
  folder?: vscode.Uri,
  content?: string,
): Promise<vscode.TextDocument | undefined> {
  return placeChat({ stem: 'new', text: newChat(content) }, folder);
}

/** Writes a chat under a free name to the default folder, or asks for a place if there is none. */
export async function placeChat(
  { stem, text }: Omit<NewChat, 'folder'>,
  folder = defaultFolder(),
): Promise<vscode.TextDocument | undefined> {
  if (folder) return writeNewChat({ folder, stem, text });
  const uri = await askForPlace(stem);
  if (!uri) return undefined;
  const typed = chatStem(nameOf(uri));
  if (nameOf(uri) === `${typed}.chat.md`) return writeChat(uri, text);
  // The dialog did not confirm this name with the ending, so an existing file must not be overwritten.
  return writeNewChat({ folder: vscode.Uri.joinPath(uri, '..'), stem: typed, text });
}

/** Deletes a chat that was created for a command, if nothing was written to it. */
export async function discardEmptyChat(document: vscode.TextDocument): Promise<void> {
  if (document.isClosed || document.isDirty || document.getText() !== newChat()) return;
  await closeTabs(document.uri);
  await vscode.workspace.fs.delete(document.uri);
}

/** Tabs with unsaved changes stay open. */
export async function closeTabs(uri: vscode.Uri): Promise<void> {
  await vscode.window.tabGroups.close(
    textTabs(uri).filter(({ isDirty }) => !isDirty),
    true,
  );
}

export async function writeNewChat({ folder, stem, text }: NewChat): Promise<vscode.TextDocument> {
  return writeChat(await freeChatUri(folder, stem), text);
}

/** `stem.chat.md`, or with a number if there is one already. */
export async function freeChatUri(folder: vscode.Uri, stem: string): Promise<vscode.Uri> {
  for (let number = 1; number <= MAX_NAME_TRIES; number += 1) {
    const name = number === 1 ? `${stem}.chat.md` : `${stem}-${number}.chat.md`;
    const uri = vscode.Uri.joinPath(folder, name);
    if (!(await exists(uri))) return uri;
  }
  throw new Error(
    vscode.l10n.t('There are too many chats called {0} in {1}. Rename some.', stem, folder.fsPath),
  );
}

async function writeChat(uri: vscode.Uri, text: string): Promise<vscode.TextDocument> {
  await vscode.workspace.fs.writeFile(uri, new TextEncoder().encode(text));
  forgetRenames(uri);
  const document = await vscode.workspace.openTextDocument(uri);
  // Moving the cursor later would disturb a user who is already typing.
  await vscode.window.showTextDocument(document, { preview: false, selection: endOf(document) });
  return document;
}

/** Shows a document with the cursor at an offset. */
export async function showAt(
  document: vscode.TextDocument,
  offset: number,
  options: vscode.TextDocumentShowOptions = {},
): Promise<void> {
  const selection = rangeOf(document, { start: offset, end: offset });
  const editor = await vscode.window.showTextDocument(document, { ...options, selection });
  editor.revealRange(selection, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
}

export function moveToEnd(editor: vscode.TextEditor): void {
  editor.selection = endOf(editor.document);
  editor.revealRange(editor.selection);
}

function endOf(document: vscode.TextDocument): vscode.Selection {
  const end = document.positionAt(document.getText().length);
  return new vscode.Selection(end, end);
}

/** Puts the cursor at the end of the first line of a call's arguments. */
export async function selectArguments(
  document: vscode.TextDocument,
  call: Pick<WrittenCall, 'infoEnd'>,
): Promise<void> {
  const editor = await vscode.window.showTextDocument(document);
  const start = document.positionAt(call.infoEnd).line + 1;
  const range = document.validateRange(new vscode.Range(start, 0, start, Number.MAX_SAFE_INTEGER));
  editor.selection = new vscode.Selection(range.end, range.end);
  editor.revealRange(range, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
}

function defaultFolder(): vscode.Uri | undefined {
  const beside = activeChat()?.uri;
  if (beside?.scheme === 'file') return vscode.Uri.joinPath(beside, '..');
  return vscode.workspace.workspaceFolders?.[0]?.uri;
}

async function askForPlace(stem: string): Promise<vscode.Uri | undefined> {
  return vscode.window.showSaveDialog({
    title: vscode.l10n.t('New Chat'),
    defaultUri: vscode.Uri.joinPath(vscode.Uri.file(homedir()), `${stem}.chat.md`),
    filters: { [vscode.l10n.t('Chat')]: ['chat.md'] },
  });
}

export async function exists(uri: vscode.Uri): Promise<boolean> {
  try {
    await vscode.workspace.fs.stat(uri);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

/** Whether a file could not be found, as opposed to read. */
export function isMissing(error: unknown): boolean {
  return error instanceof vscode.FileSystemError && error.code === 'FileNotFound';
}

/** The text on the disk, whatever an editor shows. */
export async function readText(file: vscode.Uri): Promise<string> {
  return new TextDecoder().decode(await vscode.workspace.fs.readFile(file));
}

/** The entries of a folder; none if it is missing or cannot be read. */
export async function readFolder(folder: vscode.Uri): Promise<readonly [string, vscode.FileType][]> {
  return vscode.workspace.fs.readDirectory(folder).then(undefined, () => []);
}

/** The parsed chat of each document, so that a keystroke parses one turn once for all features. */
const known = new WeakMap<vscode.TextDocument, { reader: ChatReader; version: number; chat: Chat }>();

export function chatOf(document: vscode.TextDocument): Chat {
  const last = known.get(document);
  if (last?.version === document.version) return last.chat;
  const reader = last?.reader ?? new ChatReader();
  const chat = reader.read(document.getText());
  known.set(document, { reader, version: document.version, chat });
  return chat;
}

export function rangeOf(
  document: vscode.TextDocument,
  { start, end }: { readonly start: number; readonly end: number },
): vscode.Range {
  return new vscode.Range(document.positionAt(start), document.positionAt(end));
}

export interface ChatPlaces {
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

export const CHAT_FILES: vscode.DocumentSelector = { pattern: '**/*.chat.md' };
