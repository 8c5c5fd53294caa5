/** How many steps are left. Who starts another piece of work with the same schema sets it anew. */
export interface Steps {
  left: number;
}

/** The length of a text is counted sign by sign. */
const STEPS_FOR_LENGTH = 1000;

/**
 * The same schema, which can be read only so often: references can make of a few lines more steps than anyone
 * can wait for, and validators know no limit. Throws at the step that is too much.
 */
export function meter(schema: object, steps: Steps): Record<string, unknown> {
  const wrapped = new WeakMap<object, object>();
  // What a validator writes into a schema has been read from it, and is metered already.
  const made = new WeakSet<object>();
  const wrap = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null || made.has(value)) return value;
    const known = wrapped.get(value) ?? new Proxy(value, { get });
    wrapped.set(value, known);
    made.add(known);
    return known;
  };
  const get = (target: object, key: PropertyKey): unknown => {
    const value: unknown = Reflect.get(target, key);
    const isLength = (key === 'minLength' || key === 'maxLength') && value !== undefined;
    steps.left -= isLength ? STEPS_FOR_LENGTH : 1;
    if (steps.left < 0) throw new Error('The schema takes too many steps.');
    return wrap(value);
  };
  return wrap(schema) as Record<string, unknown>;
}
