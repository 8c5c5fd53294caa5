import { createHash } from 'node:crypto';
import { field, isObject, mapStrings } from '../../base/json.ts';
import type { ModelTool } from '../../ports/models.ts';
import type { ToolInfo, ToolName } from '../../ports/tools.ts';

/** Limits of the strictest provider. */
export const MAX_TOOL_NAME_CHARS = 64;
export const VALID_TOOL_NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;
const MAX_DESCRIPTION_CHARS = 1024;
const HASH_CHARS = 8;

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

/** The model's name for a tool, also for one that is no longer listed: old calls name it. */
export function nameOfTool(tools: readonly ModelTool[], tool: ToolName): string {
  const known = tools.find((each) => isSameTool(each.tool, tool));
  if (known) return known.name;
  return isPlain(tool) ? plainName(tool) : hashedName(tool, new Map());
}

/** The reverse of `nameOfTool`. Some models write the name as it is in the chat. */
export function toolOfName(tools: readonly ModelTool[], name: string): ToolName | undefined {
  const known = tools.find((each) => each.name === name);
  return (known ?? tools.find(({ tool }) => `${tool.server}.${tool.tool}` === name))?.tool;
}

function add(named: Map<string, ModelTool>, info: ToolInfo, name: string): void {
  // A server may list a tool twice.
  if (named.has(name)) return;
  named.set(name, {
    name,
    tool: { server: info.server, tool: info.tool },
    description: describeTool(info.description, info.title, info.tool),
    inputSchema: acceptableSchema(info.inputSchema),
  });
}

/** The first text that is not empty, within the limit. */
export function describeTool(...texts: readonly (string | undefined)[]): string {
  const text = stripTags(texts.find((each) => each?.trim())?.trim() ?? '');
  const cut = Array.from(text.slice(0, 2 * MAX_DESCRIPTION_CHARS)).slice(0, MAX_DESCRIPTION_CHARS - 1);
  return text.length <= MAX_DESCRIPTION_CHARS ? text : `${cut.join('')}…`;
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
  return Array.isArray(list) ? list.filter(isObject) : [];
}

function ownObject(schema: Schema, key: string): Schema {
  const value = field(schema, key);
  return isObject(value) ? value : {};
}

function ownList(schema: Schema, key: string): readonly string[] {
  const value = field(schema, key);
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}
