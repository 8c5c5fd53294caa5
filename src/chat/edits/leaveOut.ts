import type { TextEdit } from '../../ports/document.ts';
import type { Turn } from '../format/chat.ts';
import { findComments } from '../format/comments.ts';
import { turnBody } from '../format/parse.ts';

/**
 * Puts a part of a turn into comments, so that it stays in the file but is not sent. Existing comments are kept.
 * Returns `undefined` if the text would end the comment.
 */
export function leaveOutRegion(
  text: string,
  turn: Turn,
  region: Pick<TextEdit, 'start' | 'end'>,
): TextEdit | undefined {
  const body = turnBody(text, turn);
  const pieces: string[] = [];
  let from = region.start;
  const hide = (end: number): boolean => {
    const piece = text.slice(from, end);
    if (/<!--|-->/.test(piece)) return false;
    pieces.push(commentOut(piece));
    return true;
  };
  for (const comment of findComments(body)) {
    const start = turn.bodyStart + comment.start;
    const end = turn.bodyStart + comment.end;
    if (end <= region.start || start >= region.end) continue;
    if (start < from || end > region.end || !hide(start)) return undefined;
    pieces.push(text.slice(start, end));
    from = end;
  }
  if (!hide(region.end)) return undefined;
  const written = pieces.join('');
  return written === text.slice(region.start, region.end)
    ? undefined
    : { start: region.start, end: region.end, text: written };
}

/** Puts a whole turn into comments. Turns with calls are part of the history and must be sent. */
export function leaveOutTurn(text: string, turn: Turn): TextEdit | undefined {
  if (turn.calls.length > 0 || turn.cut || turn.role === 'tool') return undefined;
  return leaveOutRegion(text, turn, { start: turn.bodyStart, end: turn.end });
}

/** White space stays outside, so that the next turn still begins on its own line. */
function commentOut(piece: string): string {
  const words = piece.trim();
  if (words === '') return piece;
  const at = piece.indexOf(words);
  const isLong = words.includes('\n');
  const comment = isLong ? `<!--\n${words}\n-->` : `<!-- ${words} -->`;
  return `${piece.slice(0, at)}${comment}${piece.slice(at + words.length)}`;
}
