import { showInvisible } from '../../chat/format/escape.ts';
import { fingerprint } from '../../mcp/config/fingerprint.ts';
import type { ToolInfo } from '../../ports/tools.ts';

import { t } from '../ui/words.ts';

/** What is kept of a tool that was allowed once, so that a change can be seen and told. */
export interface AllowedTool extends ToolSketch {
  /** Of the server and of everything that it claims about the tool. */
  readonly print: string;
  /** Whether it may be called without a question. */
  readonly always: boolean;
  readonly at: string;
}

/** What a person can be told about, in few bytes. */
export interface ToolSketch {
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  /** Names of arguments, and what stands for their schemas. */
  readonly arguments: Readonly<Record<string, string>>;
  readonly readOnly?: boolean | undefined;
  readonly destructive?: boolean | undefined;
}

/** Changes with anything that the server claims about the tool, and with the server. A picture claims nothing. */
export function printTool({ icon: _, ...claims }: ToolInfo, server: string): string {
  return fingerprint([server, claims]);
}

const MAX_DESCRIPTION_CHARS = 600;
const MAX_NAME_CHARS = 60;
const MAX_ARGUMENTS = 50;
const SHORT_HASH_CHARS = 12;

export function sketchTool({ title, description, inputSchema, readOnly, destructive }: ToolInfo): ToolSketch {
  const { properties, required } = fieldsOf(inputSchema);
  const isRequired = (name: string) => Array.isArray(required) && required.includes(name);
  const args = Object.entries(fieldsOf(properties)).slice(0, MAX_ARGUMENTS);
  return {
    title: title === undefined ? undefined : cut(title, MAX_NAME_CHARS),
    description: description === undefined ? undefined : cut(description, MAX_DESCRIPTION_CHARS),
    arguments: Object.fromEntries(
      args.map(([name, schema]) => [
        cut(name, MAX_NAME_CHARS),
        fingerprint([schema, isRequired(name)]).slice(0, SHORT_HASH_CHARS),
      ]),
    ),
    readOnly,
    destructive,
  };
}

/** What is not as it was, a line for each. At least one: whoever asks knows that something has changed. */
export function describeChange(before: ToolSketch, now: ToolSketch): readonly string[] {
  const lines = [
    before.title !== now.title && t('Its title was {0} and is {1}.', said(before.title), said(now.title)),
    before.readOnly === true && now.readOnly !== true && t('It no longer says that it only reads.'),
    before.readOnly !== true && now.readOnly === true && t('It says now that it only reads.'),
    before.destructive !== true &&
      now.destructive === true &&
      t('It says now that it may delete or overwrite.'),
    before.destructive === true && now.destructive !== true && t('It no longer says that it may overwrite.'),
    ...describeArguments(before.arguments, now.arguments),
    before.description !== now.description && t('Its description was {0}.', said(before.description)),
  ].filter((line) => line !== false);
  return lines.length > 0 ? lines : [somethingElse()];
}

function somethingElse(): string {
  return t(
    'Something else: the command or address of its server, the schema of its arguments or results, or the end of a long description.',
  );
}

type Arguments = ToolSketch['arguments'];

function describeArguments(before: Arguments, now: Arguments): string[] {
  const isIn = (args: Arguments) => (name: string) => Object.hasOwn(args, name);
  const isOther = (name: string) => isIn(before)(name) && before[name] !== now[name];
  const names = Object.keys(now);
  const wasNot = (name: string) => !isIn(before)(name);
  const added = listNames(names.filter(wasNot));
  const gone = listNames(Object.keys(before).filter((name) => !isIn(now)(name)));
  const other = listNames(names.filter(isOther));
  return [
    ...(added === '' ? [] : [t('New arguments: {0}.', added)]),
    ...(gone === '' ? [] : [t('Arguments that are gone: {0}.', gone)]),
    ...(other === '' ? [] : [t('Arguments that are other ones now: {0}.', other)]),
  ];
}

const MAX_LISTED = 10;

function listNames(names: readonly string[]): string {
  const listed = names.slice(0, MAX_LISTED).map(said).join(', ');
  const more = names.length - MAX_LISTED;
  return more > 0 ? t('{0} and {1} more', listed, more) : listed;
}

/** As the editor's dialog may show it: on one line, and in quotation marks that the text itself has not. */
function said(text: string | undefined): string {
  return text === undefined ? t('none') : t('“{0}”', showInvisible(text.replace(/\s+/g, ' ').trim()));
}

function cut(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${text.slice(0, maxChars).toWellFormed()}…`;
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
