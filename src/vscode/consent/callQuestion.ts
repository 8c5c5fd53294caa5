import { isObject } from '../../base/json.ts';
import { renderToolName } from '../../chat/format/calls.ts';
import { showInvisible } from '../../chat/format/escape.ts';
import { fingerprint } from '../../mcp/config/fingerprint.ts';
import type { Approval, ToolCall, ToolInfo } from '../../ports/tools.ts';
import { truncate } from '../ui/plainMessage.ts';
import { formatNumber, t } from '../ui/words.ts';

/** A tool that was allowed, as stored, so that a change can be detected and described. */
export interface AllowedTool extends ToolSummary {
  readonly print: string;
  readonly always: boolean;
  readonly at: string;
}

/** Enough of a definition to describe a change, in few bytes. */
interface ToolSummary {
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  /** Hashes of their schemas, by name. */
  readonly arguments: Readonly<Record<string, string>>;
  readonly readOnly?: boolean | undefined;
  readonly destructive?: boolean | undefined;
}

interface CallToJudge {
  readonly approval: Approval;
  readonly tool: ToolInfo;
  readonly print: string;
  readonly known?: AllowedTool | undefined;
  readonly givesFiles: boolean;
}

export type Judgement =
  | { readonly kind: 'allow'; readonly by: 'setting' | 'remembered' }
  /** `before` is set if the tool has changed since it was allowed. */
  | { readonly kind: 'ask'; readonly before?: AllowedTool };

/** A changed tool needs a new permission, even if it is read-only or was always allowed. */
export function judgeCall({ approval, tool, print, known, givesFiles }: CallToJudge): Judgement {
  if (approval === 'auto') return { kind: 'allow', by: 'setting' };
  if (known && known.print !== print) return { kind: 'ask', before: known };
  if (approval === 'auto-readonly' && tool.readOnly === true) return { kind: 'allow', by: 'setting' };
  // “Always” does not cover files that a later call sends.
  return known?.always && !givesFiles ? { kind: 'allow', by: 'remembered' } : { kind: 'ask' };
}

/** The tool to remember: a permission to read from another server is for that server only. */
export function toolToRemember(call: ToolCall, tool: ToolInfo): ToolInfo {
  const other = tool.serverArgument === undefined ? undefined : call.arguments[tool.serverArgument];
  return typeof other === 'string' ? { ...tool, server: other, tool: renderToolName(tool) } : tool;
}

/** On a small screen, the buttons of a longer dialog may be out of sight. */
const MAX_SHOWN_CHARS = 4_000;
const HEAD_CHARS = 2_800;
const TAIL_CHARS = 1_000;
const MAX_ABOUT_CHARS = 600;

export interface AboutQuestion {
  /** A line for each file that the call sends. */
  readonly notes?: readonly string[];
  readonly before?: AllowedTool | undefined;
}

/** The server's own text comes last, so that it cannot push anything out of sight. */
export function describeCall(call: ToolCall, tool: ToolInfo, about: AboutQuestion = {}): string {
  const { notes = [], before } = about;
  const description = truncate(showInvisible(tool.description ?? tool.title ?? '').trim(), MAX_ABOUT_CHARS);
  const sections = [
    before &&
      t('⚠ This tool has changed since it was last allowed, on {0}. See below.', before.at.slice(0, 10)),
    tool.destructive && t('⚠ The server says that this tool may delete or overwrite.'),
    `${t('Arguments:')}\n${describeArguments(call)}`,
    notes.length > 0 && `${t('It gets these files:')}\n${notes.join('\n')}`,
    before && `${t('What has changed:')}\n${describeChange(before, summarizeTool(tool)).join('\n')}`,
    description &&
      (tool.readsReferences
        ? t('What it does: {0}', description)
        : t('The server says of it: {0}', description)),
  ];
  return sections.filter((section) => section).join('\n\n');
}

/** Omits the middle of long arguments, unless the call is not in the chat yet and can only be read here. */
function describeArguments({ arguments: args, id }: ToolCall): string {
  const json = showInvisible(formatJson(args));
  if (json.length <= MAX_SHOWN_CHARS || id === '') return json;
  const left = json.length - HEAD_CHARS - TAIL_CHARS;
  const gap = t(
    '⚠ {0} characters are not shown here. All of them are in the chat, in the call {1}: choose Edit to read them there.',
    formatNumber(left),
    id,
  );
  return `${json.slice(0, HEAD_CHARS).toWellFormed()}\n\n${gap}\n\n${json.slice(-TAIL_CHARS).toWellFormed()}\n\n${gap}`;
}

const MAX_LINE_CHARS = 60;

/** One line per argument; short values inside of one stay on its line. */
function formatJson(value: unknown, indent = ''): string {
  const whole = JSON.stringify(value);
  if (typeof value !== 'object' || value === null) return whole;
  if (indent !== '' && whole.length <= MAX_LINE_CHARS) return joinLines(value);
  const inner = `${indent}  `;
  const isList = Array.isArray(value);
  const lines = Object.entries(value).map(
    ([key, each]) => `${inner}${isList ? '' : `${JSON.stringify(key)}: `}${formatJson(each, inner)}`,
  );
  const [open, close] = isList ? ['[', ']'] : ['{', '}'];
  return lines.length === 0 ? open + close : `${open}\n${lines.join(',\n')}\n${indent}${close}`;
}

/** JSON strings contain no line breaks, so joining lines is safe. */
function joinLines(value: object): string {
  return JSON.stringify(value, undefined, 1)
    .replace(/([[{])\n\s*/g, '$1')
    .replace(/\n\s*([\]}])/g, '$1')
    .replace(/\n\s*/g, ' ');
}

/** Changes with the server and with anything in the definition except the icon. */
export function fingerprintTool({ icon: _, ...definition }: ToolInfo, server: string): string {
  return fingerprint([server, definition]);
}

const MAX_DESCRIPTION_CHARS = 600;
const MAX_NAME_CHARS = 60;
const MAX_ARGUMENTS = 50;
const SHORT_HASH_CHARS = 12;

export function summarizeTool(tool: ToolInfo): ToolSummary {
  const { title, description, inputSchema, readOnly, destructive } = tool;
  const { properties, required } = isObject(inputSchema) ? inputSchema : {};
  const isRequired = (name: string) => Array.isArray(required) && required.includes(name);
  const args = Object.entries(isObject(properties) ? properties : {}).slice(0, MAX_ARGUMENTS);
  return {
    title: title === undefined ? undefined : truncate(title, MAX_NAME_CHARS),
    description: description === undefined ? undefined : truncate(description, MAX_DESCRIPTION_CHARS),
    arguments: Object.fromEntries(
      args.map(([name, schema]) => [
        truncate(name, MAX_NAME_CHARS),
        fingerprint([schema, isRequired(name)]).slice(0, SHORT_HASH_CHARS),
      ]),
    ),
    readOnly,
    destructive,
  };
}

/** One line per change, and at least one. */
export function describeChange(before: ToolSummary, now: ToolSummary): readonly string[] {
  const lines = [
    before.title !== now.title && t('Its title was {0} and is {1}.', quote(before.title), quote(now.title)),
    before.readOnly === true && now.readOnly !== true && t('It no longer says that it only reads.'),
    before.readOnly !== true && now.readOnly === true && t('It says now that it only reads.'),
    before.destructive !== true &&
      now.destructive === true &&
      t('It says now that it may delete or overwrite.'),
    before.destructive === true && now.destructive !== true && t('It no longer says that it may overwrite.'),
    ...describeArgumentChanges(before.arguments, now.arguments),
    before.description !== now.description && t('Its description was {0}.', quote(before.description)),
  ].filter((line) => line !== false);
  if (lines.length > 0) return lines;
  const other = t(
    'Something else: the command or address of its server, the schema of its arguments or results, or the end of a long description.',
  );
  return [other];
}

type Arguments = ToolSummary['arguments'];

function describeArgumentChanges(before: Arguments, now: Arguments): string[] {
  const wasThere = (name: string) => Object.hasOwn(before, name);
  const names = Object.keys(now);
  const added = names.filter((name) => !wasThere(name));
  const removed = Object.keys(before).filter((name) => !Object.hasOwn(now, name));
  const changed = names.filter((name) => wasThere(name) && before[name] !== now[name]);
  return [
    ...(added.length === 0 ? [] : [t('New arguments: {0}.', listNames(added))]),
    ...(removed.length === 0 ? [] : [t('Arguments that are gone: {0}.', listNames(removed))]),
    ...(changed.length === 0 ? [] : [t('Arguments that are other ones now: {0}.', listNames(changed))]),
  ];
}

const MAX_LISTED = 10;

function listNames(names: readonly string[]): string {
  const listed = names.slice(0, MAX_LISTED).map(quote).join(', ');
  const more = names.length - MAX_LISTED;
  return more > 0 ? t('{0} and {1} more', listed, more) : listed;
}

function quote(text: string | undefined): string {
  return text === undefined ? t('none') : t('“{0}”', showInvisible(text.replace(/\s+/g, ' ').trim()));
}
