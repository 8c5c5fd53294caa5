import { createHash } from 'node:crypto';
import { field, fieldsOf, isObject, listOf, mapStrings } from '../../base/json.ts';
import { NO_SERVER } from '../../chat/format/legacy.ts';
import type { ModelTool } from '../../ports/models.ts';
import type { ToolInfo, ToolName } from '../../ports/tools.ts';

/** Limits of the strictest provider. */
export const MAX_TOOL_NAME_CHARS = 64;
export const VALID_TOOL_NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;
/** More than any real tool has. */
const MAX_DESCRIPTION_CHARS = 16_000;
const HASH_CHARS = 8;
/** Names are compared with those of all tools. The longest names of servers and tools are shorter. */
const MAX_WRITTEN_NAME_CHARS = 2000;

/** The tools under names that every provider accepts, always in the same order, so that providers can cache them. */
export function modelTools(tools: readonly ToolInfo[]): readonly ModelTool[] {
  const sorted = tools.toSorted(
    (a, b) => compareCodeUnits(a.server, b.server) || compareCodeUnits(a.tool, b.tool),
  );
  const named = new Map<string, ModelTool>();
  // Plain names first, so that no hashed name can take one.
  for (const tool of sorted) if (isPlain(tool)) add(named, tool, plainName(tool));
  for (const tool of sorted) if (!isPlain(tool)) add(named, tool, hashedName(tool, named));
  return [...named.values()].toSorted((a, b) => compareCodeUnits(a.name, b.name));
}

/** The model's name for a tool, also for one that is no longer listed, because old calls contain it. */
export function nameOfTool(tools: readonly ModelTool[], tool: ToolName): string {
  // Calls of chat.md may name no server.
  const meant = tool.server === NO_SERVER ? (toolOfName(tools, tool.tool) ?? tool) : tool;
  const known = tools.find((each) => isSameTool(each.tool, meant));
  if (known) return known.name;
  return isPlain(tool) ? plainName(tool) : hashedName(tool, new Map());
}

/**
 * The reverse of `nameOfTool`, for a name as models write it: as in the chat, without its server, in other case, with `-`
 * for `_`, or with what their own format adds. Undefined unless exactly one tool fits.
 */
export function toolOfName(tools: readonly ModelTool[], name: string): ToolName | undefined {
  if (name.length > MAX_WRITTEN_NAME_CHARS) return undefined;
  const written = withoutFormat(name);
  for (const fits of READINGS) {
    const found = tools.filter((tool) => fits(tool, name, written));
    if (found.length > 0) return found.length === 1 ? found[0]?.tool : undefined;
  }
  return undefined;
}

/** From the most exact to the least. The first that fits any tool decides. */
const READINGS: readonly ((tool: ModelTool, name: string, written: string) => boolean)[] = [
  (tool, name) => tool.name === name,
  ({ tool }, name) => `${tool.server}.${tool.tool}` === name,
  ({ name, tool }, _, written) =>
    tool.tool === written || [name, tool.server + tool.tool].some((each) => isAlike(each, written)),
  ({ tool }, _, written) => isAlike(tool.tool, written),
  // Whatever is before it.
  ({ name, tool }, _, written) =>
    [name, `${tool.server}.${tool.tool}`].some((each) => endsWithName(written, each)),
];

/** What the formats of models put around a name: `functions.NAME`, `<function=NAME>`, `functions.NAME:0`. */
const FORMAT_BEFORE = /^(?:(?:(?:function|tool)_calls?|functions?|tools?|default_api|mcp)(?:[.:/=]\s*|_+))+/i;
const FORMAT_AFTER = /(?:[[{(<>\s].*|:\d+)$/s;

function withoutFormat(name: string): string {
  const [before = '', ...after] = name.replace(/^.*\bto=/s, '').split(/<\|[^|]*\|>/);
  const own = before.trim() === '' ? (after.findLast((each) => each.trim() !== '') ?? '') : before;
  const bare = own
    .trim()
    .replace(/^<\w+[=>]/, '')
    .replace(/^["'`]+|(?<!["'`])["'`]+$/g, '');
  return bare.replace(FORMAT_BEFORE, '').replace(FORMAT_AFTER, '');
}

function endsWithName(written: string, name: string): boolean {
  const before = written.slice(0, -name.length);
  return written.toLowerCase().endsWith(name.toLowerCase()) && !/[\p{L}\p{N}]$/u.test(before);
}

/** Whether two names have the same letters and digits. */
function isAlike(a: string, b: string): boolean {
  const key = lettersOf(a);
  return key !== '' && key === lettersOf(b);
}

function lettersOf(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}

/** Stands in the chat for the server of a call that no tool fits. */
export const UNKNOWN_SERVER = 'unknown';
const MAX_NAMED = 50;

/** The names of the tools as the model knows them, for a model that has called another one. */
export function listNames(tools: readonly ModelTool[]): string {
  if (tools.length === 0) return 'This chat has no tools.';
  const names = tools.slice(0, MAX_NAMED).map(({ name }) => name);
  const more = tools.length > MAX_NAMED ? ` and ${tools.length - MAX_NAMED} more` : '';
  return `The tools of this chat: ${names.join(', ')}${more}.`;
}

function add(named: Map<string, ModelTool>, info: ToolInfo, name: string): void {
  // A server may list a tool twice.
  if (named.has(name)) return;
  named.set(name, {
    name,
    tool: { server: info.server, tool: info.tool },
    description: describeTool(info.description, info.title, info.tool),
    inputSchema: acceptableSchema(info.inputSchema),
    ownSchema: info.inputSchema,
  });
}

/** The first text that is not empty. */
export function describeTool(...texts: readonly (string | undefined)[]): string {
  const text = texts.find((each) => each?.trim())?.trim() ?? '';
  return stripTags(cutAtSentence(text, MAX_DESCRIPTION_CHARS));
}

interface FittedTools {
  readonly tools: readonly ModelTool[];
  /** The tools whose descriptions were cut. */
  readonly cut: readonly ToolName[];
}

/** Cuts the descriptions that are longer than the provider of a model accepts. */
export function fitDescriptions(tools: readonly ModelTool[], maxChars = MAX_DESCRIPTION_CHARS): FittedTools {
  const isLong = ({ description }: ModelTool) => description.length > maxChars;
  return {
    tools: tools.map((tool) =>
      isLong(tool) ? { ...tool, description: cutAtSentence(tool.description, maxChars) } : tool,
    ),
    cut: tools.filter(isLong).map(({ tool }) => tool),
  };
}

/** Cuts after the last sentence or line that fits, if that keeps at least half, else after a word. */
function cutAtSentence(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const fitting = text.slice(0, maxChars - 2);
  const ends = [/[.!?。](?=\s)|\n/g, /\s/g].map((end) => [...fitting.matchAll(end)].at(-1)?.index ?? 0);
  const at = ends.find((end) => end >= fitting.length / 2) ?? fitting.length - 1;
  return `${fitting
    .slice(0, at + 1)
    .trimEnd()
    .replace(/[\ud800-\udbff]$/, '')} …`;
}

function plainName({ server, tool }: ToolName): string {
  return `${server}__${tool}`;
}

/** Whether the joined name is valid for every provider and unambiguous. */
function isPlain(tool: ToolName): boolean {
  const name = plainName(tool);
  return VALID_TOOL_NAME.test(name) && name.indexOf('__') === tool.server.length;
}

/** Depends only on the tool, so that the name stays the same whichever other tools are listed. */
function hashedName(tool: ToolName, taken: ReadonlyMap<string, ModelTool>): string {
  const clean = plainName(tool).replace(/[^A-Za-z0-9_-]/g, '_');
  const start = /^[A-Za-z_]/.test(clean) ? clean : `_${clean}`;
  for (let attempt = 0; ; attempt += 1) {
    const hash = createHash('sha256').update(JSON.stringify([tool.server, tool.tool, attempt]));
    const end = hash.digest('hex').slice(0, HASH_CHARS);
    const name = `${start.slice(0, MAX_TOOL_NAME_CHARS - HASH_CHARS - 1)}_${end}`;
    const other = taken.get(name)?.tool;
    if (!other || isSameTool(other, tool)) return name;
  }
}

function isSameTool(a: ToolName, b: ToolName): boolean {
  return a.server === b.server && a.tool === b.tool;
}

/** An order that does not depend on the locale. */
export function compareCodeUnits(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

type Schema = Readonly<Record<string, unknown>>;

/**
 * An input schema that every provider accepts: an object without `$schema` and without alternatives at the top level.
 * Arguments are validated against the original schema when the tool is called.
 */
export function acceptableSchema(schema: unknown): Schema {
  const clean = mapStrings(schema, stripTags);
  const root = isObject(clean) ? followReference(clean) : {};
  const { $schema: _, $ref: __, anyOf, oneOf, allOf, type: ___, ...rest } = root;
  const every = branches(allOf);
  const some = [...branches(anyOf), ...branches(oneOf)];
  const properties = [...some, ...every, rest].flatMap((each) =>
    Object.entries(ownObject(each, 'properties')),
  );
  const required = [rest, ...every].flatMap((each) => ownList(each, 'required'));
  return {
    ...rest,
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length > 0 ? { required: [...new Set(required)] } : {}),
  };
}

/** Removes tag characters, which are invisible to users but readable for models. */
export function stripTags(text: string): string {
  return text.replace(/[\u{e0000}-\u{e0fff}]/gu, '');
}

/** Some generators write a schema that is only a reference into itself. */
function followReference(schema: Schema): Schema {
  const match = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(String(schema['$ref'] ?? ''));
  if (!match?.[1] || !match[2]) return schema;
  const target = ownObject(ownObject(schema, match[1]), match[2]);
  return { ...schema, ...target };
}

function branches(list: unknown): readonly Schema[] {
  return listOf(list).filter(isObject);
}

function ownObject(schema: Schema, key: string): Schema {
  return fieldsOf(field(schema, key));
}

function ownList(schema: Schema, key: string): readonly string[] {
  return listOf(field(schema, key)).filter((each) => typeof each === 'string');
}
