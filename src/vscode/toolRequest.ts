import type { ToolRequest } from '../listener.ts';
import { missingArguments } from '../mcp/arguments.ts';
import type { ToolHost, ToolInfo } from '../ports.ts';
import { askArguments } from './askArguments.ts';
import { type Fields, readObject, readString } from './commandArguments.ts';
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
  const among = async () => (server === undefined ? await servers() : [server]);
  const info = named
    ? await findTool(named, tools)
    : await pickTool((await among()).map((each) => tools.listTools(each)));
  // A tool that nobody knows is told where all such things are told: by the turn loop.
  if (!info || (named && missingArguments(info.inputSchema, given).length === 0)) return named;
  const args = await askArguments(info, given);
  return args && { server: info.server, tool: info.tool, arguments: args };
}

async function findTool({ server, tool }: ToolRequest, tools: ToolHost): Promise<ToolInfo | undefined> {
  const list = await tools.listTools(server);
  return list.tools.find((each) => each.tool === tool);
}
