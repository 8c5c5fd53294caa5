import type { Stats } from 'node:fs';
import { readdir, realpath } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { isInside } from '../assets/confined.ts';
import { unlessAborted } from '../base/async.ts';
import { visibleLine } from '../base/lines.ts';
import { ASSET_FOLDER } from '../base/names.ts';
import {
  addressUri,
  CHAT_ENDING,
  chatIdProblem,
  folderNameProblem,
  isAssetFileName,
  MAX_DEPTH,
} from './address.ts';
import { type Address, type AssetEntry, CatalogRefusal, type ChatId, type FoundEntry } from './entry.ts';
import { assetEntry, chatEntry, type Listed, listFound } from './listing.ts';
import { ChatMemory, type ReadText, readTitle } from './mentions.ts';
import { idBelow, type Limits, type Root, statOf, walk } from './walk.ts';

export interface CatalogOptions {
  /** Folders with chats; chats are looked for in the folders below them too. */
  readonly folders: readonly string[];
  readonly limits?: Limits;
  /** How the text of a chat is read, from its real path. */
  readonly readChat?: ReadText;
}

export interface Snapshot extends Listed {
  /** Every folder that was looked into, by its real path: where something may change. */
  readonly folders: readonly string[];
  /** What could not be looked into, or was left out because there is too much. */
  readonly notes: readonly string[];
  /** Whether all of the folders that were given are there. */
  readonly isComplete: boolean;
}

/** The chats and assets in some folders. Asks the disk each time, and reads again only what has changed. */
export class Catalog {
  readonly #roots: Roots;
  readonly #limits: Limits | undefined;
  readonly #memory: ChatMemory;
  #current: Promise<unknown> = Promise.resolve();
  #next: Promise<Snapshot> | undefined;

  constructor({ folders, limits, readChat }: CatalogOptions) {
    this.#roots = new Roots(folders);
    this.#limits = limits;
    this.#memory = new ChatMemory(readChat);
  }

  /** What comes first in ids, in the order of the folders; empty where there is but one. */
  get labels(): readonly string[] {
    return this.#roots.labels;
  }

  /** Who asks while a look is under way gets the next one, which sees all that was there when it was asked for. */
  async snapshot(signal?: AbortSignal): Promise<Snapshot> {
    signal?.throwIfAborted();
    this.#next ??= this.#lookAfter(this.#current);
    return await unlessAborted(this.#next, signal);
  }

  /** Rejects with a `CatalogRefusal` for what is not there and for what leads out of the folders. */
  async find(address: Address): Promise<FoundEntry> {
    const place = await this.#roots.placeOf(address.chat);
    const found = place && (await this.#find(address, place).catch(() => undefined));
    if (!found) throw new CatalogRefusal(nothingAt(addressUri(address)));
    return found;
  }

  /** All assets whose file has this name, wherever they are. */
  async findByName(name: string, signal?: AbortSignal): Promise<readonly AssetEntry[]> {
    if (!isAssetFileName(name)) return [];
    const { entries } = await this.snapshot(signal);
    return entries.filter((entry) => entry.kind === 'asset').filter(({ asset }) => asset === name);
  }

  /** The real path of the folder whose `cmdassets/` belongs to the id. Rejects as `find` does. */
  async folderOf(chat: ChatId): Promise<string> {
    const place = await this.#roots.placeOf(chat);
    const folder = place && (await folderBeside(place).catch(() => undefined));
    if (!folder) throw new CatalogRefusal(nothingAt(visibleLine(chat.slice(0, MAX_SAID_CHARS))));
    return pathOf(folder);
  }

  /** The id of a chat's file, or of a `cmdassets/`, if an address can lead there. Whether it is there is not asked. */
  async idOf(path: string): Promise<ChatId | undefined> {
    return await this.#roots.idOf(path);
  }

  async #lookAfter(before: Promise<unknown>): Promise<Snapshot> {
    await before;
    const look = this.#look();
    this.#next = undefined;
    this.#current = look.catch(() => undefined);
    return await look;
  }

  async #look(): Promise<Snapshot> {
    const { roots, missing } = await this.#roots.present();
    const walked = await walk(roots, this.#limits);
    const { entries, versions, notes } = await listFound(walked, this.#memory);
    return {
      entries,
      versions,
      folders: walked.folders,
      notes: shortened([...missing.map(noteMissing), ...walked.notes, ...notes]),
      isComplete: missing.length === 0,
    };
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
    return { entry: assetEntry({ chat, asset, mention }, stats), path: pathOf(file) };
  }
}

/** The folder that a chat, or a `cmdassets/`, is in. The chat must be there; its assets may still be to come. */
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

/** One answer for what is not there, what is elsewhere, and what may not be read: nobody learns which. */
function nothingAt(what: string): string {
  return `There is nothing at ${what}. It may have been renamed or deleted: list_assets says what there is.`;
}

const MAX_SAID_CHARS = 200;
const MAX_NOTES = 20;

/** They hold names, in which anything may be. */
function shortened(notes: readonly string[]): readonly string[] {
  const said = notes.slice(0, MAX_NOTES).map(visibleLine);
  const more = notes.length - said.length;
  return more > 0 ? [...said, `There are ${more} more notes like these.`] : said;
}

function noteMissing({ label }: Root): string {
  return `${label === '' ? 'The folder' : `The folder ${label}`} is not there.`;
}

/** A place of the disk that an id names, if there is something: the way from a root, name by name. */
interface Place {
  readonly root: Root;
  readonly names: readonly string[];
}

/** The folders that were given, and what comes first in the ids of what is in them. */
class Roots {
  readonly #given: readonly Root[];

  constructor(folders: readonly string[]) {
    this.#given = labelled(folders);
  }

  /** In the order of the folders; empty where there is but one. */
  get labels(): readonly string[] {
    return this.#given.flatMap(({ label }) => (label === '' ? [] : [label]));
  }

  /** By their real paths, as they are now; each file is in one of them only. */
  async present(): Promise<{ readonly roots: readonly Root[]; readonly missing: readonly Root[] }> {
    const real = await Promise.all(
      this.#given.map(async (given) => ({ given, path: await realpath(given.path).catch(() => undefined) })),
    );
    return {
      roots: withoutTwice(
        real.flatMap(({ given, path }) => (path === undefined ? [] : [{ ...given, path }])),
      ),
      missing: real.flatMap(({ given, path }) => (path === undefined ? [given] : [])),
    };
  }

  async placeOf(id: ChatId): Promise<Place | undefined> {
    if (chatIdProblem(id) !== undefined) return undefined;
    const { roots } = await this.present();
    for (const root of roots) {
      const names = namesBelow(root, id);
      if (names) return { root, names };
    }
    return undefined;
  }

  async idOf(path: string): Promise<ChatId | undefined> {
    const { roots } = await this.present();
    const folder = await realpath(dirname(resolve(path))).catch(() => undefined);
    if (folder === undefined) return undefined;
    const real = join(folder, basename(path));
    return roots
      .filter((root) => isInside(root.path, real))
      .map((root) => ({ root, id: idBelow(root.label, relative(root.path, real).split(sep).join('/')) }))
      .find(({ root, id }) => chatIdProblem(id) === undefined && namesBelow(root, id))?.id;
  }
}

/** What really is at a place: reached through no link, and by the names that the disk has for it. */
async function statPlace({ root, names }: Place): Promise<Stats | undefined> {
  const path = pathOf({ root, names });
  const stats = await statOf(path);
  if (!stats || (await realpath(path)) !== path) return undefined;
  for (let at = 0; at < names.length; at += 1)
    if (!(await isNamedSo(join(root.path, ...names.slice(0, at + 1))))) return undefined;
  return stats;
}

function pathOf({ root, names }: Place): string {
  return join(root.path, ...names);
}

/** The names on the way from a root to what an id names. */
function namesBelow({ label }: Root, id: ChatId): readonly string[] | undefined {
  const names = id.split('/');
  if (label !== '' && names.shift() !== label) return undefined;
  return names.length > 0 && names.length <= MAX_DEPTH + 1 ? names : undefined;
}

/**
 * Some disks find a file in any case of its name, and not every system says then which one it has. Where the
 * name in the other case leads to the same file, the folder is asked for its names.
 */
export async function isNamedSo(path: string, disk: Disk = { statOf, readdir }): Promise<boolean> {
  const folder = dirname(path);
  const name = basename(path);
  const [own, other] = await Promise.all([disk.statOf(path), disk.statOf(join(folder, swapCase(name)))]);
  if (!own || own.ino !== other?.ino) return true;
  return (await disk.readdir(folder)).includes(name);
}

interface Disk {
  readonly statOf: (path: string) => Promise<Pick<Stats, 'ino'> | undefined>;
  readonly readdir: (path: string) => Promise<readonly string[]>;
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

/** What is in a folder within another is listed with that one. */
function withoutTwice(roots: readonly Root[]): readonly Root[] {
  return roots.filter(
    ({ path }, index) =>
      !roots.some((other, at) => (other.path === path ? at < index : isReached(path, other.path))),
  );
}

/** Whether the inner folder is entered when the outer one is walked through. */
function isReached(inner: string, outer: string): boolean {
  if (!isInside(outer, inner)) return false;
  const names = relative(outer, inner).split(sep);
  return names.length <= MAX_DEPTH && names.every((name) => folderNameProblem(name) === undefined);
}

/** The folder's own name, as far as an address can hold it. */
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
