import { isObject } from '../../base/json.ts';
import { exampleFor, printJson } from '../schema/example.ts';
import { schemaProblem } from '../schema/limits.ts';
import {
  alternativesOf,
  flattenSchema,
  type Keywords,
  placeUnder,
  type SchemaPlace,
} from '../schema/schema.ts';

/**
 * What is looked at while arguments are written. A schema is its server's: what can take long is not tried, and
 * keywords with which an editor's own schemas insert snippets or Markdown are not followed.
 */
const KEPT: ReadonlySet<string> = new Set([
  ...['type', 'enum', 'const', 'default', 'examples', 'title', 'description', 'deprecated'],
  ...[
    'properties',
    'required',
    'additionalProperties',
    'minProperties',
    'maxProperties',
    'dependentRequired',
  ],
  ...[
    'items',
    'prefixItems',
    'minItems',
    'maxItems',
    'minimum',
    'maximum',
    'exclusiveMinimum',
    'exclusiveMaximum',
  ],
  ...['multipleOf', 'minLength', 'maxLength', 'anyOf', 'oneOf', 'allOf', 'not', 'if', 'then', 'else'],
  ...['$ref', '$defs', 'definitions', '$anchor'],
]);

/** A copy for who helps with the arguments; nothing when the schema must not be used, or says nothing then. */
export function copySafeKeywords(schema: unknown): Readonly<Record<string, unknown>> | undefined {
  if (!isObject(schema) || schemaProblem(schema) !== undefined) return undefined;
  return copy(schema, 'schema') as Record<string, unknown>;
}

function copy(value: unknown, place: SchemaPlace): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => copy(each, place));
  const entries = Object.entries(value).filter(([key]) => place !== 'schema' || KEPT.has(key));
  const copied = entries.map(([key, each]) => [key, copy(each, placeUnder(place, key))] as const);
  // Where patterns say which names are allowed, nobody here can say that one is not.
  const isOpen = place === 'schema' && Object.hasOwn(value, 'patternProperties');
  const kept = isOpen ? copied.filter(([key]) => key !== 'additionalProperties') : copied;
  return Object.fromEntries(kept);
}

export type Step = string | number;

/** What the schema says of the value at the end of these steps. */
export function schemaAt(root: unknown, steps: readonly Step[]): Keywords {
  let { keywords } = flattenSchema(root, root);
  for (const step of steps) {
    const inner = [keywords, ...(alternativesOf(keywords, root) ?? [])]
      .map((each) => under(each, step))
      .find((each) => each !== undefined);
    keywords = flattenSchema(inner, root).keywords;
  }
  return keywords;
}

function under({ properties, additionalProperties, items, prefixItems }: Keywords, step: Step): unknown {
  if (typeof step === 'number') {
    return Array.isArray(prefixItems) ? (prefixItems[step] ?? items) : items;
  }
  return isObject(properties) && Object.hasOwn(properties, step) ? properties[step] : additionalProperties;
}

/** The values that the schema lists, also where it does so as a union. */
export function choicesOf(keywords: Keywords, root: unknown): readonly unknown[] {
  if (Array.isArray(keywords['enum'])) return keywords['enum'];
  if (Object.hasOwn(keywords, 'const')) return [keywords['const']];
  return (alternativesOf(keywords, root) ?? []).flatMap(({ enum: choices, ...rest }) =>
    Array.isArray(choices) ? choices : Object.hasOwn(rest, 'const') ? [rest['const']] : [],
  );
}

/** More than these are asked for by hand. */
const MAX_BLANKS = 30;
const MAX_CHOICES = 30;
const MAX_BLANK_CHARS = 300;
/** Up to so many blanks stand on one line. */
const MAX_IN_LINE = 2;

/** The arguments that a tool needs, as a snippet of the editor: each value is a blank that holds an example. */
export function argumentsSnippet(schema: unknown): string {
  const { keywords } = flattenSchema(schema, schema);
  const properties = isObject(keywords['properties']) ? keywords['properties'] : {};
  const required: readonly unknown[] = Array.isArray(keywords['required']) ? keywords['required'] : [];
  const names = Object.keys(properties).filter((name) => required.includes(name));
  if (names.length === 0) return '{$1}';
  const members = names
    .slice(0, MAX_BLANKS)
    .map(
      (name, at) =>
        `${escapeSnippet(JSON.stringify(name))}: ${placeholder(at + 1, properties[name], schema)}`,
    );
  return members.length <= MAX_IN_LINE
    ? `{${members.join(', ')}}`
    : `{\n${members.map((member) => `  ${member}`).join(',\n')}\n}`;
}

function placeholder(number: number, schema: unknown, root: unknown): string {
  const choices = choicesOf(flattenSchema(schema, root).keywords, root);
  const words = choices.filter((each) => typeof each === 'string' && /^[\w .:/-]{1,60}$/.test(each));
  if (words.length > 1 && words.length === choices.length && words.length <= MAX_CHOICES) {
    return `"\${${number}|${words.join(',')}|}"`;
  }
  const example = exampleFor(schema, root);
  const json = printJson(example) ?? 'null';
  if (json.length > MAX_BLANK_CHARS) return `$${number}`;
  // Who types over a text should not have to type its quotes.
  return typeof example === 'string'
    ? `"\${${number}:${escapeSnippet(json.slice(1, -1))}}"`
    : `\${${number}:${escapeSnippet(json)}}`;
}

/** As it stands in a snippet: nothing in it is a variable or ends a blank. */
export function escapeSnippet(text: string): string {
  return text.replace(/[\\$}]/g, '\\$&');
}
