import { readdir, realpath } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { ASSET_FOLDER, readAssetName } from '../assets/names.ts';
import type { Asset } from '../ports.ts';
import { assetReference } from '../result/modelView.ts';
import { readAddress } from './address.ts';
import type { BuiltInPlaces } from './builtInTools.ts';
import { Catalog } from './catalog.ts';
import { type Mention, readMentions } from './chatAssets.ts';
import { type AssetEntry, CatalogRefusal, type ChatId, type FoundEntry } from './types.ts';

/** The catalogs that chats have asked for. They remember what they have read, so each is kept. */
export class Catalogs {
  readonly #byFolders = new Map<string, Catalog>();

  of(folders: readonly string[]): Catalog {
    const key = JSON.stringify(folders);
    const catalog = this.#byFolders.get(key) ?? new Catalog({ folders });
    // The one used last is the last to go.
    this.#byFolders.delete(key);
    this.#byFolders.set(key, catalog);
    const [oldest] = this.#byFolders.keys();
    if (oldest !== undefined && this.#byFolders.size > MAX_CATALOGS) this.#byFolders.delete(oldest);
    return catalog;
  }
}

const MAX_CATALOGS = 20;

/** The files as one chat sees them: its own by name, those of others by address. */
export class ChatFiles {
  readonly #places: BuiltInPlaces;
  readonly #catalogs: Catalogs;

  constructor(places: BuiltInPlaces, catalogs: Catalogs) {
    this.#places = places;
    this.#catalogs = catalogs;
  }

  /** All that there is in the folders that the chat may look into; its own is among them if it is saved. */
  all(): Catalog {
    const { folders, chat, assetsIn } = this.#places;
    const all = [...folders, ...(chat === undefined ? [] : [assetsIn])];
    if (all.length === 0) throw new CatalogRefusal(NO_FOLDER);
    return this.#catalogs.of(all);
  }

  /** What others call this chat; nothing while it has no file. */
  async id(): Promise<ChatId | undefined> {
    const { chat } = this.#places;
    return chat === undefined ? undefined : this.all().idOf(chat);
  }

  /** What the chat speaks of, as its text is now: what a run has just brought need not be saved yet. */
  async own(): Promise<{ readonly assets: readonly AssetEntry[]; readonly notes: readonly string[] }> {
    const mentions = await this.#mentions();
    const chat = (await this.id()) ?? THIS_CHAT;
    const found = await Promise.all(
      [...mentions].map(([asset, mention]) => this.#ownEntry(chat, asset, mention)),
    );
    const assets = found.filter((each) => each !== undefined);
    return { assets, notes: await this.#notesAbout(new Set(mentions.keys()), assets) };
  }

  /** Where a name or an address leads. Rejects with a `CatalogRefusal`. */
  async find(uri: string): Promise<FoundEntry> {
    const name = /^(?:asset:|(?:\.\/)?cmdassets\/)?([^/:\\]+)$/.exec(uri)?.[1];
    if (name !== undefined) return this.#findOwn(name);
    const read = readAddress(uri);
    if (!read.ok) throw new CatalogRefusal(read.reason);
    const found = await this.all().find(read.address);
    return (await this.#isBeside(found)) ? ownFile(found) : found;
  }

  /** The ids among these assets' from whose folder `asset:NAME` and links lead to the same files as from here. */
  async beside(assets: readonly AssetEntry[]): Promise<ReadonlySet<ChatId>> {
    const own = await this.#realFolder();
    const folders = await Promise.all(
      [...new Set(assets.map(({ chat }) => chat))].map(async (chat) => {
        const folder = await this.all()
          .folderOf(chat)
          .catch(() => undefined);
        return { chat, folder };
      }),
    );
    return new Set(folders.filter(({ folder }) => folder === own).map(({ chat }) => chat));
  }

  /** The link to an image that is there already. */
  link(asset: string): Asset {
    const { linkPrefix = ASSET_FOLDER } = this.#places;
    return { kind: 'image', number: 1, path: `${linkPrefix}/${asset}` };
  }

  /** A chat that is not saved links to its assets by their whole path, as if it were beside them. */
  async #mentions(): Promise<ReadonlyMap<string, Mention>> {
    const { chat, assetsIn, text } = this.#places;
    return readMentions(chat ?? join(assetsIn, 'unsaved.chat.md'), await text());
  }

  async #ownEntry(chat: ChatId, asset: string, { name, tool }: Mention): Promise<AssetEntry | undefined> {
    const { entry } = (await this.#ownFile(asset).catch(() => undefined)) ?? {};
    if (entry?.kind !== 'asset') return undefined;
    return {
      ...entry,
      chat,
      ...(name === undefined ? {} : { name }),
      ...(tool === undefined ? {} : { tool }),
    };
  }

  /** A name of ours, or what the chat calls the file. */
  async #findOwn(name: string): Promise<FoundEntry> {
    if (readAssetName(name)) return this.#ownFile(name);
    const called = [...(await this.#mentions())].filter(([, mention]) => mention.name === name);
    const [only] = called;
    if (only === undefined) throw new CatalogRefusal(notKnown(name));
    if (called.length === 1) return this.#ownFile(only[0]);
    const names = called.map(([asset]) => assetReference(asset)).join(', ');
    throw new CatalogRefusal(`This chat calls several files ${JSON.stringify(name)}: ${names}. Name one.`);
  }

  async #ownFile(asset: string): Promise<FoundEntry> {
    const catalog = this.#catalogs.of([this.#places.assetsIn]);
    const found = await catalog.find({ kind: 'asset', chat: ASSET_FOLDER, asset }).catch((error: unknown) => {
      // The chat knows it by another name than the catalog.
      throw error instanceof CatalogRefusal ? new CatalogRefusal(notKnown(asset)) : error;
    });
    return ownFile(found);
  }

  async #isBeside({ entry, path }: FoundEntry): Promise<boolean> {
    return entry.kind === 'asset' && dirname(path) === join(await this.#realFolder(), ASSET_FOLDER);
  }

  /** Files of other chats that are not saved are nobody's business here. */
  async #notesAbout(
    spokenOf: ReadonlySet<string>,
    entries: readonly AssetEntry[],
  ): Promise<readonly string[]> {
    const gone = spokenOf.size - entries.length;
    const others = this.#places.chat === undefined ? [] : await this.#othersBeside(spokenOf);
    return [
      ...(gone === 0
        ? []
        : [`${gone === 1 ? '1 file' : `${gone} files`} of which the chat speaks cannot be read.`]),
      ...(others.length === 0 ? [] : [`${many(others.length, 'other file')} beside this chat: ${HOW}`]),
    ];
  }

  async #othersBeside(spokenOf: ReadonlySet<string>): Promise<readonly string[]> {
    const folder = join(this.#places.assetsIn, ASSET_FOLDER);
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    return entries
      .filter((entry) => entry.isFile() && readAssetName(entry.name) && !spokenOf.has(entry.name))
      .map(({ name }) => name);
  }

  /** A new chat may be meant for a folder that is still to be made. */
  #realFolder(): Promise<string> {
    const { assetsIn } = this.#places;
    return realpath(assetsIn).catch(() => resolve(assetsIn));
  }
}

const THIS_CHAT = 'this chat';
const NO_FOLDER = 'No folder is open, so there are no other chats to look into.';
const HOW = 'ask with chat: "*" for those of all chats.';

/** What is beside a chat has a name there that tools take, too. */
function ownFile({ entry, path }: FoundEntry): FoundEntry {
  return entry.kind === 'asset'
    ? { entry: { ...entry, uri: assetReference(entry.asset) }, path }
    : { entry, path };
}

function notKnown(name: string): string {
  return `This chat has no file ${JSON.stringify(name)}. list_assets names those that it has.`;
}

function many(count: number, what: string): string {
  return count === 1 ? `1 ${what} is` : `${count} ${what}s are`;
}
