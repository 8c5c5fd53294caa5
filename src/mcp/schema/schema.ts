import { field, isObject } from '../../base/json.ts';

export type Keywords = Readonly<Record<string, unknown>>;

/** A schema of which only keywords are left that say something by themselves. */
export interface FlatSchema {
  readonly keywords: Keywords;
  /** True when null is among what the schema allows besides something else. */
  readonly nullable: boolean;
}

/** How many references and parts one schema may be put together from; a circle ends here. */
const MAX_STEPS = 64;

/**
 * Follows local references, joins `allOf`, and takes the null out of unions, so that the many ways to write an
 * optional string all look like one. Never throws, and never asks the network.
 */
export function flattenSchema(schema: unknown, root: unknown): FlatSchema {
  return flatten(schema, root, { left: MAX_STEPS });
}

/** The members of a union that allow more than null; undefined when there is no union. */
export function alternativesOf(keywords: Keywords, root: unknown): readonly Keywords[] | undefined {
  const union = keywords['anyOf'] ?? keywords['oneOf'];
  if (!Array.isArray(union)) {
    return undefined;
  }
  return union.map((member) => flattenSchema(member, root).keywords).filter((member) => !isNull(member));
}

interface Budget {
  left: number;
}

function flatten(schema: unknown, root: unknown, budget: Budget): FlatSchema {
  if (!isObject(schema) || budget.left-- <= 0) {
    return { keywords: {}, nullable: false };
  }
  return withoutNull(joinParts(followReference(schema, root, budget), root, budget), root, budget);
}

/** What stands beside a reference counts more than what it refers to. */
function followReference(schema: Keywords, root: unknown, budget: Budget): Keywords {
  const { $ref: reference, ...beside } = schema;
  if (typeof reference !== 'string') {
    return schema;
  }
  const target = lookUp(reference, root);
  if (target === undefined) {
    // Nothing is known about the value, so nothing that stands beside may pretend otherwise.
    const { title, description } = beside;
    return { title, description };
  }
  const { keywords, nullable } = flatten(target, root, budget);
  return { ...keywords, ...(nullable ? { nullable } : {}), ...beside };
}

function joinParts(schema: Keywords, root: unknown, budget: Budget): Keywords {
  const { allOf, ...joined } = schema;
  if (!Array.isArray(allOf)) {
    return schema;
  }
  const parts = allOf.slice(0, MAX_STEPS).map((part) => flatten(part, root, budget).keywords);
  const all = [...parts.toReversed(), joined];
  const properties = merge(all.map((part) => asObject(part['properties'])));
  const required = all.flatMap((part) => asList(part['required']));
  return {
    ...merge(all),
    ...(Object.keys(properties).length > 0 ? { properties } : {}),
    ...(required.length > 0 ? { required } : {}),
  };
}

/** Later ones win. Unlike Object.assign, this keeps a key named "__proto__" an ordinary one. */
function merge(objects: readonly Keywords[]): Keywords {
  return Object.fromEntries(objects.flatMap((object) => Object.entries(object)));
}

function withoutNull(schema: Keywords, root: unknown, budget: Budget): FlatSchema {
  const { nullable: marked, ...keywords } = schema;
  const nullable = marked === true;
  if (Array.isArray(keywords['type'])) {
    const types = keywords['type'].filter((type) => type !== 'null');
    const hadNull = types.length > 0 && types.length < keywords['type'].length;
    return {
      keywords: { ...keywords, type: types.length === 1 ? types[0] : types },
      nullable: nullable || hadNull,
    };
  }
  const unionKey = Array.isArray(keywords['anyOf']) ? 'anyOf' : 'oneOf';
  const { [unionKey]: union, ...beside } = keywords;
  if (!Array.isArray(union)) {
    return { keywords, nullable };
  }
  const members = union.map((member) => flatten(member, root, budget));
  const [only, ...others] = members.filter((member) => !isNull(member.keywords));
  const hadNull = members.some((member) => isNull(member.keywords) || member.nullable);
  if (only !== undefined && others.length === 0) {
    return { keywords: { ...only.keywords, ...beside }, nullable: nullable || hadNull };
  }
  return { keywords, nullable: nullable || hadNull };
}

function lookUp(reference: string, root: unknown): unknown {
  if (reference === '#') {
    return root;
  }
  if (!reference.startsWith('#/')) {
    return undefined;
  }
  let at = root;
  for (const step of reference.slice(2).split('/')) {
    at = field(at, decodeStep(step));
  }
  return at;
}

function decodeStep(step: string): string {
  let decoded = step;
  try {
    decoded = decodeURIComponent(step);
  } catch {
    // A lone "%" stands for itself.
  }
  return decoded.replaceAll('~1', '/').replaceAll('~0', '~');
}

function isNull(keywords: Keywords): boolean {
  return keywords['type'] === 'null' || (Object.hasOwn(keywords, 'const') && keywords['const'] === null);
}

function asObject(value: unknown): Keywords {
  return isObject(value) ? value : {};
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** What stands at a place of a schema: a schema itself, schemas by names of any kind, or plain data. */
export type SchemaPlace = 'schema' | 'map' | 'data';

const MAPS: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
]);
const DATA: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples']);

/** What stands under a key. Lists of schemas, and keywords that nobody knows, count as schemas. */
export function placeUnder(place: SchemaPlace, key: string): SchemaPlace {
  if (place === 'data') return 'data';
  if (place === 'map') return 'schema';
  return MAPS.has(key) ? 'map' : DATA.has(key) ? 'data' : 'schema';
}

/** How many steps are left. Who starts another piece of work with the same schema sets it anew. */
export interface Steps {
  left: number;
}

/** The length of a text is counted sign by sign. */
const STEPS_FOR_LENGTH = 1000;

/**
 * The same schema, which can be read only so often: references can make of a few lines more steps than anyone
 * can wait for, and validators know no limit. Throws at the step that is too much.
 */
export function meterSchema(schema: object, steps: Steps): Record<string, unknown> {
  const wrapped = new WeakMap<object, object>();
  // What a validator writes into a schema has been read from it, and is metered already.
  const made = new WeakSet<object>();
  const wrap = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null || made.has(value)) return value;
    const known = wrapped.get(value) ?? new Proxy(value, { get });
    wrapped.set(value, known);
    made.add(known);
    return known;
  };
  const get = (target: object, key: PropertyKey): unknown => {
    const value: unknown = Reflect.get(target, key);
    const isLength = (key === 'minLength' || key === 'maxLength') && value !== undefined;
    steps.left -= isLength ? STEPS_FOR_LENGTH : 1;
    if (steps.left < 0) throw new Error('The schema takes too many steps.');
    return wrap(value);
  };
  return wrap(schema) as Record<string, unknown>;
}
