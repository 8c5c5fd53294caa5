import {
  type BlobResourceContents,
  type CallToolResult,
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type TextResourceContents,
} from '@modelcontextprotocol/server';
import { field } from '../base/json.ts';
import { describeSize } from '../base/size.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { type FileContents, readContents } from '../catalog/contents.ts';
import {
  CatalogRefusal,
  type Entry,
  entryMeta,
  type FoundEntry,
  type ReadThresholds,
} from '../catalog/entry.ts';
import { listAssets } from '../catalog/listAssets.ts';
import { saveAsset } from '../catalog/save.ts';
import { searchChats } from '../catalog/searchChats.ts';
import {
  type ReadAs,
  readArguments,
  SERVER_SPECS,
  SERVER_WINDOW,
  type ToolName,
} from '../catalog/toolSpecs.ts';
import {
  listOutput,
  listText,
  readOutput,
  readText,
  saveOutput,
  saveText,
  searchText,
} from '../catalog/tools/texts.ts';
import type { FileWindow } from '../catalog/windows.ts';
import { bufferToBase64 } from '../content/bytes.ts';
import type { AuditedFile } from '../ports/tools.ts';
import { clientOf, INTERNAL_ERROR, logError, recorded, type Shared } from './shared.ts';

interface ToolRequest {
  readonly signal: AbortSignal;
  readonly client: string | undefined;
}

const CALLS: Readonly<
  Record<ToolName, (given: unknown, shared: Shared, request: ToolRequest) => Promise<CallToolResult>>
> = {
  list_assets: async (given, { catalog, thresholds }, { signal }) => {
    const query = readArguments(SERVER_SPECS.list_assets, given);
    const output = listOutput(await listAssets(catalog, query, signal), thresholds);
    return result(listText(output), output);
  },
  read_asset: async (given, { catalog, maxMediaBytes, thresholds }, { signal }) => {
    const { uri, ...request } = readArguments(SERVER_SPECS.read_asset, given);
    const found = await findReadable(catalog, uri);
    const { defaultBytes } = SERVER_WINDOW;
    const contents = await readContents(found, request, { defaultBytes, maxMediaBytes }, signal);
    const output = readOutput(found.entry, contents, thresholds);
    return result(
      `${readText(output, contents.document)}${fittedText(contents)}`,
      output,
      ...blocksOf(contents, found.entry, { as: request.as, thresholds }),
    );
  },
  search_chats: async (given, { catalog }, { signal }) => {
    const query = readArguments(SERVER_SPECS.search_chats, given);
    const output = await searchChats(catalog, query, signal);
    return result(searchText(output), output);
  },
  save_asset: async (given, { catalog, uploads, stores, thresholds }, { client }) => {
    if (!uploads)
      throw new CatalogRefusal('Nothing can be saved here: this server was started with --read-only.');
    const upload = readArguments(SERVER_SPECS.save_asset, given);
    const output = saveOutput(
      await saveAsset(catalog, upload, { ...uploads, by: client }, stores),
      thresholds,
    );
    return result(saveText(output), output);
  },
};

export function offerTools(mcp: McpServer, shared: Shared): void {
  const { server } = mcp;
  server.registerCapabilities({ tools: {} });
  server.setRequestHandler('tools/list', () => ({ tools: [...shared.tools] }));
  server.setRequestHandler('tools/call', async ({ params }, context): Promise<CallToolResult> => {
    const { name, arguments: given } = params;
    if (!isToolName(name))
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool “${name}” here.`);
    const { signal } = context.mcpReq;
    const client = clientOf(mcp, context);
    const asked = field(given, 'uri') ?? field(given, 'name');
    const access = { kind: 'call', name, client, asked, signal } as const;
    return recorded(shared, access, () => answer(name, given, shared, { signal, client }), filesOf);
  });
}

async function answer(
  name: ToolName,
  given: unknown,
  shared: Shared,
  request: ToolRequest,
): Promise<CallToolResult> {
  try {
    return await CALLS[name](given, shared, request);
  } catch (error) {
    if (error instanceof CatalogRefusal) return failed(error.message);
    if (!request.signal.aborted) logError(shared, error);
    return failed(INTERNAL_ERROR);
  }
}

/** Only the results of read_asset and save_asset have an address. */
function filesOf({ structuredContent: output }: CallToolResult): readonly AuditedFile[] | undefined {
  const uri = field(output, 'uri');
  return typeof uri === 'string'
    ? [{ name: uri, bytes: Number(field(output, 'byteCount') ?? field(output, 'size')) }]
    : undefined;
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

function blocksOf(
  { body, ...about }: FileContents,
  entry: Entry,
  { as, thresholds }: { readonly as: ReadAs | undefined; readonly thresholds: ReadThresholds },
): CallToolResult['content'] {
  if (body.kind === 'none') return [];
  if (body.kind === 'image')
    return body.images.map(({ mimeType, bytes }) => ({
      type: 'image',
      data: bufferToBase64(bytes),
      mimeType,
    }));
  if (body.kind === 'audio')
    return [{ type: 'audio', data: bufferToBase64(body.bytes), mimeType: about.mimeType }];
  const window = { ...about, body };
  const resource = contentsOf(window, { uri: entry.uri, changed: entry.changed, thresholds });
  if (!fitsInMessage(resource, window))
    throw new CatalogRefusal('These bytes are too many for one message. Use a smaller maxBytes.');
  return as === 'text' && body.kind === 'text'
    ? [{ type: 'text', text: body.text }]
    : [{ type: 'resource', resource }];
}

/** So that a client does not take a converted image for the file. */
function fittedText({ body, totalBytes }: FileContents): string {
  if (body.kind !== 'image') return '';
  const [first] = body.images;
  if (body.images.length === 1 && first?.bytes.length === totalBytes) return '';
  const images = body.images.map(({ mimeType, bytes }) => `${mimeType}, ${describeSize(bytes.length)}`);
  const how = images.length === 1 ? 'converted' : `cut into ${images.length} images`;
  return ` It was ${how} to fit: ${images.join('; ')}. To read the file itself, use as: "bytes".`;
}

const BY_NAME = /^asset:(?:\/\/)?(.*)$/is;
const MAX_NAMED = 5;

/** Accepts an address, or `asset:NAME` if only one asset has this name. */
async function findReadable(catalog: Catalog, uri: string): Promise<FoundEntry> {
  const [, name] = BY_NAME.exec(uri) ?? [];
  if (name === undefined) return catalog.findUri(uri);
  const named = await catalog.findByName(name);
  const [only] = named;
  if (only === undefined)
    throw new CatalogRefusal('There is no asset of this name. Find it with list_assets.');
  if (named.length > 1) {
    const uris = named.slice(0, MAX_NAMED).map((entry) => entry.uri);
    throw new CatalogRefusal(`Several assets have this name. Use one of their addresses: ${uris.join(', ')}`);
  }
  return catalog.findUri(only.uri);
}

/** Uses the requested address, which may differ from the one in lists. */
export function contentsOf(
  { mimeType, totalBytes, body }: FileWindow,
  { uri, changed, thresholds }: Pick<Entry, 'uri' | 'changed'> & Pick<Shared, 'thresholds'>,
): TextResourceContents | BlobResourceContents {
  const about = { uri, mimeType, _meta: entryMeta({ mimeType, size: totalBytes, changed }, thresholds) };
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
