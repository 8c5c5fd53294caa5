import { defined, fieldsOf } from '../../base/json.ts';
import { isModelName, type ModelConfig } from './modelConfig.ts';

export type Unnamed = Omit<ModelConfig, 'name'>;

interface SavedModel {
  readonly name: string;
  /** The new value of `filechat.models`, if the model is not in it yet. */
  readonly models?: Readonly<Record<string, unknown>>;
}

/**
 * Adds a model to the value of `filechat.models`. A model that is configured already keeps its name and its other
 * fields.
 */
export function saveModel(
  wanted: string,
  model: Unnamed,
  { raw, known }: { readonly raw: unknown; readonly known: ReadonlyMap<string, ModelConfig> },
): SavedModel {
  const same = [...known.values()].find((each) => isSameModel(each, model));
  if (same) return { name: same.name };
  const entries = fieldsOf(raw);
  const name = freeName(wanted, entries);
  const { provider, model: id, baseUrl, price } = model;
  const entry = { provider, model: id, ...defined({ baseUrl, price }) };
  return { name, models: Object.fromEntries([...Object.entries(entries), [name, entry]]) };
}

/** The value of `filechat.models` without a model. */
export function removeModel(name: string, raw: unknown): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(fieldsOf(raw)).filter(([each]) => each !== name));
}

export function isSameModel(a: Unnamed, b: Unnamed): boolean {
  return a.provider === b.provider && a.model === b.model && a.baseUrl === b.baseUrl;
}

function freeName(wanted: string, entries: Readonly<Record<string, unknown>>): string {
  const base = isModelName(wanted) ? wanted : 'model';
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? base : `${base} (${number})`;
    if (!Object.hasOwn(entries, name)) return name;
  }
}
