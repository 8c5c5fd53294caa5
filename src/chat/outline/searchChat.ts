import { endOfLine, startOfLine, visibleLine } from '../../base/lines.ts';
import type { Role, Turn } from '../format/chat.ts';
import { commentsOfTurn } from '../format/comments.ts';
import { parseChat } from '../format/parse.ts';
import { isWithin, type Region, shiftRegions, textOutside } from '../format/textEdit.ts';

export interface SearchHit {
  /** Absent if the title contains all words. */
  readonly role?: Role;
  readonly offset: number;
  /** The match with the text around it, on one line. */
  readonly snippet: string;
}

const MAX_WORDS = 16;
const CHARS_BEFORE = 32;
const CHARS_AFTER = 110;

export function searchWords(query: string): readonly string[] {
  const words = foldCase(query).split(/\s+/).filter(Boolean);
  return [...new Set(words)].slice(0, MAX_WORDS);
}

/** The turns that contain all words that the title does not, latest first. Comments are not searched. */
export function searchChat(
  text: string,
  title: string,
  words: readonly string[],
  maxHits: number,
): readonly SearchHit[] {
  if (words.length === 0) return [];
  const foldedTitle = foldCase(title);
  const missing = words.filter((word) => !foldedTitle.includes(word));
  const folded = foldCase(text);
  // Most chats do not contain all words, and this is cheaper than parsing.
  if (!missing.every((word) => folded.includes(word))) return [];
  const hits: SearchHit[] = missing.length === 0 ? [{ offset: 0, snippet: '' }] : [];
  const wanted = missing.length === 0 ? words : missing;
  for (const turn of parseChat(text).turns.toReversed()) {
    if (hits.length >= maxHits) break;
    const found = firstMatch(folded, turn, wanted);
    if (!found) continue;
    const { offset, comments } = found;
    hits.push({ role: turn.role, offset, snippet: snippetAt(text, offset, comments) });
  }
  return hits;
}

/** Lowercases without changing offsets: `İ` is the only letter that becomes longer. */
export function foldCase(text: string): string {
  return text.includes('İ') ? text.replace(/[^İ]+/g, (rest) => rest.toLowerCase()) : text.toLowerCase();
}

/** The first occurrence of any word, if the turn contains all of them. */
function firstMatch(folded: string, turn: Turn, words: readonly string[]) {
  const body = folded.slice(turn.bodyStart, turn.end);
  if (!words.every((word) => body.includes(word))) return undefined;
  const comments = commentsOfTurn(body, turn.role);
  const places = words.map((word) => visibleMatch(body, word, comments));
  const found = places.filter((place) => place !== undefined);
  if (found.length < words.length) return undefined;
  return { offset: turn.bodyStart + Math.min(...found), comments: shiftRegions(comments, turn.bodyStart) };
}

function visibleMatch(body: string, word: string, comments: readonly Region[]): number | undefined {
  for (let at = body.indexOf(word); at >= 0; at = body.indexOf(word, at + word.length)) {
    if (!isWithin(comments, at)) return at;
  }
  return undefined;
}

function snippetAt(text: string, offset: number, comments: readonly Region[]): string {
  const lineStart = startOfLine(text, offset);
  const lineEnd = endOfLine(text, offset);
  const start = Math.max(lineStart, offset - CHARS_BEFORE);
  const end = Math.min(lineEnd, offset + CHARS_AFTER);
  const words = visibleLine(textOutside(text, { start, end }, comments));
  return `${start > lineStart ? '…' : ''}${words}${end < lineEnd ? '…' : ''}`;
}
