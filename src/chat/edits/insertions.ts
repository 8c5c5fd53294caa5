import { eachLine } from '../../base/lines.ts';
import type { TextEdit } from '../../ports.ts';
import { FenceReader } from '../format/fence.ts';
import { renderMarker } from '../format/marker.ts';
import { parseChat, type Turn, turnBody } from '../format/parse.ts';
import { append, insertAfterMarker } from './append.ts';

/**
 * Where something that a server gave goes in a chat. Each function takes the current text and says what to change in
 * it; none deletes a word of the user's. The Markdown has gone through a renderer that leaves nothing open.
 */

/** Puts Markdown at the end of the user's last turn, or into a new one. Nothing can be appended to open code. */
export function insertIntoUserTurn(text: string, markdown: string): TextEdit | undefined {
  const chat = parseChat(text);
  if (chat.endsInFence) return undefined;
  const last = chat.turns.at(-1);
  const open = last?.role === 'user' && leavesNothingOpen(turnBody(text, last)) ? last : undefined;
  if (!open) return append(text, `${renderMarker('user')}\n${markdown}\n`);
  return isEmpty(text, open) ? insertAfterMarker(text, open, `${markdown}\n`) : append(text, `${markdown}\n`);
}

export interface NewTurn {
  readonly role: 'user' | 'assistant';
  readonly markdown: string;
}

/**
 * Writes turns in their order. They take the place of an empty turn of the user's at the end, and the user has the
 * last word: if that is not among the turns, an empty turn waits for it.
 */
export function appendTurns(text: string, turns: readonly NewTurn[]): TextEdit | undefined {
  const chat = parseChat(text);
  const [first] = turns;
  if (chat.endsInFence || !first) return undefined;
  const last = chat.turns.at(-1);
  const empty = last?.role === 'user' && isEmpty(text, last) ? last : undefined;
  const written = turns.map(({ role, markdown }) => `${renderMarker(role)}\n${markdown}\n`);
  if (turns.at(-1)?.role !== 'user') written.push(`${renderMarker('user')}\n`);
  if (empty && first.role === 'user') {
    return insertAfterMarker(text, empty, [`${first.markdown}\n`, ...written.slice(1)].join('\n'));
  }
  // What the user has written behind the marker stays, and so does the marker.
  if (empty?.words === '') return { start: empty.start, end: empty.end, text: written.join('\n') };
  return append(text, written.join('\n'));
}

function isEmpty(text: string, turn: Turn): boolean {
  return turnBody(text, turn).trim() === '';
}

/** What stands behind open code in a list, or behind an open comment, would be read as a part of it. */
function leavesNothingOpen(body: string): boolean {
  const fences = new FenceReader();
  for (const line of eachLine(body)) fences.step(line.text);
  const comment = body.lastIndexOf('<!--');
  const isCommentOpen = comment >= 0 && !body.includes('-->', comment + 4);
  return fences.open === undefined && !fences.inComment && !isCommentOpen;
}
