import { showInvisible } from '../../chat/format/escape.ts';
import { fingerprint } from '../../mcp/config/fingerprint.ts';
import type { ToolInfo } from '../../ports/tools.ts';
import { truncate } from '../ui/plainMessage.ts';
import { t } from '../ui/words.ts';

/** A tool that was allowed, as stored, so that a change can be detected and described. */
export interface AllowedTool extends ToolSummary {
  readonly print: string;
  readonly always: boolean;
  readonly at: string;
}

/** Enough of a definition to describe a change, in few bytes. */
export interface ToolSummary {
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  /** Hashes of their schemas, by name. */
  readonly arguments: Readonly<Record<string, string>>;
  readonly readOnly?: boolean | undefined;
  readonly destructive?: boolean | undefined;
}

/** Changes with the server and with anything in the definition except the icon. */
export function fingerprintTool({ icon: _, ...definition }: ToolInfo, server: string): string {
  return fingerprint([server, definition]);
}

const MAX_DESCRIPTION_CHARS = 600;
const MAX_NAME_CHARS = 60;
const MAX_ARGUMENTS = 50;
const SHORT_HASH_CHARS = 12;

export function summarizeTool({
  title,
  description,
  inputSchema,
  readOnly,
  destructive,
}: ToolInfo): ToolSummary {
  const { properties, required } = fieldsOf(inputSchema);
  const isRequired = (name: string) => Array.isArray(required) && required.includes(name);
  const args = Object.entries(fieldsOf(properties)).slice(0, MAX_ARGUMENTS);
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
    ...describeArguments(before.arguments, now.arguments),
    before.description !== now.description && t('Its description was {0}.', quote(before.description)),
  ].filter((line) => line !== false);
  if (lines.length > 0) return lines;
  const other = t(
    'Something else: the command or address of its server, the schema of its arguments or results, or the end of a long description.',
  );
  return [other];
}

type Arguments = ToolSummary['arguments'];

function describeArguments(before: Arguments, now: Arguments): string[] {
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

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
