import { eachLine } from '../../base/lines.ts';
import { turnAt } from '../edits/fork.ts';
import type { WrittenCall } from '../format/calls.ts';
import type { Chat, Turn } from '../format/chat.ts';
import { FenceReader } from '../format/fence.ts';

import { stepReplyLine } from '../reply/notes.ts';
import { type SettingPlace, settingPlace } from './settingPlace.ts';

/** What is being written where the cursor stands. Offsets count in the file. */
export type Place =
  // Behind `#`, `@` or, at the start of a line, `/`.
  | TypedPlace<'file'>
  | TypedPlace<'mention'>
  | TypedPlace<'command'>
  // A line that is about to become a marker.
  | TypedPlace<'role'>
  // The name of a tool, on the first line of a call.
  | TypedPlace<'tool'>
  | ArgumentPlace
  | SettingPlace;

interface TypedPlace<Kind> {
  readonly kind: Kind;
  /** Where the sign is, or where what was typed begins if there is none. */
  readonly start: number;
  /** Without the sign. */
  readonly typed: string;
}

export interface ArgumentPlace {
  readonly kind: 'arguments';
  readonly call: WrittenCall;
  /** Where the arguments begin: at the start of a line. */
  readonly start: number;
  /** In the arguments. */
  readonly offset: number;
}

/** Nothing where there is nothing to offer: in code, in what others said, within words, addresses and numbers. */
export function placeAt(text: string, chat: Chat, offset: number): Place | undefined {
  const line = lineAround(text, offset);
  const setting = settingPlace(text, chat, offset);
  if (setting !== 'elsewhere') return setting;
  const turn = turnAt(chat, offset);
  if (turn && line.start === turn.start && turn.start < turn.bodyStart) return undefined;
  const within = argumentPlace(text, turn, offset);
  if (within) return within;
  // Most places are ruled out by their line alone, and then nothing else has to be read.
  const found = readLine(line.before, line.start);
  if (!found || (found.kind !== 'role' && turn !== undefined && turn.role !== 'user')) return undefined;
  if (isInPreamble(chat, offset)) return undefined;
  return isProse(text, turn, line.start) ? found : undefined;
}

/** Where the arguments of a call begin; nothing for a call of chat.md, which is not JSON. */
export function argumentsStart(text: string, call: WrittenCall): number | undefined {
  const start = text.indexOf('\n', call.infoEnd) + 1;
  return start > 0 && text.startsWith(call.argumentsText, start) ? start : undefined;
}

interface AroundLine {
  readonly start: number;
  /** From the start of the line up to the cursor. */
  readonly before: string;
}

/** No name that anybody types is longer; a line of a megabyte is not cut out of the text. */
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

/** The closing fence begins where the arguments end; who stands before it stands on its line. */
function isBeforeFence(text: string, { argumentsText, closed }: WrittenCall, start: number, offset: number) {
  return !closed || offset < start + argumentsText.length || text[offset - 1] !== '\n';
}

const ROLE = /^# %%(?:[ \t]+([a-z_]*))?$/i;
const COMMAND = /^\/([\w-]*)$/;
const TOOL = /^(?:`{3,}|~{3,})tool_call[ \t]+([^\s`]*)$/;
/** Behind white space or an opening bracket, which is not that of a link. */
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
  // `#12` is the number of an issue.
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

/** The settings of chat.md above the first marker are no text of anybody's. */
function isInPreamble({ preamble, preambleStart = 0 }: Chat, offset: number): boolean {
  return preamble !== undefined && offset >= preambleStart && offset < preambleStart + preamble.length;
}

/** Whether a line of a turn is neither in fenced code nor in a comment. */
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
