import * as vscode from 'vscode';
import { chatAttachments, readAgentFile } from '../../assets/chatFiles.ts';
import { ASSET_FOLDER } from '../../base/names.ts';
import { BUILT_IN_SERVER } from '../../catalog/tools/places.ts';
import { ChatConversation } from '../../model/request/conversation.ts';
import type { AttachmentSource } from '../../ports/files.ts';
import type { ChatModel } from '../../ports/models.ts';
import type { ToolHost, ToolList } from '../../ports/tools.ts';

import { placesOf } from '../chat/places.ts';
import type { AttachmentConsent } from '../consent/attachments.ts';
import type { EditorModels } from '../model/models.ts';
import { SAMPLE_SERVER, type ServerList } from '../servers/list.ts';
import { maxSteps, sendImages } from '../settings.ts';
import type { BuiltIns } from '../tools/builtIns.ts';

export interface ConversationParts {
  readonly models: EditorModels;
  readonly tools: ToolHost;
  readonly servers: ServerList;
  readonly builtIns: BuiltIns;
  readonly consent: AttachmentConsent;
  readonly globalStorage: vscode.Uri;
}

/** Makes of each chat in the editor what its model gets. */
export class Conversations {
  readonly #parts: ConversationParts;
  /** What the servers have listed; an estimate must not start one. */
  readonly #known = new Map<string, ToolList>();

  constructor(parts: ConversationParts) {
    this.#parts = parts;
  }

  of(chat: vscode.Uri): ChatConversation {
    const { models, tools, consent } = this.#parts;
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

  /** The same chat, but nobody is asked, nothing is started and nothing is sent. */
  guess(chat: vscode.Uri): ChatConversation {
    const { models, builtIns, tools } = this.#parts;
    const listTools: ToolHost['listTools'] = async (server = '') =>
      // What was known of a server that had our name is not what we offer now.
      server === BUILT_IN_SERVER && (await builtIns.isOffered())
        ? tools.listTools(server)
        : (this.#known.get(server) ?? NO_TOOLS);
    const servers = [...this.#known.keys()].filter((server) => server !== BUILT_IN_SERVER);
    return this.#create(chat, {
      findModel: async (name) => guessedModel(name ?? '', (type) => models.takes(name, type)),
      tools: { callTool: never, listTools },
      servers: () => builtIns.addTo(servers, chat),
    });
  }

  /** The files that the chat links to, of which those outside of the workspace are not looked at. */
  attachments(chat: vscode.Uri): AttachmentSource {
    return chatAttachments(placesOf(chat, this.#parts.globalStorage));
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
    const { folder, assetsIn, roots } = placesOf(chat, this.#parts.globalStorage);
    const { mayRead, ...rest } = options;
    // A chat that is not saved links to its assets by their whole path.
    const prefix = `${vscode.Uri.joinPath(this.#parts.globalStorage, ASSET_FOLDER).path}/`;
    const saved = chat.scheme !== 'untitled';
    const files = chatAttachments({ folder, assetsIn, roots, ...(mayRead ? { mayRead } : {}) });
    return new ChatConversation({
      ...rest,
      attachments: mayRead ? files : unread(files),
      readAgent: (name) => readAgentFile(name, [folder, ...roots]),
      sendImages,
      maxSteps,
      ...(saved
        ? {}
        : { isOwnAsset: (path: string) => path.startsWith(prefix) && !path.includes('/', prefix.length) }),
    });
  }

  /** The tour has something to show even where no server is configured, and shows nothing else. */
  async #serversFor(model: ChatModel | undefined, chat: vscode.Uri): Promise<readonly string[]> {
    const { servers, builtIns } = this.#parts;
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

/** Who only guesses need not read a text to know how long it is. */
function unread(files: AttachmentSource): AttachmentSource {
  return {
    find: async (target) => {
      const file = await files.find(target);
      return file.isText ? { ...file, isText: false, mimeType: 'text/plain' } : file;
    },
  };
}

function never(): never {
  throw new Error('An estimate asks nobody.');
}

function guessedModel(name: string, accepts: ChatModel['accepts']): ChatModel {
  return { name, provider: '', accepts, stream: never, preview: never };
}
