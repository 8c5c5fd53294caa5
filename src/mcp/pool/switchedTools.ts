import { renderToolName } from '../../chat/format/callInfo.ts';
import { allowsTool } from '../../chat/format/frontMatter.ts';
import type { ToolHost, ToolList, ToolName } from '../../ports/tools.ts';

/** Neither lists nor calls the tools that the setting `disabledTools` matches. */
export function withSwitches(host: ToolHost, disabledTools: () => readonly string[]): ToolHost {
  return {
    async listTools(server, signal) {
      return withoutSwitchedOff(await host.listTools(server, signal), disabledTools());
    },
    async callTool(call, options) {
      if (isSwitchedOff(disabledTools(), call)) {
        throw new Error(
          `The tool ${renderToolName(call)} is turned off. Turn it on in the MCP Servers view, or in the setting filechat.disabledTools.`,
        );
      }
      return host.callTool(call, options);
    },
  };
}

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
