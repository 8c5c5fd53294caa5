import {
  type CompleteResult,
  type ListResourcesResult,
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  type Resource,
} from '@modelcontextprotocol/server';
import { field } from '../base/json.ts';
import {
  ASSET_TEMPLATE,
  CHAT_TEMPLATE,
  describeEntry,
  type Entry,
  entryMeta,
  entryTitle,
  type FoundEntry,
  type ReadThresholds,
} from '../catalog/entry.ts';
import { pageAfter, parseCursor, writeCursor } from '../catalog/listAssets.ts';
import { readWindow } from '../catalog/windows.ts';
import type { AuditedFile } from '../ports/tools.ts';
import type { Follower } from './follower.ts';
import { answering, clientOf, recorded, type Shared } from './shared.ts';
import { contentsOf, fitsInMessage, MAX_CONTENTS_BYTES } from './tools.ts';

const TEMPLATES = [
  {
    name: 'asset',
    title: 'A file of a chat',
    uriTemplate: ASSET_TEMPLATE,
    description:
      'A file that a tool returned or that was saved beside a chat, by the chat and the name of the file.',
  },
  {
    name: 'chat',
    title: 'A chat',
    uriTemplate: CHAT_TEMPLATE,
    description: 'A chat as it is written: Markdown, with a marker line before each turn.',
    mimeType: 'text/markdown',
  },
];

export function offerResources(mcp: McpServer, shared: Shared, follower: Follower): void {
  const { server } = mcp;
  const { catalog } = shared;
  server.registerCapabilities({ resources: { listChanged: true, subscribe: true } });
  server.setRequestHandler('resources/list', ({ params }, { mcpReq: { signal } }) =>
    answering(shared, { signal }, async () => {
      // A list is only sent once its changes are watched.
      if (follower.isFollowing) await follower.start();
      return listPage(shared, params?.cursor, signal);
    }),
  );
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: TEMPLATES }));
  server.setRequestHandler('resources/read', ({ params: { uri } }, context) => {
    const { signal } = context.mcpReq;
    const access = {
      kind: 'resource',
      name: uri,
      client: clientOf(mcp, context),
      asked: uri,
      signal,
    } as const;
    const read = async () => readWhole(await catalog.findUri(uri), uri, shared);
    return recorded(shared, access, () => answering(shared, { uri, signal }, read), filesOf);
  });
  server.setRequestHandler('resources/subscribe', ({ params: { uri } }, { mcpReq: { signal } }) =>
    answering(shared, { uri, signal }, async () => {
      const { entry } = await catalog.findUri(uri);
      await follower.subscribe(entry.uri, uri);
      return {};
    }),
  );
  server.setRequestHandler('resources/unsubscribe', ({ params: { uri } }) => {
    follower.unsubscribe(uri);
    return {};
  });
}

async function listPage(
  { catalog, thresholds }: Shared,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<ListResourcesResult> {
  const { entries } = await catalog.snapshot(signal);
  const { page, nextCursor } = pageOf(entries, cursor);
  return {
    resources: page.map((entry) => resourceOf(entry, thresholds)),
    ...(nextCursor === undefined ? {} : { nextCursor }),
  };
}

async function readWhole(
  found: FoundEntry,
  uri: string,
  { thresholds }: Shared,
): Promise<ReadResourceResult> {
  if (found.entry.size > MAX_CONTENTS_BYTES) throw tooLarge(uri, found.entry.size);
  const window = await readWindow(found, { maxBytes: MAX_CONTENTS_BYTES });
  const contents = contentsOf(window, { uri, changed: found.entry.changed, thresholds });
  if (window.nextStart !== undefined || !fitsInMessage(contents, window))
    throw tooLarge(uri, window.totalBytes);
  return { contents: [contents] };
}

function filesOf({ contents }: ReadResourceResult): readonly AuditedFile[] {
  return contents.map(({ uri, _meta }) => ({ name: uri, bytes: Number(field(_meta, 'size')) }));
}

function tooLarge(uri: string, size: number): ProtocolError {
  return new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `This file has ${size} bytes, too many for one message. Read it in windows with the tool read_asset.`,
    { uri, size },
  );
}

function resourceOf(entry: Entry, thresholds: ReadThresholds): Resource {
  return {
    uri: entry.uri,
    name: entry.kind === 'chat' ? entry.chat : entry.asset,
    title: entryTitle(entry),
    description: describeEntry(entry, thresholds),
    mimeType: entry.mimeType,
    size: entry.size,
    annotations: { lastModified: entry.changed.toISOString() },
    _meta: entryMeta(entry, thresholds),
  };
}

/** Small enough for every client, large enough for few requests. */
const PAGE_SIZE = 500;

export interface Page {
  readonly page: readonly Entry[];
  readonly nextCursor?: string;
}

/** Chats first, then assets; the latest first. */
export function pageOf(entries: readonly Entry[], cursor?: string): Page {
  const after = cursor === undefined ? undefined : readCursor(cursor);
  const { page, last } = pageAfter(entries, { positionOf, compare, after, limit: PAGE_SIZE });
  return { page, ...(last && { nextCursor: writeCursor(last) }) };
}

/** No two entries have the same address. */
type Position = readonly [kind: number, age: number, uri: string];

function positionOf({ kind, changed, uri }: Entry): Position {
  return [kind === 'chat' ? 0 : 1, -changed.getTime(), uri];
}

function compare(a: Position, b: Position): number {
  return a[0] - b[0] || a[1] - b[1] || (a[2] < b[2] ? -1 : Number(a[2] > b[2]));
}

function readCursor(cursor: string): Position {
  const [kind, age, uri] = parseCursor(cursor) ?? [];
  if (typeof kind === 'number' && typeof age === 'number' && typeof uri === 'string') return [kind, age, uri];
  throw new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    'This cursor does not come from this server. Request the list again without a cursor.',
  );
}

const MAX_VALUES = 100;

/** Completes the variables of the templates. Values are not percent-encoded. */
export function offerCompletions({ server }: McpServer, shared: Shared): void {
  server.registerCapabilities({ completions: {} });
  server.setRequestHandler('completion/complete', ({ params }, { mcpReq: { signal } }) =>
    answering(shared, { signal }, async (): Promise<CompleteResult> => {
      const { ref, argument, context } = params;
      if (ref.type !== 'ref/resource' || ![ASSET_TEMPLATE, CHAT_TEMPLATE].includes(ref.uri))
        throw new ProtocolError(
          ProtocolErrorCode.InvalidParams,
          `Only ${ASSET_TEMPLATE} and ${CHAT_TEMPLATE} can be completed here.`,
        );
      const { entries } = await shared.catalog.snapshot(signal);
      const variable = { name: argument.name, chat: context?.arguments?.['chat'] };
      return { completion: firstMatches(valuesFor(entries, ref.uri, variable), argument.value) };
    }),
  );
}

/** `chat` is the value of the other variable, if it is known. */
function valuesFor(
  entries: readonly Entry[],
  template: string,
  { name, chat }: { readonly name: string; readonly chat: string | undefined },
): string[] {
  const assets = entries.filter((entry) => entry.kind === 'asset');
  if (name === 'asset' && template === ASSET_TEMPLATE)
    return assets.filter((entry) => chat === undefined || entry.chat === chat).map(({ asset }) => asset);
  if (name !== 'chat') return [];
  return template === ASSET_TEMPLATE
    ? assets.map((entry) => entry.chat)
    : entries.filter((entry) => entry.kind === 'chat').map((entry) => entry.chat);
}

/** Prefix matches come before other matches. */
function firstMatches(values: readonly string[], typed: string): CompleteResult['completion'] {
  const wanted = typed.toLowerCase();
  const found = [...new Set(values)].filter((value) => value.toLowerCase().includes(wanted));
  const begins = (value: string) => value.toLowerCase().startsWith(wanted);
  const sorted = [...found.filter(begins), ...found.filter((value) => !begins(value))];
  return { values: sorted.slice(0, MAX_VALUES), total: sorted.length, hasMore: sorted.length > MAX_VALUES };
}
