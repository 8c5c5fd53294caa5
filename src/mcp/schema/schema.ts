import { field, isObject } from '../../base/json.ts';
import { decodePercent } from '../../chat/format/escape.ts';

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

/** The steps that are left. */
type Budget = { left: number };

function flatten(schema: unknown, root: unknown, budget: Budget): FlatSchema {
  if (!isObject(schema) || budget.left-- <= 0) return { keywords: {}, nullable: false };
  return withoutNull(joinParts(followReference(schema, root, budget), root, budget), root, budget);
}

/** Keywords beside a reference override those of its target. */
function followReference(schema: Keywords, root: unknown, budget: Budget): Keywords {
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

function joinParts(schema: Keywords, root: unknown, budget: Budget): Keywords {
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

function withoutNull(schema: Keywords, root: unknown, budget: Budget): FlatSchema {
  const { nullable: marked, ...keywords } = schema;
  const { type } = keywords;
  if (Array.isArray(type)) {
    const types = type.filter((each) => each !== 'null');
    const hadNull = types.length > 0 && types.length < type.length;
    const flat = { ...keywords, type: types.length === 1 ? types[0] : types };
    return { keywords: flat, nullable: marked === true || hadNull };
  }
  const unionKey = Array.isArray(keywords['anyOf']) ? 'anyOf' : 'oneOf';
  const { [unionKey]: union, ...beside } = keywords;
  const members = asList(union).map((member) => flatten(member, root, budget));
  const others = members.filter((member) => !isNull(member.keywords));
  const hadNull = members.length > others.length || others.some((member) => member.nullable);
  const [only] = others.length === 1 ? others : [];
  const flat = only ? { ...only.keywords, ...beside } : keywords;
  return { keywords: flat, nullable: marked === true || hadNull };
}

function lookUp(reference: string, root: unknown): unknown {
  if (reference === '#') return root;
  if (!reference.startsWith('#/')) return undefined;
  const steps = reference.slice(2).split('/').map(decodeStep);
  return steps.reduce<unknown>((at, step) => field(at, step), root);
}

function decodeStep(step: string): string {
  return decodePercent(step).replaceAll('~1', '/').replaceAll('~0', '~');
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

const MAX_DEPTH = 6;
const MAX_VALUES = 100;
const MAX_OPTIONAL_PROPERTIES = 5;
const MAX_STORED_CHARS = 2000;

/** A sample value of the schema for the user to edit. References are resolved in `root`. */
export function exampleFor(schema: unknown, root: unknown = schema): unknown {
  return build(schema, root, { depth: 0, values: 0 });
}

/** JSON, or undefined for values that are not JSON or nested too deeply. */
export function printJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

type Progress = { depth: number; values: number };

function build(schema: unknown, root: unknown, progress: Progress): unknown {
  if (progress.depth >= MAX_DEPTH || progress.values >= MAX_VALUES) return null;
  progress.values++;
  progress.depth++;
  try {
    const { keywords } = flattenSchema(schema, root);
    const stored = storedExamples(keywords).find(isShort);
    return stored === undefined ? buildByType(keywords, root, progress) : stored;
  } finally {
    progress.depth--;
  }
}

function storedExamples(keywords: Keywords): unknown[] {
  const { enum: choices, examples } = keywords;
  return [keywords['default'], keywords['const'], ...firstOf(examples), ...firstOf(choices)];
}

function buildByType(keywords: Keywords, root: unknown, progress: Progress): unknown {
  const alternative = alternativesOf(keywords, root)?.[0];
  if (alternative !== undefined) return build(alternative, root, progress);
  switch (typeOf(keywords)) {
    case 'object':
      return buildObject(keywords, root, progress);
    case 'array':
      return keywords['items'] === undefined ? [] : [build(keywords['items'], root, progress)];
    case 'number':
    case 'integer':
      return buildNumber(keywords);
    case 'boolean':
      return false;
    case 'string':
      return STRING_EXAMPLES.get(keywords['format']) ?? 'text';
    default:
      return null;
  }
}

const STRING_EXAMPLES: ReadonlyMap<unknown, string> = new Map([
  ['date', '2026-01-31'],
  ['date-time', '2026-01-31T12:00:00Z'],
  ['time', '12:00:00Z'],
  ['email', 'name@example.com'],
  ['uri', 'https://example.com/'],
]);

/** The required properties; if none is required, the first few. */
function buildObject(keywords: Keywords, root: unknown, progress: Progress): unknown {
  const { properties, required } = propertiesOf(keywords);
  const needed = [...properties].filter(([name]) => required.has(name));
  const shown = needed.length > 0 ? needed : [...properties].slice(0, MAX_OPTIONAL_PROPERTIES);
  return Object.fromEntries(
    shown.slice(0, MAX_VALUES).map(([name, property]) => [name, build(property, root, progress)]),
  );
}

function buildNumber(keywords: Keywords): number {
  const { minimum, maximum } = keywords;
  if (typeof minimum === 'number' && minimum > 0) return minimum;
  return typeof maximum === 'number' && maximum < 0 ? maximum : 0;
}

function typeOf(keywords: Keywords): unknown {
  const { type } = keywords;
  if (type === undefined) return keywords['properties'] === undefined ? undefined : 'object';
  return Array.isArray(type) ? type[0] : type;
}

function firstOf(list: unknown): unknown[] {
  return Array.isArray(list) ? list.slice(0, 1) : [];
}

function isShort(value: unknown): boolean {
  const json = printJson(value);
  return json !== undefined && json.length <= MAX_STORED_CHARS;
}
