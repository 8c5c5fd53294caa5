import type { Stats } from 'node:fs';
import { join, posix } from 'node:path';
import { mapConcurrently } from '../base/async.ts';
import { ASSET_FOLDER, readAssetName } from '../base/names.ts';
import { describeSize } from '../base/size.ts';
import { mediaByExtension, UNKNOWN } from '../media/table.ts';
import { addressUri, CHAT_ENDING } from './address.ts';
import type { AssetEntry, ChatEntry, ChatId, Entry } from './entry.ts';
import { type ChatMemory, comesBefore, MAX_CHAT_BYTES, type Mention, versionOf } from './mentions.ts';
import { type FoundAssets, type FoundChat, statOf, type Walked } from './walk.ts';

export interface Listed {
  /** Chats first, then their assets; the latest first. */
  readonly entries: readonly Entry[];
  /** The version of each file, by address. */
  readonly versions: ReadonlyMap<string, string>;
  readonly notes: readonly string[];
}

/** Adds sizes, times and titles to the findings of a walk, and assigns each asset to a chat. */
export async function listFound({ chats, assets }: Walked, memory: ChatMemory): Promise<Listed> {
  const list = new Listing(memory);
  await mapConcurrently(READS_AT_ONCE, chats, (chat) => list.addChat(chat));
  for (const each of assets) await list.addAssets(each);
  memory.keepOnly(new Set(chats.map(({ path }) => path)));
  return list;
}

const READS_AT_ONCE = 8;
const STATS_AT_ONCE = 64;

class Listing implements Listed {
  readonly #memory: ChatMemory;
  readonly #chats: ChatEntry[] = [];
  readonly #assets: AssetEntry[] = [];
  /** By the id of the `cmdassets/`, then by the name of the asset. */
  readonly #owners = new Map<string, Map<string, { readonly chat: ChatId; readonly mention: Mention }>>();
  readonly #notes: string[] = [];
  readonly versions = new Map<string, string>();

  constructor(memory: ChatMemory) {
    this.#memory = memory;
  }

  get entries(): readonly Entry[] {
    return [...this.#chats.sort(latestFirst), ...this.#assets.sort(latestFirst)];
  }

  get notes(): readonly string[] {
    return this.#notes.toSorted();
  }

  async addChat(chat: FoundChat): Promise<void> {
    const stats = await statOf(chat.path);
    if (!stats?.isFile()) return;
    const title = await this.#readChat(chat, stats);
    this.#add(this.#chats, chatEntry(chat.id, stats, title), stats);
  }

  async addAssets({ id, path, names }: FoundAssets): Promise<void> {
    const owners = this.#owners.get(id);
    await mapConcurrently(STATS_AT_ONCE, names, async (name) => {
      const stats = await statOf(join(path, name));
      if (!stats?.isFile()) return;
      const { chat = id, mention } = owners?.get(name) ?? {};
      this.#add(this.#assets, assetEntry({ chat, asset: name, mention }, stats), stats);
    });
  }

  #add<T extends Entry>(list: T[], entry: T, stats: Stats): void {
    list.push(entry);
    this.versions.set(entry.uri, versionOf(stats));
  }

  async #readChat(chat: FoundChat, stats: Stats): Promise<string | undefined> {
    const note = (problem: string) => {
      this.#notes.push(`${chat.id} ${problem}, so its assets are listed without names and tools.`);
    };
    if (stats.size > MAX_CHAT_BYTES) {
      note(`is longer than ${describeSize(MAX_CHAT_BYTES)}`);
      return undefined;
    }
    try {
      const { title, mentions } = await this.#memory.read(chat, stats);
      for (const [asset, mention] of mentions) this.#own(chat.id, asset, mention);
      return title;
    } catch {
      note('cannot be read');
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
export function assetEntry(
  { chat, asset, mention }: { chat: ChatId; asset: string; mention: Mention | undefined },
  { size, mtime }: Stats,
): AssetEntry {
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
    ...(mention?.name !== undefined && { name: mention.name }),
    ...(mention?.tool !== undefined && { tool: mention.tool }),
  };
}
