import { parseJson, sameJson } from '../base/json.ts';

/** Servers repeat structured content in a block for older clients. */
export function isRepeated(structured: unknown, blocks: readonly unknown[]): boolean {
  const wrapped = onlyValue(structured);
  const known = blocks.flatMap(withParsed);
  const isKnown = (value: unknown) => known.some((each) => sameJson(each, value));
  return isKnown(structured) || (wrapped !== undefined && isKnown(wrapped));
}

function withParsed(value: unknown): readonly unknown[] {
  if (typeof value !== 'string' || !/^\s*["[{\d-]|^\s*(?:true|false|null)\s*$/.test(value)) return [value];
  const parsed = parseJson(value);
  return parsed === undefined ? [value] : [value, parsed];
}

/** Libraries wrap a plain return value as `{ "result": … }`. */
function onlyValue(value: unknown): unknown {
  const values = typeof value === 'object' && value !== null ? Object.values(value) : [];
  return values.length === 1 ? values[0] : undefined;
}
