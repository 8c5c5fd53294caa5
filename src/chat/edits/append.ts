import { eachLine } from '../../base/lines.ts';
import type { TextEdit } from '../../ports/document.ts';
import type { ToolCall, ToolName } from '../../ports/tools.ts';

import { renderCall, renderToolName } from '../format/calls.ts';
import type { Turn } from '../format/chat.ts';
import { FenceReader } from '../format/fence.ts';
import { renderMarker } from '../format/marker.ts';
import { answeredCall, answersTo, isSameCall, nextAction } from '../format/nextAction.ts';
import { parseChat, turnBody } from '../format/parse.ts';

/** Each function takes the current text and says what to change in it; none deletes a word of the user's. */

export function newChat(content = ''): string {
  return `${renderMarker('user')}\n${content}${content && !content.endsWith('\n') ? '\n' : ''}`;
}

/** Writes a call at the end of the user's last turn, or in a new one. Nothing can be appended to open code. */
export function appendCall(text: string, call: ToolCall): TextEdit | undefined {
  const { turns, endsInFence } = parseChat(text);
  if (endsInFence) return undefined;
  const last = turns.at(-1);
  const block = `${renderCall(call)}\n`;
  if (last?.role !== 'user') return append(text, `${renderMarker('user')}\n${block}`);
  const empty = turnBody(text, last).trim() === '';
  // Below an empty marker the block needs no blank line, below text it does.
  return empty ? insertAfterMarker(text, last, block) : append(text, block);
}

/** Gives the first pending call without an id one that is new to the file. */
export function assignCallId(text: string): TextEdit | undefined {
  const action = nextAction(text);
  const call = action.kind === 'runTools' ? action.calls.find((each) => each.id === undefined) : undefined;
  return call && { start: call.infoEnd, end: call.infoEnd, text: ` ${newCallId(text)}` };
}

/**
 * `c1`, `c2`, …: short, because people read them. Only real ids count, so no text can use them up.
 * `last` is one that is taken but not written yet.
 */
export function newCallId(text: string, last?: string): string {
  const { turns } = parseChat(text);
  const calls = turns.flatMap((turn) => turn.calls.map((call) => call.id));
  const answered = turns.filter((turn) => turn.role === 'tool').map((turn) => answeredCall(turn).id);
  const taken = new Set([...calls, ...answered, last]);
  let number = 0;
  for (const id of taken) number = Math.max(number, Number(/^c(\d{1,6})$/.exec(id ?? '')?.[1] ?? 0));
  do number += 1;
  while (taken.has(`c${number}`));
  return `c${number}`;
}

/**
 * Writes a result as a tool turn behind the turn that made the call, in the order of its calls.
 * When the call is gone, the result still goes to the end of the file: it may have cost something.
 */
export function fillToolResult(text: string, call: NamedCall, body: string): TextEdit {
  const chat = parseChat(text);
  const turn = `${renderMarker('tool', `${renderToolName(call)} ${call.id}`)}\n${body}\n`;
  const place = placeForResult(chat.turns, call);
  if (!chat.endsInFence || (place && place.turnEnd < text.length)) {
    return insertAt(text, place?.turnEnd ?? text.length, turn);
  }
  return insertAboveOpenCode(chat.turns, turn, place?.callEnd);
}

type NamedCall = ToolName & { readonly id: string };

/** Gives the user the last word: a turn to write in, unless the file ends with one. */
export function endWithUserTurn(text: string): TextEdit | undefined {
  const { turns, endsInFence } = parseChat(text);
  if (endsInFence || turns.at(-1)?.role === 'user') return undefined;
  return append(text, `${renderMarker('user')}\n`);
}

/**
 * Ends a run: whatever comes next, the user has a turn to write in. Without it, a correction would become part of the
 * reply above. An empty assistant turn is the user's own request for a reply, and stays the last turn.
 */
export function endRun(text: string): TextEdit | undefined {
  const last = parseChat(text).turns.at(-1);
  const asksForReply = last?.role === 'assistant' && turnBody(text, last).trim() === '';
  return asksForReply ? undefined : endWithUserTurn(text);
}

/** Behind the call's turn and the answers of its earlier calls; and where the call itself ends. */
function placeForResult(turns: readonly Turn[], wanted: NamedCall) {
  for (let at = turns.length - 1; at >= 0; at -= 1) {
    const { calls = [], end = 0 } = turns[at] ?? {};
    const same = calls.filter((call) => isSameCall(call, wanted));
    const followers = answersTo(turns, at);
    // Of calls that share an id, the first without an answer is meant.
    const answered = followers.filter((turn) => isSameCall(answeredCall(turn), wanted)).length;
    const call = same[Math.min(answered, same.length - 1)];
    if (!call) continue;
    const later = calls.slice(calls.indexOf(call) + 1).filter((each) => !isSameCall(each, wanted));
    const next = followers.find((turn) => later.some((each) => isSameCall(answeredCall(turn), each)));
    return { turnEnd: next?.start ?? followers.at(-1)?.end ?? end, callEnd: call.end };
  }
  return undefined;
}

/** Somebody is in the middle of writing code: the result goes above it, and the code keeps a turn of its own. */
function insertAboveOpenCode(turns: readonly Turn[], turn: string, callEnd: number | undefined): TextEdit {
  const last = turns.at(-1);
  const start = callEnd ?? last?.start ?? 0;
  const hasMarker = callEnd === undefined && last !== undefined && last.start < last.bodyStart;
  const marker = hasMarker ? '' : `${renderMarker(last?.role ?? 'user')}\n`;
  return { start, end: start, text: `${callEnd === undefined ? '' : '\n'}${turn}\n${marker}` };
}

function append(text: string, addition: string): TextEdit {
  return insertAt(text, text.length, addition);
}

/** Inserts whole lines with one blank line before them and, if anything follows, one behind. */
function insertAt(text: string, at: number, addition: string): TextEdit {
  const before = text.slice(Math.max(0, at - 4), at).replaceAll('\r', '');
  const gap = at === 0 || before.endsWith('\n\n') ? '' : before.endsWith('\n') ? '\n' : '\n\n';
  return { start: at, end: at, text: `${gap}${addition}${at < text.length ? '\n' : ''}` };
}

function insertAfterMarker(text: string, turn: Turn, addition: string): TextEdit {
  const gap = text.slice(0, turn.bodyStart).endsWith('\n') ? '' : '\n';
  // White space below the marker is replaced; it is not a word of the user's.
  return { start: turn.bodyStart, end: turn.end, text: `${gap}${addition}` };
}

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
