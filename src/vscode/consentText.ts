import { showInvisible } from '../chat/escape.ts';
import type { Approval, ToolCall, ToolInfo } from '../ports.ts';

export function needsQuestion(approval: Approval, tool: ToolInfo): boolean {
  return approval === 'ask' || (approval === 'auto-readonly' && tool.readOnly !== true);
}

/** A dialog that is longer than this cannot be read any more on a small screen, and its buttons may be out of sight. */
const MAX_SHOWN_CHARS = 4_000;
const HEAD_CHARS = 2_800;
const TAIL_CHARS = 1_000;
const MAX_ABOUT_CHARS = 600;

/** What a person decides about: the arguments first, then the files, and what the server says last. */
export function describeCall(call: ToolCall, tool: ToolInfo, notes: readonly string[]): string {
  const files = notes.length === 0 ? '' : `\n\nIt gets these files:\n${notes.join('\n')}`;
  const about = cut(showInvisible(tool.description ?? tool.title ?? '').trim(), MAX_ABOUT_CHARS);
  return `Arguments:\n${describeArguments(call)}${files}${about ? `\n\nThe server says of it: ${about}` : ''}`;
}

/**
 * Whole where that can be read. Of longer ones that are in the chat the middle is left out, and the dialog says so.
 * A call that is not in the chat yet has no other place to be read, so it is shown whole at any length.
 */
function describeArguments({ arguments: args, id }: ToolCall): string {
  const json = showInvisible(layOut(args));
  if (json.length <= MAX_SHOWN_CHARS || id === '') return json;
  const left = json.length - HEAD_CHARS - TAIL_CHARS;
  const gap = `⚠ ${left.toLocaleString('en')} characters are not shown here. All of them are in the chat, in the call ${id}: choose Edit to read them there.`;
  return `${json.slice(0, HEAD_CHARS).toWellFormed()}\n\n${gap}\n\n${json.slice(-TAIL_CHARS).toWellFormed()}\n\n${gap}`;
}

const MAX_LINE_CHARS = 60;

/** JSON with a line for each argument; what is short inside of one stays on its line. */
function layOut(value: unknown, indent = ''): string {
  const whole = JSON.stringify(value);
  if (typeof value !== 'object' || value === null) return whole;
  if (indent !== '' && whole.length <= MAX_LINE_CHARS) return joinLines(value);
  const inner = `${indent}  `;
  const isList = Array.isArray(value);
  const lines = Object.entries(value).map(
    ([key, each]) => `${inner}${isList ? '' : `${JSON.stringify(key)}: `}${layOut(each, inner)}`,
  );
  const [open, close] = isList ? ['[', ']'] : ['{', '}'];
  return lines.length === 0 ? open + close : `${open}\n${lines.join(',\n')}\n${indent}${close}`;
}

/** Within JSON strings there are no line breaks, so joining lines is safe. */
function joinLines(value: object): string {
  return JSON.stringify(value, undefined, 1)
    .replace(/([[{])\n\s*/g, '$1')
    .replace(/\n\s*([\]}])/g, '$1')
    .replace(/\n\s*/g, ' ');
}

function cut(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${text.slice(0, maxChars).toWellFormed()}…`;
}
