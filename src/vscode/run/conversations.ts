import * as vscode from 'vscode';
import { chatAttachments, readAgentFile } from '../../assets/chatFiles.ts';
import { ASSET_FOLDER, BUILT_IN_SERVER } from '../../base/assetNames.ts';
import { ChatConversation, type ConversationDeps } from '../../model/request/conversation.ts';
import type { AttachmentSource } from '../../ports/document.ts';
import type { ChatModel } from '../../ports/models.ts';
import type { ToolHost, ToolList } from '../../ports/tools.ts';
import { type ChatPlaces, placesOf } from '../chat/chatFiles.ts';
import type { AttachmentConsent } from '../consent/attachments.ts';
import type { EditorModels } from '../model/editorModels.ts';
import type { EditorServers } from '../servers/editorServers.ts';
import { SAMPLE_SERVER } from '../servers/serverList.ts';
import { maxSteps, sendImages } from '../settings.ts';
import { EDITOR_SERVER, hasEditorTools, withEditorServer } from '../tools/editorTools.ts';

interface ConversationsDeps {
  readonly models: EditorModels;
  readonly servers: EditorServers;
  readonly consent: AttachmentConsent;
  readonly globalStorage: vscode.Uri;
}

export class Conversations {
  readonly #deps: ConversationsDeps;
  /** The last tool list of each server, for estimates, which must not start servers. */
  readonly #known = new Map<string, ToolList>();

  constructor(deps: ConversationsDeps) {
    this.#deps = deps;
  }

  of(chat: vscode.Uri): ChatConversation {
    const { models, servers, consent } = this.#deps;
    let model: ChatModel | undefined;
    return this.#create(chat, {
      attachments: chatAttachments({
        ...this.#placesOf(chat),
        mayRead: (path, signal) => consent.mayRead(path, chat, signal),
      }),
      findModel: async (name) => {
        model = await models.find(name);
        return model;
      },
      tools: {
        callTool: (call, options) => servers.tools.callTool(call, options),
        listTools: async (server, signal) => {
          const list = await servers.tools.listTools(server, signal);
          if (server !== undefined) this.#known.set(server, list);
          return list;
        },
      },
      servers: () => this.#serversFor(model, chat),
      hasBuiltInTools: servers.builtIns.isOffered,
    });
  }

  /** For estimates: asks no questions, starts no servers and sends nothing. */
  dryRun(chat: vscode.Uri): ChatConversation {
    const { models } = this.#deps;
    const { builtIns, tools } = this.#deps.servers;
    // A configured server can have had the name of one that needs no start.
    const isLive = async (server: string) =>
      server === EDITOR_SERVER ? hasEditorTools() : server === BUILT_IN_SERVER && builtIns.isOffered();
    const listTools: ToolHost['listTools'] = async (server = '') =>
      (await isLive(server))
        ? tools.listTools(server)
        : (this.#known.get(server) ?? { tools: [], failures: [] });
    const known = [...this.#known.keys()].filter((server) => server !== BUILT_IN_SERVER);
    return this.#create(chat, {
      attachments: this.attachments(chat),
      isEstimate: true,
      findModel: async (name) => ({
        name: name ?? '',
        provider: '',
        ...(await models.abilitiesOf(name)),
        stream: never,
        preview: never,
      }),
      tools: { callTool: never, listTools },
      servers: () => builtIns.addTo(withEditorServer(known), chat),
      hasBuiltInTools: builtIns.isOffered,
    });
  }

  /** Finds linked files; those outside of the workspace are refused. */
  attachments(chat: vscode.Uri): AttachmentSource {
    return chatAttachments(this.#placesOf(chat));
  }

  #placesOf(chat: vscode.Uri): ChatPlaces {
    return placesOf(chat, this.#deps.globalStorage);
  }

  #create(
    chat: vscode.Uri,
    deps: Pick<
      ConversationDeps,
      'attachments' | 'findModel' | 'tools' | 'servers' | 'hasBuiltInTools' | 'isEstimate'
    >,
  ): ChatConversation {
    const { folder, roots } = this.#placesOf(chat);
    // An untitled chat links to its assets by absolute paths.
    const prefix = `${vscode.Uri.joinPath(this.#deps.globalStorage, ASSET_FOLDER).path}/`;
    const isOwnAsset = (path: string) => path.startsWith(prefix) && !path.includes('/', prefix.length);
    return new ChatConversation({
      ...deps,
      readAgent: (name) => readAgentFile(name, [folder, ...roots]),
      sendImages,
      maxSteps,
      ...(chat.scheme === 'untitled' ? { isOwnAsset } : {}),
    });
  }

  /** The tour uses the sample server if no server is configured, and never the tools of Filechat and VS Code. */
  async #serversFor(model: ChatModel | undefined, chat: vscode.Uri): Promise<readonly string[]> {
    const { list, builtIns } = this.#deps.servers;
    const allowed = [...(await list.allowed()).keys()];
    if (model?.provider !== 'tour') return builtIns.addTo(withEditorServer(allowed), chat);
    return allowed.length === 0 ? [SAMPLE_SERVER] : [...(await list.startable()).keys()];
  }
}

function never(): never {
  throw new Error('A dry run must not send requests.');
}
