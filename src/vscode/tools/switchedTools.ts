import { allowsTool } from '../../chat/format/settings.ts';
import type { ToolList, ToolName } from '../../ports/tools.ts';

/** Whether a pattern such as `charts.*` matches the tool. */
export function isSwitchedOff(patterns: readonly string[], tool: ToolName): boolean {
  return allowsTool({ tools: patterns }, tool);
}

/** Also removes the instructions of a server that has no tools left. */
export function withoutSwitchedOff(list: ToolList, patterns: readonly string[]): ToolList {
  const tools = list.tools.filter((tool) => !isSwitchedOff(patterns, tool));
  const has = (all: ToolList['tools'], server: string) => all.some((tool) => tool.server === server);
  const instructions = list.instructions?.filter(
    ({ server }) => has(tools, server) || !has(list.tools, server),
  );
  return { ...list, tools, ...(instructions === undefined ? {} : { instructions }) };
}

export type Switched =
  | { readonly ok: true; readonly patterns: readonly string[] }
  /** This pattern also matches other tools, so only the user changes it. */
  | { readonly ok: false; readonly pattern: string };

export function switchTool(patterns: readonly string[], tool: ToolName, on: boolean): Switched {
  const name = `${tool.server}.${tool.tool}`;
  if (!on) return { ok: true, patterns: isSwitchedOff(patterns, tool) ? patterns : [...patterns, name] };
  const others = patterns.filter((pattern) => pattern !== name);
  const wider = others.find((pattern) => isSwitchedOff([pattern], tool));
  return wider === undefined ? { ok: true, patterns: others } : { ok: false, pattern: wider };
}
