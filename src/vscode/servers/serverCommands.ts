import * as vscode from 'vscode';
import { BUILT_IN_SERVER } from '../../base/assetNames.ts';
import { messageOf } from '../../base/errors.ts';
import type { ChatListener } from '../../listener.ts';
import type { RunOutcome } from '../../ports/document.ts';
import type { LogLevel } from '../../ports/servers.ts';
import { createChat, discardEmptyChat, findChat } from '../chat/chatFiles.ts';
import type { Runs } from '../run/runs.ts';
import { choosePrompt, chooseResource } from '../tools/choose.ts';
import { chooseTool } from '../tools/chooseTool.ts';
import { EDITOR_SERVER, hasEditorTools } from '../tools/editorTools.ts';
import { type Fields, readFields, readString } from '../ui/commandArguments.ts';
import { localSentence } from '../ui/coreSentences.ts';
import { CANCELLED, failed, NO_CHAT, showProblem, tell, UNTRUSTED } from '../ui/outcomes.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import { withNotice } from '../ui/progress.ts';
import { ServerChanges } from './changes.ts';
import type { EditorServers } from './editorServers.ts';
import { type ServerRow, serverItem } from './items.ts';
import type { ServerRows } from './rows.ts';

const NOT_CANCELLABLE = { cancellable: false };
const SHOW_LOG = vscode.l10n.t('Show Log');
/** VS Code cuts notifications after 1000 characters; the whole reason is in the log of the server. */
const MAX_REASON_CHARS = 900;
const RESTART = vscode.l10n.t('Restart');
const EDIT = vscode.l10n.t('Edit');
const NOT_STARTED = vscode.l10n.t(
  'This workspace is not trusted, so no server is started. Trust it first: “Workspaces: Manage Workspace Trust”.',
);

interface Insertion<T> {
  /** The field that names the chat. */
  readonly chat: 'uri' | 'into';
  readonly choose: (fields: Fields) => Promise<T | undefined>;
  readonly run: (listener: ChatListener, chosen: T) => Promise<RunOutcome>;
}

/** The commands for servers. They ask the user for what their argument does not name. */
export class ServerCommands {
  readonly #servers: EditorServers;
  readonly #runs: Pick<Runs, 'start'>;
  readonly #changes: ServerChanges;

  constructor(servers: EditorServers, runs: Pick<Runs, 'start'>) {
    this.#servers = servers;
    this.#runs = runs;
    this.#changes = new ServerChanges(servers);
  }

  callTool(argument: unknown): Promise<RunOutcome> {
    return this.#insert(argument, {
      chat: 'uri',
      choose: (fields) => {
        const { tools, lastArguments } = this.#servers;
        return chooseTool(fields, {
          host: tools,
          among: () => this.#toolServers(fields),
          last: lastArguments,
        });
      },
      run: (listener, request) => listener.callTool(request),
    });
  }

  readResource(argument: unknown): Promise<RunOutcome> {
    return this.#insert(argument, {
      chat: 'into',
      choose: (fields) => {
        const uri = readString(fields, 'resource') ?? readString(fields, 'uri');
        const among = () => this.#among(fields);
        return chooseResource(fields, this.#servers.client, { uri, among, allowsUnlisted: true });
      },
      run: (listener, resource) => listener.readResource(resource),
    });
  }

  insertPrompt(argument: unknown): Promise<RunOutcome> {
    return this.#insert(argument, {
      chat: 'uri',
      choose: (fields) => choosePrompt(fields, this.#servers.client, () => this.#among(fields)),
      run: (listener, request) => listener.insertPrompt(request),
    });
  }

  async openApp(): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    if (!editor) return void tell(failed(NO_CHAT));
    if (!vscode.workspace.isTrusted) return void tell(failed(UNTRUSTED));
    const { document, selection } = editor;
    await withNotice(vscode.l10n.t('Opening the app'), (signal) =>
      this.#servers.openApp(document, selection.active, signal),
    );
  }

  async add(argument: unknown): Promise<readonly string[]> {
    try {
      return await this.#changes.add(argument);
    } catch (error) {
      tell(failed(messageOf(error)));
      return [];
    }
  }

  edit(argument: unknown): Promise<void> {
    const choice = { question: vscode.l10n.t('Select a server to edit'), configuredOnly: true };
    return this.#run(argument, choice, (server) => this.#changes.edit(server));
  }

  remove(argument: unknown): Promise<void> {
    const choice = { question: vscode.l10n.t('Select a server to remove'), configuredOnly: true };
    return this.#run(argument, choice, (server) => this.#changes.remove(server));
  }

  start(argument: unknown): Promise<void> {
    const choice = {
      question: vscode.l10n.t('Select a server to start'),
      states: ['idle', 'failed', 'unasked'],
    } as const;
    return this.#run(argument, choice, (server) =>
      this.#launch(server, vscode.l10n.t('Starting {0}', server), () => this.#servers.client.start(server)),
    );
  }

  stop(argument: unknown): Promise<void> {
    const choice = {
      question: vscode.l10n.t('Select a server to stop'),
      states: ['ready', 'starting'],
    } as const;
    return this.#run(argument, choice, (server) => {
      const stop = () => this.#servers.client.stop(server);
      return withNotice(vscode.l10n.t('Stopping {0}', server), stop, NOT_CANCELLABLE);
    });
  }

  restart(argument: unknown): Promise<void> {
    const states = ['ready', 'failed', 'starting'] as const;
    const choice = { question: vscode.l10n.t('Select a server to restart'), states };
    return this.#run(argument, choice, (server) => this.#restart(server));
  }

  showLog(argument: unknown): Promise<void> {
    const choice = { question: vscode.l10n.t('Select a server to show its log') };
    return this.#run(argument, choice, async (server) => this.#servers.logs.show(server));
  }

  setLogLevel(argument: unknown): Promise<void> {
    const choice = {
      question: vscode.l10n.t('Select a server to set its log level'),
      states: ['ready'],
    } as const;
    return this.#run(argument, choice, async (server) => {
      const given = readString(readFields(argument), 'level');
      const level = LEVELS.find((each) => each === given) ?? (await pickLevel(server));
      if (!level) return;
      const message = vscode.l10n.t('Setting the log level of {0}', server);
      await withNotice(message, () => this.#servers.client.setLogLevel(server, level));
    });
  }

  /** The argument may have the URI of a `resource`, or a `template` of URIs. */
  async openResource(argument: unknown): Promise<void> {
    const { list, client } = this.#servers;
    const fields = readFields(argument);
    const server = readString(fields, 'server');
    try {
      if (!vscode.workspace.isTrusted) throw new Error(NOT_STARTED);
      if (server !== undefined && (await list.askForConsent(server)) !== 'given') return;
      const uri = readString(fields, 'resource');
      const among = () => this.#among(fields);
      const resource = await chooseResource(fields, client, { uri, among, allowsUnlisted: false });
      if (!resource) return;
      await withNotice(vscode.l10n.t('Reading {0}', resource.uri), (signal) =>
        this.#servers.openResource(resource, signal),
      );
    } catch (error) {
      void this.#showError(server, error);
    }
  }

  signOut(argument: unknown): Promise<void> {
    const choice = { question: vscode.l10n.t('Select a server to sign out of'), remoteOnly: true };
    return this.#run(argument, choice, async (server) => {
      const signOut = () => this.#servers.client.signOut(server);
      await withNotice(vscode.l10n.t('Signing out of {0}', server), signOut, NOT_CANCELLABLE);
      void vscode.window.showInformationMessage(plainMessage(vscode.l10n.t('Signed out of {0}.', server)));
    });
  }

  changeInputs(argument: unknown): Promise<void> {
    const choice = { question: vscode.l10n.t('Select a server to change its inputs') };
    return this.#run(argument, choice, async (server) => {
      const hasInputs = await this.#servers.list.forgetInputs(server);
      const message = hasInputs
        ? vscode.l10n.t('The inputs of {0} were cleared. You are asked for them at the next start.', server)
        : vscode.l10n.t('The configuration of {0} has no inputs.', server);
      const buttons = hasInputs ? [RESTART] : [];
      const answer = await vscode.window.showInformationMessage(plainMessage(message), ...buttons);
      if (answer === RESTART) await this.#restart(server);
    });
  }

  /** Asks for permission: for some servers, which must be given, or for all, which may be declined. */
  async refused(servers: readonly string[] | undefined, chat?: vscode.Uri): Promise<RunOutcome | undefined> {
    const { list } = this.#servers;
    const named = servers?.filter((server) => server !== EDITOR_SERVER || !hasEditorTools());
    if (named?.length === 0) return undefined;
    const consent = await list.askForWorkspaceServers(named, { chat });
    if (consent === 'cancelled') return CANCELLED;
    if (consent === 'given') return undefined;
    const declined = (await list.all()).find(({ name, isAllowed }) => named?.includes(name) && !isAllowed);
    return failed(vscode.l10n.t('The server “{0}” is not allowed in this workspace.', declined?.name ?? ''));
  }

  async #insert<T>(argument: unknown, { chat, choose, run }: Insertion<T>): Promise<RunOutcome> {
    if (!vscode.workspace.isTrusted) return tell(failed(UNTRUSTED));
    const fields = readFields(argument, chat);
    const server = readString(fields, 'server');
    const refused = await this.refused(server === undefined ? undefined : [server]);
    if (refused) return tell(refused);
    const chosen = await choose(fields);
    if (!chosen) return CANCELLED;
    const found = await findChat(fields, chat);
    const document = found ?? (await createChat());
    if (!document) return CANCELLED;
    const outcome = await this.#runs.start(document, (listener) => run(listener, chosen));
    if (!found) await discardEmptyChat(document);
    return outcome;
  }

  /** The server that the command names, or all that can be started. */
  async #among(fields: Fields): Promise<readonly string[]> {
    const server = readString(fields, 'server');
    return server === undefined ? [...(await this.#servers.list.startable()).keys()] : [server];
  }

  /** The user's servers first. Includes the built-in server only if it is offered to the active chat. */
  async #toolServers(fields: Fields): Promise<readonly string[]> {
    const { list, builtIns } = this.#servers;
    const servers = await this.#among(fields);
    if (fields['server'] !== undefined) return servers;
    const names = hasEditorTools() ? [...servers, EDITOR_SERVER] : servers;
    const chat = await findChat(fields);
    if (!chat || servers.includes(BUILT_IN_SERVER)) return names;
    const offered = await builtIns.addTo([...(await list.allowed()).keys()], chat.uri);
    return offered.includes(BUILT_IN_SERVER) ? [...names, BUILT_IN_SERVER] : names;
  }

  async #run(
    argument: unknown,
    choice: ServerChoice,
    work: (server: string) => Promise<void>,
  ): Promise<void> {
    const named = readString(readFields(argument), 'server');
    const server = named ?? (await pickServer(this.#servers.rows, choice));
    if (server === undefined) return;
    try {
      await work(server);
    } catch (error) {
      void this.#showError(server, error);
    }
  }

  #restart(server: string): Promise<void> {
    const { client } = this.#servers;
    return this.#launch(server, vscode.l10n.t('Restarting {0}', server), () => client.restart(server));
  }

  /** Asks for permission first. Cancel stops the server. */
  async #launch(server: string, message: string, work: () => Promise<void>): Promise<void> {
    const { list, client } = this.#servers;
    if (!vscode.workspace.isTrusted) throw new Error(NOT_STARTED);
    if ((await list.askForConsent(server)) !== 'given') return;
    await withNotice(message, async (signal) => {
      const stop = () => void client.stop(server).catch(() => undefined);
      signal.addEventListener('abort', stop, { once: true });
      await work();
    });
  }

  async #showError(server: string | undefined, error: unknown): Promise<void> {
    const reason = localSentence(messageOf(error));
    if (server === undefined) return showProblem(reason);
    const message = reason.includes(server) ? reason : `${server}: ${reason}`;
    const buttons = (await this.#servers.list.placeOf(server)) === undefined ? [SHOW_LOG] : [SHOW_LOG, EDIT];
    const text = plainMessage(message, MAX_REASON_CHARS);
    const answer = await vscode.window.showErrorMessage(text, ...buttons);
    if (answer === SHOW_LOG) this.#servers.logs.show(server);
    if (answer === EDIT) await this.edit({ server });
  }
}

interface ServerChoice {
  readonly question: string;
  readonly states?: readonly ServerRow['state']['kind'][];
  readonly remoteOnly?: boolean;
  /** Without the sample server, which is not configured anywhere. */
  readonly configuredOnly?: boolean;
}

/** Offers the current servers: the editor reports a changed file only after a delay. */
export async function pickServer(
  rows: Pick<ServerRows, 'reload'>,
  { question, states, remoteOnly, configuredOnly }: ServerChoice,
): Promise<string | undefined> {
  const items = (await rows.reload())
    .filter(({ state, isRemote }) => (states?.includes(state.kind) ?? true) && (isRemote || !remoteOnly))
    .filter(({ source }) => source !== 'sample' || !configuredOnly)
    .map((row) => {
      const { label, description = '' } = serverItem(row);
      return { label, description, server: row.server };
    });
  if (items.length === 0) {
    void vscode.window.showInformationMessage(vscode.l10n.t('No server is available for this command.'));
    return undefined;
  }
  const options = { title: 'Filechat', placeHolder: question };
  return (await vscode.window.showQuickPick(items, options))?.server;
}

const LEVELS = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
] as const satisfies readonly LogLevel[];

async function pickLevel(server: string): Promise<LogLevel | undefined> {
  const placeHolder = vscode.l10n.t(
    'Select the log level of {0}. Messages of the levels below it in the list are logged too.',
    plainMessage(server),
  );
  const level = await vscode.window.showQuickPick(LEVELS, { title: 'Filechat', placeHolder });
  return LEVELS.find((each) => each === level);
}
