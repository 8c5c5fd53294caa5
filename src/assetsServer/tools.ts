import {
  type CallToolResult,
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server';
import { CatalogRefusal } from '../catalog/entry.ts';
import { listAssets } from '../catalog/list.ts';
import { saveAsset } from '../catalog/save.ts';
import { searchChats } from '../catalog/search.ts';
import {
  listOutput,
  readArguments,
  readOutput,
  saveOutput,
  searchOutput,
  type ToolName,
} from '../catalog/tools/specs.ts';
import { listText, readText, saveText, searchText } from '../catalog/tools/texts.ts';
import { readWindow } from '../catalog/windows.ts';
import { contentsOf, findReadable, fitsInMessage } from './read.ts';
import { INTERNAL_ERROR, logError } from './refusal.ts';
import { SERVER_SPECS, type Shared } from './shared.ts';

const CALLS: Readonly<
  Record<ToolName, (given: unknown, shared: Shared, signal: AbortSignal) => Promise<CallToolResult>>
> = {
  list_assets: async (given, { catalog }, signal) => {
    const query = readArguments(SERVER_SPECS.list_assets, given);
    const output = listOutput(await listAssets(catalog, query, signal));
    return result(listText(output), output);
  },
  read_asset: async (given, { catalog }) => {
    const { uri, ...request } = readArguments(SERVER_SPECS.read_asset, given);
    const found = await findReadable(catalog, uri);
    const window = await readWindow(found, request);
    const output = readOutput(found.entry, window);
    const resource = contentsOf(window, found.entry.uri, found.entry);
    if (!fitsInMessage(resource, window))
      throw new CatalogRefusal('These bytes are too many for one message. Ask for fewer with maxBytes.');
    return result(readText(output), output, { type: 'resource', resource });
  },
  search_chats: async (given, { catalog }, signal) => {
    const query = readArguments(SERVER_SPECS.search_chats, given);
    const output = searchOutput(await searchChats(catalog, query, signal));
    return result(searchText(output), output);
  },
  save_asset: async (given, { catalog, uploads, stores }) => {
    if (!uploads)
      throw new CatalogRefusal('Nothing can be saved here: this server was started with --read-only.');
    const upload = readArguments(SERVER_SPECS.save_asset, given);
    const output = saveOutput(await saveAsset(catalog, upload, uploads, stores));
    return result(saveText(output), output);
  },
};

export function offerTools({ server }: McpServer, shared: Shared): void {
  server.registerCapabilities({ tools: {} });
  server.setRequestHandler('tools/list', () => ({ tools: [...shared.tools] }));
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }): Promise<CallToolResult> => {
    const { name } = params;
    if (!isToolName(name))
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool “${name}” here.`);
    try {
      return await CALLS[name](params.arguments, shared, mcpReq.signal);
    } catch (error) {
      if (error instanceof CatalogRefusal) return failed(error.message);
      if (!mcpReq.signal.aborted) logError(shared, error);
      return failed(INTERNAL_ERROR);
    }
  });
}

function isToolName(name: string): name is ToolName {
  return Object.hasOwn(CALLS, name);
}

function result(
  text: string,
  structuredContent: Record<string, unknown>,
  ...more: CallToolResult['content']
): CallToolResult {
  return { content: [{ type: 'text', text }, ...more], structuredContent };
}

function failed(reason: string): CallToolResult {
  return { content: [{ type: 'text', text: reason }], isError: true };
}
