import type { Dirent, Stats } from 'node:fs';
import { readdir, realpath } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { statOf, toReadError } from '../assets/confined.ts';
import { ASSET_FOLDER, readAssetName } from '../base/assetNames.ts';
import { mapConcurrently } from '../base/async.ts';
import { defined } from '../base/json.ts';
import { describeSize } from '../base/size.ts';
import { mediaByExtension, UNKNOWN } from '../media/table.ts';
import {
  type AssetEntry,
  addressUri,
  CHAT_ENDING,
  type ChatEntry,
  type ChatId,
  chatIdProblem,
  type Entry,
  folderNameProblem,
  isAssetFileName,
  MAX_DEPTH,
} from './entry.ts';
import { versionOf } from './fileMemory.ts';
import { type ChatMemory, comesBefore, MAX_CHAT_BYTES, type Mention, type ReadChat } from './mentions.ts';
import { SAVED_FILE, type SavedAsset, type SavedAssets } from './savedAssets.ts';

/** A real path, and the first part of the ids below it. */
export interface Root {
  readonly path: string;
  /** Empty when there is only one root. */
  readonly label: string;
}

export interface Limits {
  readonly folders: number;
  readonly chats: number;
  readonly assets: number;
}

/** Far beyond real use, and small enough to list and keep in memory. */
export const LIMITS: Limits = { folders: 2_000, chats: 5_000, assets: 20_000 };

export interface Scan {
  /** Chats first, then their assets; the latest first. */
  readonly entries: readonly Entry[];
  /** The version of each file, by address. */
  readonly versions: ReadonlyMap<string, string>;
  /** The real paths of all folders that were searched, for a watcher. */
  readonly folders: readonly string[];
  /** Folders that could not be read, and entries beyond the limits. */
  readonly notes: readonly string[];
}

const READS_AT_ONCE = 8;
const STATS_AT_ONCE = 64;

/** Lists chats and assets, and assigns each asset to a chat. Follows no symbolic links. */
export async function scan(
  roots: readonly Root[],
  memory: ChatMemory,
  limits: Limits = LIMITS,
): Promise<Scan> {
  const walk = new Walk(limits);
  await walk.visit(roots);
  const chats: ChatEntry[] = [];
  const assets: AssetEntry[] = [];
  const versions = new Map<string, string>();
  const add = <T extends Entry>(list: T[], entry: T, stats: Stats) => {
    list.push(entry);
    versions.set(entry.uri, versionOf(stats));
  };
  const notes: string[] = [];
  const owners: Owners = new Map();
  await eachFile(READS_AT_ONCE, walk.chats, async ({ id, path }, stats) => {
    const { title, mentions, problem } = await readChat(path, stats, memory);
    if (problem) notes.push(`${id} ${problem}, so its assets are listed without names and tools.`);
    for (const [asset, mention] of mentions) claim(owners, id, asset, mention);
    add(chats, chatEntry(id, stats, title), stats);
  });
  const saved = await readSaved(walk, memory);
  const chatIds = new Set(chats.map(({ chat }) => chat));
  await eachFile(STATS_AT_ONCE, walk.assets, async ({ id, asset }, stats) => {
    const owner = owners.get(id)?.get(asset);
    const record = saved.get(id)?.get(asset);
    const savedFor = record?.chat === undefined ? undefined : posix.join(posix.dirname(id), record.chat);
    const isThere = savedFor !== undefined && chatIds.has(savedFor);
    const chat = (isThere && !isOfTool(owner?.mention) ? savedFor : owner?.chat) ?? id;
    add(assets, assetEntry({ chat, asset, mention: owner?.mention, saved: record }, stats), stats);
  });
  memory.keepOnly(new Set(walk.chats.map(({ path }) => path)));
  return {
    entries: [...chats.sort(latestFirst), ...assets.sort(latestFirst)],
    versions,
    folders: walk.folders,
    notes: [...walk.notes(), ...notes.sort()],
  };
}

/** A chat that only mentions a file does not take it from the chat for which it was saved. */
function isOfTool(mention: Mention | undefined): boolean {
  return mention !== undefined && mention.by !== 'other';
}

/** By the id of the `cmdassets/`. */
async function readSaved(walk: Walk, { saved }: ChatMemory): Promise<ReadonlyMap<ChatId, SavedAssets>> {
  const read = await mapConcurrently(
    READS_AT_ONCE,
    walk.saved,
    async ({ id, path }) => [id, await saved.read(path)] as const,
  );
  saved.keepOnly(new Set(walk.saved.map(({ path }) => path)));
  return new Map(read);
}

async function eachFile<T extends { readonly path: string }>(
  limit: number,
  files: readonly T[],
  use: (file: T, stats: Stats) => Promise<void>,
): Promise<void> {
  await mapConcurrently(limit, files, async (file) => {
    const stats = await statOf(file.path);
    if (stats?.isFile()) await use(file, stats);
  });
}

async function readChat(
  path: string,
  stats: Stats,
  memory: ChatMemory,
): Promise<ReadChat & { readonly problem?: string }> {
  const failed = (problem: string) => ({ title: undefined, mentions: new Map(), problem });
  if (stats.size > MAX_CHAT_BYTES) return failed(`is longer than ${describeSize(MAX_CHAT_BYTES)}`);
  return memory.read(path, stats).catch(() => failed('cannot be read'));
}

/** By the id of the `cmdassets/`, then by the name of the asset. */
type Owners = Map<ChatId, Map<string, { readonly chat: ChatId; readonly mention: Mention }>>;

function claim(all: Owners, chat: ChatId, asset: string, mention: Mention): void {
  const place = posix.join(posix.dirname(chat), ASSET_FOLDER);
  const owners = all.get(place) ?? new Map();
  all.set(place, owners);
  const other = owners.get(asset);
  if (!other || (comesBefore(mention, other.mention) || byLength(chat, other.chat)) < 0)
    owners.set(asset, { chat, mention });
}

/** Copies usually have longer names than their originals. The time of the last edit must not matter. */
function byLength(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : 1);
}

function latestFirst(a: Entry, b: Entry): number {
  return b.changed.getTime() - a.changed.getTime() || (a.uri < b.uri ? -1 : 1);
}

export function chatEntry(chat: ChatId, { size, mtime }: Stats, title: string | undefined): ChatEntry {
  return {
    kind: 'chat',
    uri: addressUri({ kind: 'chat', chat }),
    chat,
    size,
    changed: mtime,
    mimeType: 'text/markdown',
    title: title ?? posix.basename(chat, CHAT_ENDING),
  };
}

/** The type comes from the name: listing opens no files. */
export function assetEntry({ chat, asset, mention, saved }: AssetFacts, { size, mtime }: Stats): AssetEntry {
  const { kind: assetKind = 'file', extension = '' } = readAssetName(asset) ?? {};
  const [mimeType = 'application/octet-stream'] = (mediaByExtension(extension) ?? UNKNOWN).types;
  return {
    kind: 'asset',
    uri: addressUri({ kind: 'asset', chat, asset }),
    chat,
    asset,
    assetKind,
    size,
    changed: mtime,
    mimeType,
    ...defined({ name: mention?.name ?? saved?.name, tool: mention?.tool, savedBy: saved?.by }),
  };
}

interface AssetFacts {
  readonly chat: ChatId;
  readonly asset: string;
  readonly mention: Mention | undefined;
  readonly saved?: SavedAsset | undefined;
}

interface Folder {
  readonly path: string;
  readonly id: string;
  readonly holds: 'chats' | 'assets';
}

const FOLDERS_AT_ONCE = 16;

/** Finds chats and assets, upper folders first. Opens no files. */
class Walk {
  readonly chats: { readonly id: ChatId; readonly path: string }[] = [];
  /** The id is that of the `cmdassets/`. */
  readonly assets: { readonly id: ChatId; readonly path: string; readonly asset: string }[] = [];
  /** The `cmdassets/` that say something about their files. */
  readonly saved: { readonly id: ChatId; readonly path: string }[] = [];
  readonly folders: string[] = [];
  readonly #limits: Limits;
  readonly #notes = new Set<string>();
  #unnamed = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  async visit(roots: readonly Root[]): Promise<void> {
    let level: readonly Folder[] = roots.map(({ path, label }) => ({ path, id: label, holds: 'chats' }));
    for (let depth = 0; level.length > 0; depth += 1) {
      const folders = level.slice(0, this.#roomFor('folders', level.length, this.folders.length));
      const read = await mapConcurrently(FOLDERS_AT_ONCE, folders, ({ path }) => readEntries(path));
      const below = folders.flatMap((folder, at) => this.#record(folder, read[at] ?? []));
      level = depth < MAX_DEPTH ? below : below.filter(({ holds }) => holds === 'assets');
      if (level.length < below.length)
        this.#notes.add(`Folders more than ${MAX_DEPTH} levels deep are not searched.`);
    }
  }

  notes(): readonly string[] {
    if (this.#unnamed === 0) return [...this.#notes];
    const count = `${this.#unnamed} ${this.#unnamed === 1 ? 'chat is' : 'chats are'}`;
    return [...this.#notes, `${count} not listed, because the name does not fit into an address.`];
  }

  /** Returns the folders below to visit. `entries` is a text if the folder could not be read. */
  #record(folder: Folder, entries: readonly Dirent[] | string): readonly Folder[] {
    if (typeof entries === 'string') {
      this.#notes.add(`${folder.id === '' ? 'The folder' : folder.id} cannot be read: ${entries}.`);
      return [];
    }
    this.folders.push(folder.path);
    const files = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
    const below = (name: string) => ({ path: join(folder.path, name), id: idBelow(folder.id, name) });
    if (folder.holds === 'assets') {
      this.#addAssets(folder, files.filter(isAssetFileName));
      if (files.includes(SAVED_FILE)) this.saved.push(folder);
      return [];
    }
    for (const name of files) if (name.endsWith(CHAT_ENDING)) this.#addChat(below(name));
    return entries
      .filter((entry) => entry.isDirectory())
      .filter(({ name }) => name === ASSET_FOLDER || folderNameProblem(name) === undefined)
      .map(({ name }) => ({ ...below(name), holds: name === ASSET_FOLDER ? 'assets' : 'chats' }));
  }

  #addChat(chat: Walk['chats'][number]): void {
    if (chatIdProblem(chat.id) !== undefined) this.#unnamed += 1;
    else if (this.#roomFor('chats', 1, this.chats.length) > 0) this.chats.push(chat);
  }

  #addAssets({ id, path }: Folder, names: readonly string[]): void {
    if (chatIdProblem(id) !== undefined) return;
    const room = this.#roomFor('assets', names.length, this.assets.length);
    for (const asset of room < names.length ? newest(names, room) : names)
      this.assets.push({ id, path: join(path, asset), asset });
  }

  /** How many of `wanted` more are within the limit. Notes that some are not. */
  #roomFor(what: keyof Limits, wanted: number, before: number): number {
    const limit = this.#limits[what];
    if (before + wanted > limit)
      this.#notes.add(
        `There are more than ${limit.toLocaleString('en-US')} ${what}; the rest is not listed.`,
      );
    return Math.min(wanted, limit - before);
  }
}

/** Resolves to the problem if the folder cannot be read. */
async function readEntries(path: string): Promise<readonly Dirent[] | string> {
  try {
    const entries = await readdir(path, { withFileTypes: true });
    // It may have become a symbolic link since its name was read.
    if ((await realpath(path)) !== path) return 'it has changed';
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    const reason = toReadError(error);
    return reason !== error && reason instanceof Error ? reason.message : 'the disk reported an error';
  }
}

export function idBelow(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}

/** Sorts by the time in the names, which follows the kind. */
function newest(names: readonly string[], count: number): readonly string[] {
  const time = (name: string) => name.slice(name.indexOf('-', 'tool-'.length));
  return [...names].sort((a, b) => (time(a) < time(b) ? 1 : -1)).slice(0, count);
}
