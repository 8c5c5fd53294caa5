import type { Stats } from 'node:fs';
import { readdir, realpath } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { isInside, statOf } from '../assets/confined.ts';
import { ASSET_FOLDER } from '../base/assetNames.ts';
import { unlessAborted } from '../base/async.ts';
import { visibleLine } from '../base/lines.ts';
import {
  type Address,
  type AssetEntry,
  addressUri,
  CatalogRefusal,
  CHAT_ENDING,
  type ChatId,
  chatIdProblem,
  type FoundEntry,
  folderNameProblem,
  isAssetFileName,
  MAX_DEPTH,
  readAddress,
} from './entry.ts';
import { ChatMemory, type ReadText, readTitle } from './mentions.ts';
import type { SavedAssets } from './savedAssets.ts';
import { assetEntry, chatEntry, idBelow, type Limits, type Root, type Scan, scan } from './scan.ts';

interface CatalogOptions {
  /** Searched for chats, including the folders below them. */
  readonly folders: readonly string[];
  readonly limits?: Limits;
  readonly readChat?: ReadText;
}

export interface Snapshot extends Scan {
  /** False when one of the given folders is missing. */
  readonly isComplete: boolean;
}

/** The chats and assets in some folders. Reads the disk each time, but parses only chats that have changed. */
export class Catalog {
  readonly #given: readonly Root[];
  readonly #limits: Limits | undefined;
  readonly #memory: ChatMemory;
  #current: Promise<unknown> = Promise.resolve();
  #next: Promise<Snapshot> | undefined;

  constructor({ folders, limits, readChat }: CatalogOptions) {
    this.#given = labelled(folders);
    this.#limits = limits;
    this.#memory = new ChatMemory(readChat);
  }

  /** The first parts of ids, in the order of the folders; empty when there is only one folder. */
  get labels(): readonly string[] {
    return this.#given.flatMap(({ label }) => (label === '' ? [] : [label]));
  }

  /** A request during a scan gets the next one, which sees everything that was there when it was requested. */
  async snapshot(signal?: AbortSignal): Promise<Snapshot> {
    signal?.throwIfAborted();
    this.#next ??= this.#scanAfter(this.#current);
    return await unlessAborted(this.#next, signal);
  }

  /** Rejects with a `CatalogRefusal` for missing entries and for those that lead out of the folders. */
  async find(address: Address): Promise<FoundEntry> {
    const place = await this.#placeOf(address.chat);
    const found = place && (await this.#find(address, place).catch(() => undefined));
    if (!found) throw new CatalogRefusal(notFound(addressUri(address)));
    return found;
  }

  /** Also rejects for text that is not an address. */
  async findUri(uri: string): Promise<FoundEntry> {
    const read = readAddress(uri);
    if (!read.ok) throw new CatalogRefusal(read.reason);
    return this.find(read.address);
  }

  async findByName(name: string, signal?: AbortSignal): Promise<readonly AssetEntry[]> {
    if (!isAssetFileName(name)) return [];
    const { entries } = await this.snapshot(signal);
    return entries.filter((entry) => entry.kind === 'asset').filter(({ asset }) => asset === name);
  }

  /** The real path of the folder whose `cmdassets/` belongs to the id. Rejects as `find` does. */
  async folderOf(chat: ChatId): Promise<string> {
    const place = await this.#placeOf(chat);
    const folder = place && (await folderBeside(place).catch(() => undefined));
    if (!folder) throw new CatalogRefusal(notFound(visibleLine(chat.slice(0, MAX_QUOTED_CHARS))));
    return pathOf(folder);
  }

  /** What clients said about the files that they saved in a `cmdassets/`, by its real path. */
  savedIn(folder: string): Promise<SavedAssets> {
    return this.#memory.saved.read(folder);
  }

  /** The id of a chat's file or a `cmdassets/`, which need not exist; undefined when no address can name it. */
  async idOf(path: string): Promise<ChatId | undefined> {
    const { roots } = await realRoots(this.#given);
    const folder = await realpath(dirname(resolve(path))).catch(() => undefined);
    if (folder === undefined) return undefined;
    const real = join(folder, basename(path));
    return roots
      .filter((root) => isInside(root.path, real))
      .map((root) => ({ root, id: idBelow(root.label, relative(root.path, real).split(sep).join('/')) }))
      .find(({ root, id }) => chatIdProblem(id) === undefined && namesBelow(root, id))?.id;
  }

  async #placeOf(id: ChatId): Promise<Place | undefined> {
    if (chatIdProblem(id) !== undefined) return undefined;
    const { roots } = await realRoots(this.#given);
    const places = roots.map((root) => ({ root, names: namesBelow(root, id) }));
    return places.find((place): place is Place => place.names !== undefined);
  }

  async #scanAfter(before: Promise<unknown>): Promise<Snapshot> {
    await before;
    const scan = this.#scan();
    this.#next = undefined;
    this.#current = scan.catch(() => undefined);
    return await scan;
  }

  async #scan(): Promise<Snapshot> {
    const { roots, missing } = await realRoots(this.#given);
    const found = await scan(roots, this.#memory, this.#limits);
    const notes = shortened([...missing.map(noteMissing), ...found.notes]);
    return { ...found, notes, isComplete: missing.length === 0 };
  }

  async #find(address: Address, place: Place): Promise<FoundEntry | undefined> {
    if (address.kind === 'asset') return await this.#findAsset(address, place);
    const stats = address.chat.endsWith(CHAT_ENDING) ? await statPlace(place) : undefined;
    if (!stats?.isFile()) return undefined;
    const path = pathOf(place);
    return { entry: chatEntry(address.chat, stats, await readTitle(path).catch(() => undefined)), path };
  }

  async #findAsset(
    { chat, asset }: Extract<Address, { kind: 'asset' }>,
    place: Place,
  ): Promise<FoundEntry | undefined> {
    const folder = isAssetFileName(asset) ? await folderBeside(place) : undefined;
    if (!folder) return undefined;
    const file = { root: folder.root, names: [...folder.names, ASSET_FOLDER, asset] };
    const stats = await statPlace(file);
    if (!stats?.isFile()) return undefined;
    const mention = this.#memory.known(pathOf(place))?.mentions.get(asset);
    const path = pathOf(file);
    const saved = (await this.#memory.saved.read(dirname(path))).get(asset);
    return { entry: assetEntry({ chat, asset, mention, saved }, stats), path };
  }
}

/** The folder that contains a chat or a `cmdassets/`. The chat must exist; its `cmdassets/` may not exist yet. */
async function folderBeside(place: Place): Promise<Place | undefined> {
  const names = place.names.slice(0, -1);
  const isChat = place.names.at(-1) !== ASSET_FOLDER;
  if (isChat && !(await statPlace(place))?.isFile()) return undefined;
  const folder = { root: place.root, names };
  if (!(await statPlace(folder))?.isDirectory()) return undefined;
  const assets = { root: place.root, names: [...names, ASSET_FOLDER] };
  const isThere = (await statOf(pathOf(assets))) !== undefined;
  return !isThere || (await statPlace(assets))?.isDirectory() ? folder : undefined;
}

/** The same message for missing, outside and unreadable files, so that it does not reveal which. */
function notFound(what: string): string {
  return `There is nothing at ${what}. It may have been renamed or deleted; list_assets shows the current files.`;
}

const MAX_QUOTED_CHARS = 200;
const MAX_NOTES = 20;

/** Notes quote file names, which may contain any character. */
function shortened(notes: readonly string[]): readonly string[] {
  const shown = notes.slice(0, MAX_NOTES).map(visibleLine);
  const more = notes.length - shown.length;
  return more > 0 ? [...shown, `There are ${more} more notes like these.`] : shown;
}

function noteMissing({ label }: Root): string {
  return `${label === '' ? 'The folder' : `The folder ${label}`} does not exist.`;
}

/** The path that an id names, as names below a root. It need not exist. */
interface Place {
  readonly root: Root;
  readonly names: readonly string[];
}

/** The roots by their current real paths, without those inside other roots. */
async function realRoots(
  given: readonly Root[],
): Promise<{ readonly roots: readonly Root[]; readonly missing: readonly Root[] }> {
  const paths = await Promise.all(given.map(({ path }) => realpath(path).catch(() => undefined)));
  return {
    roots: withoutTwice(given.flatMap((root, at) => (paths[at] ? [{ ...root, path: paths[at] }] : []))),
    missing: given.filter((_, at) => paths[at] === undefined),
  };
}

/** Undefined when the path passes through a link, or differs in case from the names on the disk. */
async function statPlace({ root, names }: Place): Promise<Stats | undefined> {
  const path = pathOf({ root, names });
  const stats = await statOf(path);
  if (!stats || (await realpath(path)) !== path) return undefined;
  for (let at = 0; at < names.length; at += 1)
    if (!(await hasExactName(join(root.path, ...names.slice(0, at + 1))))) return undefined;
  return stats;
}

function pathOf({ root, names }: Place): string {
  return join(root.path, ...names);
}

function namesBelow({ label }: Root, id: ChatId): readonly string[] | undefined {
  const names = id.split('/');
  if (label !== '' && names.shift() !== label) return undefined;
  return names.length > 0 && names.length <= MAX_DEPTH + 1 ? names : undefined;
}

/**
 * Case-insensitive disks find a file by any case of its name, and `realpath` does not always return the stored one.
 * If the name in the other case leads to the same file, the folder is listed.
 */
export async function hasExactName(
  path: string,
  disk: {
    readonly statOf: (path: string) => Promise<Pick<Stats, 'ino'> | undefined>;
    readonly readdir: (path: string) => Promise<readonly string[]>;
  } = { statOf, readdir },
): Promise<boolean> {
  const folder = dirname(path);
  const name = basename(path);
  const [own, other] = await Promise.all([disk.statOf(path), disk.statOf(join(folder, swapCase(name)))]);
  if (!own || own.ino !== other?.ino) return true;
  return (await disk.readdir(folder)).includes(name);
}

function swapCase(text: string): string {
  const upper = text.toUpperCase();
  return upper === text ? text.toLowerCase() : upper;
}

function labelled(folders: readonly string[]): readonly Root[] {
  const given = withoutTwice(folders.map((folder) => ({ path: resolve(folder), label: '' })));
  if (given.length < 2) return given;
  const taken = new Set<string>();
  return given.map(({ path }) => ({ path, label: freeLabel(labelFor(path), taken) }));
}

/** A folder inside another one is listed as part of that one. */
function withoutTwice(roots: readonly Root[]): readonly Root[] {
  return roots.filter(
    ({ path }, index) =>
      !roots.some((other, at) => (other.path === path ? at < index : isReached(path, other.path))),
  );
}

/** Whether walking the outer folder also visits the inner one. */
function isReached(inner: string, outer: string): boolean {
  if (!isInside(outer, inner)) return false;
  const names = relative(outer, inner).split(sep);
  return names.length <= MAX_DEPTH && names.every((name) => folderNameProblem(name) === undefined);
}

/** The folder's name, without characters that addresses cannot contain. */
function labelFor(path: string): string {
  const name = basename(path)
    .replace(/[\p{Cc}\p{Cs}\\:%]/gu, '-')
    .replace(/^[.~]+|[. ]+$/g, '');
  return folderNameProblem(name) === undefined ? name : 'folder';
}

function freeLabel(label: string, taken: Set<string>): string {
  let free = label;
  for (let number = 2; taken.has(free.toLowerCase()); number += 1) free = `${label}-${number}`;
  taken.add(free.toLowerCase());
  return free;
}
