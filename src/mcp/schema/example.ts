import { alternativesOf, flattenSchema, type Keywords, propertiesOf } from './schema.ts';

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
