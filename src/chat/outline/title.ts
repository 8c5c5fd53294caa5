import { eachLine, visibleLine } from '../../base/lines.ts';
import { textAfterQuote } from '../edits/fileLink.ts';
import { renderToolName } from '../format/callInfo.ts';
import type { Turn } from '../format/chat.ts';
import { withoutComments } from '../format/comments.ts';
import { readSettings } from '../format/frontMatter.ts';
import { parseChat, turnBody } from '../format/parse.ts';

const MAX_TITLE_CHARS = 60;
/** More than any title shows. */
const MAX_LINE_CHARS = 1000;

/** A title from the user's first message, or the tool that the user calls; `undefined` if there is no text. */
export function titleFor(text: string, maxChars = MAX_TITLE_CHARS): string | undefined {
  const turns = parseChat(text).turns.filter(({ role }) => role === 'user');
  for (const turn of turns) {
    const body = withoutComments(bodyWithoutCalls(text, turn));
    const title = firstWords(textAfterQuote(body), maxChars) ?? firstWords(body, maxChars);
    if (title !== undefined) return title;
  }
  const [call] = turns.flatMap(({ calls }) => calls);
  return call && renderedText(renderToolName(call), maxChars);
}

function bodyWithoutCalls(text: string, turn: Turn): string {
  if (turn.calls.length === 0) return turnBody(text, turn);
  const starts = [turn.bodyStart, ...turn.calls.map(({ end }) => end)];
  const ends = [...turn.calls.map(({ start }) => start), turn.end];
  return starts.map((start, at) => text.slice(start, ends[at])).join('\n');
}

const MAX_EXCERPT_CHARS = 40;

export function excerptOf(text: string, turn: Turn): string | undefined {
  const head = text.slice(turn.bodyStart, Math.min(turn.end, turn.bodyStart + MAX_LINE_CHARS));
  return firstWords(withoutComments(head), MAX_EXCERPT_CHARS);
}

function firstWords(body: string, limit = MAX_TITLE_CHARS): string | undefined {
  for (const line of eachLine(body)) {
    if (/^\s*(?:`{3,}|~{3,})/.test(line.text)) continue;
    const words = renderedText(line.text, limit);
    if (words !== undefined) return words;
  }
  return undefined;
}

/** The text of a line as rendered; `undefined` if it has no letters or digits. */
export function renderedText(line: string, maxChars = MAX_TITLE_CHARS): string | undefined {
  const words = plainWords(line.slice(0, MAX_LINE_CHARS));
  return /[\p{L}\p{N}]/u.test(words) ? cutAtWord(words, maxChars) : undefined;
}

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
  // If the first word fills the title, cut inside the word.
  const cut = space > head.length / 3 ? head.slice(0, space) : head;
  return `${cut.replace(/[\s,;:.–—-]+$/, '')}…`;
}

const MAX_GIVEN_TITLE_CHARS = 100;
const ASSET_LINK = /\]\((cmdassets\/[^()\s]+)\)/g;

export interface ChatSummary {
  readonly model?: string;
  readonly turns: number;
  readonly assets: number;
}

/** The `title` setting, otherwise the first words. The beginning of a chat is sufficient input. */
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

/** A typed name without the chat extension. A save dialog may have added a part of it, or all of it once more. */
export function chatStem(typed: string): string {
  return typed.replace(/(?<=.)(?:\.chat|\.md)+$/i, '');
}
