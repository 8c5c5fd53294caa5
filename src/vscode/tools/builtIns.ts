import * as vscode from 'vscode';
import { ASSET_FOLDER } from '../../base/names.ts';
import { type BuiltInOptions, builtInTools, withBuiltInServer } from '../../catalog/tools/builtIn.ts';
import { BUILT_IN_SERVER, type BuiltInPlaces } from '../../catalog/tools/places.ts';
import type { ToolInfo } from '../../ports/tools.ts';

import { readChat } from '../chat/chatFiles.ts';
import { placesOf } from '../chat/places.ts';
import type { ServerList } from '../servers/list.ts';
import { offersBuiltInTools } from '../settings.ts';

/** The tools that Filechat itself has for chats: whether there are any, to which chats they are offered, and where they look. */
export class BuiltIns implements BuiltInOptions {
  readonly #servers: Pick<ServerList, 'all'>;
  readonly #globalStorage: vscode.Uri;
  #tools: Promise<readonly ToolInfo[]> | undefined;

  constructor(servers: Pick<ServerList, 'all'>, globalStorage: vscode.Uri) {
    this.#servers = servers;
    this.#globalStorage = globalStorage;
  }

  /** A server of the user's or the workspace's that has our name comes first, also while it waits to be agreed to. */
  readonly isOffered = async (): Promise<boolean> => {
    if (!offersBuiltInTools()) return false;
    return !(await this.#servers.all()).some(({ name }) => name === BUILT_IN_SERVER);
  };

  /** In virtual workspaces there are no files that we could read piece by piece. */
  readonly placesOf = (chat: string | undefined): BuiltInPlaces | undefined => {
    const uri = chat === undefined ? undefined : vscode.Uri.parse(chat, true);
    if (chat === undefined || uri === undefined || !hasFiles(uri)) return undefined;
    const { assetsIn, roots } = placesOf(uri, this.#globalStorage);
    const isSaved = uri.scheme === 'file';
    return {
      text: async () => (await readChat(chat)).text,
      assetsIn,
      folders: roots,
      ...(isSaved
        ? { chat: uri.fsPath }
        : { linkPrefix: vscode.Uri.joinPath(this.#globalStorage, ASSET_FOLDER).path }),
    };
  };

  /** The servers of a chat, with ours behind them if it is offered to the chat. */
  async beside(servers: readonly string[], chat: vscode.Uri): Promise<readonly string[]> {
    if (!hasFiles(chat) || !(await this.isOffered())) return servers;
    return withBuiltInServer(servers, placesOf(chat, this.#globalStorage).assetsIn);
  }

  /** For those who help to write a call. Always the same objects, by which they remember what they know of them. */
  async tools(): Promise<readonly ToolInfo[]> {
    if (!(await this.isOffered())) return [];
    this.#tools ??= builtInTools();
    return this.#tools;
  }
}

function hasFiles({ scheme }: vscode.Uri): boolean {
  return scheme === 'file' || scheme === 'untitled';
}
