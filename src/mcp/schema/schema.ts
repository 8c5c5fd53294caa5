import { field, isObject } from '../../base/json.ts';

export type Keywords = Readonly<Record<string, unknown>>;

/** A schema without references, `allOf` and null. */
interface FlatSchema {
  readonly keywords: Keywords;
  readonly nullable: boolean;
}

/** Limits references and `allOf` members, so that cycles end. */
const MAX_STEPS = 64;

/**
 * Resolves local references, merges `allOf` and removes null from unions, so that all ways to write an optional string
 * look the same. Never throws, and never uses the network.
 */
export function flattenSchema(schema: unknown, root: unknown): FlatSchema {
  return flatten(schema, root, { left: MAX_STEPS });
}

/** The members of a union without null; undefined if there is no union. */
export function alternativesOf(keywords: Keywords, root: unknown): readonly Keywords[] | undefined {
  const union = keywords['anyOf'] ?? keywords['oneOf'];
  if (!Array.isArray(union)) return undefined;
  return union.map((member) => flattenSchema(member, root).keywords).filter((member) => !isNull(member));
}

/** The steps that are left. Reset it before each use of a metered schema. */
export interface StepBudget {
  left: number;
}

function flatten(schema: unknown, root: unknown, budget: StepBudget): FlatSchema {
  if (!isObject(schema) || budget.left-- <= 0) return { keywords: {}, nullable: false };
  return withoutNull(joinParts(followReference(schema, root, budget), root, budget), root, budget);
}

/** Keywords beside a reference override those of its target. */
function followReference(schema: Keywords, root: unknown, budget: StepBudget): Keywords {
  const { $ref: reference, ...beside } = schema;
  if (typeof reference !== 'string') return schema;
  const target = lookUp(reference, root);
  if (target === undefined) {
    // Without the target, keywords such as `type` could be wrong.
    const { title, description } = beside;
    return { title, description };
  }
  const { keywords, nullable } = flatten(target, root, budget);
  return { ...keywords, ...(nullable ? { nullable } : {}), ...beside };
}

function joinParts(schema: Keywords, root: unknown, budget: StepBudget): Keywords {
  const { allOf, ...joined } = schema;
  if (!Array.isArray(allOf)) return schema;
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

/** Later objects win. Unlike Object.assign, this keeps "__proto__" an own property. */
function merge(objects: readonly Keywords[]): Keywords {
  return Object.fromEntries(objects.flatMap((object) => Object.entries(object)));
}

function withoutNull(schema: Keywords, root: unknown, budget: StepBudget): FlatSchema {
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
  if (!Array.isArray(union)) return { keywords, nullable };
  const members = union.map((member) => flatten(member, root, budget));
  const [only, ...others] = members.filter((member) => !isNull(member.keywords));
  const hadNull = members.some((member) => isNull(member.keywords) || member.nullable);
  if (only !== undefined && others.length === 0) {
    return { keywords: { ...only.keywords, ...beside }, nullable: nullable || hadNull };
  }
  return { keywords, nullable: nullable || hadNull };
}

function lookUp(reference: string, root: unknown): unknown {
  if (reference === '#') return root;
  if (!reference.startsWith('#/')) return undefined;
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
    // A lone "%" is literal.
  }
  return decoded.replaceAll('~1', '/').replaceAll('~0', '~');
}

export function propertiesOf({ properties, required }: Keywords): {
  readonly properties: ReadonlyMap<string, unknown>;
  readonly required: ReadonlySet<string>;
} {
  return {
    properties: new Map(Object.entries(asObject(properties))),
    required: new Set(asList(required).filter((name) => typeof name === 'string')),
  };
}

export type PathStep = string | number;

export function childSchema(keywords: Keywords, step: PathStep): unknown {
  const { properties, additionalProperties, items, prefixItems } = keywords;
  if (typeof step === 'string') return field(properties, step) ?? additionalProperties;
  return (Array.isArray(prefixItems) ? prefixItems[step] : undefined) ?? items;
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

/** A value inside a schema: a schema, a map of schemas by name, or plain data. */
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

/** The kind of value under a key. Lists of schemas and unknown keywords count as schemas. */
export function placeUnder(place: SchemaPlace, key: string): SchemaPlace {
  if (place === 'data') return 'data';
  if (place === 'map') return 'schema';
  return MAPS.has(key) ? 'map' : DATA.has(key) ? 'data' : 'schema';
}

/** Validators count the length of a text character by character. */
const STEPS_FOR_LENGTH = 1000;

/**
 * A proxy of the schema that throws when it has been read too often. References can expand a few lines into an
 * exponential number of steps, and validators have no limit.
 */
export function meterSchema(schema: object, steps: StepBudget): Record<string, unknown> {
  const wrapped = new WeakMap<object, object>();
  // Values that a validator writes back into the schema are proxies already.
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
