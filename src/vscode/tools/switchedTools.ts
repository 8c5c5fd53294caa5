import { allowsTool } from '../../chat/format/settings.ts';
import type { ToolList, ToolName } from '../../ports/tools.ts';

/** Whether one of the patterns, such as `charts.*`, is about the tool. */
export function isSwitchedOff(patterns: readonly string[], tool: ToolName): boolean {
  return allowsTool({ tools: patterns }, tool);
}

/** The list without what is switched off. A server of which no tool is left has nothing to say to a model either. */
export function leaveOut(list: ToolList, patterns: readonly string[]): ToolList {
  const tools = list.tools.filter((tool) => !isSwitchedOff(patterns, tool));
  const has = (among: ToolList['tools'], server: string) => among.some((tool) => tool.server === server);
  const instructions = list.instructions?.filter(
    ({ server }) => has(tools, server) || !has(list.tools, server),
  );
  return { ...list, tools, ...(instructions === undefined ? {} : { instructions }) };
}

export type Switched =
  | { readonly ok: true; readonly patterns: readonly string[] }
  /** This pattern is about other tools as well, so it is the user's to change. */
  | { readonly ok: false; readonly pattern: string };

/** The patterns with one tool more, or one less. */
export function switchTool(patterns: readonly string[], tool: ToolName, on: boolean): Switched {
  const name = `${tool.server}.${tool.tool}`;
  if (!on) return { ok: true, patterns: isSwitchedOff(patterns, tool) ? patterns : [...patterns, name] };
  const others = patterns.filter((pattern) => pattern !== name);
  const wider = others.find((pattern) => isSwitchedOff([pattern], tool));
  return wider === undefined ? { ok: true, patterns: others } : { ok: false, pattern: wider };
}
