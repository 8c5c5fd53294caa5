import { eachLine, visibleLine } from '../../base/lines.ts';
import { behindQuote } from '../edits/fileLink.ts';
import type { Turn } from '../format/chat.ts';
import { withoutComments } from '../format/comments.ts';
import { parseChat, turnBody } from '../format/parse.ts';
import { readSettings } from '../format/settings.ts';

const MAX_TITLE_CHARS = 60;
/** More of a line than any title shows. */
const MAX_LINE_CHARS = 1000;

/** A title from what the user asked first; nothing when no words were said. */
export function titleFor(text: string): string | undefined {
  for (const turn of parseChat(text).turns) {
    if (turn.role !== 'user') continue;
    const body = withoutComments(turnBody(text, turn));
    const title = firstWords(behindQuote(body)) ?? firstWords(body);
    if (title !== undefined) return title;
  }
  return undefined;
}

const MAX_EXCERPT_CHARS = 40;

/** The first words of a turn, as a reader sees them; nothing when it has none. */
export function excerptOf(text: string, turn: Turn): string | undefined {
  const head = text.slice(turn.bodyStart, Math.min(turn.end, turn.bodyStart + MAX_LINE_CHARS));
  return firstWords(withoutComments(head), MAX_EXCERPT_CHARS);
}

function firstWords(body: string, limit = MAX_TITLE_CHARS): string | undefined {
  for (const line of eachLine(body)) {
    if (/^\s*(?:`{3,}|~{3,})/.test(line.text)) continue;
    const words = wordsOf(line.text, limit);
    if (words !== undefined) return words;
  }
  return undefined;
}

/** The words of a line as a title has them; nothing when it has none. */
export function wordsOf(line: string, maxChars = MAX_TITLE_CHARS): string | undefined {
  const words = plainWords(line.slice(0, MAX_LINE_CHARS));
  return /[\p{L}\p{N}]/u.test(words) ? cutAtWord(words, maxChars) : undefined;
}

/** What a reader of the rendered line sees. */
function plainWords(line: string): string {
  return line
    .replace(/^[\s>]*(?:#{1,6}\s+|[-*+]\s+|\d{1,9}[.)]\s+)*(?:\[[ xX]\]\s+)?/, '')
    .replace(/!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])/g, '$1')
    .replace(/<[^<>]*>/g, (tag) => (/^<\/?[a-z]/i.test(tag) && !tag.includes('://') ? '' : tag.slice(1, -1)))
    .replace(/\\([!-/:-@[-`{-~])/g, '$1')
    .replace(/\*{1,3}|~~|`+|(?<![\p{L}\p{N}])_{1,3}|_{1,3}(?![\p{L}\p{N}])/gu, '')
    .replace(/[\p{Cc}\p{Default_Ignorable_Code_Point}]/gu, '')
    .replace(/\s+/g, ' ')
    .trim();
}

function cutAtWord(words: string, limit: number): string {
  const characters = [...words];
  if (characters.length <= limit) return words;
  const head = characters.slice(0, limit - 1).join('');
  const space = head.lastIndexOf(' ');
  // A first word that fills all of it is cut in the middle.
  const cut = space > head.length / 3 ? head.slice(0, space) : head;
  return `${cut.replace(/[\s,;:.–—-]+$/, '')}…`;
}

const MAX_GIVEN_TITLE_CHARS = 100;
const ASSET_LINK = /\]\((cmdassets\/[^()\s]+)\)/g;

/** What a list says of a chat. */
export interface ChatSummary {
  readonly model?: string;
  readonly turns: number;
  readonly assets: number;
}

/** The title that the chat gives itself, else its first words. The beginning of a chat is enough. */
export function chatTitle(text: string): string | undefined {
  const { title } = readSettings(parseChat(text)).settings;
  const line = title && visibleLine(title);
  return line ? [...line].slice(0, MAX_GIVEN_TITLE_CHARS).join('') : titleFor(text);
}

export function summarizeChat(text: string): ChatSummary {
  const chat = parseChat(text);
  const { model } = readSettings(chat).settings;
  const links = Array.from(text.matchAll(ASSET_LINK), ([, target]) => target);
  return { ...(model && { model }), turns: chat.turns.length, assets: new Set(links).size };
}

/** A typed name without the ending of chats. A save dialog may have added a part of the ending, or another one. */
export function chatStem(typed: string): string {
  return typed.replace(/(?<=.)(?:\.chat)?(?:\.md)?$/i, '');
}
