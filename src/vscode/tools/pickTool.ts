import * as vscode from 'vscode';
import type { ToolInfo, ToolList } from '../../ports.ts';
import { pickGrowing, type Row } from '../ui/growingPick.ts';
import { plainMessage } from '../ui/plainMessage.ts';

/** One list of all tools, by server. */
export function pickTool(
  ask: (signal: AbortSignal) => readonly Promise<ToolList>[],
): Promise<ToolInfo | undefined> {
  const words = {
    title: vscode.l10n.t('Filechat: Call Tool'),
    waiting: vscode.l10n.t('Asking the servers for their tools…'),
    question: vscode.l10n.t('Which tool?'),
    nothing: vscode.l10n.t(
      'There are no tools. Add a server to the setting filechat.mcpServers or to .vscode/mcp.json.',
    ),
  };
  return pickGrowing<ToolInfo>(words, (signal) => ask(signal).map(async (list) => listItems(await list)));
}

function listItems({ tools, failures }: ToolList): Row<ToolInfo>[] {
  const items: Row<ToolInfo>[] = [];
  let server: string | undefined;
  for (const tool of tools) {
    if (tool.server !== server) items.push({ label: tool.server, kind: vscode.QuickPickItemKind.Separator });
    server = tool.server;
    items.push({
      label: `$(tools) ${plainMessage(tool.tool)}`,
      description: plainMessage(tool.title ?? ''),
      detail: plainMessage(tool.description ?? ''),
      value: tool,
    });
  }
  for (const failure of failures) {
    items.push({ label: failure.server, kind: vscode.QuickPickItemKind.Separator });
    items.push({
      label: vscode.l10n.t('$(warning) This server cannot be used'),
      detail: plainMessage(failure.reason),
    });
  }
  return items;
}
