import * as vscode from 'vscode';
import { ASSET_FOLDER } from '../../base/assetNames.ts';
import { mapConcurrently } from '../../base/async.ts';
import { groupBy } from '../../base/collections.ts';
import { parseSaved, SAVED_FILE, type SavedAssets } from '../../catalog/savedAssets.ts';
import { parseChat } from '../../chat/format/parse.ts';
import { type AssetUse, findAssetUses, resolvePath } from '../../chat/outline/references.ts';
import { assetTitle } from '../chat/assetTitle.ts';
import { chatOf, isChat, openDocument, readFolder, readText } from '../chat/chatFiles.ts';

export interface ListedAsset {
  readonly uri: vscode.Uri;
  readonly name: string;
  /** What users know it by. */
  readonly title: string;
  readonly folder: vscode.Uri;
  readonly bytes: number;
  readonly time: number;
  /** The chat of the scope comes first. */
  readonly uses: readonly ChatUse[];
}

interface ChatUse extends AssetUse {
  readonly chat: vscode.Uri;
}

type AssetFile = Omit<ListedAsset, 'uses' | 'title'>;

interface ReadChat {
  readonly uri: vscode.Uri;
  /** The version of the open document, or the time of the file. */
  readonly state: string;
  /** By the path of the asset. */
  readonly uses: ReadonlyMap<string, readonly ChatUse[]>;
}

const STATS_AT_ONCE = 50;

/** The assets of a scope and the chats that link to them. Reads again only what has changed. */
export class AssetList {
  readonly #scope: GalleryScope;
  readonly #globalStorage: vscode.Uri;
  #folders: readonly vscode.Uri[] = [];
  #files = new Map<string, AssetFile>();
  #chats = new Map<string, ReadChat>();
  /** By the path of the folder: what clients said about the files that they saved. */
  #saved = new Map<string, SavedAssets>();
  /** Files that were written since the last scan, perhaps during it. */
  #stale = new Set<string>();

  constructor(scope: GalleryScope, globalStorage: vscode.Uri) {
    this.#scope = scope;
    this.#globalStorage = globalStorage;
  }

  /** The folders whose `cmdassets/` were read last. */
  get folders(): readonly vscode.Uri[] {
    return this.#folders;
  }

  /** Must be called for files that were written. */
  changed(uri: vscode.Uri): void {
    this.#stale.add(uri.toString());
  }

  async readFiles(): Promise<void> {
    const { chats, folders } = await findPlaces(this.#scope, this.#globalStorage);
    this.#folders = folders;
    for (const key of this.#stale) this.#files.delete(key);
    this.#stale.clear();
    const files = await Promise.all(folders.map((folder) => this.#readAssets(folder)));
    this.#files = new Map(files.flat().map((file) => [file.uri.toString(), file]));
    const read = new Map<string, ReadChat>();
    for (const uri of chats) {
      const chat = readOpen(uri, this.#chats.get(uri.toString())) ?? (await this.#readSaved(uri));
      if (chat) read.set(uri.toString(), chat);
    }
    this.#chats = read;
  }

  readOpenChats(): void {
    for (const [key, known] of this.#chats) {
      const chat = readOpen(known.uri, known);
      if (chat) this.#chats.set(key, chat);
    }
  }

  /** For an empty key, also the assets that only other chats link to. */
  list(own = scopeKey(this.#scope)): ReadonlyMap<string, ListedAsset> {
    const chats = [...this.#chats.values()];
    const listed = new Map<string, ListedAsset>();
    for (const [id, file] of this.#files) {
      const uses = chats
        .flatMap((chat) => chat.uses.get(file.uri.path) ?? [])
        .sort((a, b) => rank(a, own) - rank(b, own));
      // Chats share the folder: skip assets that only other chats link to.
      if (own === '' || uses.length === 0 || uses[0]?.chat.toString() === own)
        listed.set(id, { ...file, uses, title: this.#titleOf(file, uses) });
    }
    return listed;
  }

  #titleOf({ name, folder }: AssetFile, uses: readonly ChatUse[]): string {
    return assetTitle(name, uses, this.#saved.get(folder.toString())?.get(name)?.name);
  }

  async #readAssets(folder: vscode.Uri): Promise<readonly AssetFile[]> {
    const place = assetsIn(folder);
    const names = await namesIn(place);
    if (names.includes(SAVED_FILE)) this.#saved.set(folder.toString(), await readSaved(place));
    const assets = names.filter((name) => name !== SAVED_FILE);
    const files = await mapConcurrently(STATS_AT_ONCE, assets, async (name) => {
      const uri = place.with({ path: `${place.path}/${name}` });
      const known = this.#files.get(uri.toString());
      if (known) return [known];
      const found = await vscode.workspace.fs.stat(uri).then(undefined, () => undefined);
      return found ? [{ uri, name, folder, bytes: found.size, time: found.mtime }] : [];
    });
    return files.flat();
  }

  async #readSaved(uri: vscode.Uri): Promise<ReadChat | undefined> {
    try {
      const { mtime, size } = await vscode.workspace.fs.stat(uri);
      const state = `saved ${mtime} ${size}`;
      const known = this.#chats.get(uri.toString());
      if (known?.state === state) return known;
      const text = await readText(uri);
      return { uri, state, uses: usesOf(uri, findAssetUses(text, parseChat(text))) };
    } catch {
      // Deleted in the meantime, or unreadable.
      return undefined;
    }
  }
}

/** One asset, with its uses in the chats beside its folder. */
export async function findListed(
  asset: vscode.Uri,
  globalStorage: vscode.Uri,
): Promise<ListedAsset | undefined> {
  const list = new AssetList({ chat: vscode.Uri.joinPath(asset, '..', '..', '.chat.md') }, globalStorage);
  await list.readFiles();
  return list.list('').get(asset.toString());
}

/** The files in a `cmdassets/`. A symbolic link has none: it leads to files outside the workspace. */
export async function namesIn(place: vscode.Uri): Promise<readonly string[]> {
  const found = await vscode.workspace.fs.stat(place).then(undefined, () => undefined);
  if (found?.type !== vscode.FileType.Directory) return [];
  return (await readFolder(place)).flatMap(([name, type]) =>
    type === vscode.FileType.File && !name.startsWith('.') ? [name] : [],
  );
}

/** An unreadable file counts as empty. */
async function readSaved(place: vscode.Uri): Promise<SavedAssets> {
  const file = vscode.Uri.joinPath(place, SAVED_FILE);
  const bytes = await vscode.workspace.fs.readFile(file).then(undefined, () => new Uint8Array());
  return parseSaved(new TextDecoder().decode(bytes.subarray(-MAX_SAVED_BYTES)));
}

const MAX_SAVED_BYTES = 4_000_000;

function readOpen(uri: vscode.Uri, known: ReadChat | undefined): ReadChat | undefined {
  const document = openDocument(uri);
  if (!document) return undefined;
  const state = `open ${document.version}`;
  if (known?.state === state) return known;
  return { uri, state, uses: usesOf(uri, findAssetUses(document.getText(), chatOf(document))) };
}

function usesOf(chat: vscode.Uri, uses: readonly AssetUse[]): ReadonlyMap<string, readonly ChatUse[]> {
  const folder = vscode.Uri.joinPath(chat, '..').path;
  return groupBy(
    uses.map((use) => ({ ...use, chat })),
    ({ path }) => resolvePath(folder, path),
  );
}

function rank({ chat, tool }: ChatUse, own: string): number {
  return (chat.toString() === own ? 0 : 2) + (tool === undefined ? 1 : 0);
}

/** Without a chat, the assets of the whole workspace. */
export interface GalleryScope {
  readonly chat?: vscode.Uri;
}

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
async function findPlaces(
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
