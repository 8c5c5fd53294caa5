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
  type ToolSpecs,
} from '../catalog/tools/specs.ts';
import { listText, readText, saveText, searchText } from '../catalog/tools/texts.ts';
import { readWindow } from '../catalog/windows.ts';
import { contentsOf, findReadable, fitsInMessage } from './read.ts';
import { INTERNAL_ERROR, logError } from './refusal.ts';
import type { Shared } from './shared.ts';

type Call<Name extends ToolName> = (
  given: unknown,
  spec: ToolSpecs[Name],
  shared: Shared,
  signal: AbortSignal,
) => Promise<CallToolResult>;

const CALLS: { readonly [Name in ToolName]: Call<Name> } = {
  list_assets: async (given, spec, { catalog }, signal) => {
    const output = listOutput(await listAssets(catalog, readArguments(spec, given), signal));
    return result(listText(output), output);
  },
  read_asset: async (given, spec, { catalog }) => {
    const { uri, ...wanted } = readArguments(spec, given);
    const found = await findReadable(catalog, uri);
    const window = await readWindow(found, wanted);
    const output = readOutput(found.entry, window);
    const resource = contentsOf(window, found.entry.uri, found.entry);
    if (!fitsInMessage(resource, window))
      throw new CatalogRefusal('These bytes are too many for one message. Ask for fewer with maxBytes.');
    return result(readText(output), output, { type: 'resource', resource });
  },
  search_chats: async (given, spec, { catalog }, signal) => {
    const output = searchOutput(await searchChats(catalog, readArguments(spec, given), signal));
    return result(searchText(output), output);
  },
  save_asset: async (given, spec, { catalog, uploads, stores }) => {
    if (!uploads)
      throw new CatalogRefusal('Nothing can be saved here: this server was started with --read-only.');
    const output = saveOutput(await saveAsset(catalog, readArguments(spec, given), uploads, stores));
    return result(saveText(output), output);
  },
};

export function offerTools({ server }: McpServer, shared: Shared): void {
  const { specs, listed } = shared.tools;
  server.registerCapabilities({ tools: {} });
  server.setRequestHandler('tools/list', () => ({ tools: [...listed] }));
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }): Promise<CallToolResult> => {
    const name = params.name;
    if (!isToolName(specs, name))
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool “${name}” here.`);
    try {
      return await call(name, params.arguments, shared, mcpReq.signal);
    } catch (error) {
      if (error instanceof CatalogRefusal) return failed(error.message);
      if (!mcpReq.signal.aborted) logError(shared, error);
      return failed(INTERNAL_ERROR);
    }
  });
}

function isToolName(specs: ToolSpecs, name: string): name is ToolName {
  return Object.hasOwn(specs, name);
}

function call<Name extends ToolName>(
  name: Name,
  given: unknown,
  shared: Shared,
  signal: AbortSignal,
): Promise<CallToolResult> {
  return CALLS[name](given, shared.tools.specs[name], shared, signal);
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
