import { isObject } from '../../base/json.ts';
import { exampleFor } from '../schema/example.ts';
import { pickKeywords, schemaProblem } from '../schema/schemaLimits.ts';
import { childSchema, type Keywords, type PathStep, SchemaWalk } from '../schema/walk.ts';

/**
 * Keywords that are passed to the JSON language service. Schemas are untrusted: the service runs patterns on RegExp,
 * and some keywords insert snippets or Markdown into the editor.
 */
const SAFE_KEYWORDS: ReadonlySet<string> = new Set(
  [
    'type enum const default examples title description deprecated properties required',
    'additionalProperties minProperties maxProperties dependentRequired items prefixItems minItems',
    'maxItems minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength anyOf',
    'oneOf allOf not if then else $ref $defs definitions $anchor',
  ].flatMap((line) => line.split(' ')),
);

/** A copy of the schema with only the safe keywords; undefined if the schema is unsafe. */
export function copySafeKeywords(schema: unknown): Readonly<Record<string, unknown>> | undefined {
  if (!isObject(schema) || schemaProblem(schema) !== undefined) return undefined;
  return pickKeywords(schema, isSafe) as Record<string, unknown>;
}

/** `patternProperties` is dropped, so `additionalProperties` would reject names that it allows. */
function isSafe(keyword: string, schema: object): boolean {
  const isOpen = keyword === 'additionalProperties' && Object.hasOwn(schema, 'patternProperties');
  return SAFE_KEYWORDS.has(keyword) && !isOpen;
}

export function schemaAt(walk: SchemaWalk, steps: readonly PathStep[]): Keywords {
  let { keywords } = walk.flatten(walk.root);
  for (const step of steps) {
    const inner = [keywords, ...(walk.alternatives(keywords) ?? [])]
      .map((each) => childSchema(each, step))
      .find((each) => each !== undefined);
    keywords = walk.flatten(inner).keywords;
  }
  return keywords;
}

/** The values of `enum` or `const`, also those of a union. */
export function choicesOf(keywords: Keywords, walk: SchemaWalk): readonly unknown[] {
  if (Array.isArray(keywords['enum'])) return keywords['enum'];
  if (Object.hasOwn(keywords, 'const')) return [keywords['const']];
  return (walk.alternatives(keywords) ?? []).flatMap(({ enum: choices, ...rest }) =>
    Array.isArray(choices) ? choices : Object.hasOwn(rest, 'const') ? [rest['const']] : [],
  );
}

const MAX_PLACEHOLDERS = 30;
const MAX_CHOICES = 30;
const MAX_PLACEHOLDER_CHARS = 300;
const MAX_IN_LINE = 2;

/** A snippet with the required arguments of a tool; each placeholder contains an example. */
export function argumentsSnippet(schema: unknown): string {
  const walk = new SchemaWalk(schema);
  const { properties, required } = walk.propertiesOf(walk.flatten(schema).keywords);
  const needed = [...properties].filter(([name]) => required.has(name)).slice(0, MAX_PLACEHOLDERS);
  if (needed.length === 0) return '{$1}';
  const members = needed.map(
    ([name, each], at) => `${escapeSnippet(JSON.stringify(name))}: ${placeholder(at + 1, each, walk)}`,
  );
  return members.length <= MAX_IN_LINE
    ? `{${members.join(', ')}}`
    : `{\n${members.map((member) => `  ${member}`).join(',\n')}\n}`;
}

function placeholder(number: number, schema: unknown, walk: SchemaWalk): string {
  const choices = choicesOf(walk.flatten(schema).keywords, walk);
  const words = choices.filter((each) => typeof each === 'string' && /^[\w .:/-]{1,60}$/.test(each));
  if (words.length > 1 && words.length === choices.length && words.length <= MAX_CHOICES) {
    return `"\${${number}|${words.join(',')}|}"`;
  }
  const example = exampleFor(schema, walk);
  const json = walk.print(example) ?? 'null';
  if (json.length > MAX_PLACEHOLDER_CHARS) return `$${number}`;
  // The quotes of a string stay outside of the placeholder.
  return typeof example === 'string'
    ? `"\${${number}:${escapeSnippet(json.slice(1, -1))}}"`
    : `\${${number}:${escapeSnippet(json)}}`;
}

export function escapeSnippet(text: string): string {
  return text.replace(/[\\$}]/g, '\\$&');
}
