import { isObject } from '../../base/json2.ts';
import { exampleFor, printJson } from '../schema/example.ts';
import { flattenSchema } from '../schema/schema.ts';
import { choicesOf } from './schema.ts';

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
    .map((name, at) => `${escapeText(JSON.stringify(name))}: ${blank(at + 1, properties[name], schema)}`);
  return members.length <= MAX_IN_LINE
    ? `{${members.join(', ')}}`
    : `{\n${members.map((member) => `  ${member}`).join(',\n')}\n}`;
}

function blank(number: number, schema: unknown, root: unknown): string {
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
    ? `"\${${number}:${escapeText(json.slice(1, -1))}}"`
    : `\${${number}:${escapeText(json)}}`;
}

/** As it stands in a snippet: nothing in it is a variable or ends a blank. */
export function escapeText(text: string): string {
  return text.replace(/[\\$}]/g, '\\$&');
}
