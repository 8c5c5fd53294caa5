import { BUDGET } from '../../base/budget.ts';
import { field, isObject, jsonChars } from '../../base/json.ts';
import { decodePercent } from '../../chat/format/escapeMarkers.ts';

export type Keywords = Readonly<Record<string, unknown>>;

/** A schema without references, `allOf` and null. */
interface FlatSchema {
  readonly keywords: Keywords;
  readonly nullable: boolean;
}

interface Properties {
  readonly properties: ReadonlyMap<string, unknown>;
  readonly required: ReadonlySet<string>;
}

const NOTHING: FlatSchema = { keywords: {}, nullable: false };
/** References and `allOf` inside each other. */
const MAX_DEPTH = 64;
/** Printing is that much faster than reading a schema. */
const CHARS_PER_STEP = 16;

/**
 * Reads one schema for one purpose, with a budget of steps: a few lines of a schema can stand for endless ones. When the
 * budget is spent, the rest of the schema says nothing. Never throws, and never uses the network.
 */
export class SchemaWalk {
  /** References are resolved here. */
  readonly root: unknown;
  #left: number = BUDGET.schemaSteps;
  // By identity, so that a second visit is one step. A schema that is just being read adds nothing, which ends cycles.
  readonly #flat = new Map<unknown, FlatSchema>();
  readonly #members = new Map<unknown, readonly Keywords[]>();
  readonly #properties = new Map<Keywords, Properties>();

  constructor(root: unknown) {
    this.root = root;
  }

  get isSpent(): boolean {
    return this.#left < 0;
  }

  /** False if the budget is spent. */
  spend(steps: number): boolean {
    this.#left -= steps;
    return !this.isSpent;
  }

  /**
   * Resolves local references, merges `allOf` and removes null from unions, so that all ways to write an optional string
   * look the same.
   */
  flatten(schema: unknown, depth = 0): FlatSchema {
    if (!isObject(schema) || depth > MAX_DEPTH) return NOTHING;
    const known = this.#flat.get(schema);
    if (!this.spend(known ? 1 : 1 + Object.keys(schema).length)) return NOTHING;
    if (known) return known;
    this.#flat.set(schema, NOTHING);
    const flat = this.#withoutNull(
      this.#joinParts(this.#followReference(schema, depth + 1), depth + 1),
      depth + 1,
    );
    this.#flat.set(schema, flat);
    return flat;
  }

  /** The members of a union without null; undefined if there is no union. */
  alternatives(keywords: Keywords): readonly Keywords[] | undefined {
    const union = keywords['anyOf'] ?? keywords['oneOf'];
    if (!Array.isArray(union) || !this.spend(union.length)) return undefined;
    const members =
      this.#members.get(union) ??
      union.map((member) => this.flatten(member).keywords).filter((member) => !isNull(member));
    this.#members.set(union, members);
    return members;
  }

  propertiesOf(keywords: Keywords): Properties {
    const known = this.#properties.get(keywords);
    if (known) return known;
    const { properties, required } = keywords;
    const [own, names] = [asObject(properties), asList(required)];
    const fits = this.spend(Object.keys(own).length + names.length);
    const read = {
      properties: new Map(fits ? Object.entries(own) : []),
      required: new Set(fits ? names.filter((name) => typeof name === 'string') : []),
    };
    this.#properties.set(keywords, read);
    return read;
  }

  /** JSON, or undefined for values that are not JSON, nested too deeply, or over the budget. */
  print(value: unknown): string | undefined {
    const maxChars = CHARS_PER_STEP * Math.max(0, this.#left);
    return this.spend(1 + Math.ceil(jsonChars(value, maxChars) / CHARS_PER_STEP))
      ? printJson(value)
      : undefined;
  }

  /** Keywords beside a reference override those of its target. */
  #followReference(schema: Keywords, depth: number): Keywords {
    const { $ref: reference, ...beside } = schema;
    if (typeof reference !== 'string') return schema;
    const target = this.#lookUp(reference);
    if (target === undefined) {
      // Without the target, keywords such as `type` could be wrong.
      const { title, description } = beside;
      return { title, description };
    }
    const { keywords, nullable } = this.flatten(target, depth);
    return this.#merge([keywords, nullable ? { nullable } : {}, beside]);
  }

  #joinParts(schema: Keywords, depth: number): Keywords {
    const { allOf, ...joined } = schema;
    if (!Array.isArray(allOf)) return schema;
    const parts = allOf.slice(0, MAX_DEPTH).map((part) => this.flatten(part, depth).keywords);
    const all = [...parts.toReversed(), joined];
    const properties = this.#merge(all.map((part) => asObject(part['properties'])));
    const required = this.#joinLists(all.map((part) => asList(part['required'])));
    return {
      ...this.#merge(all),
      ...(Object.keys(properties).length > 0 ? { properties } : {}),
      ...(required.length > 0 ? { required } : {}),
    };
  }

  #withoutNull(schema: Keywords, depth: number): FlatSchema {
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
    const members = asList(union).map((member) => this.flatten(member, depth));
    const others = members.filter((member) => !isNull(member.keywords));
    const hadNull = members.length > others.length || others.some((member) => member.nullable);
    const [only] = others.length === 1 ? others : [];
    const flat = only ? this.#merge([only.keywords, beside]) : keywords;
    return { keywords: flat, nullable: marked === true || hadNull };
  }

  /** Later objects win. Unlike Object.assign, this keeps "__proto__" an own property. */
  #merge(objects: readonly Keywords[]): Keywords {
    const size = objects.reduce((sum, object) => sum + Object.keys(object).length, 0);
    return this.spend(size) ? Object.fromEntries(objects.flatMap((object) => Object.entries(object))) : {};
  }

  /** Without duplicates: parts that refer to each other would make the list longer at every level. */
  #joinLists(lists: readonly (readonly unknown[])[]): readonly unknown[] {
    const size = lists.reduce((sum, list) => sum + list.length, 0);
    return this.spend(size) ? [...new Set(lists.flat())] : [];
  }

  #lookUp(reference: string): unknown {
    if (reference === '#') return this.root;
    if (!reference.startsWith('#/')) return undefined;
    const steps = reference.slice(2).split('/').map(decodeStep);
    return steps.reduce<unknown>((at, step) => field(at, step), this.root);
  }
}

/** JSON, or undefined for values that are not JSON or nested too deeply. */
export function printJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

export type PathStep = string | number;

export function childSchema(keywords: Keywords, step: PathStep): unknown {
  const { properties, additionalProperties, items, prefixItems } = keywords;
  if (typeof step === 'string') return field(properties, step) ?? additionalProperties;
  return (Array.isArray(prefixItems) ? prefixItems[step] : undefined) ?? items;
}

function decodeStep(step: string): string {
  return decodePercent(step).replaceAll('~1', '/').replaceAll('~0', '~');
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
