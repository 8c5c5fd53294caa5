import { eachLine, type Line, trimBlankLines } from '../../base/lines.ts';
import type { TextEdit } from '../../ports/document.ts';
import type { ToolName } from '../../ports/tools.ts';
import { renderCallName, renderToolName, type WrittenCall } from './callInfo.ts';
import { type ChatProblem, readMarker, type Turn } from './chat.ts';
import { decodePercent } from './escapeMarkers.ts';
import type { Fence } from './fence.ts';

/** The XML calls and results of chat.md. They are read, never written; model output is escaped. */

/** From the opening tag to the closing tag, including a fence around them. */
export interface XmlBlock {
  readonly start: number;
  readonly contentStart: number;
  readonly contentEnd: number;
  readonly end: number;
}

export interface XmlCall {
  readonly call: WrittenCall;
  /** In a fence that may be an example: it is a call only if a chat.md result turn follows. */
  readonly needsResultTurn: boolean;
  readonly hasServer: boolean;
}

/** The server of calls that name none, as early versions of chat.md wrote them. */
export const NO_SERVER = '_';
const OPENING = { tool_call: /^[ \t]*<tool_call>/, tool_result: /^[ \t]*<tool_result>/ };

export interface OpenFence {
  readonly fence: Fence | undefined;
  readonly fenceStart: number;
  readonly fenceBodyStart: number;
}

/** A block is read as a whole because its content is not Markdown. It contains no turn marker. */
export class XmlBlockFinder {
  readonly #text: string;
  /** There is no closing tag before this offset, which keeps the search linear. */
  #nothingBefore = 0;

  constructor(text: string) {
    this.#text = text;
  }

  find(
    tag: 'tool_call' | 'tool_result',
    line: Line,
    { fence, fenceStart, fenceBodyStart }: OpenFence,
  ): XmlBlock | undefined {
    const opening = OPENING[tag].exec(line.text);
    if (!opening || line.start < this.#nothingBefore) return undefined;
    const isFirst = fence
      ? !fence.contained && this.#text.slice(fenceBodyStart, line.start).trim() === ''
      : !/^(?: {4}| {0,3}\t)/.test(line.text);
    const closing = isFirst ? this.#findClosing(`</${tag}>`, line) : undefined;
    if (!closing) return undefined;
    const hasFence = fence !== undefined || endsInBackticks(this.#text, line.start);
    return {
      start: fence ? fenceStart : line.start,
      contentStart: line.start + opening[0].length,
      contentEnd: closing.start,
      end: hasFence ? afterBackticks(this.#text, closing.next) : closing.next,
    };
  }

  /** The closing tag is on its own line, outside CDATA. */
  #findClosing(tag: string, from: Line): Line | undefined {
    let inCdata = false;
    for (const line of eachLine(this.#text, from.start)) {
      if (readMarker(line.text)) {
        this.#nothingBefore = line.start;
        return undefined;
      }
      if (!inCdata && line.start > from.start && line.text.trimStart().startsWith(tag)) return line;
      const open = line.text.lastIndexOf('<![CDATA[');
      if (open >= 0 || inCdata) inCdata = line.text.indexOf(']]>', Math.max(open, 0)) < 0;
    }
    this.#nothingBefore = this.#text.length;
    return undefined;
  }
}

/** Some models begin the fence at the end of a sentence; then only its closing line looks like a fence. */
function endsInBackticks(text: string, lineStart: number): boolean {
  return /[^`\n]`{3,}[\w-]*[ \t]*\r?\n$/.test(text.slice(Math.max(0, lineStart - 40), lineStart));
}

function afterBackticks(text: string, from: number): number {
  for (const line of eachLine(text, from)) {
    if (/^[ \t]*`{3,}[ \t]*$/.test(line.text)) return line.next;
    if (line.text.trim() !== '') break;
  }
  return from;
}

/** Returns `undefined` if the block names no tool. */
export function readXmlCall(text: string, block: XmlBlock, info: string | undefined): XmlCall | undefined {
  const content = text.slice(block.contentStart, block.contentEnd);
  const name = /<tool_name>\s*([^\s<]+)(?:[ \t]+([^\s<]+))?\s*<\/tool_name>/d.exec(content);
  const written = name?.[1];
  if (written === undefined) return undefined;
  const server = /^([A-Za-z0-9_-]+)\./.exec(written)?.[1];
  const tool = server === undefined ? written : written.slice(server.length + 1);
  if (tool === '') return undefined;
  const id = name?.[2];
  const nameEnd = (name?.indices?.[2] ?? name?.indices?.[1])?.[1] ?? 0;
  const call: WrittenCall = {
    server: server ?? NO_SERVER,
    tool,
    ...(id === undefined ? {} : { id }),
    start: block.start,
    end: block.end,
    infoEnd: block.contentStart + nameEnd,
    argumentsText: JSON.stringify(readParams(content)),
    closed: true,
  };
  return {
    call,
    needsResultTurn: info !== undefined && info !== 'tool_call',
    hasServer: server !== undefined,
  };
}

const PARAM = /<param\s+name=(?:"([^"<>]*)"|'([^'<>]*)')\s*>/g;
const CDATA = /^\s*<!\[CDATA\[/;

function readParams(content: string): Record<string, unknown> {
  const params: [string, unknown][] = [];
  let done = 0;
  for (const match of content.matchAll(PARAM)) {
    if (match.index < done) continue;
    const start = match.index + match[0].length;
    const cdata = CDATA.exec(content.slice(start));
    const textStart = start + (cdata?.[0].length ?? 0);
    const textEnd = content.indexOf(cdata ? ']]>' : '</param>', textStart);
    if (textEnd < 0) break;
    const text = content.slice(textStart, textEnd);
    params.push([(match[1] ?? match[2] ?? '').trim(), cdata ? text : readValue(text)]);
    done = textEnd;
  }
  // Not by assignment: a parameter may be named __proto__.
  return Object.fromEntries(params);
}

/** Parses JSON values except quoted strings, which may be literal, and numbers that would lose precision. */
function readValue(written: string): unknown {
  const text = readText(written);
  if (!/^\s*(?:[[{\d-]|(?:true|false|null)\s*$)/.test(text)) return text;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)
      ? text
      : value;
  } catch {
    return text;
  }
}

/** Drops the line break after the opening tag, and the one before the closing tag of a single line. */
function readText(written: string): string {
  const lines = written.replaceAll('\r\n', '\n').replace(/^[ \t]*\n/, '');
  const lastLine = lines.lastIndexOf('\n') + 1;
  if (lastLine === 0 || lines.slice(lastLine).trim() !== '') return lines;
  const text = lines.slice(0, lastLine);
  return text.indexOf('\n') === text.length - 1 ? text.slice(0, -1) : text;
}

function resultText(body: string): string | undefined {
  const start = body.indexOf('<tool_result>');
  const end = body.lastIndexOf('</tool_result>');
  if (start < 0 || end < start || !/^\s*(?:`{3,}[\w-]*\s*)?$/.test(body.slice(0, start))) return undefined;
  const inside = body.slice(start + '<tool_result>'.length, end);
  return inside.replace(/^[ \t]*\r?\n/, '').replace(/\r?\n[ \t]*$/, '');
}

const TOOL_NAME = /<tool_name>\s*/g;

/** Names the server of the first pending call of chat.md that names none, if `find` knows its tool. */
export function nameServer(
  text: string,
  pending: readonly WrittenCall[],
  find: (tool: string) => ToolName | undefined,
): TextEdit | undefined {
  for (const call of pending) {
    const found = call.server === NO_SERVER ? find(call.tool) : undefined;
    TOOL_NAME.lastIndex = call.start;
    if (!found || !TOOL_NAME.test(text) || TOOL_NAME.lastIndex > call.end) continue;
    const start = TOOL_NAME.lastIndex;
    return { start, end: start + call.tool.length, text: renderToolName(found) };
  }
  return undefined;
}

/** A part of a result: text, or the file that chat.md stored in its place. */
export type ChatMdPiece =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image' | 'file'; readonly path: string; readonly written: string };

/** An image anywhere, or a link on its own line. */
const STORED = /!\[[^\]\n]*\]\(([^()\s]+)\)|^[ \t]*\[[^\]\n]*\]\(([^()\s]+)\)[ \t]*$/gm;

/** Undefined if the body is not a result of chat.md. */
export function readChatMdResult(body: string): readonly ChatMdPiece[] | undefined {
  const text = resultText(body);
  if (text === undefined) return undefined;
  const pieces: ChatMdPiece[] = [];
  const addText = (piece: string) => {
    const words = trimBlankLines(piece);
    if (words.trim() !== '') pieces.push({ kind: 'text', text: words });
  };
  let from = 0;
  for (const { 0: written, 1: image, 2: file, index } of text.matchAll(STORED)) {
    addText(text.slice(from, index));
    const kind = image === undefined ? 'file' : 'image';
    pieces.push({ kind, path: decodePercent(image ?? file ?? ''), written: written.trim() });
    from = index + written.length;
  }
  addText(text.slice(from));
  return pieces;
}

/**
 * Adds the calls to their turns and names the call in each result. If there are fewer results than calls, they
 * belong to the last calls, because chat.md runs the last one. Empty results are ignored.
 */
export function resolveXmlCalls(
  text: string,
  turns: Turn[],
  found: ReadonlyMap<number, readonly XmlCall[]>,
): ChatProblem[] {
  const problems: ChatProblem[] = [];
  for (const [at, xmlCalls] of found) {
    const turn = turns[at];
    if (!turn) continue;
    const results: number[] = [];
    const names = new Set(xmlCalls.map(({ call }) => renderCallName(call)));
    let hasResultTurn = false;
    for (let next = at + 1; turns[next]?.role === 'tool'; next += 1) {
      const result = turns[next];
      // The marker of a chat.md tool turn does not name its call. Filechat puts its own in place of an empty one.
      const isOwn = result !== undefined && names.has(result.markerText);
      hasResultTurn ||= isOwn || result?.markerText === '';
      if (result?.markerText !== '') continue;
      if (text.slice(result.bodyStart, result.end).trim() !== '') results.push(next);
    }
    const counted = xmlCalls.filter((each) => hasResultTurn || !each.needsResultTurn);
    const calls = [...turn.calls, ...counted.map((each) => each.call)].sort((a, b) => a.start - b.start);
    turns[at] = { ...turn, calls };
    const pending = counted.slice(0, Math.max(0, counted.length - results.length));
    for (const [n, { call }] of counted.slice(pending.length).entries()) {
      const result = turns[results[n] ?? -1];
      if (result) turns[results[n] ?? -1] = { ...result, markerText: renderCallName(call) };
    }
    for (const { call, hasServer } of pending) {
      const message = `This call names no server: write <tool_name>SERVER.${call.tool}</tool_name>, then run.`;
      if (!hasServer) problems.push({ offset: call.start, message });
    }
  }
  return problems;
}

/** The `key=value` lines at the top of a chat.md file: `selectedConfig="name"`, `maxTokens=4000`, … */

/** chat.md rejects all other keys. */
const KEYS_OF_CHAT_MD = new Set(['selectedConfig', 'reasoningEffort', 'maxTokens', 'maxThinkingTokens']);
const ENTRY = /^([A-Za-z_][A-Za-z0-9_]*)[ \t]*=[ \t]*(\S.*)$/;
/** A block of chat.md with settings of its own, which no turn contains. */
const SETTINGS_BLOCK = /^# %% settings[ \t]*\r?$/im;

/** Only entries, comments and blank lines, with a key of chat.md. Otherwise it is user text. */
export function isPreamble(text: string): boolean {
  const block = text.search(SETTINGS_BLOCK);
  // Reject ordinary long text quickly.
  if (!/^\s*(?:#|[A-Za-z_])/.test(text) || (block < 0 && !text.includes('='))) return false;
  let known = block >= 0;
  for (const { text: line } of eachLine(block < 0 ? text : text.slice(0, block))) {
    const trimmed = line.trim();
    if (trimmed === '' || trimmed.startsWith('#')) continue;
    const key = ENTRY.exec(trimmed)?.[1];
    if (key === undefined) return false;
    known ||= KEYS_OF_CHAT_MD.has(key);
  }
  return known;
}

export function readPreamble(text: string) {
  const entries: { readonly key: string; readonly value: string; readonly offset: number }[] = [];
  const block = text.search(SETTINGS_BLOCK);
  for (const line of eachLine(block < 0 ? text : text.slice(0, block))) {
    const trimmed = line.text.trim();
    const match = trimmed.startsWith('#') ? null : ENTRY.exec(trimmed);
    if (!match?.[1] || match[2] === undefined) continue;
    const offset = line.start + line.text.indexOf(match[1]);
    entries.push({ key: match[1], value: readPreambleValue(match[2]), offset });
  }
  return entries;
}

/** An unquoted value ends at `#`. */
function readPreambleValue(written: string): string {
  const quote = written.charAt(0);
  if (quote !== '"' && quote !== "'") return written.replace(/#.*$/s, '').trim();
  return written.length > 1 && written.endsWith(quote) ? written.slice(1, -1) : written;
}
