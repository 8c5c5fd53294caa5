import * as vscode from 'vscode';
import { unlessAborted } from '../../base/async.ts';
import { allowsTool } from '../../chat/format/frontMatter.ts';
import { processMixedToolResult } from '../../mcpClient.ts';
import type { ToolResult } from '../../ports/results.ts';
import type { ToolCall, ToolCallOptions, ToolHost, ToolInfo } from '../../ports/tools.ts';
import { editorTools, resultLimits, toolSettings } from '../settings.ts';
import { withToken } from '../ui/progress.ts';
import { blocksOf } from './editorToolBlocks.ts';

/** The server name under which chats call VS Code's own tools. */
export const EDITOR_SERVER = 'vscode';

/** Adds the VS Code tools that the patterns enable. Without patterns, a configured server named `vscode` is used. */
export function withEditorTools(host: ToolHost, patterns: () => readonly string[] = editorTools): ToolHost {
  const isEditor = (server: string | undefined) => server === EDITOR_SERVER && patterns().length > 0;
  return {
    async listTools(server, signal) {
      if (isEditor(server)) return { tools: enabledTools(patterns()), failures: [] };
      const list = await host.listTools(server, signal);
      if (server !== undefined || patterns().length === 0) return list;
      const others = list.tools.filter((tool) => tool.server !== EDITOR_SERVER);
      return { ...list, tools: [...others, ...enabledTools(patterns())] };
    },
    async callTool(call, options) {
      if (!isEditor(call.server)) return host.callTool(call, options);
      if (!enabledTools(patterns()).some(({ tool }) => tool === call.tool)) {
        throw new Error(
          `VS Code has no tool “${call.tool}”, or it is not enabled. See the setting filechat.editorTools.`,
        );
      }
      return callEditorTool(call, options);
    },
  };
}

export function hasEditorTools(): boolean {
  return enabledTools(editorTools()).length > 0;
}

/** Adds VS Code to the servers whose tools models get. */
export function withEditorServer(servers: readonly string[]): readonly string[] {
  return hasEditorTools() ? [...new Set([...servers, EDITOR_SERVER])] : servers;
}

function enabledTools(patterns: readonly string[]): readonly ToolInfo[] {
  const settings = { tools: patterns.map((pattern) => `${EDITOR_SERVER}.${pattern}`) };
  return vscode.lm.tools
    .map(({ name, description, inputSchema }) => ({
      server: EDITOR_SERVER,
      tool: name,
      description,
      inputSchema: inputSchema ?? { type: 'object' },
    }))
    .filter((tool) => allowsTool(settings, tool));
}

async function callEditorTool(
  { tool, arguments: input }: ToolCall,
  { assets, signal }: ToolCallOptions,
): Promise<ToolResult> {
  const { fields, transform } = await toolSettings();
  const name = { server: EDITOR_SERVER, tool };
  signal?.throwIfAborted();
  // An abort cancels the tool, and does not wait for a tool that ignores it.
  const { content } = await withToken(signal, (token) => {
    const invoked = vscode.lm.invokeTool(tool, { input, toolInvocationToken: undefined }, token);
    return unlessAborted(Promise.resolve(invoked), signal);
  });
  return processMixedToolResult({ content: blocksOf(content) }, assets, {
    limits: resultLimits(),
    fields: fields?.(name),
    transform,
    tool: name,
  });
}
