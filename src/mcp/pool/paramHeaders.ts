import { field, isObject } from '../../base/json.ts';
import { placeUnder, type SchemaPlace } from '../schema/schema.ts';

/** An argument of a tool that is also told as a header, so that what stands between can route by it. */
export interface ParamHeader {
  /** The names of the properties that lead to the argument. */
  readonly path: readonly string[];
  /** What follows `Mcp-Param-`. */
  readonly header: string;
}

export type ParamHeaderScan =
  | { readonly ok: true; readonly declarations: readonly ParamHeader[] }
  /** The end of a sentence about the schema. */
  | { readonly ok: false; readonly reason: string };

const KEYWORD = 'x-mcp-header';
/** A token of HTTP. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const TYPES: ReadonlySet<unknown> = new Set(['string', 'integer', 'boolean']);
/**
 * Which arguments of a tool are told as headers. A tool that declares one wrongly must not be called over HTTP:
 * the header's name, its property's type, and its place have to be right, and no name may come twice.
 */
export function scanParamHeaders(inputSchema: unknown): ParamHeaderScan {
  const declarations = new Map<string, ParamHeader>();
  for (const { schema, path } of findDeclarations(inputSchema)) {
    const header = schema[KEYWORD];
    const problem = declarationProblem(schema, path);
    if (problem !== undefined || typeof header !== 'string' || path === undefined) {
      return { ok: false, reason: `declares ${KEYWORD} ${problem}` };
    }
    // Names of headers do not tell capitals from small letters.
    if (declarations.has(header.toLowerCase())) {
      return { ok: false, reason: `declares the ${KEYWORD} ${quote(header)} twice` };
    }
    declarations.set(header.toLowerCase(), { path, header });
  }
  return { ok: true, declarations: [...declarations.values()] };
}

/** The headers of one call. What is absent, null, or no plain value has none. */
export function paramHeaders(
  declarations: readonly ParamHeader[],
  args: Readonly<Record<string, unknown>>,
): Record<string, string> {
  const headers = declarations.flatMap(({ path, header }) => {
    const text = plainText(path.reduce<unknown>(field, args));
    return text === undefined ? [] : [[`Mcp-Param-${header}`, encode(text)] as const];
  });
  return Object.fromEntries(headers);
}

interface Declaration {
  readonly schema: Readonly<Record<string, unknown>>;
  /** Nothing where the schema cannot be reached by names of properties alone. */
  readonly path: readonly string[] | undefined;
}

interface Waiting {
  readonly value: unknown;
  readonly place: SchemaPlace;
  readonly path: readonly string[] | undefined;
}

function findDeclarations(inputSchema: unknown): readonly Declaration[] {
  const found: Declaration[] = [];
  const waiting: Waiting[] = [{ value: inputSchema, place: 'schema', path: [] }];
  // A list instead of recursion, so that no depth is too deep.
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { value, place, path } = next;
    if (typeof value !== 'object' || value === null || place === 'data') continue;
    if (place === 'schema' && isObject(value) && Object.hasOwn(value, KEYWORD)) {
      found.push({ schema: value, path });
    }
    for (const [key, each] of Object.entries(value)) {
      const under = Array.isArray(value) ? place : placeUnder(place, key);
      const isNamed = place === 'map' || (place === 'schema' && key === 'properties');
      waiting.push({ value: each, place: under, path: isNamed ? pathUnder(path, place, key) : undefined });
    }
  }
  return found.reverse();
}

function pathUnder(path: Waiting['path'], place: SchemaPlace, key: string): Waiting['path'] {
  return place === 'map' ? path && [...path, key] : path;
}

/** What is wrong, as the end of a sentence that begins with the declaration. */
function declarationProblem({ [KEYWORD]: header, type }: Declaration['schema'], path: Declaration['path']) {
  if (path === undefined || path.length === 0) return 'where no property of the arguments is';
  const at = `for ${quote(path.join('.'))}`;
  if (typeof header !== 'string' || header === '') return `${at} without a name`;
  if (!TOKEN.test(header)) return `${at} with the name ${quote(header)}, which no header can have`;
  if (!TYPES.has(type)) return `${at}, which is not a string, an integer or a boolean`;
  return undefined;
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 100));
}

function plainText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  // Beyond this range what is written here need not be the number that the body says.
  const isExact = typeof value === 'number' && Number.isFinite(value) && Math.abs(value) <= MAX_EXACT;
  return isExact ? String(value) : undefined;
}

const MAX_EXACT = Number.MAX_SAFE_INTEGER;
/** What a header can hold as it is. Blanks at its ends would get lost. */
const PLAIN = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
/** What would be taken for the other form. */
const LIKE_ENCODED = /^=\?base64\?.*\?=$/i;

function encode(text: string): string {
  const isPlain = PLAIN.test(text) && !LIKE_ENCODED.test(text);
  return isPlain ? text : `=?base64?${Buffer.from(text, 'utf8').toString('base64')}?=`;
}
