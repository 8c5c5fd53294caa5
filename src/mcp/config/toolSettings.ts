import { pathToFileURL } from 'node:url';
import { isObject } from '../../base/json.ts';
import type { ToolName } from '../../ports/tools.ts';
import { type FieldRule, readFieldRules } from '../../result/findBytes.ts';
import type { Transform } from '../../result/process.ts';

export interface ToolSettings {
  readonly fields?: ((tool: ToolName) => readonly FieldRule[]) | undefined;
  readonly transform?: Transform | undefined;
}

/** Reads `results.fields` and loads `results.transformer`, the path of a module or an empty string. */
export async function readToolSettings({
  fields,
  transformer,
}: {
  readonly fields: unknown;
  readonly transformer: string;
}): Promise<ToolSettings> {
  return {
    fields: (tool) => readFieldRules(fields, tool),
    ...(transformer === '' ? {} : { transform: await loadTransformer(transformer) }),
  };
}

/** A module that cannot be loaded fails like one that throws: a visible problem, and the unchanged result. */
async function loadTransformer(path: string): Promise<Transform> {
  try {
    const loaded: { readonly default?: unknown } = await import(pathToFileURL(path).href);
    if (typeof loaded.default === 'function') return loaded.default as Transform;
    throw new Error(`The default export of ${path} is not a function`);
  } catch (error) {
    return () => Promise.reject(error);
  }
}

/** One sentence for each entry of `results.fields` that `readFieldRules` would skip or cut. */
export function fieldProblems(fields: unknown): readonly string[] {
  if (!isObject(fields)) return [];
  return Object.entries(fields).flatMap(([tool, rules]) => {
    const isList = Array.isArray(rules) && rules.every(isRule);
    return isList
      ? []
      : [
          `The setting “results.fields” of ${tool} must be a list such as [{ "path": "pages[].image", "type": "png" }].`,
        ];
  });
}

function isRule(rule: unknown): boolean {
  if (!isObject(rule) || typeof rule['path'] !== 'string') return false;
  return ['type', 'summary'].every((key) => ['string', 'undefined'].includes(typeof rule[key]));
}
