import {
  beforeLineBreak,
  eachLine,
  endOfLine,
  type Line,
  startOfLine,
  trimBlankLines,
} from '../../base/lines.ts';
import type { TextEdit } from '../../ports/document.ts';
import type { Asset } from '../../ports/results.ts';
import { type Chat, readMarker, renderMarker, type Turn } from '../format/chat.ts';
import { FenceReader } from '../format/fence.ts';
import { nextAction } from '../format/nextAction.ts';
import { isEmptyTurn, parseChat } from '../format/parse.ts';
import { insertion, insertLines, skipBlankLines } from '../format/textEdit.ts';
import { readReasoning, readReplyText } from './escapeReply.ts';
import { ReplyLines } from './lines.ts';
import {
  type Cut,
  countClosingLines,
  REASONING_FENCE,
  REASONING_FOOT,
  REASONING_HEAD,
  readCut,
  renderCut,
} from './notes.ts';
import { type ReplyPiece, readReply, splitReply } from './read.ts';

/** Edits that write a reply. The cursor is a line in the text, so it survives other edits. */

/** Begins a reply in the empty assistant turn, or after the last turn with text. */
export function openReply(text: string, id: string): TextEdit | undefined {
  const chat = parseChat(text);
  if (chat.endsInFence) return undefined;
  const cursor = renderCut({ kind: 'writing', id });
  let end = chat.turns.length;
  const isEmpty = (turn: Turn | undefined, role: Turn['role']) =>
    turn?.role === role && isEmptyTurn(text, turn);
  while (isEmpty(chat.turns[end - 1], 'user')) end -= 1;
  const last = chat.turns[end - 1];
  if (last && isEmpty(last, 'assistant')) {
    const gap = text.slice(0, last.bodyStart).endsWith('\n') ? '' : '\n';
    const follows = last.end < text.length ? '\n' : '';
    return { start: last.bodyStart, end: last.end, text: `${gap}${cursor}\n${follows}` };
  }
  const at = chat.turns[end]?.start ?? text.length;
  return insertLines(text, at, `${renderMarker('assistant')}\n${cursor}\n`);
}

/** A caller that reads a chat repeatedly can pass a faster parser. */
type ParseChat = (text: string) => Chat;

export function appendToReply(
  text: string,
  id: string,
  addition: string,
  parse: ParseChat = parseChat,
): TextEdit | undefined {
  const cursor = findCursor(text, id, parse);
  if (!cursor) return undefined;
  const at = cursor.isFirst ? cursor.lineStart : beforeLineBreak(text, cursor.lineStart);
  return insertion(at, cursor.isFirst && addition !== '' ? `${addition}\n` : addition);
}

/** Replaces what was appended last. Not possible if the user has changed it. */
export function replaceInReply(
  text: string,
  id: string,
  { before, after }: { readonly before: string; readonly after: string },
  parse: ParseChat = parseChat,
): TextEdit | undefined {
  const cursor = findCursor(text, id, parse);
  if (!cursor) return undefined;
  const written = text.includes('\r\n') ? before.replaceAll('\n', '\r\n') : before;
  const end = beforeLineBreak(text, cursor.lineStart);
  const start = Math.max(0, end - written.length);
  return text.slice(start, end) === written ? { start, end, text: after } : undefined;
}

export type ReplyOutcome =
  | { readonly kind: 'whole' }
  | { readonly kind: 'interrupted'; readonly reason: string; readonly closeFence?: string };

/** Removes the cursor, or replaces it with a note that the reply is incomplete. */
export function closeReply(
  text: string,
  id: string,
  outcome: ReplyOutcome,
  parse: ParseChat = parseChat,
): TextEdit | undefined {
  const cursor = findCursor(text, id, parse);
  if (!cursor) return undefined;
  const note = outcome.kind === 'whole' ? '' : renderInterruption(outcome);
  const typedBefore = text.slice(cursor.lineStart, cursor.start).trim() !== '';
  const typedBehind = text.slice(cursor.end, cursor.lineEnd).trim() !== '';
  if (typedBefore) {
    const written = note && `\n${note}${typedBehind ? '\n' : ''}`;
    return { start: cursor.start, end: cursor.end, text: written };
  }
  const end = typedBehind ? cursor.end : skipBlankLines(text, cursor.lineEnd);
  const gap = gapBefore(text, end);
  const above = text.slice(0, cursor.lineStart);
  if (note === '') return { start: endOfLine(above, above.trimEnd().length), end, text: gap };
  // Trailing white space may be inside code, so it is kept.
  return { start: beforeLineBreak(text, cursor.lineStart), end, text: `\n${note}${gap}` };
}

/** Text that the user has typed below the cursor becomes the next user turn. */
function gapBefore(text: string, end: number): string {
  if (end >= text.length) return '\n';
  const [line] = eachLine(text, end);
  return readMarker(line?.text ?? '') ? '\n\n' : `\n\n${renderMarker('user')}\n`;
}

export function reopenReply(text: string, id: string): TextEdit | undefined {
  const cut = parseChat(text).turns.findLast((turn) => turn.cut);
  const place = findCut(text, cut);
  if (!place) return undefined;
  const cursor = renderCut({ kind: 'writing', id });
  const gap = place.keptEnd > place.turn.bodyStart ? '\n' : '';
  return { start: place.keptEnd, end: place.noteEnd, text: `${gap}${cursor}` };
}

/** The reply to resume. */
export function partialReply(text: string): PartialReply | undefined {
  const chat = parseChat(text);
  if (nextAction(text, chat).kind !== 'resume') return undefined;
  const place = findCut(
    text,
    chat.turns.findLast(({ role }) => role === 'assistant'),
  );
  return place && readPartialReply(text.slice(place.turn.bodyStart, place.keptEnd));
}

function renderInterruption({ reason, closeFence }: Extract<ReplyOutcome, { kind: 'interrupted' }>): string {
  const note = renderCut({ kind: 'interrupted', reason, inCode: closeFence !== undefined });
  return closeFence === undefined ? note : `${closeFence}\n${note}`;
}

function findCursor(text: string, id: string, parse: ParseChat) {
  const note = renderCut({ kind: 'writing', id });
  const ownLine = text.lastIndexOf(`\n${note}`);
  const start = ownLine >= 0 ? ownLine + 1 : text.lastIndexOf(note);
  const lineStart = startOfLine(text, start);
  if (start < 0 || lineStart === 0) return undefined;
  const above = text.slice(0, lineStart);
  const turn = parse(above).turns.at(-1);
  // A fence that the user is typing further up may hide the marker.
  const markers =
    turn?.role === 'assistant'
      ? []
      : [...eachLine(above, turn?.bodyStart)].filter(
          ({ text: line }) => readMarker(line)?.role === 'assistant',
        );
  if (turn?.role !== 'assistant' && markers.length === 0) return undefined;
  const lineEnd = endOfLine(text, start);
  // The reply is empty: the line above is the turn marker.
  const isFirst = turn?.bodyStart === lineStart || markers.at(-1)?.next === lineStart;
  return { lineStart, start, end: start + note.length, lineEnd, isFirst };
}

/** `keptEnd` is the end of the reply, without the lines that were added when it was cut. */
function findCut(text: string, turn: Turn | undefined) {
  if (!turn?.cut) return undefined;
  const lines = [...eachLine(text.slice(0, turn.end), turn.bodyStart)];
  const at = lines.findLastIndex((line) => readCut(line.text) !== undefined);
  const note = lines[at];
  if (!note) return undefined;
  const kept = lines.slice(0, at);
  dropPartialCalls(kept);
  dropClosingLines(kept, turn.cut);
  const last = kept.at(-1);
  const keptEnd = last ? last.start + last.text.length : turn.bodyStart;
  return { turn, keptEnd, noteEnd: note.start + note.text.indexOf('-->') + 3 };
}

/** Drops incomplete calls, which the model repeats. */
function dropPartialCalls(lines: Line[]): void {
  const partial: { readonly from: number; readonly to: number }[] = [];
  const fences = new FenceReader(true);
  let from = -1;
  for (const [at, line] of lines.entries()) {
    const state = fences.step(line.text);
    if (state === 'opened') from = fences.open?.info.startsWith('tool_call_partial') ? at : -1;
    if (state === 'closed' && from >= 0) partial.push({ from, to: at });
    if (state === 'closed') from = -1;
  }
  for (const call of partial.toReversed()) {
    if (lines.slice(call.to + 1).some((line) => line.text.trim() !== '')) return;
    const gap = lines[call.from - 1]?.text === '' ? 1 : 0;
    lines.length = call.from - gap;
  }
}

/** Drops the lines that closed the code in which the reply was cut. */
function dropClosingLines(lines: Line[], cut: Cut): void {
  const count = countClosingLines(lines.map((line) => line.text));
  if (count > 0) lines.length -= count;
  else if (cut.kind === 'interrupted' && cut.inCode && /^(`{3,}|~{3,})$/.test(lines.at(-1)?.text ?? '')) {
    lines.pop();
  }
}

export interface PartialReply {
  /** The text of the reply without reasoning, calls and notes. */
  readonly text: string;
  readonly endsInCode: boolean;
  /** The text since the last reasoning or call; new text continues its last line. */
  readonly tail: string;
  /** Closes the reasoning block at the end, if one is open. */
  readonly unclosed: string;
  /** The files that the model has made, drafts included. */
  readonly files: readonly Asset[];
  /** What Filechat has written between the texts: problems, and calls that the provider has run. */
  readonly blocks: readonly string[];
  readonly isEmpty: boolean;
}

function readPartialReply(written: string): PartialReply {
  const body = written.replaceAll('\r\n', '\n');
  const pieces = splitReply(body);
  const last = pieces.at(-1);
  // An empty last line counts.
  const lines = last?.kind === 'text' ? last.lines.join('\n') + (body.endsWith('\n') ? '\n' : '') : '';
  const isEnded = lines.trim() === '' || isProblem(lines.trimEnd().split('\n').at(-1) ?? '');
  const tail = isEnded ? '' : withoutBlankLinesAbove(readReplyText(lines));
  const texts = readReply(body).flatMap((part) =>
    part.kind === 'text' && part.text !== '' ? [part.text] : [],
  );
  const before = tail === '' ? texts : [...texts.slice(0, -1), tail];
  const probe = new ReplyLines('read');
  probe.push(`${lines}\n`);
  return {
    text: before.join('\n\n'),
    endsInCode: probe.inFence,
    tail,
    unclosed: closingOf(body, pieces),
    files: pieces.flatMap((piece) => (piece.kind === 'file' ? [piece.asset] : [])),
    blocks: pieces.flatMap(blocksOf),
    isEmpty: body.trim() === '',
  };
}

function blocksOf(piece: ReplyPiece): readonly string[] {
  if (piece.kind === 'ownCall') return [readReasoning(piece.lines)];
  return piece.kind === 'text' ? piece.lines.filter(isProblem) : [];
}

/** A line in place of a file that the model has made, and not one of its own quotes. */
function isProblem(line: string): boolean {
  return /^> ⚠ (?:The (?:image|audio|file)\b|Could not save )/.test(line);
}

/** The reply's own words, which a model may repeat when it continues. */
export function withoutProblems(text: string): string {
  return text
    .split('\n\n')
    .filter((each) => !isProblem(each))
    .join('\n\n');
}

/** The end is kept because the model continues exactly there. */
function withoutBlankLinesAbove(text: string): string {
  const words = trimBlankLines(text);
  return text.slice(text.indexOf(words));
}

function closingOf(body: string, pieces: readonly ReplyPiece[]): string {
  const isBlank = (piece: ReplyPiece) => piece.kind === 'text' && piece.lines.join('').trim() === '';
  const last = pieces.findLast((piece) => piece.kind !== 'metadata' && !isBlank(piece));
  const end = body.trimEnd();
  if (!body.includes(REASONING_HEAD) || end.endsWith(`\n${REASONING_FOOT}`)) return '';
  if (last?.kind === 'file' && last.isDraft) return `\n\n${REASONING_FOOT}`;
  if (last?.kind !== 'reasoning') return '';
  return last.closed ? `\n\n${REASONING_FOOT}` : `\n${REASONING_FENCE}\n\n${REASONING_FOOT}`;
}
