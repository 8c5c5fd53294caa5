import * as vscode from 'vscode';
import { unlessAborted } from '../../base/async.ts';
import { allowsTool } from '../../chat/format/settings.ts';
import { processMixedToolResult, type ResultLimits, type ToolSettings } from '../../mcpClient.ts';
import type { ToolResult } from '../../ports/results.ts';
import type { ToolCall, ToolCallOptions, ToolHost, ToolInfo } from '../../ports/tools.ts';
import { editorTools, resultLimits, toolSettings } from '../settings.ts';
import { blocksOf } from './editorToolBlocks.ts';

/** The name under which the editor's own tools are called, as if they were those of one more server. */
export const EDITOR_SERVER = 'vscode';

export interface EditorToolOptions {
  /** Patterns of the names of those that may be used. With none, a server of the same name is what it is. */
  readonly patterns?: () => readonly string[];
  readonly limits?: () => ResultLimits;
  readonly settings?: () => Promise<ToolSettings> | ToolSettings;
}

/** All tools of a host and, behind them, those that the editor knows and the user has enabled. */
export function withEditorTools(host: ToolHost, options: EditorToolOptions = {}): ToolHost {
  const patterns = options.patterns ?? editorTools;
  const isEditors = (server: string | undefined) => server === EDITOR_SERVER && patterns().length > 0;
  return {
    async listTools(server, signal) {
      if (isEditors(server)) return { tools: enabledTools(patterns()), failures: [] };
      const list = await host.listTools(server, signal);
      if (server !== undefined || patterns().length === 0) return list;
      return { ...list, tools: [...list.tools.filter(isServers), ...enabledTools(patterns())] };
    },
    async callTool(call, callOptions) {
      if (!isEditors(call.server)) return host.callTool(call, callOptions);
      if (!enabledTools(patterns()).some(({ tool }) => tool === call.tool)) throw new Error(notEnabled(call));
      return callEditorTool(call, callOptions, options);
    },
  };
}

/** Whether there is a server of that name for the user to choose. */
export function hasEditorTools(): boolean {
  return enabledTools(editorTools()).length > 0;
}

function isServers({ server }: ToolInfo): boolean {
  return server !== EDITOR_SERVER;
}

function enabledTools(patterns: readonly string[]): readonly ToolInfo[] {
  const wanted = { tools: patterns.map((pattern) => `${EDITOR_SERVER}.${pattern}`) };
  return vscode.lm.tools
    .map(({ name, description, inputSchema }) => ({
      server: EDITOR_SERVER,
      tool: name,
      description,
      inputSchema: inputSchema ?? { type: 'object' },
    }))
    .filter((tool) => allowsTool(wanted, tool));
}

function notEnabled({ tool }: ToolCall): string {
  return `VS Code has no tool “${tool}”, or it is not enabled. See the setting filechat.editorTools.`;
}

async function callEditorTool(
  { tool, arguments: input }: ToolCall,
  { assets, signal }: ToolCallOptions,
  { limits = resultLimits, settings = toolSettings }: EditorToolOptions,
): Promise<ToolResult> {
  const { fields, transform } = await settings();
  const name = { server: EDITOR_SERVER, tool };
  const { content } = await invoke(tool, input, signal);
  return processMixedToolResult({ content: blocksOf(content) }, assets, {
    limits: limits(),
    fields: fields?.(name),
    transform,
    tool: name,
  });
}

/** A stop is told to the tool, and not waited for if the tool does not listen. */
async function invoke(
  name: string,
  input: object,
  signal: AbortSignal | undefined,
): Promise<vscode.LanguageModelToolResult> {
  signal?.throwIfAborted();
  const cancellation = new vscode.CancellationTokenSource();
  const stop = () => cancellation.cancel();
  signal?.addEventListener('abort', stop, { once: true });
  try {
    const options = { input, toolInvocationToken: undefined };
    return await unlessAborted(
      Promise.resolve(vscode.lm.invokeTool(name, options, cancellation.token)),
      signal,
    );
  } finally {
    signal?.removeEventListener('abort', stop);
    cancellation.dispose();
  }
}
