import {
  type BlobResourceContents,
  type CallToolResult,
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type TextResourceContents,
} from '@modelcontextprotocol/server';
import type { Catalog } from '../catalog/catalog.ts';
import { CatalogRefusal, type Entry, entryMeta, type FoundEntry, readAddress } from '../catalog/entry.ts';
import { listAssets } from '../catalog/list.ts';
import { saveAsset } from '../catalog/save.ts';
import { searchChats } from '../catalog/search.ts';
import { readArguments, SERVER_SPECS, type ToolName } from '../catalog/specs.ts';
import {
  listOutput,
  listText,
  readOutput,
  readText,
  saveOutput,
  saveText,
  searchText,
} from '../catalog/tools/texts.ts';
import { type FileWindow, readWindow } from '../catalog/windows.ts';
import { bufferToBase64 } from '../content/bytes.ts';
import { INTERNAL_ERROR, logError, type Shared } from './shared.ts';

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
    const output = await searchChats(catalog, query, signal);
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

const BY_NAME = /^asset:(?:\/\/)?(.*)$/is;
const MAX_NAMED = 5;

export async function findByUri(catalog: Catalog, uri: string): Promise<FoundEntry> {
  const read = readAddress(uri);
  if (!read.ok) throw new CatalogRefusal(read.reason);
  return catalog.find(read.address);
}

/** Accepts an address, or `asset:NAME` if only one asset has this name. */
export async function findReadable(catalog: Catalog, uri: string): Promise<FoundEntry> {
  const [, name] = BY_NAME.exec(uri) ?? [];
  if (name === undefined) return findByUri(catalog, uri);
  const named = await catalog.findByName(name);
  const [only] = named;
  if (only === undefined)
    throw new CatalogRefusal('There is no asset of this name. Find it with list_assets.');
  if (named.length > 1) {
    const uris = named.slice(0, MAX_NAMED).map((entry) => entry.uri);
    throw new CatalogRefusal(`Several assets have this name. Say which by its address: ${uris.join(', ')}`);
  }
  return findByUri(catalog, only.uri);
}

/** Uses the requested address, which may differ from the one in lists. */
export function contentsOf(
  { mimeType, totalBytes, body }: FileWindow,
  uri: string,
  { changed }: Entry,
): TextResourceContents | BlobResourceContents {
  const about = { uri, mimeType, _meta: entryMeta({ mimeType, size: totalBytes, changed }) };
  return body.kind === 'text'
    ? { ...about, text: body.text }
    : { ...about, blob: bufferToBase64(body.bytes) };
}

/** Clients that use the SDKs close the connection when a longer message arrives. */
const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;
/** For the rest of the message. */
const ENVELOPE_BYTES = 16 * 1024;
export const MAX_CONTENTS_BYTES: number = MAX_MESSAGE_BYTES - ENVELOPE_BYTES;
/** A byte takes at most this many characters in JSON. */
const MAX_JSON_GROWTH = 6;

export function fitsInMessage(contents: object, { byteCount }: FileWindow): boolean {
  return (
    byteCount * MAX_JSON_GROWTH <= MAX_CONTENTS_BYTES ||
    Buffer.byteLength(JSON.stringify(contents)) <= MAX_CONTENTS_BYTES
  );
}
