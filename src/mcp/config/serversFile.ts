import { blankComments, field, isObject, parseConfig } from '../../base/json.ts';
import type { NewServer } from './serverEntry.ts';

/** The places of a property in a text. */
interface PropertyPlace {
  readonly start: number;
  readonly valueStart: number;
  readonly end: number;
}

/** Where a property starts, such as `['servers', 'charts']`. Undefined if the text is not JSON or has none. */
export function findProperty(text: string, path: readonly string[]): PropertyPlace | undefined {
  try {
    parseConfig(text);
  } catch {
    return undefined;
  }
  return scan(blankComments(text), path);
}

/** Where a server starts in a file such as `.vscode/mcp.json`. */
export function findServer(text: string, name: string): PropertyPlace | undefined {
  return findProperty(text, ['servers', name]) ?? findProperty(text, ['mcpServers', name]);
}

interface AddedServer extends NewServer {
  /** The definitions of its inputs. */
  readonly inputs?: readonly object[];
}

/** Adds or replaces a server, and keeps everything else as it is written. Throws if the text is not such a file. */
export function addToServersFile(text: string, { name, entry, inputs = [] }: AddedServer): string {
  const json: unknown = text.trim() === '' ? {} : parseConfig(text);
  if (!isObject(json)) throw new SyntaxError('it must be an object');
  const root =
    field(json, 'servers') === undefined && isObject(field(json, 'mcpServers')) ? 'mcpServers' : 'servers';
  const started = text.trim() === '' ? '{}\n' : text;
  const unit = /^[ \t]+(?=\S)/m.exec(started)?.[0] ?? '  ';
  const withServer = putServer(withContainer(started, root, { unit, brackets: '{}' }), [root, name], {
    unit,
    entry,
  });
  if (inputs.length === 0) return withServer;
  const known = new Set(listOf(field(json, 'inputs')).map((input) => field(input, 'id')));
  return inputs
    .filter((input) => !known.has(field(input, 'id')))
    .reduce(
      (file, input) => insertInto(file, ['inputs'], { unit, member: print(input, unit, 2) }),
      withContainer(withServer, 'inputs', { unit, brackets: '[]' }),
    );
}

/** Removes a server. Undefined if the file has none of this name. */
export function removeFromServersFile(text: string, name: string): string | undefined {
  const place = findServer(text, name);
  if (!place) return undefined;
  const plain = blankComments(text);
  const comma = /^\s*,/.exec(plain.slice(place.end))?.[0];
  const before = /,?[^\S\r\n]*(?:\r?\n)?[^\S\r\n]*$/.exec(plain.slice(0, place.start))?.[0] ?? '';
  const lead = comma === undefined ? before : before.replace(/^,/, '');
  return text.slice(0, place.start - lead.length) + text.slice(place.end + (comma?.length ?? 0));
}

function putServer(
  text: string,
  path: readonly [string, string],
  { unit, entry }: { readonly unit: string; readonly entry: unknown },
): string {
  const [root, name] = path;
  const old = findProperty(text, path);
  const json = print(entry, unit, 2);
  if (old) return text.slice(0, old.valueStart) + json + text.slice(old.end);
  return insertInto(text, [root], { unit, member: `${JSON.stringify(name)}: ${json}` });
}

function withContainer(
  text: string,
  key: string,
  { unit, brackets }: { readonly unit: string; readonly brackets: string },
): string {
  if (findProperty(text, [key])) return text;
  return insertInto(text, [], { unit, member: `${JSON.stringify(key)}: ${brackets}` });
}

/** Adds a member at the end of the object or list at a path. */
function insertInto(
  text: string,
  path: readonly string[],
  { unit, member }: { readonly unit: string; readonly member: string },
): string {
  const plain = blankComments(text);
  const end = path.length === 0 ? plain.trimEnd().length : (findProperty(text, path)?.end ?? 0);
  const inside = plain.slice(0, end - 1).trimEnd();
  const comma = /[{[,]$/.test(inside) ? '' : ',';
  const closing = text.slice(inside.length, end);
  const indent = unit.repeat(path.length);
  // A comment after the last member stays on its line.
  const tail = /[\r\n]/.test(closing) ? closing : `\n${indent}${closing.trim()}`;
  const gap = /^[^\r\n]*/.exec(tail)?.[0] ?? '';
  return `${text.slice(0, inside.length)}${comma}${gap}\n${indent}${unit}${member}${tail.slice(gap.length)}${text.slice(end)}`;
}

function print(value: unknown, unit: string, depth: number): string {
  return JSON.stringify(value, undefined, unit).replaceAll('\n', `\n${unit.repeat(depth)}`);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+/g;

/** Finds a property in valid JSON whose comments are blank. */
function scan(text: string, path: readonly string[]): PropertyPlace | undefined {
  /** The key of each open object; undefined for a list. */
  const keys: (string | undefined)[] = [];
  let last = { token: '', at: 0 };
  let start = 0;
  let valueStart: number | undefined;
  for (const { 0: token, index: at } of text.matchAll(TOKEN)) {
    const isHere = keys.length === path.length && path.every((key, depth) => keys[depth] === key);
    const isEnd = token === '}' || token === ']' || token === ',';
    if (isHere && valueStart !== undefined && isEnd) {
      return { start, valueStart, end: last.at + last.token.length };
    }
    if (last.token === ':' && isHere) valueStart ??= at;
    if (token === ':') {
      keys[keys.length - 1] = JSON.parse(last.token) as string;
      const isFound = keys.length === path.length && path.every((key, depth) => keys[depth] === key);
      if (isFound) start = last.at;
    }
    if (token === '{' || token === '[') keys.push(undefined);
    if (token === '}' || token === ']') keys.pop();
    if (token === ',' && keys.length > 0) keys[keys.length - 1] = undefined;
    last = { token, at };
  }
  return undefined;
}
