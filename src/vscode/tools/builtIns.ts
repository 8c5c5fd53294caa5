import * as vscode from 'vscode';
import { ASSET_FOLDER, BUILT_IN_SERVER } from '../../base/assetNames.ts';
import { type BuiltInOptions, builtInTools, withBuiltInServer } from '../../catalog/tools/builtIn.ts';
import type { BuiltInPlaces } from '../../catalog/tools/readableFiles.ts';

import type { ToolInfo } from '../../ports/tools.ts';
import { placesOf, readChat } from '../chat/chatFiles.ts';
import type { ServerList } from '../servers/serverList.ts';
import { offersBuiltInTools } from '../settings.ts';

type Servers = Pick<ServerList, 'all' | 'askForWorkspaceServers'>;

/** Filechat's own tools: whether they are offered, to which chats, and which files they read. */
export class BuiltIns implements BuiltInOptions {
  readonly #servers: Servers;
  readonly #globalStorage: vscode.Uri;
  #tools: Promise<readonly ToolInfo[]> | undefined;

  constructor(servers: Servers, globalStorage: vscode.Uri) {
    this.#servers = servers;
    this.#globalStorage = globalStorage;
  }

  /** A configured server of the same name takes precedence, even before it is allowed. */
  readonly isOffered = async (): Promise<boolean> => {
    if (!offersBuiltInTools()) return false;
    return !(await this.#servers.all()).some(({ name }) => name === BUILT_IN_SERVER);
  };

  readonly refusal = async (server: string, chat: string | undefined): Promise<string | undefined> => {
    const due = chat === undefined ? {} : { chat: vscode.Uri.parse(chat, true) };
    const consent = await this.#servers.askForWorkspaceServers([server], due);
    return consent === 'given' ? undefined : `The user did not allow the server “${server}”.`;
  };

  /** Virtual workspaces have no files that can be read piece by piece. */
  readonly placesOf = (chat: string | undefined): BuiltInPlaces | undefined => {
    if (chat === undefined) return undefined;
    const uri = vscode.Uri.parse(chat, true);
    if (!hasFiles(uri)) return undefined;
    const { assetsIn, roots } = placesOf(uri, this.#globalStorage);
    const text = async () => (await readChat(chat)).text;
    const files = { text, assetsIn, folders: roots };
    return uri.scheme === 'file'
      ? { ...files, chat: uri.fsPath }
      : { ...files, linkPrefix: vscode.Uri.joinPath(this.#globalStorage, ASSET_FOLDER).path };
  };

  async addTo(servers: readonly string[], chat: vscode.Uri): Promise<readonly string[]> {
    if (!hasFiles(chat) || !(await this.isOffered())) return servers;
    return withBuiltInServer(servers, placesOf(chat, this.#globalStorage).assetsIn);
  }

  /** For completion and hovers, which cache by object identity: always the same objects. */
  async tools(): Promise<readonly ToolInfo[]> {
    if (!(await this.isOffered())) return [];
    this.#tools ??= builtInTools();
    return this.#tools;
  }
}

function hasFiles({ scheme }: vscode.Uri): boolean {
  return scheme === 'file' || scheme === 'untitled';
}
