import { BUDGET } from '../base/budget.ts';
import { eachLine, endOfLine, startOfLine } from '../base/lines.ts';
import type { WrittenCall } from './format/callInfo.ts';
import { type Chat, readMarker, type Turn } from './format/chat.ts';
import { FenceReader } from './format/fence.ts';
import { isSettingKey, type SettingKey } from './format/frontMatter.ts';
import { turnAt } from './format/parse.ts';

/** What is being typed at the cursor. Offsets are in the file. */
export type CompletionPlace =
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

interface ArgumentPlace {
  readonly kind: 'arguments';
  readonly call: WrittenCall;
  readonly start: number;
  /** In the arguments. */
  readonly offset: number;
}

/** Returns `undefined` in code, in turns other than the user's, and within words, URLs and numbers. */
export function completionPlace(text: string, chat: Chat, offset: number): CompletionPlace | undefined {
  const lineStart = startOfLine(text, offset);
  const setting = settingPlace(text, chat, offset);
  if (setting !== 'elsewhere') return setting;
  const turn = turnAt(chat, offset);
  if (turn && lineStart === turn.start && turn.start < turn.bodyStart) return undefined;
  const within = argumentPlace(text, turn, offset);
  if (within) return within;
  // The line alone rules out most places, without reading the turn.
  const isLong = offset - lineStart > MAX_TYPED_CHARS;
  const found = isLong ? undefined : readLine(text.slice(lineStart, offset), lineStart);
  if (!found || (found.kind !== 'role' && turn !== undefined && turn.role !== 'user')) return undefined;
  const { preamble = '', preambleStart = 0 } = chat;
  if (offset >= preambleStart && offset < preambleStart + preamble.length) return undefined;
  return isProse(text, turn, lineStart) ? found : undefined;
}

/** Returns `undefined` for a chat.md call, whose arguments are not JSON. */
export function argumentsStart(text: string, call: WrittenCall): number | undefined {
  const start = text.indexOf('\n', call.infoEnd) + 1;
  return start > 0 && text.startsWith(call.argumentsText, start) ? start : undefined;
}

/** Longer than any typed name; avoids copying very long lines. */
const MAX_TYPED_CHARS = 1000;

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

function readLine(before: string, start: number): CompletionPlace | undefined {
  const end = start + before.length;
  const role = ROLE.exec(before);
  if (role) return { kind: 'role', start, typed: role[1] ?? '' };
  const command = COMMAND.exec(before)?.[1];
  if (command !== undefined) return { kind: 'command', start, typed: command };
  const tool = TOOL.exec(before)?.[1];
  if (tool !== undefined) return { kind: 'tool', start: end - tool.length, typed: tool };
  // In inline code.
  if (before.split('`').length % 2 === 0) return undefined;
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

/** Whether a line is outside fenced code and comments. */
function isProse(text: string, turn: Turn | undefined, lineStart: number): boolean {
  if (!turn) return true;
  const fences = new FenceReader(turn.role === 'assistant');
  for (const line of eachLine(text, turn.bodyStart, (first) => fences.stepFast(first))) {
    if (line.start >= lineStart) break;
    fences.step(line.text);
  }
  return fences.open === undefined && !fences.inComment;
}

type SettingPlace =
  | {
      readonly kind: 'key';
      readonly start: number;
      /** The end of the word at the cursor. */
      readonly end: number;
      readonly typed: string;
      readonly present: ReadonlySet<string>;
      readonly hasColon: boolean;
    }
  | {
      readonly kind: 'value';
      readonly key: SettingKey;
      readonly start: number;
      readonly end: number;
      readonly typed: string;
      /** The cursor is right after the colon, so a space must be inserted. */
      readonly needsSpace: boolean;
      /** The other items in the same list. */
      readonly taken: readonly string[];
    };

/** Returns `elsewhere` outside the front matter, and `undefined` where it has nothing to complete. */
function settingPlace(text: string, chat: Chat, offset: number): SettingPlace | undefined | 'elsewhere' {
  const bounds = settingBounds(text, chat);
  if (!bounds || offset < bounds.start || offset > bounds.end) return 'elsewhere';
  const lineStart = startOfLine(text, offset);
  const lineEnd = endOfLine(text, offset);
  const line = { before: text.slice(lineStart, offset), after: text.slice(offset, lineEnd), offset };
  const yaml = text.slice(bounds.start, bounds.end);
  return keyPlace(line, yaml) ?? valuePlace(line) ?? itemPlace(line, text.slice(bounds.start, lineStart));
}

interface CursorLine {
  readonly before: string;
  readonly after: string;
  readonly offset: number;
}

/** Includes unclosed front matter, which ends where the turns begin. */
function settingBounds(text: string, { frontMatter, frontMatterStart = 0 }: Chat) {
  if (frontMatter !== undefined) {
    // Excludes the closing line.
    const end = frontMatterStart + frontMatter.length - 1;
    return frontMatter.length > BUDGET.frontMatterChars ? undefined : { start: frontMatterStart, end };
  }
  if (!/^---[ \t]*\r?\n/.test(text.slice(0, 100))) return undefined;
  const start = text.indexOf('\n') + 1;
  const lines = text.slice(start, start + BUDGET.frontMatterChars).split('\n');
  // A blank line also ends it: `---` may be a thematic break above text.
  const last = lines.findIndex((line) => line.trim() === '' || readMarker(line));
  const open = last < 0 ? lines : lines.slice(0, readMarker(lines[last] ?? '') ? last : last + 1);
  return open.length === 0 ? undefined : { start, end: start + open.join('\n').length };
}

function keyPlace({ before, after, offset }: CursorLine, yaml: string): SettingPlace | undefined {
  if (!/^\w*$/.test(before)) return undefined;
  const rest = /^\w*/.exec(after)?.[0] ?? '';
  const present = new Set([...yaml.matchAll(/^(\w+)[ \t]*:/gm)].map(([, key = '']) => key));
  const hasColon = /^\w*[ \t]*:/.test(after);
  // The key at the cursor is being edited.
  if (hasColon) present.delete(before + rest);
  const end = offset + rest.length;
  return { kind: 'key', start: offset - before.length, end, typed: before, present, hasColon };
}

function valuePlace({ before, after, offset }: CursorLine): SettingPlace | undefined {
  const [, key = '', gap = '', value = ''] = /^(\w+)[ \t]*:([ \t]*)(.*)$/.exec(before) ?? [];
  if (!isSettingKey(key)) return undefined;
  if (!value.startsWith('[')) {
    // The rest of the line is part of the value, except a comment.
    const rest = /^[^#\s]*/.exec(after)?.[0] ?? '';
    return { ...around(offset, value, rest), key, needsSpace: gap === '', taken: [] };
  }
  if (value.includes(']')) return undefined;
  const item = /[^[,]*$/.exec(value)?.[0].trimStart() ?? '';
  const rest = /^[^,\]\s]*/.exec(after)?.[0] ?? '';
  const others = `${value.slice(1, value.length - item.length)},${after.slice(rest.length).split(']')[0]}`;
  const taken = others
    .split(',')
    .map(plainItem)
    .filter((each) => each !== '');
  return { ...around(offset, item, rest), key, needsSpace: false, taken };
}

function itemPlace({ before, after, offset }: CursorLine, above: string): SettingPlace | undefined {
  const value = /^[ \t]*-[ \t]+(.*)$/.exec(before)?.[1];
  if (value === undefined) return undefined;
  const lines = above.split(/\r?\n/).slice(0, -1);
  const at = lines.findLastIndex((line) => /^\S/.test(line) && !line.startsWith('-'));
  const key = /^(\w+)[ \t]*:[ \t]*$/.exec(lines[at] ?? '')?.[1] ?? '';
  if (!isSettingKey(key)) return undefined;
  const taken = lines.slice(at + 1).map((line) => plainItem(line.replace(/^[ \t]*-[ \t]*/, '')));
  const rest = /^[^#\s]*/.exec(after)?.[0] ?? '';
  return { ...around(offset, value, rest), key, needsSpace: false, taken };
}

/** A value at an offset: its text before the cursor, and the rest after it. */
function around(offset: number, typed: string, rest: string) {
  return { kind: 'value' as const, start: offset - typed.length, end: offset + rest.length, typed };
}

function plainItem(item: string): string {
  return item.trim().replace(/^["']|["']$/g, '');
}

const MAX_PATH_CHARS = 400;

/** The best matches first. A match contains all typed letters in order. */
export function rankPaths(paths: readonly string[], typed: string, limit: number): readonly string[] {
  const wanted = typed.toLowerCase();
  const rated = paths.flatMap((path) => {
    const rate = ratePath(path.slice(-MAX_PATH_CHARS).toLowerCase(), wanted);
    return rate === undefined ? [] : [{ path, rate }];
  });
  return rated
    .sort((a, b) => a.rate - b.rate || a.path.length - b.path.length || (a.path < b.path ? -1 : 1))
    .slice(0, limit)
    .map(({ path }) => path);
}

/** Lower is better. */
function ratePath(path: string, wanted: string): number | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (name.startsWith(wanted)) return 0;
  if (name.includes(wanted)) return 1;
  if (path.startsWith(wanted)) return 2;
  if (path.includes(wanted)) return 3;
  if (isSubsequence(name, wanted)) return 4;
  return isSubsequence(path, wanted) ? 5 : undefined;
}

function isSubsequence(text: string, wanted: string): boolean {
  let at = 0;
  for (const letter of wanted) {
    at = text.indexOf(letter, at) + 1;
    if (at === 0) return false;
  }
  return true;
}

const OPEN_STRING = /[:[,]\s*"([\w.:-]{0,200})$/;
/** Enough for a name and the text before it. */
const LOOKBEHIND_CHARS = 300;

/** A string at the cursor that is, or may become, an asset reference. `typed` is the part before the cursor. */
export function assetReferenceAt(json: string, offset: number) {
  const typed = OPEN_STRING.exec(json.slice(Math.max(0, offset - LOOKBEHIND_CHARS), offset))?.[1];
  if (typed === undefined || !(typed.startsWith('asset:') || 'asset:'.startsWith(typed))) return undefined;
  const rest = /^[\w.:-]*(?=")/.exec(json.slice(offset, offset + LOOKBEHIND_CHARS))?.[0] ?? '';
  return { start: offset - typed.length, end: offset + rest.length, typed };
}
