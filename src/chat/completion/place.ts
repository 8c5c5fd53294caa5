import { eachLine } from '../../base/lines.ts';
import { turnAt } from '../edits/fork.ts';
import type { WrittenCall } from '../format/calls.ts';
import type { Chat, Turn } from '../format/chat.ts';
import { FenceReader } from '../format/fence.ts';

import { stepReplyLine } from '../reply/notes.ts';
import { type SettingPlace, settingPlace } from './settingPlace.ts';

/** What is being typed at the cursor. Offsets are in the file. */
export type Place =
  // After `#`, `@`, or `/` at the start of a line.
  | TypedPlace<'file'>
  | TypedPlace<'mention'>
  | TypedPlace<'command'>
  // A line that is becoming a marker.
  | TypedPlace<'role'>
  // The tool name on the first line of a call.
  | TypedPlace<'tool'>
  | ArgumentPlace
  | SettingPlace;

interface TypedPlace<Kind> {
  readonly kind: Kind;
  /** The offset of the trigger character, or of the typed text if there is none. */
  readonly start: number;
  /** Without the trigger character. */
  readonly typed: string;
}

export interface ArgumentPlace {
  readonly kind: 'arguments';
  readonly call: WrittenCall;
  readonly start: number;
  /** In the arguments. */
  readonly offset: number;
}

/** Returns `undefined` in code, in turns of others, and within words, URLs and numbers. */
export function placeAt(text: string, chat: Chat, offset: number): Place | undefined {
  const line = lineAround(text, offset);
  const setting = settingPlace(text, chat, offset);
  if (setting !== 'elsewhere') return setting;
  const turn = turnAt(chat, offset);
  if (turn && line.start === turn.start && turn.start < turn.bodyStart) return undefined;
  const within = argumentPlace(text, turn, offset);
  if (within) return within;
  // The line alone rules out most places, without reading the turn.
  const found = readLine(line.before, line.start);
  if (!found || (found.kind !== 'role' && turn !== undefined && turn.role !== 'user')) return undefined;
  if (isInPreamble(chat, offset)) return undefined;
  return isProse(text, turn, line.start) ? found : undefined;
}

/** Returns `undefined` for a chat.md call, whose arguments are not JSON. */
export function argumentsStart(text: string, call: WrittenCall): number | undefined {
  const start = text.indexOf('\n', call.infoEnd) + 1;
  return start > 0 && text.startsWith(call.argumentsText, start) ? start : undefined;
}

interface AroundLine {
  readonly start: number;
  /** From the start of the line to the cursor. */
  readonly before: string;
}

/** Longer than any typed name; avoids copying very long lines. */
const MAX_TYPED_CHARS = 1000;

function lineAround(text: string, offset: number): AroundLine {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  return { start, before: offset - start > MAX_TYPED_CHARS ? '' : text.slice(start, offset) };
}

function argumentPlace(text: string, turn: Turn | undefined, offset: number): ArgumentPlace | undefined {
  for (const call of turn?.calls ?? []) {
    const start = argumentsStart(text, call);
    if (start === undefined || offset < start) continue;
    if (offset <= start + call.argumentsText.length && isBeforeFence(text, call, start, offset)) {
      return { kind: 'arguments', call, start, offset: offset - start };
    }
  }
  return undefined;
}

/** The closing fence begins where the arguments end, so a cursor there is on the fence's line. */
function isBeforeFence(text: string, { argumentsText, closed }: WrittenCall, start: number, offset: number) {
  return !closed || offset < start + argumentsText.length || text[offset - 1] !== '\n';
}

const ROLE = /^# %%(?:[ \t]+([a-z_]*))?$/i;
const COMMAND = /^\/([\w-]*)$/;
const TOOL = /^(?:`{3,}|~{3,})tool_call[ \t]+([^\s`]*)$/;
/** After white space or an opening parenthesis that does not belong to a link. */
const FILE = /(?:^|\s|(?<!\])\()#([^\s#`<>()[\]{}"',;]*)$/;
const MENTION = /(?:^|\s|(?<!\])\()@([\w.:/~%-]*)$/;

function readLine(before: string, start: number): Place | undefined {
  const end = start + before.length;
  const role = ROLE.exec(before);
  if (role) return { kind: 'role', start, typed: role[1] ?? '' };
  const command = COMMAND.exec(before)?.[1];
  if (command !== undefined) return { kind: 'command', start, typed: command };
  const tool = TOOL.exec(before)?.[1];
  if (tool !== undefined) return { kind: 'tool', start: end - tool.length, typed: tool };
  if (isInlineCode(before)) return undefined;
  const file = FILE.exec(before)?.[1];
  // `#12` is an issue number.
  if (file !== undefined && !/^\d+$/.test(file)) {
    return { kind: 'file', start: end - file.length - 1, typed: file };
  }
  const mention = MENTION.exec(before)?.[1];
  return mention === undefined
    ? undefined
    : { kind: 'mention', start: end - mention.length - 1, typed: mention };
}

function isInlineCode(before: string): boolean {
  return before.split('`').length % 2 === 0;
}

function isInPreamble({ preamble, preambleStart = 0 }: Chat, offset: number): boolean {
  return preamble !== undefined && offset >= preambleStart && offset < preambleStart + preamble.length;
}

/** Whether a line is outside fenced code and comments. */
function isProse(text: string, turn: Turn | undefined, lineStart: number): boolean {
  if (!turn) return true;
  const fences = new FenceReader();
  for (const line of eachLine(text, turn.bodyStart, (first) => fences.passes(first))) {
    if (line.start >= lineStart) break;
    if (turn.role === 'assistant') stepReplyLine(fences, line.text);
    else fences.step(line.text);
  }
  return fences.open === undefined && !fences.inComment;
}
