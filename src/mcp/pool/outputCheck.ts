import { CfWorkerJsonSchemaValidator } from '@modelcontextprotocol/client/validators/cf-worker';
import { isObject } from '../../base/json.ts';
import { showInvisible } from '../../chat/format/escape.ts';
import { schemaProblem } from '../schema/limits.ts';
import { meterSchema, placeUnder, type SchemaPlace } from '../schema/schema.ts';

const MAX_VALUE_CHARS = 1_000_000;
/** About forty thousand values with a schema each. */
const MAX_STEPS = 2_000_000;
const MAX_PLACE_CHARS = 60;
const MAX_REASON_CHARS = 140;
/** What would take too long on a value that is meant to take long; nothing depends on these. */
const UNCHECKED: ReadonlySet<string> = new Set(['pattern', 'format', 'uniqueItems']);

/**
 * What about a tool's structured content does not fit the schema that it promised, in one sentence; nothing when
 * it fits, and also when that cannot be said: what is too large, or too strange, is not checked.
 */
export function checkStructured(schema: unknown, value: unknown): string | undefined {
  if (!isObject(schema) || value === undefined) return undefined;
  if (schemaProblem(schema) !== undefined || isLarge(value)) return undefined;
  try {
    // A copy, also because the validator writes its notes into the schema.
    const quick = meterSchema(copyQuick(schema, 'schema') as object, { left: MAX_STEPS });
    const { errorMessage } = new CfWorkerJsonSchemaValidator().getValidator(quick)(value);
    return errorMessage === undefined ? undefined : describe(errorMessage);
  } catch {
    // A reference that leads nowhere, a dialect that is not known, too deep, or too many steps.
    return undefined;
  }
}

/** The schema without what takes long. Throws when the rest would then say something else. */
function copyQuick(value: unknown, place: SchemaPlace): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => copyQuick(each, place));
  const isSchema = place === 'schema';
  if (isSchema && Object.hasOwn(value, 'patternProperties')) throw new Error('Patterns are not tried.');
  const kept = Object.entries(value).filter(([key]) => !(isSchema && UNCHECKED.has(key)));
  return Object.fromEntries(kept.map(([key, each]) => [key, copyQuick(each, placeUnder(place, key))]));
}

/** Whether a value would be larger as JSON than is checked; counts no further than that. */
function isLarge(value: unknown): boolean {
  let chars = 0;
  const waiting: unknown[] = [value];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    chars += typeof next === 'string' ? next.length + 2 : 2;
    if (Array.isArray(next)) {
      if (next.length > MAX_VALUE_CHARS / 2) return true;
      for (const each of next) waiting.push(each);
    } else if (isObject(next)) {
      for (const key of Object.keys(next)) {
        chars += key.length;
        waiting.push(next[key]);
      }
    }
    if (chars + 2 * waiting.length > MAX_VALUE_CHARS) return true;
  }
  return false;
}

/** The validator says `#/a: reason` for each level, from the outside to the inside; the last one knows most. */
function describe(errors: string): string {
  const last = errors.slice(errors.lastIndexOf('; #') + 1).trim();
  const [, place = '', reason = last] = /^#([^:]*): (.*)$/s.exec(last) ?? [];
  const at = place === '' ? '' : ` at ${shorten(place, MAX_PLACE_CHARS)}`;
  const said = shorten(reason.replace(/\.$/, ''), MAX_REASON_CHARS);
  return `The structured content does not fit the tool's own output schema${at}: ${said}.`;
}

function shorten(text: string, maxChars: number): string {
  const line = showInvisible(text.replace(/\s+/g, ' '));
  return line.length <= maxChars ? line : `${line.slice(0, maxChars)}…`;
}
