import type { Block } from './blocks.ts';

/**
 * Structured content as JSON to show, or nothing when the blocks say the same already: servers send the
 * same thing both ways for the sake of old clients, and `read_media_file` even repeats the base64.
 */
export function describeStructured(
  structured: unknown,
  content: unknown,
  blocks: readonly Block[],
): string | undefined {
  if (structured === undefined || structured === null) return undefined;
  const said = [content, ...blocks.flatMap(whatItSays)];
  const wrapped = onlyValue(structured);
  const repeats = (value: unknown) => said.some((each) => sameJson(each, value));
  if (repeats(structured) || (wrapped !== undefined && repeats(wrapped))) return undefined;
  const data = new Set(blocks.flatMap((block) => (block.kind === 'bytes' ? [block.data] : [])));
  const withoutBytes = (_key: string, value: unknown) =>
    typeof value === 'string' && data.has(value) ? '(the data of a block above)' : value;
  return JSON.stringify(structured, withoutBytes, 2);
}

/** A text block, as text and, if it can be read so, as JSON. */
function whatItSays(block: Block): readonly unknown[] {
  if (block.kind !== 'text') return [];
  try {
    return [block.text, JSON.parse(block.text)];
  } catch {
    return [block.text];
  }
}

/** Libraries wrap a plain return value as `{ "result": … }`. */
function onlyValue(value: unknown): unknown {
  const values = typeof value === 'object' && value !== null ? Object.values(value) : [];
  return values.length === 1 ? values[0] : undefined;
}

function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && sameJson(Reflect.get(a, key), Reflect.get(b, key)))
  );
}
