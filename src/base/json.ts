import { BUDGET } from './budget.ts';
import { describeSize } from './size.ts';

/** Far below the depth that would overflow the stack. */
const MAX_DEPTH = 500;

/**
 * Replaces every string in a JSON value, keys included. `__proto__` is an ordinary key. What has nothing to replace is
 * returned as it is: making an object with many keys takes long.
 */
export function mapStrings(value: unknown, replace: (text: string) => string, depth = 0): unknown {
  if (typeof value === 'string') return replace(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth > MAX_DEPTH) return '(nested too deeply)';
  if (Array.isArray(value)) return mapItems(value, replace, depth + 1);
  let entries: [unknown, unknown][] | undefined;
  const keys = Object.keys(value);
  for (const [at, key] of keys.entries()) {
    const each: unknown = Reflect.get(value, key);
    const [newKey, mapped] = [replace(key), mapStrings(each, replace, depth + 1)];
    if (!entries && newKey === key && mapped === each) continue;
    entries ??= keys.slice(0, at).map((before) => [before, Reflect.get(value, before)]);
    entries.push([newKey, mapped]);
  }
  return entries ? Object.fromEntries(entries) : value;
}

function mapItems(items: readonly unknown[], replace: (text: string) => string, depth: number): unknown {
  const mapped = items.map((each) => mapStrings(each, replace, depth));
  return mapped.every((each, at) => each === items[at]) ? items : mapped;
}

/** The length of a value as JSON, roughly. Stops counting above `maxChars`, whatever the size and the depth. */
export function jsonChars(value: unknown, maxChars: number): number {
  let chars = 0;
  const pending: unknown[] = [value];
  while (pending.length > 0 && chars + 2 * pending.length <= maxChars) {
    const next = pending.pop();
    chars += typeof next === 'string' ? next.length + 2 : 2;
    if (Array.isArray(next)) {
      if (next.length > maxChars / 2) return maxChars + 1;
      for (const each of next) pending.push(each);
    } else if (isObject(next)) {
      for (const key in next) {
        chars += key.length;
        pending.push(next[key]);
        if (chars > maxChars) break;
      }
    }
  }
  return chars + 2 * pending.length;
}

/** Whether a value has more values inside it. Stops counting above `max`, whatever the size and the depth. */
export function hasMoreValues(value: unknown, max: number): boolean {
  let values = 0;
  const pending: unknown[] = [value];
  while (pending.length > 0) {
    const next = pending.pop();
    const inner = typeof next === 'object' && next !== null ? Object.values(next) : [];
    values += inner.length;
    if (values > max) return true;
    for (const each of inner) pending.push(each);
  }
  return false;
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

/** Drops properties that are undefined, for types with exact optional properties. */
export function defined<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

/** The value of an own property, or undefined. Use it to read untrusted JSON. */
export function field(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as Record<string, unknown>)[key]
    : undefined;
}

/** The value if it is text. Use it to read untrusted JSON, like the next two. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : {};
}

/** More than a parsed text may have: values take longer to parse, and more memory, than their characters. */
export function hasManyValues(text: string): boolean {
  if (text.length <= BUDGET.textValues) return false;
  return text.length > BUDGET.messageBytes || countValues(text) > BUDGET.textValues;
}

/** Roughly: commas and brackets in strings count too. Stops above the budget. */
export function countValues(text: string): number {
  let values = 0;
  for (let at = 0; at < text.length && values <= BUDGET.textValues; at += 1) {
    const code = text.charCodeAt(at);
    if (code === COMMA || code === BRACKET || code === BRACE) values += 1;
  }
  return values;
}

const [COMMA, BRACKET, BRACE] = [0x2c, 0x5b, 0x7b];

/** Undefined if the text is not JSON, has too many values, or is nested so deeply that it could not be written again. */
export function parseJson(text: string): unknown {
  if (hasManyValues(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isDeep(text, value) ? undefined : value;
  } catch {
    return undefined;
  }
}

export function isDeep(text: string, value: unknown): boolean {
  if ((text.match(/[[{]/g)?.length ?? 0) <= MAX_DEPTH) return false;
  let level: readonly unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) return true;
    level = level.flatMap((each) => (typeof each === 'object' && each !== null ? Object.values(each) : []));
  }
  return false;
}

/**
 * Parses JSON with comments, trailing commas and a byte order mark. Throws a SyntaxError like JSON.parse; its position
 * is valid in the given text, because comments and commas are replaced by spaces.
 */
export function parseJsonWithComments(text: string): unknown {
  return JSON.parse(blankComments(text).replace(STRING_OR_TRAILING_COMMA, blankUnlessString));
}

/** The same for a configuration file, which may be anyone's. Throws for one over its budget, too. */
export function parseConfig(text: string): unknown {
  checkConfig(text);
  return parseJsonWithComments(text);
}

export function checkConfig(text: string): void {
  if (text.length <= BUDGET.configChars) return;
  throw new Error(`it is larger than ${describeSize(BUDGET.configChars)}`);
}

/** Replaces comments and a byte order mark by spaces, so that all positions stay valid. */
export function blankComments(text: string): string {
  return text.replace(/^\uFEFF/, ' ').replace(STRING_OR_COMMENT, blankUnlessString);
}

// Strings come first in each pattern, so that a comment or a comma inside a string does not match. What is not closed
// matches to its end, or each of thousands would be looked for again.
const STRING_OR_COMMENT = /"(?:[^"\\\n]|\\.)*"?|\/\/[^\r\n]*|\/\*[\s\S]*?(?:\*\/|$)/g;
const STRING_OR_TRAILING_COMMA = /"(?:[^"\\\n]|\\.)*"?|,(?=\s*[}\]])/g;

function blankUnlessString(found: string): string {
  const isOpen = found.startsWith('/*') && !(found.endsWith('*/') && found.length > 3);
  return found.startsWith('"') || isOpen ? found : found.replace(/[^\r\n]/g, ' ');
}
