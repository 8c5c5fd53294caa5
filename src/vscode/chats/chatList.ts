import { open } from 'node:fs/promises';
import * as vscode from 'vscode';
import { mapConcurrently } from '../../base/async.ts';
import { chatTitle } from '../../chat/outline/title.ts';
import { chatName, openDocument, readFolder, readText } from '../chat/chatFiles.ts';

export interface FoundChat {
  readonly uri: vscode.Uri;
  readonly changedAt: number;
  readonly bytes: number;
}

const PATTERN = '**/*.chat.md';
const EXCLUDED = '**/{node_modules,.git}/**';
const STATS_AT_ONCE = 32;
/** For file systems without search. */
const MAX_FOLDERS = 2_000;
const MAX_DEPTH = 12;
/** Groups the events of a program that writes many files. */
const SETTLE_MS = 150;

/** All chats of the workspace, watched from the first request on. */
export class ChatList implements vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.#changed.event;
  #subscriptions: vscode.Disposable | undefined;
  #found: Promise<Map<string, FoundChat>> | undefined;
  #stale = new Map<string, vscode.Uri>();
  #settle: NodeJS.Timeout | undefined;

  dispose(): void {
    clearTimeout(this.#settle);
    this.#subscriptions?.dispose();
    this.#changed.dispose();
  }

  /** The latest first. */
  async all(): Promise<readonly FoundChat[]> {
    this.#subscriptions ??= this.#watch();
    this.#found ??= findChats().catch((error: unknown) => {
      this.#found = undefined;
      throw error;
    });
    return [...(await this.#found).values()].sort(
      (a, b) => b.changedAt - a.changedAt || (a.uri.path < b.uri.path ? -1 : 1),
    );
  }

  refresh(): void {
    this.#found = undefined;
    this.#changed.fire();
  }

  #watch(): vscode.Disposable {
    const watcher = vscode.workspace.createFileSystemWatcher(PATTERN);
    const touch = (uri: vscode.Uri) => this.#touch(uri);
    return vscode.Disposable.from(
      watcher,
      ...[watcher.onDidCreate, watcher.onDidChange, watcher.onDidDelete].map((event) => event(touch)),
      // Not every file system reports its changes, but the editor knows of its own.
      vscode.workspace.onDidSaveTextDocument(({ uri }) => touch(uri)),
      vscode.workspace.onDidRenameFiles(({ files }) =>
        this.#moved(files.flatMap(({ oldUri, newUri }) => [oldUri, newUri])),
      ),
      vscode.workspace.onDidDeleteFiles(({ files }) => this.#moved(files)),
      vscode.workspace.onDidChangeWorkspaceFolders(() => this.refresh()),
    );
  }

  /** Other files may be folders that contain chats. */
  #moved(uris: readonly vscode.Uri[]): void {
    if (uris.every(({ path }) => path.endsWith('.chat.md'))) for (const uri of uris) this.#touch(uri);
    else this.refresh();
  }

  #touch(uri: vscode.Uri): void {
    if (!uri.path.endsWith('.chat.md') || !vscode.workspace.getWorkspaceFolder(uri)) return;
    this.#stale.set(uri.toString(), uri);
    this.#settle ??= setTimeout(() => void this.#update(), SETTLE_MS);
  }

  async #update(): Promise<void> {
    this.#settle = undefined;
    const stale = this.#stale;
    this.#stale = new Map();
    // A failed search is reported to its caller, and there is nothing to update.
    const found = await this.#found?.catch(() => undefined);
    for (const [key, uri] of stale) {
      const chat = await statChat(uri);
      if (chat) found?.set(key, chat);
      else found?.delete(key);
    }
    this.#changed.fire();
  }
}

async function findChats(): Promise<Map<string, FoundChat>> {
  const uris = new Map<string, vscode.Uri>();
  for (const uri of await vscode.workspace.findFiles(PATTERN, EXCLUDED)) uris.set(uri.toString(), uri);
  for (const { uri: folder } of vscode.workspace.workspaceFolders ?? []) {
    if (folder.scheme === 'file') continue;
    for (const uri of await walk(folder)) uris.set(uri.toString(), uri);
  }
  const chats = await mapConcurrently(STATS_AT_ONCE, [...uris.values()], statChat);
  return new Map(chats.flatMap((chat) => (chat ? [[chat.uri.toString(), chat] as const] : [])));
}

async function statChat(uri: vscode.Uri): Promise<FoundChat | undefined> {
  try {
    const { mtime, size, type } = await vscode.workspace.fs.stat(uri);
    return type & vscode.FileType.File ? { uri, changedAt: mtime, bytes: size } : undefined;
  } catch {
    // Deleted in the meantime.
    return undefined;
  }
}

/** Few file systems of extensions support search. */
async function walk(folder: vscode.Uri): Promise<readonly vscode.Uri[]> {
  const chats: vscode.Uri[] = [];
  let folders = [folder];
  let left = MAX_FOLDERS;
  for (let depth = 0; depth < MAX_DEPTH && folders.length > 0; depth += 1) {
    const deeper: vscode.Uri[] = [];
    for (const each of folders.slice(0, left)) {
      const entries = await readFolder(each);
      for (const [name, type] of entries) {
        const uri = vscode.Uri.joinPath(each, name);
        if (type === vscode.FileType.File && name.endsWith('.chat.md')) chats.push(uri);
        if (type === vscode.FileType.Directory && !/^(?:node_modules|\.git)$/.test(name)) deeper.push(uri);
      }
    }
    left -= folders.length;
    folders = left > 0 ? deeper : [];
  }
  return chats;
}

/** Enough for the front matter and the first question. */
const HEAD_BYTES = 8_192;
const MAX_KEPT_CHARS = 30_000_000;

/** Reads each version of a chat once. */
export class ChatTexts {
  readonly #titles = new Map<string, { readonly stamp: string; readonly title: Promise<string> }>();
  readonly #texts = new Map<string, { readonly stamp: string; readonly text: string }>();
  #keptChars = 0;

  /** From its front matter, its first words or its file name. */
  title(chat: FoundChat): Promise<string> {
    const key = chat.uri.toString();
    const known = this.#titles.get(key);
    const stamp = stampOf(chat);
    if (known?.stamp === stamp) return known.title;
    const title = readHead(chat)
      .then(chatTitle)
      .catch(() => undefined)
      .then((found) => found ?? chatName(chat.uri));
    this.#titles.set(key, { stamp, title });
    return title;
  }

  /** The text in the editor if the chat is open. */
  async text(chat: FoundChat): Promise<string> {
    const key = chat.uri.toString();
    const open = openDocument(chat.uri);
    if (open) return open.getText();
    const known = this.#texts.get(key);
    if (known?.stamp === stampOf(chat)) return known.text;
    const text = await readText(chat.uri);
    this.#drop(key);
    this.#texts.set(key, { stamp: stampOf(chat), text });
    this.#keptChars += text.length;
    this.#evict();
    return text;
  }

  #evict(): void {
    for (const oldest of this.#texts.keys()) {
      if (this.#keptChars <= MAX_KEPT_CHARS) break;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    this.#keptChars -= this.#texts.get(key)?.text.length ?? 0;
    this.#texts.delete(key);
  }
}

function stampOf({ changedAt, bytes }: FoundChat): string {
  return `${changedAt} ${bytes}`;
}

/** Virtual file systems can only read whole files. */
async function readHead({ uri }: FoundChat): Promise<string> {
  const bytes = uri.scheme === 'file' ? await readStart(uri.fsPath) : await vscode.workspace.fs.readFile(uri);
  return new TextDecoder().decode(bytes.subarray(0, HEAD_BYTES)).replace(/\uFFFD$/, '');
}

async function readStart(path: string): Promise<Uint8Array> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(new Uint8Array(HEAD_BYTES), 0, HEAD_BYTES, 0);
  return buffer.subarray(0, bytesRead);
}
