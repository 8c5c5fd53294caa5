import { ASSET_FOLDER } from '../assets/names.ts';
import { visibleLine } from '../base/lines.ts';
import { addressUri, CHAT_ENDING, isAssetFileName } from './address.ts';
import { type Address, type AssetEntry, CatalogRefusal, type ChatId, type FoundEntry } from './entry.ts';
import { assetEntry, chatEntry, type Listed, listFound } from './listing.ts';
import { ChatMemory, type ReadText, readTitle } from './mentions.ts';
import { type Place, pathOf, Roots, statPlace } from './roots.ts';
import { type Limits, type Root, statOf, walk } from './walk.ts';

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

/** What others wait for too goes on. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return await work;
  let stop = () => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(signal.reason);
  });
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
