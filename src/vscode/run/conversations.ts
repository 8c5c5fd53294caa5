import * as vscode from 'vscode';
import { chatAttachments, readAgentFile } from '../../assets/chatFiles.ts';
import { ASSET_FOLDER } from '../../base/names.ts';
import { BUILT_IN_SERVER } from '../../catalog/tools/places.ts';
import { ChatConversation } from '../../model/request/conversation.ts';
import type { AttachmentSource } from '../../ports/document.ts';
import type { ChatModel } from '../../ports/models.ts';
import type { ToolHost, ToolList } from '../../ports/tools.ts';
import { placesOf } from '../chat/places.ts';
import type { AttachmentConsent } from '../consent/attachments.ts';
import type { EditorModels } from '../model/models.ts';
import { SAMPLE_SERVER, type ServerList } from '../servers/list.ts';
import { maxSteps, sendImages } from '../settings.ts';
import type { BuiltIns } from '../tools/builtIns.ts';

interface ConversationsDeps {
  readonly models: EditorModels;
  readonly tools: ToolHost;
  readonly servers: ServerList;
  readonly builtIns: BuiltIns;
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
    const { models, tools, consent } = this.#deps;
    let model: ChatModel | undefined;
    return this.#create(chat, {
      findModel: async (name) => {
        model = await models.find(name);
        return model;
      },
      tools: this.#remember(tools),
      mayRead: (path) => consent.mayRead(path),
      servers: () => this.#serversFor(model, chat),
    });
  }

  /** For estimates: asks no questions, starts no servers and sends nothing. */
  dryRun(chat: vscode.Uri): ChatConversation {
    const { models, builtIns, tools } = this.#deps;
    const listTools: ToolHost['listTools'] = async (server = '') =>
      // A configured server can have had the name of the built-in one.
      server === BUILT_IN_SERVER && (await builtIns.isOffered())
        ? tools.listTools(server)
        : (this.#known.get(server) ?? NO_TOOLS);
    const servers = [...this.#known.keys()].filter((server) => server !== BUILT_IN_SERVER);
    return this.#create(chat, {
      findModel: async (name) => dryRunModel(name ?? '', (type) => models.accepts(name, type)),
      tools: { callTool: never, listTools },
      servers: () => builtIns.addTo(servers, chat),
    });
  }

  /** Finds linked files; those outside of the workspace are refused. */
  attachments(chat: vscode.Uri): AttachmentSource {
    return chatAttachments(placesOf(chat, this.#deps.globalStorage));
  }

  #create(
    chat: vscode.Uri,
    options: {
      readonly findModel: (name: string | undefined) => Promise<ChatModel>;
      readonly tools: ToolHost;
      readonly mayRead?: (path: string) => Promise<boolean>;
      readonly servers: () => Promise<readonly string[]>;
    },
  ): ChatConversation {
    const { globalStorage } = this.#deps;
    const { folder, assetsIn, roots } = placesOf(chat, globalStorage);
    const { mayRead, ...rest } = options;
    // An untitled chat links to its assets by absolute paths.
    const prefix = `${vscode.Uri.joinPath(globalStorage, ASSET_FOLDER).path}/`;
    const saved = chat.scheme !== 'untitled';
    const files = chatAttachments({ folder, assetsIn, roots, ...(mayRead ? { mayRead } : {}) });
    return new ChatConversation({
      ...rest,
      attachments: mayRead ? files : withoutText(files),
      readAgent: (name) => readAgentFile(name, [folder, ...roots]),
      sendImages,
      maxSteps,
      ...(saved
        ? {}
        : { isOwnAsset: (path: string) => path.startsWith(prefix) && !path.includes('/', prefix.length) }),
    });
  }

  /** The tour uses the sample server if no server is configured, and never the built-in tools. */
  async #serversFor(model: ChatModel | undefined, chat: vscode.Uri): Promise<readonly string[]> {
    const { servers, builtIns } = this.#deps;
    const allowed = [...(await servers.allowed()).keys()];
    if (model?.provider !== 'tour') return builtIns.addTo(allowed, chat);
    return allowed.length === 0 ? [SAMPLE_SERVER] : [...(await servers.startable()).keys()];
  }

  #remember(tools: ToolHost): ToolHost {
    return {
      callTool: (call, options) => tools.callTool(call, options),
      listTools: async (server, signal) => {
        const list = await tools.listTools(server, signal);
        if (server !== undefined) this.#known.set(server, list);
        return list;
      },
    };
  }
}

const NO_TOOLS: ToolList = { tools: [], failures: [] };

/** An estimate needs only the size of text files, not their text. */
function withoutText(files: AttachmentSource): AttachmentSource {
  return {
    find: async (target) => {
      const file = await files.find(target);
      return file.isText ? { ...file, isText: false, mimeType: 'text/plain' } : file;
    },
  };
}

function never(): never {
  throw new Error('A dry run must not send requests.');
}

function dryRunModel(name: string, accepts: ChatModel['accepts']): ChatModel {
  return { name, provider: '', accepts, stream: never, preview: never };
}
