import { type BuiltInOptions, withBuiltInTools } from '../../catalog/tools/builtIn.ts';
import { renderToolName } from '../../chat/format/calls.ts';
import type { ToolHost } from '../../ports/tools.ts';
import { disabledTools } from '../settings.ts';
import { withEditorTools } from './editorTools.ts';
import { isSwitchedOff, withoutSwitchedOff } from './switchedTools.ts';

/** The tools that chats may call: those of MCP servers, Filechat's own and VS Code's, unless switched off. */
export function chatTools(servers: ToolHost, builtIns: BuiltInOptions): ToolHost {
  return withSwitches(withEditorTools(withBuiltInTools(servers, builtIns)));
}

function withSwitches(host: ToolHost): ToolHost {
  return {
    async listTools(server, signal) {
      return withoutSwitchedOff(await host.listTools(server, signal), disabledTools());
    },
    async callTool(call, options) {
      if (isSwitchedOff(disabledTools(), call)) {
        throw new Error(
          `The tool ${renderToolName(call)} is switched off. Switch it on in the Filechat view, or in the setting filechat.disabledTools.`,
        );
      }
      return host.callTool(call, options);
    },
  };
}

/** Hides tools for apps only. The turn loop rejects one that is named anyway. */
export function withoutAppTools(host: ToolHost): ToolHost {
  return {
    callTool: (call, options) => host.callTool(call, options),
    async listTools(server, signal) {
      const list = await host.listTools(server, signal);
      return { ...list, tools: list.tools.filter(({ forAppsOnly }) => !forAppsOnly) };
    },
  };
}
