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
    if (!TOOL.test(tool))
      return [`The entry “${tool}” of “results.fields” must be named SERVER.TOOL, as tools are in a chat.`];
    if (!Array.isArray(rules) || !rules.every(isRule))
      return [
        `The setting “results.fields” of ${tool} must be a list such as [{ "path": "pages[].image", "type": "png" }].`,
      ];
    const unknown = new Set(rules.flatMap(Object.keys).filter((key) => !RULE_KEYS.includes(key)));
    return [...unknown].map(
      (key) => `Unknown key “${key}” in “results.fields” of ${tool}. The keys are ${RULE_KEYS.join(', ')}.`,
    );
  });
}

const TOOL = /^[^.]+\../;
const RULE_KEYS: readonly string[] = ['path', 'type', 'summary'] satisfies (keyof FieldRule)[];

function isRule(rule: unknown): rule is FieldRule {
  if (!isObject(rule) || typeof rule['path'] !== 'string') return false;
  return ['type', 'summary'].every((key) => ['string', 'undefined'].includes(typeof rule[key]));
}
