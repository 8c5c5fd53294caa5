import { readdir, realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { inspectFile, readWhole, statOf } from '../../assets/confined.ts';
import { ASSET_FOLDER, readAssetName } from '../../base/assetNames.ts';
import { mapConcurrently } from '../../base/async.ts';
import type { RecentValues } from '../../base/collections.ts';
import { describeSize } from '../../base/size.ts';
import { commentsOfChat } from '../../chat/format/parse.ts';
import { textOutside } from '../../chat/format/textEdit.ts';
import type { Asset } from '../../ports/results.ts';
import { assetReference } from '../../result/modelView.ts';
import { Catalog } from '../catalog.ts';
import type { MediaKind } from '../contents.ts';
import { type AssetEntry, CatalogRefusal, type ChatId, type FoundEntry } from '../entry.ts';
import { MAX_CHAT_BYTES, type Mention, readMentions } from '../mentions.ts';
import type { SavedAssets } from '../savedAssets.ts';
import { assetEntry } from '../scan.ts';
import { type FileWindow, readWindow, type WindowRequest } from '../windows.ts';

/** The files that one chat can read: its own by name, those of other chats by address. */
export class ChatFiles {
  readonly #places: BuiltInPlaces;
  /** Catalogs remember the chats that they have parsed. */
  readonly #catalogs: RecentValues<Catalog>;

  constructor(places: BuiltInPlaces, catalogs: RecentValues<Catalog>) {
    this.#places = places;
    this.#catalogs = catalogs;
  }

  /** The folders that the chat may read; its own is one of them if the chat is saved. */
  all(): Catalog {
    const { folders, chat, assetsIn } = this.#places;
    const all = [...folders, ...(chat === undefined ? [] : [assetsIn])];
    if (all.length === 0) throw new CatalogRefusal(NO_FOLDER);
    return this.#catalog(all);
  }

  /** Undefined while the chat is unsaved. */
  async id(): Promise<ChatId | undefined> {
    const { chat } = this.#places;
    return chat === undefined ? undefined : this.all().idOf(chat);
  }

  /** The assets that the current text of the chat mentions, and those that clients saved for the chat. */
  async own(): Promise<{ readonly assets: readonly AssetEntry[]; readonly notes: readonly string[] }> {
    const mentions = await this.#mentions();
    const saved = await this.#saved();
    const chat = (await this.id()) ?? THIS_CHAT;
    const { folder, names } = await this.#namesBeside();
    const known = names.filter((name) => mentions.has(name) || saved.has(name));
    const found = await mapConcurrently(STATS_AT_ONCE, known, async (asset) => {
      const stats = await statOf(join(folder, asset));
      const about = { chat, asset, mention: mentions.get(asset), saved: saved.get(asset) };
      return stats?.isFile() ? ownEntry(assetEntry(about, stats)) : [];
    });
    const assets = found.flat();
    const mentioned = assets.filter(({ asset }) => mentions.has(asset));
    // The files of other unsaved chats are private to those chats.
    const others = this.#places.chat === undefined ? 0 : names.length - known.length;
    return { assets, notes: notesAbout({ gone: mentions.size - mentioned.length, others }) };
  }

  async find(uri: string): Promise<FoundEntry> {
    const name = /^(?:asset:|(?:\.\/)?cmdassets\/)?([^/:\\]+)$/.exec(uri)?.[1];
    if (name !== undefined) return this.#findOwn(name);
    const found = await this.all().findUri(uri);
    const { entry } = found;
    return entry.kind === 'asset' && (await this.#isBeside(found)) ? this.#findOwn(entry.asset) : found;
  }

  /** The chats in the same folder as this one, from where `asset:NAME` and links lead to the same files. */
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

  link(asset: string, kind: MediaKind): Asset {
    const { linkPrefix = ASSET_FOLDER } = this.#places;
    return { kind, number: 1, path: `${linkPrefix}/${asset}` };
  }

  /** An unsaved chat links to its assets by absolute paths, as if it were beside them. */
  async #mentions(): Promise<ReadonlyMap<string, Mention>> {
    const { chat, assetsIn, text } = this.#places;
    return readMentions(chat ?? join(assetsIn, 'unsaved.chat.md'), await text());
  }

  /** The files that clients saved for this chat. */
  async #saved(): Promise<SavedAssets> {
    const { chat } = this.#places;
    if (chat === undefined) return new Map();
    const all = await this.#own().savedIn(join(await this.#realFolder(), ASSET_FOLDER));
    return new Map([...all].filter(([, record]) => record.chat === basename(chat)));
  }

  /** Accepts the file name of an asset, the label of its link in the chat, or the name under which it was saved. */
  async #findOwn(name: string): Promise<FoundEntry> {
    const mentions = await this.#mentions();
    const labels = [...(await this.#saved()), ...mentions];
    const called = [...new Set(labels.filter(([, about]) => about.name === name).map(([asset]) => asset))];
    const [asset, ...more] = readAssetName(name) ? [name] : called;
    if (asset === undefined) throw new CatalogRefusal(notKnown(name));
    if (more.length === 0) return this.#ownFile(asset, mentions.get(asset));
    const names = called.slice(0, MAX_NAMED).map(assetReference).join(', ');
    throw new CatalogRefusal(
      `Several files of this chat are called ${JSON.stringify(name)}: ${names}. Name one.`,
    );
  }

  async #ownFile(asset: string, mention: Mention | undefined): Promise<FoundEntry> {
    const address = { kind: 'asset', chat: ASSET_FOLDER, asset } as const;
    const { entry, path } = await this.#own()
      .find(address)
      .catch((error: unknown) => {
        // The catalog's message has an address that the caller did not use.
        throw error instanceof CatalogRefusal ? new CatalogRefusal(notKnown(asset)) : error;
      });
    const name = mention?.name === undefined ? {} : { name: mention.name };
    return { entry: entry.kind === 'asset' ? { ...ownEntry(entry), ...name } : entry, path };
  }

  #own(): Catalog {
    return this.#catalog([this.#places.assetsIn]);
  }

  #catalog(folders: readonly string[]): Catalog {
    return this.#catalogs.get(JSON.stringify(folders), () => new Catalog({ folders }));
  }

  async #isBeside({ path }: FoundEntry): Promise<boolean> {
    return dirname(path) === join(await this.#realFolder(), ASSET_FOLDER);
  }

  /** A `cmdassets/` that is a link has no names. */
  async #namesBeside(): Promise<{ readonly folder: string; readonly names: readonly string[] }> {
    const chatFolder = await this.#own()
      .folderOf(ASSET_FOLDER)
      .catch(() => undefined);
    if (chatFolder === undefined) return { folder: '', names: [] };
    const folder = join(chatFolder, ASSET_FOLDER);
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    const names = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
    return { folder, names: names.filter((name) => readAssetName(name)) };
  }

  /** The folder of a new chat may not exist yet. */
  #realFolder(): Promise<string> {
    const { assetsIn } = this.#places;
    return realpath(assetsIn).catch(() => resolve(assetsIn));
  }
}

const THIS_CHAT = 'this chat';
const NO_FOLDER = 'No folder is open, so there are no other chats to read.';
const HOW = 'ask with chat: "*" for those of all chats.';

const STATS_AT_ONCE = 64;
const MAX_NAMED = 10;

/** Tools accept `asset:NAME` for files beside the chat. */
function ownEntry(entry: AssetEntry): AssetEntry {
  return { ...entry, uri: assetReference(entry.asset) };
}

function notesAbout({ gone, others }: { readonly gone: number; readonly others: number }): readonly string[] {
  return [
    ...(gone === 0 ? [] : [`${many(gone, 'file')} mentioned in the chat cannot be read.`]),
    ...(others === 0
      ? []
      : [`${many(others, 'other file')} ${others === 1 ? 'is' : 'are'} beside this chat: ${HOW}`]),
  ];
}

function notKnown(name: string): string {
  return `This chat has no file ${JSON.stringify(name)}. list_assets names those that it has.`;
}

function many(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

/** Removes the comments of a chat, which are not meant for models. `isCut` is true if there were some. */
export async function readVisibleChat(
  found: FoundEntry,
  wanted: WindowRequest,
): Promise<{ readonly window: FileWindow; readonly isCut: boolean }> {
  const window = await readWindow(found, { ...wanted, as: 'auto' });
  const { body, start, byteCount } = window;
  if (window.totalBytes > MAX_CHAT_BYTES) throw new CatalogRefusal(TOO_LONG);
  if (body.kind === 'bytes') {
    if (byteCount === 0) return { window, isCut: false };
    throw new CatalogRefusal(NOT_TEXT);
  }
  // In Latin-1 every byte is one character, so offsets are those of the file, and markers look the same.
  const whole = (await readChat(found)).toString('latin1');
  const piece = { start, end: start + byteCount };
  if (whole.slice(piece.start, piece.end) !== Buffer.from(body.text).toString('latin1'))
    throw new CatalogRefusal(CHANGED);
  const text = Buffer.from(textOutside(whole, piece, commentsOfChat(whole)), 'latin1').toString();
  return { window: { ...window, body: { kind: 'text', text } }, isCut: text !== body.text };
}

async function readChat({ path }: FoundEntry): Promise<Buffer> {
  try {
    return await readWhole(path, await inspectFile(path));
  } catch {
    throw new CatalogRefusal(CHANGED);
  }
}

const TOO_LONG = `This chat is longer than ${describeSize(MAX_CHAT_BYTES)} and cannot be read here.`;
const NOT_TEXT = 'This piece of the chat is not UTF-8 text.';
const CHANGED = 'The chat was changed while it was being read. Read it again.';

/** The paths of a chat and its assets. */
export interface BuiltInPlaces {
  readonly chat?: string | undefined;
  /** The current text, which may be unsaved. */
  readonly text: () => Promise<string> | string;
  /** The folder that holds its `cmdassets/`. */
  readonly assetsIn: string;
  /** The beginning of links to its assets; `cmdassets` by default. */
  readonly linkPrefix?: string | undefined;
  /** The folders whose chats may be searched and whose assets may be listed. */
  readonly folders: readonly string[];
}
