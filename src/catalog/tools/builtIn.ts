import { opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { ASSET_FOLDER, BUILT_IN_SERVER, readAssetName } from '../../base/assetNames.ts';
import { RecentValues } from '../../base/collections.ts';
import type { ToolHost, ToolInfo, ToolName } from '../../ports/tools.ts';
import type { Catalog } from '../catalog.ts';
import type { BuiltInPlaces } from './readableFiles.ts';
import type { ResourceAccess, ResourceHost } from './resourceTools.ts';

export interface BuiltInOptions {
  /** Receives the address of the chat. Returns undefined in virtual workspaces, which have no files. */
  readonly placesOf: (chat: string | undefined) => BuiltInPlaces | undefined;
  /** False when the user has configured a server of the same name. */
  readonly isOffered: () => Promise<boolean> | boolean;
  readonly refusal?: ResourceAccess['refusal'];
}

const MAX_CATALOGS = 20;

/** Adds the tools with which models read assets, chats and resources. */
export function withBuiltInTools(
  host: ToolHost & ResourceHost,
  { placesOf, isOffered, refusal }: BuiltInOptions,
): ToolHost {
  const catalogs = new RecentValues<Catalog>(MAX_CATALOGS);
  let tools: Promise<readonly ToolInfo[]> | undefined;
  return {
    async listTools(server, signal) {
      const isNamed = server === BUILT_IN_SERVER;
      const hasOwn = (isNamed || server === undefined) && (await isOffered());
      const others = isNamed && hasOwn ? { tools: [], failures: [] } : await host.listTools(server, signal);
      if (!hasOwn) return others;
      tools ??= builtInTools();
      return { ...others, tools: [...others.tools, ...(await tools)] };
    },
    async callTool(call, options) {
      if (call.server !== BUILT_IN_SERVER || !(await isOffered())) return host.callTool(call, options);
      const { answerCall } = await import('./answerCall.ts');
      const places = placesOf(options.chat);
      return answerCall(call, { places, catalogs, resources: { host, refusal }, options });
    },
  };
}

/** Loaded with the first use: most chats make no calls, and the tool descriptions are large. */
export async function builtInTools(): Promise<readonly ToolInfo[]> {
  return (await import('./answerCall.ts')).describeTools(BUILT_IN_SERVER);
}

/** Adds the built-in server to those of a chat if there is something to read: results of other tools, or assets. */
export async function withBuiltInServer(
  servers: readonly string[],
  assetsIn: string,
): Promise<readonly string[]> {
  if (servers.includes(BUILT_IN_SERVER)) return servers;
  const isUseful = servers.length > 0 || (await holdsAssets(assetsIn));
  return isUseful ? [...servers, BUILT_IN_SERVER] : servers;
}

/** Stops at the first asset: a folder may hold thousands, and this runs for every request. */
async function holdsAssets(folder: string): Promise<boolean> {
  try {
    for await (const entry of await opendir(join(folder, ASSET_FOLDER))) {
      if (entry.isFile() && readAssetName(entry.name)) return true;
    }
  } catch {
    // A missing or unreadable folder has no assets to offer.
  }
  return false;
}

/** Whether the tool can be called only with configured servers. */
export function needsServers({ server, tool }: ToolName): boolean {
  return server !== BUILT_IN_SERVER || tool === 'list_resources' || tool === 'read_resource';
}
