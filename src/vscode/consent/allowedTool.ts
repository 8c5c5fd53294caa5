import { renderToolName } from '../../chat/format/callInfo.ts';
import { showInvisible } from '../../chat/format/escapeMarkers.ts';
import { fingerprint } from '../../mcp/config/fingerprint.ts';
import type { Approval, ToolCall, ToolInfo } from '../../ports/tools.ts';
import { truncate } from '../ui/plainMessage.ts';
import { t } from '../ui/words.ts';

/** A tool that was allowed, as stored, so that a change can be detected and shown. */
export interface AllowedTool {
  readonly print: string;
  readonly always: boolean;
  readonly at: string;
  /** Earlier versions did not store it. */
  readonly definition?: string;
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

/**
 * A changed tool needs a new permission, even if it is read-only or was always allowed. Only `auto` covers files:
 * read-only is the claim of a server, and says nothing about what it does with a file.
 */
export function judgeCall({ approval, tool, print, known, givesFiles }: CallToJudge): Judgement {
  if (approval === 'auto') return { kind: 'allow', by: 'setting' };
  if (known && known.print !== print) return { kind: 'ask', before: known };
  if (givesFiles) return { kind: 'ask' };
  if (approval === 'auto-readonly' && tool.readOnly === true) return { kind: 'allow', by: 'setting' };
  return known?.always ? { kind: 'allow', by: 'remembered' } : { kind: 'ask' };
}

/** The tool to remember: a permission to read from another server is for that server only. */
export function toolToRemember(call: ToolCall, tool: ToolInfo): ToolInfo {
  const other = tool.serverArgument === undefined ? undefined : call.arguments[tool.serverArgument];
  return typeof other === 'string' ? { ...tool, server: other, tool: renderToolName(tool) } : tool;
}

/** Changes with the server and with anything in the definition except the icon. */
export function fingerprintTool({ icon: _, ...definition }: ToolInfo, server: string): string {
  return fingerprint([server, definition]);
}

/** VS Code loads stored definitions at every start. */
const MAX_DEFINITION_CHARS = 3_000;

/** The definition as lines that can be compared. In English, because it is stored. */
export function renderDefinition(tool: ToolInfo): string {
  const { title, description, readOnly, destructive, inputSchema, outputSchema } = tool;
  const yesOrNo = (claim: boolean | undefined) => (claim === undefined ? 'not stated' : claim ? 'yes' : 'no');
  const lines = [
    ...(title === undefined ? [] : [`Title: ${title}`]),
    `Read-only: ${yesOrNo(readOnly)}`,
    `May delete or overwrite: ${yesOrNo(destructive)}`,
    ...section('Description', description?.trim()),
    ...section('Arguments', JSON.stringify(inputSchema, undefined, 2)),
    ...section('Results', outputSchema && JSON.stringify(outputSchema, undefined, 2)),
  ];
  const text = showInvisible(lines.join('\n'));
  if (text.length <= MAX_DEFINITION_CHARS) return text;
  // A change after the cut is a change too.
  return `${truncate(text, MAX_DEFINITION_CHARS)}\n\n(${text.length} characters, SHA-256 ${fingerprint(text)})`;
}

function section(title: string, text: unknown): string[] {
  return text ? ['', `${title}:`, String(text)] : [];
}

const MAX_ABOUT_CHARS = 600;

interface AboutQuestion {
  /** A line for each file that the call sends. */
  readonly notes?: readonly string[] | undefined;
  readonly before?: AllowedTool | undefined;
}

/** Everything about a call except its arguments. The server's own text comes last. */
export function describeTool(tool: ToolInfo, { notes = [], before }: AboutQuestion = {}): readonly string[] {
  // One line, so that it cannot imitate the lines above it.
  const folded = (tool.description ?? tool.title ?? '').replace(/\s+/g, ' ').trim();
  const description = truncate(showInvisible(folded), MAX_ABOUT_CHARS);
  const sections = [
    before && describeChange(tool, before),
    tool.destructive && t('The server says that this tool may delete or overwrite data.'),
    notes.length > 0 && `${t('Files that the tool gets:')}\n${notes.join('\n')}`,
    description &&
      (tool.readsReferences
        ? t('Description: {0}', description)
        : t('Description by the server: {0}', description)),
  ];
  return sections.filter((each): each is string => typeof each === 'string' && each !== '');
}

/** A tool whose definition is the same has another server: the fingerprint covers both. */
export function isRedefined(tool: ToolInfo, before: AllowedTool): boolean {
  return before.definition !== renderDefinition(tool);
}

export function describeChange(tool: ToolInfo, before: AllowedTool): string {
  const day = before.at.slice(0, 10);
  const name = renderToolName(tool);
  return isRedefined(tool, before)
    ? t('{0} has changed since it was allowed on {1}', name, day)
    : t('The server of {0} has changed since it was allowed on {1}', name, day);
}
