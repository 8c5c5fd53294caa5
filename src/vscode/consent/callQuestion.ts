import { showInvisible } from '../../chat/format/escape.ts';
import type { Approval, ToolCall, ToolInfo } from '../../ports/tools.ts';
import { truncate } from '../ui/plainMessage.ts';
import { formatNumber, t } from '../ui/words.ts';
import { type AllowedTool, describeChange, summarizeTool } from './toolDefinition.ts';

export function needsQuestion(approval: Approval, tool: ToolInfo): boolean {
  return approval === 'ask' || (approval === 'auto-readonly' && tool.readOnly !== true);
}

export interface CallToJudge {
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
  if (!needsQuestion(approval, tool)) return { kind: 'allow', by: 'setting' };
  // “Always” does not cover files that a later call sends.
  return known?.always && !givesFiles ? { kind: 'allow', by: 'remembered' } : { kind: 'ask' };
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
