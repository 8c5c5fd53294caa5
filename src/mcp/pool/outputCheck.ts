import { CfWorkerJsonSchemaValidator } from '@modelcontextprotocol/client/validators/cf-worker';
import { BUDGET } from '../../base/budget.ts';
import { isObject, jsonChars } from '../../base/json.ts';
import { showInvisible } from '../../chat/format/escapeMarkers.ts';
import { meterSchema, pickKeywords, schemaProblem } from '../schema/schemaLimits.ts';

const MAX_VALUE_CHARS = 1_000_000;
const MAX_PLACE_CHARS = 60;
const MAX_REASON_CHARS = 140;
/** Slow on hostile values (the validator runs patterns on RegExp), and no other keyword depends on them. */
const UNCHECKED: ReadonlySet<string> = new Set(['pattern', 'format', 'uniqueItems']);

/** The mismatch between structured content and the tool's output schema, in one sentence. Large values are not checked. */
export function checkStructured(schema: unknown, value: unknown): string | undefined {
  if (!isObject(schema) || value === undefined) return undefined;
  if (schemaProblem(schema) !== undefined || jsonChars(value, MAX_VALUE_CHARS) > MAX_VALUE_CHARS)
    return undefined;
  try {
    // A copy, because the validator modifies the schema.
    const quick = meterSchema(pickKeywords(schema, isQuick) as object, { left: BUDGET.validatorSteps });
    const { errorMessage } = new CfWorkerJsonSchemaValidator().getValidator(quick)(value);
    return errorMessage === undefined ? undefined : describe(errorMessage);
  } catch {
    // An unresolved reference, an unknown dialect, too deep, or too many steps.
    return undefined;
  }
}

/** Throws for keywords without which the rest would have another meaning. */
function isQuick(keyword: string): boolean {
  if (keyword === 'patternProperties') throw new Error('patternProperties is not supported.');
  return !UNCHECKED.has(keyword);
}

/** The validator reports `#/a: reason` for each level; the last and innermost one is the most specific. */
function describe(errors: string): string {
  const last = errors.slice(errors.lastIndexOf('; #') + 1).trim();
  const [, place = '', reason = last] = /^#([^:]*): (.*)$/s.exec(last) ?? [];
  const at = place === '' ? '' : ` at ${shorten(place, MAX_PLACE_CHARS)}`;
  const message = shorten(reason.replace(/\.$/, ''), MAX_REASON_CHARS);
  return `The structured content does not match the tool's own output schema${at}: ${message}.`;
}

function shorten(text: string, maxChars: number): string {
  const line = showInvisible(text.replace(/\s+/g, ' '));
  return line.length <= maxChars ? line : `${line.slice(0, maxChars)}…`;
}
