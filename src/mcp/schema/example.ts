import { type Keywords, SchemaWalk } from './walk.ts';

const MAX_DEPTH = 6;
const MAX_VALUES = 100;
const MAX_OPTIONAL_PROPERTIES = 5;
const MAX_STORED_CHARS = 2000;

/** A sample value of the schema for the user to edit. */
export function exampleFor(schema: unknown, walk = new SchemaWalk(schema)): unknown {
  return build(schema, walk, { depth: 0, values: 0 });
}

type Progress = { depth: number; values: number };

function build(schema: unknown, walk: SchemaWalk, progress: Progress): unknown {
  if (progress.depth >= MAX_DEPTH || progress.values >= MAX_VALUES) return null;
  progress.values++;
  progress.depth++;
  try {
    const { keywords } = walk.flatten(schema);
    const stored = storedExamples(keywords).find((each) => isShort(each, walk));
    return stored === undefined ? buildByType(keywords, walk, progress) : stored;
  } finally {
    progress.depth--;
  }
}

function storedExamples(keywords: Keywords): unknown[] {
  const { enum: choices, examples } = keywords;
  return [keywords['default'], keywords['const'], ...firstOf(examples), ...firstOf(choices)];
}

function buildByType(keywords: Keywords, walk: SchemaWalk, progress: Progress): unknown {
  const alternative = walk.alternatives(keywords)?.[0];
  if (alternative !== undefined) return build(alternative, walk, progress);
  switch (typeOf(keywords)) {
    case 'object':
      return buildObject(keywords, walk, progress);
    case 'array':
      return keywords['items'] === undefined ? [] : [build(keywords['items'], walk, progress)];
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
function buildObject(keywords: Keywords, walk: SchemaWalk, progress: Progress): unknown {
  const { properties, required } = walk.propertiesOf(keywords);
  if (!walk.spend(properties.size)) return {};
  const needed = [...properties].filter(([name]) => required.has(name));
  const shown = needed.length > 0 ? needed : [...properties].slice(0, MAX_OPTIONAL_PROPERTIES);
  return Object.fromEntries(
    shown.slice(0, MAX_VALUES).map(([name, property]) => [name, build(property, walk, progress)]),
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

function isShort(value: unknown, walk: SchemaWalk): boolean {
  const json = walk.print(value);
  return json !== undefined && json.length <= MAX_STORED_CHARS;
}
