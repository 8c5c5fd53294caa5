import * as vscode from 'vscode';
import type { ToolRequest } from '../../listener.ts';
import { missingArguments } from '../../mcp/schema/arguments.ts';
import type { ToolHost } from '../../ports.ts';
import { type Fields, readObject, readString } from '../ui/commandArguments.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import { withNotice } from '../ui/progress.ts';
import { askArguments } from './arguments.ts';
import { pickTool } from './pickTool.ts';

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
