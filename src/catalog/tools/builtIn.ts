import { opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { ASSET_FOLDER, readAssetName } from '../../base/names.ts';
import type { ToolHost, ToolInfo } from '../../ports/tools.ts';

import type { BuiltInCalls } from './calls.ts';
import { BUILT_IN_SERVER, type BuiltInPlaces } from './places.ts';

export interface BuiltInOptions {
  /** By the chat's address as calls carry it; nothing where there are no files, as in a virtual workspace. */
  readonly placesOf: (chat: string | undefined) => BuiltInPlaces | undefined;
  /** Asked at each use. A server of the user's that has the same name is what it is. */
  readonly isOffered: () => Promise<boolean> | boolean;
}

/** All tools of a host and, behind them, those with which a model opens again what it was only told of. */
export function withBuiltInTools(host: ToolHost, options: BuiltInOptions): ToolHost {
  let loaded: Promise<BuiltInCalls> | undefined;
  // Most chats are opened without any call, and what describes the tools is large.
  const load = () => {
    loaded ??= import('./calls.ts').then(({ BuiltInCalls }) => new BuiltInCalls(options.placesOf));
    return loaded;
  };
  const isOurs = async (server: string) => server === BUILT_IN_SERVER && (await options.isOffered());
  return {
    async listTools(server, signal) {
      if (server !== undefined && (await isOurs(server)))
        return { tools: (await load()).tools, failures: [] };
      const list = await host.listTools(server, signal);
      if (server !== undefined || !(await options.isOffered())) return list;
      return { ...list, tools: [...list.tools, ...(await load()).tools] };
    },
    async callTool(call, callOptions) {
      if (!(await isOurs(call.server))) return host.callTool(call, callOptions);
      return (await load()).answer(call, callOptions);
    },
  };
}

/** The tools as they are described, for those who only help to write a call. */
export async function builtInTools(): Promise<readonly ToolInfo[]> {
  return (await import('./calls.ts')).describeTools();
}

/**
 * The servers of a chat, with ours behind them where it has a use: there are other tools, whose results may be
 * summed up, or there are files already.
 */
export async function withBuiltInServer(
  servers: readonly string[],
  assetsIn: string,
): Promise<readonly string[]> {
  if (servers.includes(BUILT_IN_SERVER)) return servers;
  const hasUse = servers.length > 0 || (await holdsAssets(assetsIn));
  return hasUse ? [...servers, BUILT_IN_SERVER] : servers;
}

/** Looks no further than the first that it finds: a folder may hold thousands, and this is asked for every request. */
async function holdsAssets(folder: string): Promise<boolean> {
  try {
    for await (const entry of await opendir(join(folder, ASSET_FOLDER))) {
      if (entry.isFile() && readAssetName(entry.name)) return true;
    }
  } catch {
    // A folder that is not there, or cannot be looked into, holds nothing that could be read.
  }
  return false;
}
