import { messageOf } from '../../base/errors.ts';
import { isDeep, isObject } from '../../base/json.ts';
import type { ToolCall, ToolName } from '../../ports/tools.ts';
import { decodePercent } from './escapeMarkers.ts';

/** A tool call in the chat, with its arguments as text. */
export interface WrittenCall extends ToolName {
  readonly id?: string;
  /** From the opening fence to the end of the closing fence's line. */
  readonly start: number;
  readonly end: number;
  /** The end of the opening line, where a missing id is inserted. */
  readonly infoEnd: number;
  readonly argumentsText: string;
  /** False if the fence is not closed: the call may be incomplete and must not run. */
  readonly closed: boolean;
}

export type NamedCall = ToolName & { readonly id: string };

/** The `<!-- filechat:sent ID -->` line below a call. */
export interface SentMark {
  /** Encoded, as written. */
  readonly id: string;
  readonly start: number;
  /** The end of the comment; the user may have typed after it. */
  readonly end: number;
}

const SENT = /^<!-- filechat:sent (\S+) -->/;

export function readSentMark(line: string, start: number): SentMark | undefined {
  const [note, id] = SENT.exec(line) ?? [];
  return note === undefined || id === undefined ? undefined : { id, start, end: start + note.length };
}

/** Encoded so that the id is one word and cannot end the comment. */
export function renderSentId(id: string): string {
  return encodeURIComponent(id.toWellFormed());
}

const SERVER = /^[A-Za-z0-9_-]+$/;
const SHORT_JSON_CHARS = 90;

/** Returns `undefined` if the fence is not a call, and an error message if the call is invalid. */
export function readCallInfo(info: string): (ToolName & { readonly id?: string }) | string | undefined {
  const [word, name, id, ...rest] = info.split(/[ \t]+/);
  if (word !== 'tool_call') return undefined;
  const called = name === undefined ? undefined : readToolName(name);
  if (!called) return 'A tool call must name its tool as SERVER.TOOL: ```tool_call SERVER.TOOL';
  if (rest.length > 0) return 'The first line of a tool call must contain only a name and an id.';
  return id === undefined ? called : { ...called, id };
}

/** Server ids contain no dot, so the first dot is the separator. */
export function readToolName(name: string): ToolName | undefined {
  const dot = name.indexOf('.');
  const server = name.slice(0, dot);
  const tool = decodePercent(name.slice(dot + 1));
  return dot > 0 && SERVER.test(server) && tool ? { server, tool } : undefined;
}

export function renderToolName({ server, tool }: ToolName): string {
  return `${server}.${encodeName(tool)}`;
}

/** The name and id of a call, as on its first line and on the marker of its result. */
export function renderCallName(call: ToolName & { readonly id?: string }): string {
  return call.id === undefined ? renderToolName(call) : `${renderToolName(call)} ${call.id}`;
}

export function parseArguments(
  text: string,
):
  | { readonly ok: true; readonly value: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly message: string } {
  if (text.trim() === '') return { ok: true, value: {} };
  try {
    const value: unknown = JSON.parse(text);
    if (isDeep(text, value)) return { ok: false, message: 'The arguments are nested too deeply.' };
    if (isObject(value)) return { ok: true, value };
    const message = 'The arguments of a tool call must be one JSON object, such as {"title": "Sales"}.';
    return { ok: false, message };
  } catch (error) {
    return { ok: false, message: `The arguments are not valid JSON: ${messageOf(error)}` };
  }
}

/** A line of JSON never consists of backticks, so three are always enough. */
export function renderCall(call: ToolCall): string {
  return `\`\`\`tool_call ${renderCallName(call)}\n${renderArguments(call.arguments)}\n\`\`\``;
}

/** Uses one line if it fits. JSON strings contain no line breaks, so joining lines is safe. */
function renderArguments(value: ToolCall['arguments']): string {
  const lines = JSON.stringify(value, undefined, 2);
  const line = lines
    .replace(/([[{])\n\s*/g, '$1')
    .replace(/\n\s*([\]}])/g, '$1')
    .replace(/\n\s*/g, ' ');
  return line.length <= SHORT_JSON_CHARS ? line : lines;
}

/** Servers choose tool names freely; in a chat a name must be one word. */
function encodeName(name: string): string {
  return name.toWellFormed().replace(/[^\w.\-/:]/gu, (character) => encodeURIComponent(character));
}
