import { hasManyValues, isDeep, isObject, parseJson, parseJsonWithComments } from '../../base/json.ts';
import { childSchema, type Keywords, SchemaWalk } from '../schema/walk.ts';

type Fields = Readonly<Record<string, unknown>>;

export interface RepairedArguments {
  readonly value: Fields;
  /** What was changed, as the end of a list: `count: a string became a number`. */
  readonly repairs: readonly string[];
}

/**
 * Reads the arguments of a complete call as models write them. A value that the schema allows is never changed, and one
 * that it does not allow only if there is a single reading that it allows. Undefined if the arguments are not an object.
 */
export function repairArguments(text: string, schema: unknown): RepairedArguments | undefined {
  const walk = new SchemaWalk(schema);
  const read = readObject(text, walk);
  if (!read) return undefined;
  const repairs = new Repairs(walk);
  const value = repairs.inObject(read.value, walk.flatten(schema).keywords, '');
  return { value, repairs: [...read.repairs, ...repairs.made] };
}

const MAX_ENCODINGS = 3;

/** One object, in JSON or in JSON with comments and trailing commas, also as a string of JSON. */
function readObject(text: string, walk: SchemaWalk): RepairedArguments | undefined {
  const repairs = new Set<string>();
  let json = text.trim() === '' ? '{}' : text;
  for (let encodings = 0; encodings < MAX_ENCODINGS; encodings += 1) {
    const strict = parseJson(json);
    const value = strict === undefined ? readUnusual(json, repairs) : strict;
    if (value === undefined) return undefined;
    if (isObject(value)) return { value, repairs: [...repairs] };
    if (value === null || value === '') return readNothing(walk);
    if (typeof value !== 'string') return undefined;
    repairs.add('they were JSON in a string');
    json = value;
  }
  return undefined;
}

/** In a fence, followed by what the format of a model adds, with comments, or with line breaks in strings. */
function readUnusual(text: string, repairs: Set<string>): unknown {
  const all = text.trim();
  const bare = withoutFormatAfter(all.replace(FENCE_BEFORE, '')).trim();
  if (bare !== all) repairs.add('text around them was removed');
  const strict = parseJson(bare);
  if (strict !== undefined) return strict;
  const value = parseLoosely(bare);
  if (value !== undefined) {
    repairs.add('comments or trailing commas were removed');
    return value;
  }
  repairs.add('line breaks in strings were escaped');
  return parseJson(
    bare.replace(STRING, (each) => each.replace(/[\n\r\t]/g, (char) => ESCAPES[char] ?? char)),
  );
}

const FENCE_BEFORE = /^```\w*\s/;
/** Such as `<|call|>`, `</tool_call>` and the end of a fence. */
const FORMAT_AFTER = /(?:<\|[^|<>]*\|>|<\/\w+>|```)$/;
const MAX_FORMAT_CHARS = 100;
/** What is not closed matches to its end, or each of thousands would be looked for again. */
const STRING = /"(?:[^"\\]|\\.)*"?/gs;
const ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Looks at one sign after the other, from the end: there may be thousands before text. */
function withoutFormatAfter(text: string): string {
  let end = text.length;
  for (;;) {
    const [sign] = FORMAT_AFTER.exec(text.slice(Math.max(0, end - MAX_FORMAT_CHARS), end)) ?? [];
    if (sign === undefined) return text.slice(0, end);
    end -= sign.length;
  }
}

/** Undefined if the text is not even JSON with comments and trailing commas. */
function parseLoosely(text: string): unknown {
  if (hasManyValues(text)) return undefined;
  try {
    const value = parseJsonWithComments(text);
    return isDeep(text, value) ? undefined : value;
  } catch {
    return undefined;
  }
}

function readNothing(walk: SchemaWalk): RepairedArguments | undefined {
  const { required } = walk.propertiesOf(walk.flatten(walk.root).keywords);
  return required.size > 0 ? undefined : { value: {}, repairs: ['missing arguments became {}'] };
}

/** Values that are nested deeper are not changed. */
const MAX_DEPTH = 20;

class Repairs {
  readonly made: string[] = [];
  readonly #walk: SchemaWalk;
  #depth: number;

  constructor(walk: SchemaWalk, depth = 0) {
    this.#walk = walk;
    this.#depth = depth;
  }

  inObject(value: Fields, keywords: Keywords, path: string): Fields {
    const { properties, required } = this.#walk.propertiesOf(keywords);
    const entries = Object.entries(value).flatMap(([name, each]) => {
      const place = path === '' ? name : `${path}.${name}`;
      const schema = childSchema(keywords, name);
      const mayBeLeftOut = each === null && properties.has(name) && !required.has(name);
      if (mayBeLeftOut && !this.#fits(null, schema) && !this.#walk.isSpent) {
        this.made.push(`${place}: null was removed`);
        return [];
      }
      return [[name, this.#inValue(each, schema, place)] as const];
    });
    // `fromEntries` also creates an own property for "__proto__".
    return Object.fromEntries(entries);
  }

  #inValue(value: unknown, schema: unknown, place: string): unknown {
    if (!isObject(schema)) return value;
    const types = this.#typesOf(schema);
    if (types === undefined || hasType(types, value)) return this.#inside(value, schema, place);
    const readings = this.#readings(value, types, schema, place);
    const [only] = readings;
    if (readings.length !== 1 || !only) return value;
    this.made.push(`${place}: ${only.how}`, ...only.inner);
    return only.value;
  }

  /** The value has the right type; what it contains may not. */
  #inside(value: unknown, schema: unknown, place: string): unknown {
    const shape = typeof value === 'object' ? this.#shapeOf(schema, typeOf(value)) : undefined;
    if (!shape || this.#depth >= MAX_DEPTH) return value;
    this.#depth += 1;
    try {
      if (isObject(value)) return this.inObject(value, shape, place);
      if (!Array.isArray(value)) return value;
      return value.map((each: unknown, at) => this.#inValue(each, childSchema(shape, at), `${place}[${at}]`));
    } finally {
      this.#depth -= 1;
    }
  }

  /** The only alternative of a schema for objects or lists; undefined if there are several. */
  #shapeOf(schema: unknown, type: string): Keywords | undefined {
    const { keywords } = this.#walk.flatten(schema);
    const all = (this.#walk.alternatives(keywords) ?? [keywords]).filter((each) => {
      const types = this.#typesOf(each);
      return types === undefined || types.has(type);
    });
    return all.length === 1 ? all[0] : undefined;
  }

  #readings(value: unknown, types: Types, schema: unknown, place: string): readonly Reading[] {
    const found = typeof value === 'string' ? readText(value, types) : [];
    const looksLikeJson = typeof value === 'string' && /^\s*[[{]/.test(value);
    const mayBeOne = types.has('array') && value !== null && found.length === 0 && !looksLikeJson;
    const readings = mayBeOne ? [...found, { value: [value], how: 'one value became a list' }] : found;
    return readings.flatMap((reading) => {
      const inner = new Repairs(this.#walk, this.#depth);
      const repaired = inner.#inside(reading.value, schema, place);
      return this.#fits(repaired, schema) ? [{ ...reading, value: repaired, inner: inner.made }] : [];
    });
  }

  /** By type, `enum` and `const`, and the same for what it contains. Other keywords are left to the server. */
  #fits(value: unknown, schema: unknown, depth = this.#depth): boolean {
    if (!isObject(schema)) return true;
    const types = this.#typesOf(schema);
    if (depth > MAX_DEPTH || this.#walk.isSpent || (types && !hasType(types, value))) return false;
    const { keywords } = this.#walk.flatten(schema);
    if (value !== null && !this.#isChoice(value, keywords)) return false;
    const shape = this.#shapeOf(schema, typeOf(value));
    if (!shape || typeof value !== 'object' || value === null) return true;
    if (Array.isArray(value))
      return value.every((each: unknown, at) => this.#fits(each, childSchema(shape, at), depth + 1));
    const { required } = this.#walk.propertiesOf(shape);
    return (
      [...required].every((name) => Object.hasOwn(value, name)) &&
      Object.entries(value).every(([name, each]) => this.#fits(each, childSchema(shape, name), depth + 1))
    );
  }

  #isChoice(value: unknown, { enum: choices, ...keywords }: Keywords): boolean {
    const json = JSON.stringify(value);
    if (Array.isArray(choices)) {
      return this.#walk.spend(choices.length) && choices.some((each) => JSON.stringify(each) === json);
    }
    return !Object.hasOwn(keywords, 'const') || JSON.stringify(keywords['const']) === json;
  }

  /** The JSON types that a schema allows; undefined if it allows any, or does not say. */
  #typesOf(schema: unknown): Types | undefined {
    const { keywords, nullable } = this.#walk.flatten(schema);
    const members = this.#walk.alternatives(keywords) ?? [keywords];
    const types = members.map(ownTypes);
    if (types.some((each) => each === undefined)) return undefined;
    return new Set([...types.flatMap((each) => each ?? []), ...(nullable ? ['null'] : [])]);
  }
}

interface Reading {
  readonly value: unknown;
  readonly how: string;
  readonly inner: readonly string[];
}

type Types = ReadonlySet<string>;

function ownTypes(keywords: Keywords): readonly string[] | undefined {
  const { type, enum: choices, properties } = keywords;
  if (typeof type === 'string') return [type];
  if (Array.isArray(type)) return type.filter((each) => typeof each === 'string');
  if (Array.isArray(choices)) return choices.map(typeOf);
  if (Object.hasOwn(keywords, 'const')) return [typeOf(keywords['const'])];
  return properties === undefined ? undefined : ['object'];
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}

function hasType(types: Types, value: unknown): boolean {
  const type = typeOf(value);
  return types.has(type) || (type === 'integer' && types.has('number'));
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?$/i;
/** Every number with at most this many digits is exact. */
const MAX_DIGITS = 15;

/** What a string says that the schema does not allow as a string. */
function readText(text: string, types: Types): readonly Omit<Reading, 'inner'>[] {
  const words = text.trim();
  const readings: Omit<Reading, 'inner'>[] = [];
  const isNumber = NUMBER.test(words) && words.replace(/\D/g, '').length <= MAX_DIGITS;
  if ((types.has('number') || types.has('integer')) && isNumber) {
    readings.push({ value: Number(words), how: 'a string became a number' });
  }
  if (types.has('boolean') && /^(?:true|false)$/i.test(words)) {
    readings.push({ value: words.toLowerCase() === 'true', how: 'a string became a boolean' });
  }
  const value = /^[[{]/.test(words) ? parseLoosely(words) : undefined;
  if (types.has('object') && isObject(value)) readings.push({ value, how: 'a string became an object' });
  if (types.has('array') && Array.isArray(value)) readings.push({ value, how: 'a string became a list' });
  return readings;
}
