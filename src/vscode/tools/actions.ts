import * as vscode from 'vscode';
import { messageOf } from '../../base/errors.ts';
import { BUILT_IN_SERVER } from '../../catalog/tools/builtIn.ts';

import type { ChatListener, ToolRequest } from '../../listener.ts';
import type { RunOutcome } from '../../ports/document.ts';
import { createChat, discardEmptyChat, findChat } from '../chat/chatFiles.ts';
import type { EditorServers } from '../servers/servers.ts';
import { type Fields, readFields, readObject, readString } from '../ui/commandArguments.ts';
import { CANCELLED, failed, NO_CHAT, tell, UNTRUSTED } from '../ui/outcomes.ts';
import { withNotice } from '../ui/progress.ts';
import { readToolRequest } from './callTool.ts';
import { EDITOR_SERVER, hasEditorTools } from './editorTools.ts';
import { withoutAppTools } from './host.ts';
import { pickPrompt } from './insertPrompt.ts';
import { chooseResource } from './readResource.ts';

export type RunIn = (
  document: vscode.TextDocument,
  work: (listener: ChatListener) => Promise<RunOutcome>,
) => Promise<RunOutcome>;

/** The commands that insert something from a server into a chat. */
export class ServerActions {
  readonly #servers: EditorServers;
  readonly #runIn: RunIn;

  constructor(servers: EditorServers, runIn: RunIn) {
    this.#servers = servers;
    this.#runIn = runIn;
  }

  async callTool(argument: unknown): Promise<RunOutcome> {
    return this.#into<ToolRequest>(argument, {
      chat: 'uri',
      choose: (fields) =>
        readToolRequest(fields, withoutAppTools(this.#servers.tools), () => this.#toolServers(fields)),
      run: (listener, request) => listener.callTool(request),
    });
  }

  async readResource(argument: unknown): Promise<RunOutcome> {
    const { client } = this.#servers;
    return this.#into(argument, {
      chat: 'into',
      choose: (fields) =>
        chooseResource(client, {
          server: readString(fields, 'server'),
          uri: readString(fields, 'resource') ?? readString(fields, 'uri'),
          template: readString(fields, 'template'),
          servers: () => this.#names(),
          allowsUnlisted: true,
        }),
      run: (listener, resource) => listener.readResource(resource),
    });
  }

  async insertPrompt(argument: unknown): Promise<RunOutcome> {
    return this.#into(argument, {
      chat: 'uri',
      choose: (fields) =>
        pickPrompt(this.#servers.client, () => this.#names(), {
          server: readString(fields, 'server'),
          prompt: readString(fields, 'prompt'),
          arguments: toStrings(readObject(fields, 'arguments')),
        }),
      run: (listener, request) => listener.insertPrompt(request),
    });
  }

  /** Shows the app of the call at the cursor. */
  async openApp(): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    if (!editor) return void tell(failed(NO_CHAT));
    if (!vscode.workspace.isTrusted) return void tell(failed(UNTRUSTED));
    const { document, selection } = editor;
    await withNotice(vscode.l10n.t('Opening the app'), (signal) =>
      this.#servers.openApp(document, selection.active, signal),
    );
  }

  async addServer(argument: unknown): Promise<void> {
    const { addServer } = await import('../servers/add.ts');
    try {
      const added = await addServer({ inputs: this.#servers.inputs }, argument);
      if (added.length > 0) await vscode.commands.executeCommand('filechat.servers.focus');
    } catch (error) {
      tell(failed(messageOf(error)));
    }
  }

  /** Asks for permission: for one server, which must be given, or for all, of which some may be declined. */
  async refused(server: string | undefined): Promise<RunOutcome | undefined> {
    if (server === EDITOR_SERVER && hasEditorTools()) return undefined;
    const consent = await this.#servers.list.askForWorkspaceServers(server);
    if (consent === 'cancelled') return CANCELLED;
    return consent === 'given'
      ? undefined
      : failed(vscode.l10n.t('The server “{0}” is not allowed in this workspace.', server ?? ''));
  }

  async #into<T>(argument: unknown, action: Action<T>): Promise<RunOutcome> {
    if (!vscode.workspace.isTrusted) return tell(failed(UNTRUSTED));
    const fields = readFields(argument);
    const refused = await this.refused(readString(fields, 'server'));
    if (refused) return tell(refused);
    const chosen = await action.choose(fields);
    if (!chosen) return CANCELLED;
    const found = await findChat(fields, action.chat);
    const document = found ?? (await createChat());
    if (!document) return CANCELLED;
    const outcome = await this.#runIn(document, (listener) => action.run(listener, chosen));
    if (!found) await discardEmptyChat(document);
    return outcome;
  }

  async #names(): Promise<readonly string[]> {
    return [...(await this.#servers.list.startable()).keys()];
  }

  /** Includes the built-in server only if it is offered to the active chat. */
  async #toolServers(fields: Fields): Promise<readonly string[]> {
    const { list, builtIns } = this.#servers;
    const servers = await this.#names();
    const names = hasEditorTools() ? [...servers, EDITOR_SERVER] : servers;
    const chat = await findChat(fields);
    if (!chat || servers.includes(BUILT_IN_SERVER)) return names;
    const offered = await builtIns.addTo([...(await list.allowed()).keys()], chat.uri);
    return offered.includes(BUILT_IN_SERVER) ? [...names, BUILT_IN_SERVER] : names;
  }
}

interface Action<T> {
  readonly chat: string;
  readonly choose: (fields: Fields) => Promise<T | undefined>;
  readonly run: (listener: ChatListener, chosen: T) => Promise<RunOutcome>;
}

/** Arguments of prompts are always strings. */
function toStrings(values: Readonly<Record<string, unknown>> | undefined): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(values ?? {}).map(([name, value]) => [name, String(value)]));
}
