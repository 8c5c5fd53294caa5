/** Deeper than anyone nests, and far from where the stack ends. */
const MAX_DEPTH = 500;

/** A JSON value with every string in it, keys included, replaced. `__proto__` stays a key like any other. */
export function mapStrings(value: unknown, replace: (text: string) => string, depth = 0): unknown {
  if (typeof value === 'string') return replace(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth > MAX_DEPTH) return '(nested too deeply)';
  if (Array.isArray(value)) return value.map((each) => mapStrings(each, replace, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [replace(key), mapStrings(each, replace, depth + 1)]),
  );
}

export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && sameJson(Reflect.get(a, key), Reflect.get(b, key)))
  );
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `Map.groupBy`, which Node 20 does not have. */
export function groupBy<K, T>(items: Iterable<T>, keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}

/** The value of an object's own property; undefined for anything that has none. Foreign JSON is read only so. */
export function field(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as Record<string, unknown>)[key]
    : undefined;
}

/**
 * Parses JSON as editors write it: with comments, trailing commas and a byte order mark.
 * Throws a SyntaxError, as JSON.parse does; its position counts in the given text, because what is taken out
 * is replaced by blanks of the same length.
 */
export function parseJsonWithComments(text: string): unknown {
  return JSON.parse(blankTrailingCommas(blankComments(text.replace(/^\uFEFF/, ' '))));
}

// A string comes first in each pattern, so that what looks like a comment or a comma inside one is skipped whole.
const STRING_OR_COMMENT = /"(?:[^"\\\n]|\\.)*"|\/\/[^\r\n]*|\/\*[\s\S]*?\*\//g;
const STRING_OR_TRAILING_COMMA = /"(?:[^"\\\n]|\\.)*"|,(?=\s*[}\]])/g;

function blankComments(text: string): string {
  return text.replace(STRING_OR_COMMENT, keepString);
}

function blankTrailingCommas(text: string): string {
  return text.replace(STRING_OR_TRAILING_COMMA, keepString);
}

function keepString(found: string): string {
  return found.startsWith('"') ? found : found.replace(/[^\r\n]/g, ' ');
}
