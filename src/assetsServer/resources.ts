import {
  type ListResourcesResult,
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
} from '@modelcontextprotocol/server';
import { ASSET_TEMPLATE, CHAT_TEMPLATE } from '../catalog/address.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { FoundEntry } from '../catalog/entry.ts';
import { readWindow } from '../catalog/windows.ts';
import type { Follower } from './changes.ts';
import { contentsOf, fitsInMessage, MAX_CONTENTS_BYTES } from './contents.ts';
import { pageOf } from './page.ts';
import { findByUri } from './read.ts';
import { answering } from './refusal.ts';
import { resourceOf } from './resourceOf.ts';
import type { Shared } from './shared.ts';

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

export function offerResources({ server }: McpServer, shared: Shared, follower: Follower): void {
  const { catalog } = shared;
  server.registerCapabilities({ resources: { listChanged: true, subscribe: true } });
  server.setRequestHandler('resources/list', ({ params }, { mcpReq: { signal } }) =>
    answering(shared, { signal }, async () => {
      // Whoever has a list is told when it is no longer true.
      if (follower.isFollowing) await follower.start();
      return listPage(catalog, params?.cursor, signal);
    }),
  );
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: TEMPLATES }));
  server.setRequestHandler('resources/read', ({ params: { uri } }, { mcpReq: { signal } }) =>
    answering(shared, { uri, signal }, async () => readWhole(await findByUri(catalog, uri), uri)),
  );
  server.setRequestHandler('resources/subscribe', ({ params: { uri } }, { mcpReq: { signal } }) =>
    answering(shared, { uri, signal }, async () => {
      const { entry } = await findByUri(catalog, uri);
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
  catalog: Catalog,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<ListResourcesResult> {
  const { entries } = await catalog.snapshot(signal);
  const { page, nextCursor } = pageOf(entries, cursor);
  return { resources: page.map(resourceOf), ...(nextCursor === undefined ? {} : { nextCursor }) };
}

async function readWhole(found: FoundEntry, uri: string): Promise<ReadResourceResult> {
  if (found.entry.size > MAX_CONTENTS_BYTES) throw tooLarge(uri, found.entry.size);
  const window = await readWindow(found, { maxBytes: MAX_CONTENTS_BYTES });
  const contents = contentsOf(window, uri, found.entry);
  if (window.nextStart !== undefined || !fitsInMessage(contents, window))
    throw tooLarge(uri, window.totalBytes);
  return { contents: [contents] };
}

function tooLarge(uri: string, size: number): ProtocolError {
  return new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `This file has ${size} bytes, too many for one message. Read it in windows with the tool read_asset.`,
    { uri, size },
  );
}
