import { sameJson } from '../base/json.ts';

/**
 * Whether structured content says something that the blocks do not: servers send the same thing both ways
 * for the sake of old clients. Both sides have words where bytes were.
 */
export function saysMore(structured: unknown, said: readonly unknown[]): boolean {
  const wrapped = onlyValue(structured);
  const known = said.flatMap(whatItSays);
  const repeats = (value: unknown) => known.some((each) => sameJson(each, value));
  return !repeats(structured) && !(wrapped !== undefined && repeats(wrapped));
}

/** A text, as text and, if it can be read so, as JSON. */
function whatItSays(said: unknown): readonly unknown[] {
  if (typeof said !== 'string' || !/^\s*["[{\d-]|^\s*(?:true|false|null)\s*$/.test(said)) return [said];
  try {
    return [said, JSON.parse(said)];
  } catch {
    return [said];
  }
}

/** Libraries wrap a plain return value as `{ "result": … }`. */
function onlyValue(value: unknown): unknown {
  const values = typeof value === 'object' && value !== null ? Object.values(value) : [];
  return values.length === 1 ? values[0] : undefined;
}
