import { McpServer } from '@modelcontextprotocol/server';
import { Catalog } from '../catalog/catalog.ts';
import { type UploadLimits, UploadStores } from '../catalog/save.ts';
import { Follower, Watching } from './changes.ts';
import { offerCompletions } from './completions.ts';
import { offerResources } from './resources.ts';
import { describeTools, type OfferedTools, offerTools } from './tools.ts';

export interface AssetsServer {
  readonly server: McpServer;
  readonly follower: Follower;
}

const INSTRUCTIONS =
  'This server has somebody’s chats and the files that tools returned in them, each with an address filechat://… that stays good. ' +
  'Find them with list_assets and search_chats, and look at size and estimatedTokens before you read: what is not autoReadSafe is better read in windows with read_asset, from nextStart to nextStart. ' +
  'save_asset puts a file beside a chat and gives the link for it; it never changes what a chat says.';

/** One client's server. The SDK asks for one for each connection, and over HTTP since 2026 for each request. */
export function createServer(shared: Shared, era: 'legacy' | 'modern'): AssetsServer {
  const server = new McpServer(
    { name: 'filechat-assets', title: 'Filechat: chats and their files', version: shared.version },
    { instructions: INSTRUCTIONS },
  );
  const follower = new Follower(server, shared, era);
  offerTools(server, shared);
  offerResources(server, shared, follower);
  offerCompletions(server, shared);
  // Clients of before 2026 are told what changes without asking for it.
  server.server.oninitialized = () => void follower.start();
  server.server.onclose = () => follower.dispose();
  return { server, follower };
}

/** What all connections of one server have in common. */
export interface Shared {
  readonly catalog: Catalog;
  readonly watching: Watching;
  readonly tools: OfferedTools;
  readonly version: string;
  /** Nothing when nothing may be saved. */
  readonly uploads?: UploadLimits | undefined;
  readonly stores: UploadStores;
  /** For who runs the server, on stderr; never for its clients. */
  readonly log: (message: string) => void;
}

export interface SharedOptions {
  readonly folders: readonly string[];
  readonly readOnly: boolean;
  readonly maxUploadBytes: number;
  readonly allowedTypes: readonly string[];
  readonly version: string;
  readonly log: (message: string) => void;
}

export function createShared(options: SharedOptions): Shared {
  const { folders, readOnly, maxUploadBytes, allowedTypes, version, log } = options;
  const catalog = new Catalog({ folders });
  const allowedMimeTypes = allowedTypes.length === 0 ? ['*/*'] : allowedTypes;
  return {
    catalog,
    watching: new Watching(catalog, log),
    tools: describeTools({ readOnly }),
    version,
    ...(readOnly ? {} : { uploads: { maxBytes: maxUploadBytes, allowedMimeTypes } }),
    stores: new UploadStores(),
    log,
  };
}
