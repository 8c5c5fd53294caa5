import type { Stats } from 'node:fs';
import { readdir, realpath } from 'node:fs/promises';
import { basename, dirname, join, posix, relative, resolve, sep } from 'node:path';
import { isInside } from '../assets/confined.ts';
import { ASSET_FOLDER, readAssetName } from '../assets/names.ts';
import { mediaByExtension, UNKNOWN } from '../result/mediaTable.ts';
import {
  addressUri,
  CHAT_ENDING,
  chatIdProblem,
  folderNameProblem,
  isAssetFileName,
  MAX_DEPTH,
} from './address.ts';
import {
  ChatMemory,
  comesBefore,
  MAX_CHAT_BYTES,
  type Mention,
  type ReadText,
  readTitle,
  versionOf,
} from './chatAssets.ts';
import {
  type Address,
  type AssetEntry,
  CatalogRefusal,
  type ChatEntry,
  type ChatId,
  type Entry,
  type FoundEntry,
} from './types.ts';
import {
  type FoundAssets,
  type FoundChat,
  idBelow,
  type Limits,
  mapAtMost,
  type Root,
  statOf,
  walk,
} from './walk.ts';

export interface CatalogOptions {
  /** Folders with chats; chats are looked for in the folders below them too. */
  readonly folders: readonly string[];
  readonly limits?: Limits;
  /** How the text of a chat is read, from its real path. */
  readonly readChat?: ReadText;
}

export interface Snapshot {
  /** Chats first, then their assets; the latest first. */
  readonly entries: readonly Entry[];
  /** Every folder that was looked into, by its real path: where something may change. */
  readonly folders: readonly string[];
  /** What could not be looked into, or was left out because there is too much. */
  readonly notes: readonly string[];
  /** By address: what tells one state of a file from another. */
  readonly versions: ReadonlyMap<string, string>;
}

/** The chats and assets in some folders. Asks the disk each time, and reads again only what has changed. */
export class Catalog {
  readonly #places: readonly Root[];
  readonly #limits: Limits | undefined;
  readonly #memory: ChatMemory;
  #current: Promise<unknown> = Promise.resolve();
  #next: Promise<Snapshot> | undefined;

  constructor({ folders, limits, readChat }: CatalogOptions) {
    this.#places = labelled(folders);
    this.#limits = limits;
    this.#memory = new ChatMemory(readChat);
  }

  /** What comes first in ids, in the order of the folders; empty where there is but one. */
  get labels(): readonly string[] {
    return this.#places.flatMap(({ label }) => (label === '' ? [] : [label]));
  }

  /** Who asks while a look is under way gets the next one, which sees all that was there when it was asked for. */
  async snapshot(signal?: AbortSignal): Promise<Snapshot> {
    signal?.throwIfAborted();
    this.#next ??= this.#lookAfter(this.#current);
    const snapshot = await this.#next;
    signal?.throwIfAborted();
    return snapshot;
  }

  /** Rejects with a `CatalogRefusal` for what is not there and for what leads out of the folders. */
  async find(address: Address): Promise<FoundEntry> {
    const found = await this.#find(address).catch(() => undefined);
    if (!found) throw new CatalogRefusal(nothingAt(addressUri(address)));
    return found;
  }

  /** All assets whose file has this name, wherever they are. */
  async findByName(name: string, signal?: AbortSignal): Promise<readonly AssetEntry[]> {
    if (!isAssetFileName(name)) return [];
    const { entries } = await this.snapshot(signal);
    return entries.filter((entry) => entry.kind === 'asset' && entry.asset === name) as AssetEntry[];
  }

  /** The real path of the folder whose `cmdassets/` belongs to the id. Rejects as `find` does. */
  async folderOf(chat: ChatId): Promise<string> {
    const folder = await this.#folderOf(chat).catch(() => undefined);
    if (folder === undefined) throw new CatalogRefusal(nothingAt(chat));
    return folder;
  }

  /** The id of a chat's file, or of a `cmdassets/`, if it is in one of the folders. */
  async idOf(path: string): Promise<ChatId | undefined> {
    const folder = await realpath(dirname(resolve(path))).catch(() => undefined);
    if (folder === undefined) return undefined;
    const real = join(folder, basename(path));
    for (const root of await this.#roots()) {
      if (!isInside(root.path, real)) continue;
      const id = idBelow(root.label, relative(root.path, real).split(sep).join('/'));
      if (chatIdProblem(id) === undefined && this.#split(id, root)) return id;
    }
    return undefined;
  }

  async #lookAfter(before: Promise<unknown>): Promise<Snapshot> {
    await before;
    const look = this.#look();
    this.#next = undefined;
    this.#current = look.catch(() => undefined);
    return await look;
  }

  async #look(): Promise<Snapshot> {
    const roots = await this.#roots();
    const gone = this.#places.length > 0 && roots.length === 0 ? ['None of the folders is there.'] : [];
    const { chats, assets, folders, notes } = await walk(roots, this.#limits);
    const list = new Listing(this.#memory);
    await mapAtMost(READS_AT_ONCE, chats, (chat) => list.addChat(chat));
    for (const each of assets) await list.addAssets(each);
    this.#memory.keepOnly(new Set(chats.map(({ path }) => path)));
    return { ...list.result(), folders, notes: [...gone, ...notes, ...list.notes] };
  }

  /** The folders that are there now, each file in one of them only. */
  async #roots(): Promise<readonly Root[]> {
    const real = await Promise.all(
      this.#places.map(async ({ path, label }) => ({
        label,
        path: await realpath(path).catch(() => undefined),
      })),
    );
    return withoutTwice(real.flatMap(({ label, path }) => (path === undefined ? [] : [{ label, path }])));
  }

  /** The names on the way from a root to what an id names. */
  #split(id: ChatId, { label }: Root): readonly string[] | undefined {
    const names = id.split('/');
    if (label !== '' && names.shift() !== label) return undefined;
    return names.length > 0 && names.length <= MAX_DEPTH + 1 ? names : undefined;
  }

  async #pathOf(id: ChatId): Promise<string | undefined> {
    if (chatIdProblem(id) !== undefined) return undefined;
    for (const root of await this.#roots()) {
      const names = this.#split(id, root);
      if (names) return join(root.path, ...names);
    }
    return undefined;
  }

  async #find(address: Address): Promise<FoundEntry | undefined> {
    const path = await this.#pathOf(address.chat);
    if (path === undefined) return undefined;
    return address.kind === 'chat'
      ? await this.#findChat(address.chat, path)
      : await this.#findAsset(address, path);
  }

  async #findChat(id: ChatId, path: string): Promise<FoundEntry | undefined> {
    const stats = id.endsWith(CHAT_ENDING) ? await realFile(path) : undefined;
    if (!stats) return undefined;
    return { entry: chatEntry(id, stats, await readTitle(path)), path };
  }

  async #findAsset(address: Address & { kind: 'asset' }, place: string): Promise<FoundEntry | undefined> {
    const folder = await this.#folderOf(address.chat);
    if (folder === undefined || !isAssetFileName(address.asset)) return undefined;
    const path = join(folder, ASSET_FOLDER, address.asset);
    const stats = await realFile(path);
    if (!stats) return undefined;
    const mention = this.#memory.known(place)?.mentions.get(address.asset);
    return { entry: assetEntry(address.chat, address.asset, stats, mention), path };
  }

  async #folderOf(id: ChatId): Promise<string | undefined> {
    const path = await this.#pathOf(id);
    if (path === undefined) return undefined;
    const folder = dirname(path);
    if (id.endsWith(CHAT_ENDING) && !(await realFile(path))) return undefined;
    if (!(await isExactly(folder))) return undefined;
    const assets = join(folder, ASSET_FOLDER);
    const stats = await statOf(assets);
    // It may still be to be made.
    return !stats || (stats.isDirectory() && (await isExactly(assets))) ? folder : undefined;
  }
}

const READS_AT_ONCE = 8;
const STATS_AT_ONCE = 64;

/** One answer for what is not there, what is elsewhere, and what may not be read: nobody learns which. */
function nothingAt(what: string): string {
  return `There is nothing at ${what}. It may have been renamed or deleted: list_assets says what there is.`;
}

/** What was found, as it is listed. */
class Listing {
  readonly #memory: ChatMemory;
  readonly #chats: ChatEntry[] = [];
  readonly #assets: AssetEntry[] = [];
  readonly #versions = new Map<string, string>();
  /** By the id of the folder of assets, then by the asset. */
  readonly #owners = new Map<string, Map<string, { readonly chat: ChatId; readonly mention: Mention }>>();
  readonly notes: string[] = [];

  constructor(memory: ChatMemory) {
    this.#memory = memory;
  }

  async addChat(chat: FoundChat): Promise<void> {
    const stats = await statOf(chat.path);
    if (!stats?.isFile()) return;
    const title = await this.#readChat(chat, stats);
    this.#add(this.#chats, chatEntry(chat.id, stats, title), stats);
  }

  async addAssets({ id, path, names }: FoundAssets): Promise<void> {
    const owners = this.#owners.get(id);
    await mapAtMost(STATS_AT_ONCE, names, async (name) => {
      const stats = await statOf(join(path, name));
      if (!stats?.isFile()) return;
      const owner = owners?.get(name);
      this.#add(this.#assets, assetEntry(owner?.chat ?? id, name, stats, owner?.mention), stats);
    });
  }

  result(): Pick<Snapshot, 'entries' | 'versions'> {
    const entries = [...this.#chats.sort(latestFirst), ...this.#assets.sort(latestFirst)];
    return { entries, versions: this.#versions };
  }

  #add<T extends Entry>(list: T[], entry: T, stats: Stats): void {
    list.push(entry);
    this.#versions.set(entry.uri, versionOf(stats));
  }

  async #readChat(chat: FoundChat, stats: Stats): Promise<string | undefined> {
    if (stats.size > MAX_CHAT_BYTES) {
      this.notes.push(`${chat.id} is too long to be looked through: its assets are listed without it.`);
      return undefined;
    }
    try {
      const { title, mentions } = await this.#memory.read(chat, stats);
      for (const [asset, mention] of mentions) this.#own(chat.id, asset, mention);
      return title;
    } catch {
      this.notes.push(`${chat.id} cannot be read: its assets are listed without it.`);
      return undefined;
    }
  }

  #own(chat: ChatId, asset: string, mention: Mention): void {
    const place = posix.join(posix.dirname(chat), ASSET_FOLDER);
    const owners = this.#owners.get(place) ?? new Map();
    this.#owners.set(place, owners);
    const other = owners.get(asset);
    if (!other || (comesBefore(mention, other.mention) || byLength(chat, other.chat)) < 0)
      owners.set(asset, { chat, mention });
  }
}

/** Copies have longer names than what they are copies of; what was edited last must not matter. */
function byLength(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : 1);
}

function latestFirst(a: Entry, b: Entry): number {
  return b.changed.getTime() - a.changed.getTime() || (a.uri < b.uri ? -1 : 1);
}

function chatEntry(id: ChatId, stats: Stats, title: string | undefined): ChatEntry {
  return {
    kind: 'chat',
    uri: addressUri({ kind: 'chat', chat: id }),
    chat: id,
    size: stats.size,
    changed: stats.mtime,
    mimeType: 'text/markdown',
    title: title ?? posix.basename(id, CHAT_ENDING),
  };
}

function assetEntry(chat: ChatId, asset: string, stats: Stats, mention: Mention | undefined): AssetEntry {
  const { kind: assetKind, extension } = readAssetName(asset) ?? { kind: 'file', extension: '' };
  return {
    kind: 'asset',
    uri: addressUri({ kind: 'asset', chat, asset }),
    chat,
    asset,
    assetKind,
    size: stats.size,
    changed: stats.mtime,
    mimeType: (mediaByExtension(extension) ?? UNKNOWN).types[0] ?? '',
    ...(mention?.name !== undefined && { name: mention.name }),
    ...(mention?.tool !== undefined && { tool: mention.tool }),
  };
}

/** An ordinary file that really is where its path says, through no link and in no other case. */
async function realFile(path: string): Promise<Stats | undefined> {
  const stats = await statOf(path);
  return stats?.isFile() && (await isExactly(path)) ? stats : undefined;
}

async function isExactly(path: string): Promise<boolean> {
  return (await realpath(path)) === path && (await isNamedSo(path));
}

/**
 * Some disks find a file in any case of its name, and not every system says then which one it has. Where the
 * name in the other case leads to the same file, the folder is asked for its names.
 */
async function isNamedSo(path: string): Promise<boolean> {
  const name = basename(path);
  const folder = dirname(path);
  const other = await statOf(join(folder, swapCase(name)));
  const own = await statOf(path);
  if (!other || !own || other.ino !== own.ino) return true;
  return (await readdir(folder)).includes(name);
}

function swapCase(text: string): string {
  const upper = text.toUpperCase();
  return upper === text ? text.toLowerCase() : upper;
}

/** The folders without those that another one holds, each with what comes first in its ids. */
function labelled(folders: readonly string[]): readonly Root[] {
  const places = withoutTwice(folders.map((folder) => ({ path: resolve(folder), label: '' })));
  if (places.length < 2) return places;
  const taken = new Set<string>();
  return places.map(({ path }) => ({ path, label: freeLabel(labelFor(path), taken) }));
}

function withoutTwice(roots: readonly Root[]): readonly Root[] {
  return roots.filter(
    ({ path }, index) =>
      !roots.some((other, at) => (other.path === path ? at < index : isReachable(other.path, path))),
  );
}

/** Whether chats in the inner folder are found when the outer one is walked through. */
function isReachable(outer: string, inner: string): boolean {
  if (!isInside(outer, inner)) return false;
  const names = relative(outer, inner).split(sep);
  return names.length <= MAX_DEPTH && names.every((name) => folderNameProblem(name) === undefined);
}

function labelFor(path: string): string {
  const name = basename(path)
    .replace(/[\p{Cc}\p{Cs}\\:%/]/gu, '-')
    .replace(/^[.~]+|[. ]+$/g, '');
  return folderNameProblem(name) === undefined ? name : 'folder';
}

function freeLabel(label: string, taken: Set<string>): string {
  let free = label;
  for (let number = 2; taken.has(free.toLowerCase()); number += 1) free = `${label}-${number}`;
  taken.add(free.toLowerCase());
  return free;
}
