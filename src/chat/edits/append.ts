import { eachLine } from '../../base/lines.ts';
import type { TextEdit } from '../../ports/document.ts';
import type { ToolCall } from '../../ports/tools.ts';
import {
  type NamedCall,
  renderCall,
  renderCallName,
  renderSentId,
  type SentMark,
} from '../format/callInfo.ts';
import { renderMarker, type Turn } from '../format/chat.ts';
import { FenceReader, NOTE_START } from '../format/fence.ts';
import { answeredCall, answersTo, isSameCall, nextAction, openCalls } from '../format/nextAction.ts';
import { isEmptyTurn, parseChat, turnBody } from '../format/parse.ts';
import { insertion, insertLines } from '../format/textEdit.ts';

/** Edits that add to a chat. They are computed from the current text and never delete the user's text. */

export function newChat(content = ''): string {
  return `${renderMarker('user')}\n${content}${content && !content.endsWith('\n') ? '\n' : ''}`;
}

/** Appends a call to the last user turn, or in a new one. Not possible if code is open. */
export function appendCall(text: string, call: ToolCall): TextEdit | undefined {
  return insertIntoUserTurn(text, renderCall(call));
}

/** Adds an id to the first pending call that has none. */
export function assignCallId(text: string): TextEdit | undefined {
  const action = nextAction(text);
  const call = action.kind === 'runTools' ? action.calls.find((each) => each.id === undefined) : undefined;
  return call && insertion(call.infoEnd, ` ${newCallId(text)}`);
}

/** Only ids of calls count, so text cannot use them up. `last` is an id that is not written yet. */
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
 * Writes a result as a tool turn after the turn of its call, in the order of the calls. If the call was deleted,
 * the result goes to the end of the file, because it may have been expensive.
 */
export function fillToolResult(text: string, call: NamedCall, body: string): TextEdit {
  const chat = parseChat(text);
  const turn = `${renderMarker('tool', renderCallName(call))}\n${body}\n`;
  const place = placeForResult(chat.turns, call);
  const empty = place && emptyToolTurn(text, chat.turns, place.callEnd);
  if (empty)
    return { start: empty.start, end: empty.end, text: empty.end < text.length ? `${turn}\n` : turn };
  if (!chat.endsInFence || (place && place.turnEnd < text.length)) {
    return insertLines(text, place?.turnEnd ?? text.length, turn);
  }
  return insertAboveOpenCode(chat.turns, turn, place?.callEnd);
}

/** The empty turn with which chat.md asks for the result of the call before it. */
function emptyToolTurn(text: string, turns: readonly Turn[], callEnd: number): Turn | undefined {
  const caller = turns.findIndex(({ start, end }) => start < callEnd && callEnd <= end);
  return answersTo(turns, caller).find((turn) => turn.markerText === '' && isEmptyTurn(text, turn));
}

/** Adds an empty user turn unless the file ends with a user turn. */
export function endWithUserTurn(text: string): TextEdit | undefined {
  const { turns, endsInFence } = parseChat(text);
  if (endsInFence || turns.at(-1)?.role === 'user') return undefined;
  return append(text, `${renderMarker('user')}\n`);
}

/** Ends a run with a user turn. An empty assistant turn is a request for a reply and stays last. */
export function endRun(text: string): TextEdit | undefined {
  const last = parseChat(text).turns.at(-1);
  const asksForReply = last?.role === 'assistant' && isEmptyTurn(text, last);
  return asksForReply ? undefined : endWithUserTurn(text);
}

/** After the turn of the call and the results of its earlier calls, and where the call itself ends. */
function placeForResult(turns: readonly Turn[], wanted: NamedCall) {
  for (let at = turns.length - 1; at >= 0; at -= 1) {
    const { calls = [], end = 0 } = turns[at] ?? {};
    const same = calls.filter((call) => isSameCall(call, wanted));
    if (same.length === 0) continue;
    const followers = answersTo(turns, at);
    // Of calls with the same id, use the first without a result.
    const answered = followers.filter((turn) => isSameCall(answeredCall(turn), wanted)).length;
    const call = same[Math.min(answered, same.length - 1)];
    if (!call) continue;
    const later = calls.slice(calls.indexOf(call) + 1).filter((each) => !isSameCall(each, wanted));
    const next = followers.find((turn) => later.some((each) => isSameCall(answeredCall(turn), each)));
    return { turnEnd: next?.start ?? followers.at(-1)?.end ?? end, callEnd: call.end };
  }
  return undefined;
}

/** The user is typing code: insert the result above it, and put the code in its own turn. */
function insertAboveOpenCode(turns: readonly Turn[], turn: string, callEnd: number | undefined): TextEdit {
  const last = turns.at(-1);
  const start = callEnd ?? last?.start ?? 0;
  const hasMarker = callEnd === undefined && last !== undefined && last.start < last.bodyStart;
  const marker = hasMarker ? '' : `${renderMarker(last?.role ?? 'user')}\n`;
  return insertion(start, `${callEnd === undefined ? '' : '\n'}${turn}\n${marker}`);
}

function append(text: string, addition: string): TextEdit {
  return insertLines(text, text.length, addition);
}

function insertAfterMarker(text: string, turn: Turn, addition: string): TextEdit {
  const gap = text.slice(0, turn.bodyStart).endsWith('\n') ? '' : '\n';
  // Replaces only white space.
  return { start: turn.bodyStart, end: turn.end, text: `${gap}${addition}` };
}

/** Appends Markdown, which must leave nothing open, to the last user turn or in a new one. */
export function insertIntoUserTurn(text: string, markdown: string): TextEdit | undefined {
  const chat = parseChat(text);
  if (chat.endsInFence) return undefined;
  const last = chat.turns.at(-1);
  const open = last?.role === 'user' && leavesNothingOpen(turnBody(text, last)) ? last : undefined;
  if (!open) return append(text, `${renderMarker('user')}\n${markdown}\n`);
  return isEmptyTurn(text, open)
    ? insertAfterMarker(text, open, `${markdown}\n`)
    : append(text, `${markdown}\n`);
}

export interface NewTurn {
  readonly role: 'user' | 'assistant';
  readonly markdown: string;
}

/** Appends turns in place of an empty user turn at the end, and ends with a user turn. */
export function appendTurns(text: string, turns: readonly NewTurn[]): TextEdit | undefined {
  const chat = parseChat(text);
  const [first] = turns;
  if (chat.endsInFence || !first) return undefined;
  const last = chat.turns.at(-1);
  const empty = last?.role === 'user' && isEmptyTurn(text, last) ? last : undefined;
  const written = turns.map(({ role, markdown }) => `${renderMarker(role)}\n${markdown}\n`);
  if (turns.at(-1)?.role !== 'user') written.push(`${renderMarker('user')}\n`);
  if (empty && first.role === 'user') {
    return insertAfterMarker(text, empty, [`${first.markdown}\n`, ...written.slice(1)].join('\n'));
  }
  // Text after the marker is the user's, so then the marker stays.
  if (empty?.markerText === '') return { start: empty.start, end: empty.end, text: written.join('\n') };
  return append(text, written.join('\n'));
}

/** Text after open code in a list, or after an open comment, would become part of it. */
function leavesNothingOpen(body: string): boolean {
  const fences = new FenceReader();
  for (const line of eachLine(body)) fences.step(line.text);
  const comment = body.lastIndexOf('<!--');
  const isCommentOpen = comment >= 0 && !body.includes('-->', comment + 4);
  return fences.open === undefined && !fences.inComment && !isCommentOpen;
}

/** Written before a call is sent. After a crash, the mark prevents sending the call again. */
export function markSent(text: string, wanted: NamedCall): TextEdit | undefined {
  const { turns } = parseChat(text);
  for (let at = turns.length - 1; at >= 0; at -= 1) {
    const call = openCalls(turns, at).find((each) => !each.sent && isSameCall(each, wanted));
    if (!call) continue;
    const gap = text[call.end - 1] === '\n' ? '' : '\n';
    const note = `${gap}${NOTE_START}sent ${renderSentId(wanted.id)} -->\n`;
    return insertion(call.end, note);
  }
  return undefined;
}

export function removeSentMark(text: string, { id }: NamedCall): TextEdit | undefined {
  const marks = parseChat(text).turns.flatMap(({ sent = [] }) => sent);
  const mark = marks.findLast((each) => each.id === renderSentId(id));
  return mark && removal(text, mark);
}

export function unansweredCalls(text: string): readonly NamedCall[] {
  const { turns } = parseChat(text);
  return turns
    .flatMap(({ sent }, at) => (sent ? openCalls(turns, at) : []))
    .flatMap(({ server, tool, id, sent }) => (sent && id !== undefined ? [{ server, tool, id }] : []));
}

/** Removes a mark without an open call: its call has a result, or was changed or deleted. */
export function removeStaleMark(text: string): TextEdit | undefined {
  const { turns } = parseChat(text);
  const [stale] = turns.flatMap(({ sent = [] }, at) => {
    const current = new Set(sent.length === 0 ? [] : openCalls(turns, at).map((call) => call.sent));
    return sent.filter((mark) => !current.has(mark));
  });
  return stale && removal(text, stale);
}

function removal(text: string, { start, end }: SentMark): TextEdit {
  const lineEnd = /\r?\n/y;
  lineEnd.lastIndex = end;
  return { start, end: end + (lineEnd.exec(text)?.[0].length ?? 0), text: '' };
}
