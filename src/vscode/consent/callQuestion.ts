import { showInvisible } from '../../chat/format/escape.ts';
import type { Approval, ToolCall, ToolInfo } from '../../ports/tools.ts';
import { figure, t } from '../ui/words.ts';
import { type AllowedTool, describeChange, sketchTool } from './toolDefinition.ts';

export function needsQuestion(approval: Approval, tool: ToolInfo): boolean {
  return approval === 'ask' || (approval === 'auto-readonly' && tool.readOnly !== true);
}

export interface CallToJudge {
  readonly approval: Approval;
  readonly tool: ToolInfo;
  /** Of the tool as it is now. */
  readonly print: string;
  /** The tool as it was last allowed, if it ever was. */
  readonly known?: AllowedTool | undefined;
  readonly givesFiles: boolean;
}

export type Judgement =
  | { readonly kind: 'allow'; readonly by: 'setting' | 'remembered' }
  /** With what the tool was before, if it has changed since it was allowed. */
  | { readonly kind: 'ask'; readonly before?: AllowedTool };

/** A change asks, whatever the tool says of itself and whatever was promised to what it was. */
export function judgeCall({ approval, tool, print, known, givesFiles }: CallToJudge): Judgement {
  if (approval === 'auto') return { kind: 'allow', by: 'setting' };
  if (known && known.print !== print) return { kind: 'ask', before: known };
  if (!needsQuestion(approval, tool)) return { kind: 'allow', by: 'setting' };
  // “Always” was said of the tool, not of files that a later call would give to it.
  return known?.always && !givesFiles ? { kind: 'allow', by: 'remembered' } : { kind: 'ask' };
}

/** A dialog that is longer than this cannot be read any more on a small screen, and its buttons may be out of sight. */
const MAX_SHOWN_CHARS = 4_000;

const HEAD_CHARS = 2_800;

const TAIL_CHARS = 1_000;

const MAX_ABOUT_CHARS = 600;

export interface AboutQuestion {
  /** A line for each file that the call would give away. */
  readonly notes?: readonly string[];
  /** What the user allowed last, if that is not what the tool is now. */
  readonly before?: AllowedTool | undefined;
}

/**
 * What a person decides about: our own short warnings, the arguments, the files, and what the server says last, so
 * that its words can push nothing out of sight.
 */
export function describeCall(call: ToolCall, tool: ToolInfo, about: AboutQuestion = {}): string {
  const { notes = [], before } = about;
  const said = cut(showInvisible(tool.description ?? tool.title ?? '').trim(), MAX_ABOUT_CHARS);
  const sections = [
    before &&
      t('⚠ This tool has changed since it was last allowed, on {0}. See below.', before.at.slice(0, 10)),
    tool.destructive && t('⚠ The server says that this tool may delete or overwrite.'),
    `${t('Arguments:')}\n${describeArguments(call)}`,
    notes.length > 0 && `${t('It gets these files:')}\n${notes.join('\n')}`,
    before && `${t('What has changed:')}\n${describeChange(before, sketchTool(tool)).join('\n')}`,
    said && (tool.readsReferences ? t('What it does: {0}', said) : t('The server says of it: {0}', said)),
  ];
  return sections.filter((section) => section).join('\n\n');
}

/**
 * Whole where that can be read. Of longer ones that are in the chat the middle is left out, and the dialog says so.
 * A call that is not in the chat yet has no other place to be read, so it is shown whole at any length.
 */
function describeArguments({ arguments: args, id }: ToolCall): string {
  const json = showInvisible(layOut(args));
  if (json.length <= MAX_SHOWN_CHARS || id === '') return json;
  const left = json.length - HEAD_CHARS - TAIL_CHARS;
  const gap = t(
    '⚠ {0} characters are not shown here. All of them are in the chat, in the call {1}: choose Edit to read them there.',
    figure(left),
    id,
  );
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
