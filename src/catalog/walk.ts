import { type Dirent, lstat, type Stats } from 'node:fs';
import { readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { toReadError } from '../assets/confined.ts';
import { mapConcurrently } from '../base/async.ts';
import { ASSET_FOLDER } from '../base/names.ts';
import { CHAT_ENDING, chatIdProblem, folderNameProblem, isAssetFileName, MAX_DEPTH } from './address.ts';
import type { ChatId } from './entry.ts';

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

export interface FoundChat {
  readonly id: ChatId;
  readonly path: string;
}

/** A `cmdassets/` and its files whose names are asset names. */
export interface FoundAssets {
  readonly id: ChatId;
  readonly path: string;
  readonly names: readonly string[];
}

export interface Walked {
  readonly chats: readonly FoundChat[];
  readonly assets: readonly FoundAssets[];
  /** The real paths of all folders that were read. */
  readonly folders: readonly string[];
  readonly notes: readonly string[];
}

/** Finds chats and assets, upper folders first. Opens no files and follows no symbolic links. */
export async function walk(roots: readonly Root[], limits: Limits = LIMITS): Promise<Walked> {
  const found = new Findings(limits);
  let level: readonly Folder[] = roots.map(({ path, label }) => ({ path, id: label, holds: 'chats' }));
  for (let depth = 0; level.length > 0; depth += 1) {
    const listings = await mapConcurrently(FOLDERS_AT_ONCE, found.roomFor(level), readEntries);
    const below = listings.flatMap((listing) => recordFolder(listing, found));
    level = depth < MAX_DEPTH ? below : below.filter(({ holds }) => holds === 'assets');
    if (level.length < below.length)
      found.note(`Folders more than ${MAX_DEPTH} levels deep are not searched.`);
  }
  return found;
}

const FOLDERS_AT_ONCE = 16;

interface Folder {
  readonly path: string;
  readonly id: string;
  readonly holds: 'chats' | 'assets';
}

interface FolderListing {
  readonly folder: Folder;
  readonly entries: readonly Dirent[];
  readonly problem?: string;
}

async function readEntries(folder: Folder): Promise<FolderListing> {
  try {
    const entries = await readdir(folder.path, { withFileTypes: true });
    // It may have become a symbolic link since its name was read.
    if ((await realpath(folder.path)) !== folder.path)
      return { folder, entries: [], problem: 'it has changed' };
    return { folder, entries: entries.sort((a, b) => (a.name < b.name ? -1 : 1)) };
  } catch (error) {
    const reason = toReadError(error);
    const problem = reason !== error && reason instanceof Error ? reason.message : 'the disk gives an error';
    return { folder, entries: [], problem };
  }
}

/** Records the contents of a folder and returns the folders below it to visit. */
function recordFolder({ folder, entries, problem }: FolderListing, found: Findings): readonly Folder[] {
  if (problem !== undefined) {
    found.note(`${folder.id === '' ? 'The folder' : folder.id} cannot be read: ${problem}.`);
    return [];
  }
  found.folders.push(folder.path);
  const below = ({ name }: Dirent) => ({ path: join(folder.path, name), id: idBelow(folder.id, name) });
  const files = entries.filter((entry) => entry.isFile());
  if (folder.holds === 'assets') {
    found.addAssets(
      folder,
      files.map(({ name }) => name).filter((name) => isAssetFileName(name)),
    );
    return [];
  }
  for (const file of files) if (file.name.endsWith(CHAT_ENDING)) found.addChat(below(file));
  return entries
    .filter((entry) => entry.isDirectory())
    .filter(({ name }) => name === ASSET_FOLDER || folderNameProblem(name) === undefined)
    .map((entry) => ({ ...below(entry), holds: entry.name === ASSET_FOLDER ? 'assets' : 'chats' }));
}

export function idBelow(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}

class Findings implements Walked {
  readonly #limits: Limits;
  readonly chats: FoundChat[] = [];
  readonly assets: FoundAssets[] = [];
  readonly folders: string[] = [];
  readonly #notes = new Set<string>();
  #assetCount = 0;
  #unnamed = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  get notes(): readonly string[] {
    if (this.#unnamed === 0) return [...this.#notes];
    const count = `${this.#unnamed} ${this.#unnamed === 1 ? 'chat is' : 'chats are'}`;
    return [...this.#notes, `${count} not listed, because no address can hold the name.`];
  }

  note(note: string): void {
    this.#notes.add(note);
  }

  roomFor(folders: readonly Folder[]): readonly Folder[] {
    const room = this.#limits.folders - this.folders.length;
    if (folders.length > room) this.#noteLimit('folders');
    return folders.slice(0, room);
  }

  addChat(chat: FoundChat): void {
    if (chatIdProblem(chat.id) !== undefined) this.#unnamed += 1;
    else if (this.chats.length < this.#limits.chats) this.chats.push(chat);
    else this.#noteLimit('chats');
  }

  addAssets({ id, path }: Pick<Folder, 'id' | 'path'>, names: readonly string[]): void {
    if (chatIdProblem(id) !== undefined) return;
    const room = this.#limits.assets - this.#assetCount;
    if (names.length > room) this.#noteLimit('assets');
    const kept = names.length > room ? newest(names, room) : names;
    this.#assetCount += kept.length;
    this.assets.push({ id, path, names: kept });
  }

  #noteLimit(what: keyof Limits): void {
    const limit = this.#limits[what].toLocaleString('en-US');
    this.note(`There are more than ${limit} ${what}; the rest is left out.`);
  }
}

/** Sorts by the time in the names, which follows the kind. */
function newest(names: readonly string[], count: number): readonly string[] {
  const time = (name: string) => name.slice(name.indexOf('-', 'tool-'.length));
  return [...names].sort((a, b) => (time(a) < time(b) ? 1 : -1)).slice(0, count);
}

/** Does not follow links. The callback form takes less than half the time of the promise form. */
export function statOf(path: string): Promise<Stats | undefined> {
  return new Promise((resolve) => {
    lstat(path, (error, found) => resolve(error ? undefined : found));
  });
}
