import { opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { ASSET_FOLDER, readAssetName } from '../../base/names.ts';
import type { ToolHost, ToolInfo } from '../../ports/tools.ts';
import type { BuiltInCalls } from './calls.ts';
import { BUILT_IN_SERVER, type BuiltInPlaces } from './places.ts';

export interface BuiltInOptions {
  /** Receives the address of the chat. Returns undefined in virtual workspaces, which have no files. */
  readonly placesOf: (chat: string | undefined) => BuiltInPlaces | undefined;
  /** False when the user has configured a server of the same name. */
  readonly isOffered: () => Promise<boolean> | boolean;
}

/** Adds the tools with which models read assets and chats. */
export function withBuiltInTools(host: ToolHost, options: BuiltInOptions): ToolHost {
  let loaded: Promise<BuiltInCalls> | undefined;
  // Loaded with the first call: most chats make none, and the tool descriptions are large.
  const load = () => {
    loaded ??= import('./calls.ts').then(({ BuiltInCalls }) => new BuiltInCalls(options.placesOf));
    return loaded;
  };
  const isBuiltIn = async (server: string) => server === BUILT_IN_SERVER && (await options.isOffered());
  return {
    async listTools(server, signal) {
      if (server !== undefined && (await isBuiltIn(server)))
        return { tools: (await load()).tools, failures: [] };
      const list = await host.listTools(server, signal);
      if (server !== undefined || !(await options.isOffered())) return list;
      return { ...list, tools: [...list.tools, ...(await load()).tools] };
    },
    async callTool(call, callOptions) {
      if (!(await isBuiltIn(call.server))) return host.callTool(call, callOptions);
      return (await load()).answer(call, callOptions);
    },
  };
}

export async function builtInTools(): Promise<readonly ToolInfo[]> {
  return (await import('./calls.ts')).describeTools();
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
