import type { Stats } from 'node:fs';
import { posix } from 'node:path';
import { withFile } from '../assets/confined.ts';
import { visibleLine } from '../base/lines.ts';
import { ASSET_FOLDER } from '../base/names.ts';
import type { Chat } from '../chat/format/chat.ts';
import { parseChat } from '../chat/format/parse.ts';
import { type AssetUse, findAssetUses, resolvePath } from '../chat/outline/references.ts';
import { chatTitle } from '../chat/outline/title.ts';
import { isAssetFileName } from './address.ts';
import type { FoundChat } from './walk.ts';

/** What a chat says of an asset in the `cmdassets/` beside it. */
export interface Mention {
  /** In a link of a tool's turn, which has returned it or only shows it `again`; or otherwise. */
  readonly by: 'tool' | 'again' | 'other';
  readonly tool?: string;
  readonly name?: string;
}

/** What a chat says of itself and of its assets. */
export interface ReadChat {
  readonly title: string | undefined;
  readonly mentions: ReadonlyMap<string, Mention>;
}

export type ReadText = (path: string) => Promise<string>;

/** Longer chats are not read for what they say of assets. */
export const MAX_CHAT_BYTES = 20_000_000;

interface Kept {
  readonly version: string;
  /** Another write in the same moment would leave time and size as they were. */
  readonly isSettled: boolean;
  readonly chat: ReadChat;
}

/** What chats say, each read once for each of its versions. */
export class ChatMemory {
  readonly #read: ReadText;
  readonly #kept = new Map<string, Kept>();

  constructor(read: ReadText = readWholeFile) {
    this.#read = read;
  }

  /** Rejects when it cannot be read. */
  async read({ path }: FoundChat, stats: Stats): Promise<ReadChat> {
    const known = this.#kept.get(path);
    const version = versionOf(stats);
    if (known?.version === version && known.isSettled) return known.chat;
    const isSettled = Date.now() - stats.mtimeMs > SETTLED_MS;
    const chat = readChat(path, await this.#read(path));
    this.#kept.set(path, { version, isSettled, chat });
    return chat;
  }

  /** What was read last, whether or not it is still so. */
  known(path: string): ReadChat | undefined {
    return this.#kept.get(path)?.chat;
  }

  /** Forgets the chats that are gone. */
  keepOnly(paths: ReadonlySet<string>): void {
    for (const path of this.#kept.keys()) if (!paths.has(path)) this.#kept.delete(path);
  }
}

/** Some disks count time in steps of two seconds. */
const SETTLED_MS = 2_000;

/** Tells one state of a file from another. */
export function versionOf({ ino, size, mtimeMs, ctimeMs }: Stats): string {
  return `${ino} ${size} ${mtimeMs} ${ctimeMs}`;
}

/** Enough for the front matter and the first question. */
const HEAD_CHARS = 8_192;

/** The title of a chat of which nothing else is wanted. */
export async function readTitle(path: string): Promise<string | undefined> {
  const head = await withFile(path, async (file) => {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_CHARS), 0, HEAD_CHARS, 0);
    return new TextDecoder().decode(buffer.subarray(0, bytesRead)).replace(/\uFFFD$/, '');
  });
  return chatTitle(head);
}

async function readWholeFile(path: string): Promise<string> {
  return await withFile(path, async (file, { size }) => {
    if (size > MAX_CHAT_BYTES) throw new Error('it has become too long');
    // Without the mark that some editors write before the first turn.
    return new TextDecoder().decode(await file.readFile());
  });
}

function readChat(path: string, text: string): ReadChat {
  return { title: chatTitle(text.slice(0, HEAD_CHARS)), mentions: readMentions(path, text) };
}

/** What a chat at this path says of the assets beside it, by their names, in the order in which it first does. */
export function readMentions(path: string, text: string): ReadonlyMap<string, Mention> {
  const mentions = new Map<string, Mention>();
  if (!text.includes(ASSET_FOLDER) && !text.includes('asset:')) return mentions;
  const chat = parseChat(text);
  const folder = folderOf(path);
  for (const use of findAssetUses(text, chat)) {
    const asset = assetOf(folder, use);
    if (asset === undefined || isOnlyListed(text, use)) continue;
    const mention = readMention(text, chat, use);
    const before = mentions.get(asset);
    mentions.set(asset, before ? merged(before, mention) : mention);
  }
  return mentions;
}

/** As links have it, so that a link with a whole path is understood too. */
function folderOf(path: string): string {
  return posix.dirname(resolvePath('', path));
}

/** The name of the file that is spoken of, if it is one of ours and beside the chat. */
function assetOf(folder: string, { path }: AssetUse): string | undefined {
  const target = resolvePath(folder, path);
  const name = posix.basename(target);
  const isBeside = posix.dirname(target) === posix.join(folder, ASSET_FOLDER);
  return isBeside && isAssetFileName(name) ? name : undefined;
}

/** The built-in tools show what is there already. */
const SHOWS_AGAIN = /^filechat\./;
const MAX_NAME_CHARS = 200;
const LABEL =
  /!?\[(?:Tool generated (?:image|audio|file) \d+(?:: |(?=\])))?((?:\\.|[^\][\\\n]){0,1000})\]\(/y;
const ESCAPED = /\\([!-/:-@[-`{-~])/g;
const FILE_NAME = /[^.\s]\.[A-Za-z0-9]{1,10}$/;

/** A list of all files that there are, or a piece of another chat, makes none of them this chat's. */
function isOnlyListed(text: string, { offset, tool }: AssetUse): boolean {
  return tool !== undefined && SHOWS_AGAIN.test(tool) && !isLinkAt(text, offset);
}

function isLinkAt(text: string, offset: number): boolean {
  return text.startsWith('[', offset) || text.startsWith('![', offset);
}

function readMention(text: string, { turns }: Chat, { offset, turn, tool }: AssetUse): Mention {
  const isLink = isLinkAt(text, offset);
  const isOfTool = isLink && turns[turn - 1]?.role === 'tool';
  const name = isLink ? nameIn(text, offset) : undefined;
  const by = !isOfTool ? 'other' : tool !== undefined && SHOWS_AGAIN.test(tool) ? 'again' : 'tool';
  return { by, ...(by === 'tool' && tool !== undefined && { tool }), ...(name !== undefined && { name }) };
}

/** What a link calls the file; other words than a file's name are about something else. */
function nameIn(text: string, offset: number): string | undefined {
  LABEL.lastIndex = offset;
  const label = visibleLine((LABEL.exec(text)?.[1] ?? '').replace(ESCAPED, '$1')).slice(0, MAX_NAME_CHARS);
  return FILE_NAME.test(label) ? label : undefined;
}

const RANKS: Readonly<Record<Mention['by'], number>> = { tool: 0, again: 1, other: 2 };

/** Which of two chats, or places of a chat, an asset belongs to: where a tool returned it, if that is said. */
export function comesBefore(a: Mention, b: Mention): number {
  return RANKS[a.by] - RANKS[b.by];
}

/** The first that says most; a name that only the other has is not lost. */
function merged(before: Mention, after: Mention): Mention {
  const [best, rest] = comesBefore(after, before) < 0 ? [after, before] : [before, after];
  return best.name === undefined && rest.name !== undefined ? { ...best, name: rest.name } : best;
}
