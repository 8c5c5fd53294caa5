import type { Stats } from 'node:fs';
import { posix } from 'node:path';
import { withFile } from '../assets/confined.ts';
import { ASSET_FOLDER } from '../base/assetNames.ts';
import { visibleLine } from '../base/lines.ts';
import type { Chat } from '../chat/format/chat.ts';
import { parseChat } from '../chat/format/parse.ts';
import { type AssetUse, findAssetUses, resolvePath } from '../chat/outline/references.ts';
import { chatTitle } from '../chat/outline/title.ts';
import { isAssetFileName } from './entry.ts';
import { FileMemory } from './fileMemory.ts';
import { SavedMemory } from './savedAssets.ts';

/** How a chat mentions an asset in the `cmdassets/` beside it. */
export interface Mention {
  /**
   * `tool`: a link in the result of the tool that returned it, or in the reply of the model that made it. `again`: a link
   * in a result of a built-in tool.
   */
  readonly by: 'tool' | 'again' | 'other';
  readonly tool?: string;
  readonly name?: string;
}

export interface ReadChat {
  readonly title: string | undefined;
  readonly mentions: ReadonlyMap<string, Mention>;
}

export type ReadText = (path: string) => Promise<string>;

/** Longer chats are not parsed. */
export const MAX_CHAT_BYTES = 20_000_000;

/** Parses each version of a chat once. */
export class ChatMemory {
  readonly saved = new SavedMemory();
  readonly #read: ReadText;
  readonly #chats = new FileMemory<ReadChat>();

  constructor(read: ReadText = async (path) => new TextDecoder().decode(await readChatBytes(path))) {
    this.#read = read;
  }

  read(path: string, stats: Stats): Promise<ReadChat> {
    return this.#chats.read(path, stats, async () => {
      const text = await this.#read(path);
      return { title: chatTitle(text.slice(0, HEAD_CHARS)), mentions: readMentions(path, text) };
    });
  }

  /** The version that was read last, which may be outdated. */
  known(path: string): ReadChat | undefined {
    return this.#chats.known(path);
  }

  keepOnly(paths: ReadonlySet<string>): void {
    this.#chats.keepOnly(paths);
  }
}

/** Enough for the front matter and the first question. */
const HEAD_CHARS = 8_192;

export async function readTitle(path: string): Promise<string | undefined> {
  const head = await withFile(path, async (file) => {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_CHARS), 0, HEAD_CHARS, 0);
    return new TextDecoder().decode(buffer.subarray(0, bytesRead)).replace(/\uFFFD$/, '');
  });
  return chatTitle(head);
}

/** Rejects for a chat that is too long. */
export async function readChatBytes(path: string): Promise<Uint8Array> {
  return withFile(path, async (file, { size }) => {
    if (size > MAX_CHAT_BYTES) throw new Error('The chat is too long.');
    return file.readFile();
  });
}

/** The assets beside the chat that its text mentions, by name, in the order of first mention. */
export function readMentions(path: string, text: string): ReadonlyMap<string, Mention> {
  const mentions = new Map<string, Mention>();
  if (!text.includes(ASSET_FOLDER) && !text.includes('asset:')) return mentions;
  const chat = parseChat(text);
  // Resolved like a link, so that links with absolute paths match.
  const folder = posix.dirname(resolvePath('', path));
  for (const use of findAssetUses(text, chat)) {
    const asset = assetOf(folder, use);
    if (asset === undefined || isOnlyListed(text, use)) continue;
    const mention = readMention(text, chat, use);
    const before = mentions.get(asset);
    mentions.set(asset, before ? merged(before, mention) : mention);
  }
  return mentions;
}

function assetOf(folder: string, { path }: AssetUse): string | undefined {
  const target = resolvePath(folder, path);
  const name = posix.basename(target);
  const isBeside = posix.dirname(target) === posix.join(folder, ASSET_FOLDER);
  return isBeside && isAssetFileName(name) ? name : undefined;
}

/** The other built-in tools only show existing files. */
const SHOWS_AGAIN = /^filechat\.(?!read_resource$)/;
const MAX_NAME_CHARS = 200;
const LABEL =
  /!?\[(?:(?:Tool|Model) generated (?:image|audio|file) \d+(?:: |(?=\])))?((?:\\.|[^\][\\\n]){0,1000})\]\(/y;
const ESCAPED = /\\([!-/:-@[-`{-~])/g;
const FILE_NAME = /[^.\s]\.[A-Za-z0-9]{1,10}$/;

/** A result of list_assets, or a quoted chat, mentions files that do not belong to this chat. */
function isOnlyListed(text: string, { offset, tool }: AssetUse): boolean {
  return tool !== undefined && SHOWS_AGAIN.test(tool) && !isLinkAt(text, offset);
}

function isLinkAt(text: string, offset: number): boolean {
  return text.startsWith('[', offset) || text.startsWith('![', offset);
}

function readMention(text: string, { turns }: Chat, { offset, turn, tool }: AssetUse): Mention {
  const isLink = isLinkAt(text, offset);
  const role = turns[turn - 1]?.role;
  const isOfTool = isLink && (role === 'tool' || (role === 'assistant' && isMadeAt(text, offset)));
  const name = isLink ? nameIn(text, offset) : undefined;
  const by = !isOfTool ? 'other' : tool !== undefined && SHOWS_AGAIN.test(tool) ? 'again' : 'tool';
  return { by, ...(by === 'tool' && tool !== undefined && { tool }), ...(name !== undefined && { name }) };
}

const MADE = /!?\[Model generated /y;

function isMadeAt(text: string, offset: number): boolean {
  MADE.lastIndex = offset;
  return MADE.test(text);
}

function nameIn(text: string, offset: number): string | undefined {
  LABEL.lastIndex = offset;
  const label = visibleLine((LABEL.exec(text)?.[1] ?? '').replace(ESCAPED, '$1')).slice(0, MAX_NAME_CHARS);
  return FILE_NAME.test(label) ? label : undefined;
}

const RANKS: Readonly<Record<Mention['by'], number>> = { tool: 0, again: 1, other: 2 };

/** Orders mentions: an asset belongs to the chat whose tool returned it. */
export function comesBefore(a: Mention, b: Mention): number {
  return RANKS[a.by] - RANKS[b.by];
}

function merged(before: Mention, after: Mention): Mention {
  const [best, rest] = comesBefore(after, before) < 0 ? [after, before] : [before, after];
  return best.name === undefined && rest.name !== undefined ? { ...best, name: rest.name } : best;
}
