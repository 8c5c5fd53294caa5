import { BUDGET } from '../../base/budget.ts';
import { isObject } from '../../base/json.ts';
import { describeSize } from '../../base/size.ts';

const { schemaDepth: MAX_DEPTH, schemaNodes: MAX_NODES, schemaChars: MAX_CHARS } = BUDGET;
/** Estimate for braces, quotes and commas. */
const CHARS_PER_NODE = 2;
const REFERENCES = ['$ref', '$dynamicRef', '$recursiveRef'] as const;

/**
 * Why a schema is unsafe to use, as the end of a sentence; undefined if it is safe. Unknown keywords and dialects are
 * allowed. Never visits more than the limits, and never uses the network.
 */
export function schemaProblem(schema: unknown): string | undefined {
  const ids = new Set<string>();
  const references = new Set<string>();
  // A stack instead of recursion, so that deep nesting cannot overflow.
  const pending: PendingNode[] = [{ value: schema, depth: 1, place: 'schema' }];
  let nodes = 0;
  let chars = 0;
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { value, depth, place } = next;
    nodes += 1;
    chars += CHARS_PER_NODE + (typeof value === 'string' ? value.length : 0);
    if (typeof value === 'object' && value !== null) {
      if (depth > MAX_DEPTH) return `is nested more than ${MAX_DEPTH} levels deep`;
      // Checked before visiting the values, because there may be millions.
      const size = Array.isArray(value) ? value.length : Object.keys(value).length;
      if (nodes + pending.length + size > MAX_NODES) return `has more than ${MAX_NODES} values`;
      for (const [key, each] of Object.entries(value)) {
        chars += key.length;
        const under = Array.isArray(value) ? place : placeUnder(place, key);
        pending.push({ value: each, depth: depth + 1, place: under });
      }
    }
    if (chars > MAX_CHARS) return `is larger than ${describeSize(MAX_CHARS)}`;
    if (place === 'schema' && isObject(value)) collectReferences(value, ids, references);
  }
  // References to embedded schemas by their `$id` are local.
  const remote = [...references].find((each) => !each.startsWith('#') && !ids.has(withoutFragment(each)));
  return remote === undefined ? undefined : `refers to ${quote(remote)}, which is not fetched`;
}

interface PendingNode {
  readonly value: unknown;
  readonly depth: number;
  readonly place: SchemaPlace;
}

function collectReferences(
  keywords: Readonly<Record<string, unknown>>,
  ids: Set<string>,
  references: Set<string>,
): void {
  const { $id: id } = keywords;
  if (typeof id === 'string') ids.add(withoutFragment(id));
  for (const keyword of REFERENCES) {
    const reference = keywords[keyword];
    if (typeof reference === 'string') references.add(reference);
  }
}

function withoutFragment(address: string): string {
  return address.split('#', 1)[0] ?? '';
}

function quote(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}

/** A value inside a schema: a schema, a map of schemas by name, or plain data. */
export type SchemaPlace = 'schema' | 'map' | 'data';

const PLACES: Readonly<Record<string, SchemaPlace>> = {
  properties: 'map',
  patternProperties: 'map',
  $defs: 'map',
  definitions: 'map',
  dependentSchemas: 'map',
  dependencies: 'map',
  const: 'data',
  enum: 'data',
  default: 'data',
  examples: 'data',
};

/** The kind of value under a key. Lists of schemas and unknown keywords count as schemas. */
export function placeUnder(place: SchemaPlace, key: string): SchemaPlace {
  if (place !== 'schema') return place === 'map' ? 'schema' : 'data';
  return (Object.hasOwn(PLACES, key) ? PLACES[key] : undefined) ?? 'schema';
}

/** A copy of a schema with only some keywords. */
export function pickKeywords(
  value: unknown,
  isKept: (keyword: string, schema: object) => boolean,
  place: SchemaPlace = 'schema',
): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => pickKeywords(each, isKept, place));
  const kept = Object.entries(value).filter(([key]) => place !== 'schema' || isKept(key, value));
  // `fromEntries` also creates an own property for "__proto__".
  return Object.fromEntries(
    kept.map(([key, each]) => [key, pickKeywords(each, isKept, placeUnder(place, key))]),
  );
}

/** Validators count the length of a text character by character, and look for the target of a reference. */
const STEPS_TO_READ: ReadonlyMap<PropertyKey, number> = new Map([
  ['minLength', 1000],
  ['maxLength', 1000],
  ['$ref', 10],
]);
/** Listing the keys of a proxy takes longer than reading them. */
const STEPS_PER_KEY = 2;

/**
 * A proxy of the schema that throws when it has been read too often. References can expand a few lines into an
 * exponential number of steps, and validators have no limit. Reset `steps` before each use.
 */
export function meterSchema(schema: object, steps: { left: number }): Record<string, unknown> {
  const wrapped = new WeakMap<object, object>();
  // Values that a validator writes back into the schema are proxies already.
  const made = new WeakSet<object>();
  const wrap = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null || made.has(value)) return value;
    const known = wrapped.get(value) ?? new Proxy(value, { get, ownKeys });
    wrapped.set(value, known);
    made.add(known);
    return known;
  };
  const spend = (count: number) => {
    steps.left -= count;
    if (steps.left < 0) throw new Error('The schema takes too many steps.');
  };
  const get = (target: object, key: PropertyKey): unknown => {
    const value: unknown = Reflect.get(target, key);
    spend(value === undefined ? 1 : (STEPS_TO_READ.get(key) ?? 1));
    return wrap(value);
  };
  const ownKeys = (target: object): ArrayLike<string | symbol> => {
    const keys = Reflect.ownKeys(target);
    spend(STEPS_PER_KEY * keys.length);
    return keys;
  };
  return wrap(schema) as Record<string, unknown>;
}
