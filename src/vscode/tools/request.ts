import * as vscode from 'vscode';
import type { ToolRequest } from '../../listener.ts';
import { missingArguments } from '../../mcp/schema/arguments.ts';
import type { ToolHost, ToolInfo, ToolList } from '../../ports/tools.ts';

import { type Fields, readObject, readString } from '../ui/commandArguments.ts';
import { pickGrowing, type Row } from '../ui/growingPick.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import { withNotice } from '../ui/progress.ts';
import { askArguments } from './arguments.ts';

/** What to call: as the caller says, and the rest as the user picks it. */
export async function readToolRequest(
  fields: Fields,
  tools: ToolHost,
  servers: () => Promise<readonly string[]>,
): Promise<ToolRequest | undefined> {
  const server = readString(fields, 'server');
  const tool = readString(fields, 'tool');
  const given = readObject(fields, 'arguments') ?? {};
  const named = server !== undefined && tool !== undefined ? { server, tool, arguments: given } : undefined;
  if (!named) {
    const among = server === undefined ? await servers() : [server];
    const picked = await pickTool((signal) => among.map((each) => tools.listTools(each, signal)));
    const args = picked && (await askArguments(picked, given));
    return args && { server: picked.server, tool: picked.tool, arguments: args };
  }
  const message = plainMessage(vscode.l10n.t('Asking {0} for its tools', named.server));
  const list = await withNotice(message, (signal) => tools.listTools(named.server, signal));
  if (!list) return undefined;
  const info = list.tools.find((each) => each.tool === tool);
  // A tool that nobody knows is told where all such things are told: by the turn loop.
  if (!info || missingArguments(info.inputSchema, given).length === 0) return named;
  const args = await askArguments(info, given);
  return args && { server: info.server, tool: info.tool, arguments: args };
}

/** One list of all tools, by server. */
function pickTool(ask: (signal: AbortSignal) => readonly Promise<ToolList>[]): Promise<ToolInfo | undefined> {
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
