import { field, isObject } from '../../base/json.ts';
import { placeUnder, type SchemaPlace } from '../schema/schemaLimits.ts';

/** An argument that is also sent as a header, so that proxies can route by it. */
export interface ParamHeader {
  /** Property names that lead to the argument. */
  readonly path: readonly string[];
  /** The name after `Mcp-Param-`. */
  readonly header: string;
}

export type ParamHeaderScan =
  | { readonly ok: true; readonly declarations: readonly ParamHeader[] }
  /** The end of a sentence about the schema. */
  | { readonly ok: false; readonly reason: string };

const KEYWORD = 'x-mcp-header';
/** An HTTP token. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const TYPES: ReadonlySet<unknown> = new Set(['string', 'integer', 'boolean']);

/** The arguments that are also sent as headers. A tool with an invalid declaration must not be called over HTTP. */
export function scanParamHeaders(inputSchema: unknown): ParamHeaderScan {
  const declarations = new Map<string, ParamHeader>();
  for (const { schema, path } of findDeclarations(inputSchema)) {
    const header = schema[KEYWORD];
    const problem = declarationProblem(schema, path);
    if (problem !== undefined || typeof header !== 'string' || path === undefined) {
      return { ok: false, reason: `declares ${KEYWORD} ${problem}` };
    }
    // Header names ignore case.
    if (declarations.has(header.toLowerCase())) {
      return { ok: false, reason: `declares the ${KEYWORD} ${quote(header)} twice` };
    }
    declarations.set(header.toLowerCase(), { path, header });
  }
  return { ok: true, declarations: [...declarations.values()] };
}

/** The headers of one call. Absent, null and structured arguments have none. */
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
  /** Undefined where the schema cannot be reached by property names alone. */
  readonly path: readonly string[] | undefined;
}

interface Visit {
  readonly value: unknown;
  readonly place: SchemaPlace;
  readonly path: Declaration['path'];
}

function findDeclarations(inputSchema: unknown): readonly Declaration[] {
  const found: Declaration[] = [];
  const pending: Visit[] = [{ value: inputSchema, place: 'schema', path: [] }];
  // A list instead of recursion, for any depth.
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { value, place, path } = next;
    if (typeof value !== 'object' || value === null || place === 'data') continue;
    if (place === 'schema' && isObject(value) && Object.hasOwn(value, KEYWORD)) {
      found.push({ schema: value, path });
    }
    for (const [key, each] of Object.entries(value)) {
      const under = Array.isArray(value) ? place : placeUnder(place, key);
      const pathIn = place === 'schema' && key === 'properties' ? path : undefined;
      pending.push({ value: each, place: under, path: place === 'map' ? path && [...path, key] : pathIn });
    }
  }
  return found.reverse();
}

/** The problem, as the end of a sentence. */
function declarationProblem({ [KEYWORD]: header, type }: Declaration['schema'], path: Declaration['path']) {
  if (path === undefined || path.length === 0) return 'outside of the properties of the arguments';
  const at = `for ${quote(path.join('.'))}`;
  if (typeof header !== 'string' || header === '') return `${at} without a name`;
  if (!TOKEN.test(header)) return `${at} with the invalid header name ${quote(header)}`;
  if (!TYPES.has(type)) return `${at}, which is not a string, an integer or a boolean`;
  return undefined;
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 100));
}

function plainText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  // Outside of this range the text may differ from the number in the body.
  const isExact = typeof value === 'number' && Number.isFinite(value) && Math.abs(value) <= MAX_EXACT;
  return isExact ? String(value) : undefined;
}

const MAX_EXACT = Number.MAX_SAFE_INTEGER;
/** Text that needs no encoding. Spaces at the ends would be trimmed. */
const PLAIN = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
/** Plain text that looks encoded has to be encoded, too. */
const LIKE_ENCODED = /^=\?base64\?.*\?=$/i;

function encode(text: string): string {
  const isPlain = PLAIN.test(text) && !LIKE_ENCODED.test(text);
  return isPlain ? text : `=?base64?${Buffer.from(text, 'utf8').toString('base64')}?=`;
}
