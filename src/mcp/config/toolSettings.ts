import { isObject } from '../../base/json.ts';
import type { ToolName } from '../../ports/tools.ts';
import { type FieldRule, readFieldRules } from '../../result/findBytes.ts';
import type { Transform } from '../../result/process.ts';
import type { RunTransform } from '../../result/transform.ts';

export interface ToolSettings {
  readonly fields?: ((tool: ToolName) => readonly FieldRule[]) | undefined;
  readonly transform?: Transform | undefined;
}

/** Reads `results.fields` and `results.transformer`, the path of a module or an empty string. */
export async function readToolSettings({
  fields,
  transformer,
}: {
  readonly fields: unknown;
  readonly transformer: string;
}): Promise<ToolSettings> {
  return {
    fields: (tool) => readFieldRules(fields, tool),
    ...(transformer === '' ? {} : { transform: { run: await runnerOf(transformer) } }),
  };
}

/** Loaded only by those who have a transformer. */
async function runnerOf(path: string): Promise<RunTransform> {
  return (await import('../transformer/run.ts')).transformIn(path);
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
