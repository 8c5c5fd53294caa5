import * as vscode from 'vscode';
import { messageOf } from '../../base/errors.ts';
import type { LogLevel, ResourceName, ServerHost } from '../../ports/servers.ts';
import { chooseResource } from '../tools/readResource.ts';
import { readFields, readString } from '../ui/commandArguments.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import { withNotice } from '../ui/progress.ts';
import { type ServerRow, serverItem } from './items.ts';
import type { ServerConsent } from './list.ts';
import type { ServerLogs } from './logs.ts';
import type { ServerRows } from './rows.ts';

export interface ServerCommandDeps {
  readonly host: ServerHost;
  readonly rows: ServerRows;
  readonly logs: Pick<ServerLogs, 'show'>;
  /** Asks for permission if the server needs it. */
  readonly askForConsent: (server: string) => Promise<ServerConsent>;
  readonly openResource: (resource: ResourceName, signal: AbortSignal) => Promise<void>;
  readonly signOut: (server: string) => Promise<void>;
  /** Resolves to whether the configuration has any inputs. */
  readonly forgetInputs: (server: string) => Promise<boolean>;
}

interface ServerChoice {
  readonly question: string;
  readonly states?: readonly ServerRow['state']['kind'][];
  readonly remoteOnly?: boolean;
}

const NOT_CANCELLABLE = { cancellable: false };
const SHOW_LOG = vscode.l10n.t('Show Log');
const RESTART = vscode.l10n.t('Restart');
const UNTRUSTED = vscode.l10n.t(
  'This workspace is not trusted, so no server is started. Trust it first: “Workspaces: Manage Workspace Trust”.',
);
const LEVELS: readonly LogLevel[] = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
];

/** The commands for servers. Each takes `{ server }`, and asks for the server if it is missing. */
export class ServerCommands {
  readonly #deps: ServerCommandDeps;

  constructor(deps: ServerCommandDeps) {
    this.#deps = deps;
  }

  start(argument: unknown): Promise<void> {
    const question = vscode.l10n.t('Start which server?');
    return this.#run(argument, { question, states: ['idle', 'failed', 'unasked'] }, (server) =>
      this.#launch(server, vscode.l10n.t('Starting {0}', server), () => this.#deps.host.start(server)),
    );
  }

  stop(argument: unknown): Promise<void> {
    const question = vscode.l10n.t('Stop which server?');
    return this.#run(argument, { question, states: ['ready', 'starting'] }, (server) => {
      const message = plainMessage(vscode.l10n.t('Stopping {0}', server));
      return withNotice(message, () => this.#deps.host.stop(server), NOT_CANCELLABLE);
    });
  }

  restart(argument: unknown): Promise<void> {
    const question = vscode.l10n.t('Restart which server?');
    const states = ['ready', 'failed', 'starting'] as const;
    return this.#run(argument, { question, states }, (server) => this.#restart(server));
  }

  showLog(argument: unknown): Promise<void> {
    const question = vscode.l10n.t('Show the Log of which server?');
    return this.#run(argument, { question }, async (server) => this.#deps.logs.show(server));
  }

  setLogLevel(argument: unknown): Promise<void> {
    const question = vscode.l10n.t('Set the Log Level of which server?');
    return this.#run(argument, { question, states: ['ready'] }, async (server) => {
      const given = readString(readFields(argument), 'level');
      const level = LEVELS.find((each) => each === given) ?? (await pickLevel(server));
      if (!level) return;
      const message = plainMessage(vscode.l10n.t('Setting the log level of {0}', server));
      await withNotice(message, () => this.#deps.host.setLogLevel(server, level));
    });
  }

  /** The argument may have the URI of a `resource`, or a `template` of URIs. */
  async openResource(argument: unknown): Promise<void> {
    const server = readString(readFields(argument), 'server');
    try {
      if (!vscode.workspace.isTrusted) throw new Error(UNTRUSTED);
      if (server !== undefined && (await this.#deps.askForConsent(server)) !== 'given') return;
      const resource = await this.#chooseResource(argument);
      if (!resource) return;
      const message = plainMessage(vscode.l10n.t('Reading {0}', resource.uri));
      await withNotice(message, (signal) => this.#deps.openResource(resource, signal));
    } catch (error) {
      void this.#showError(server, error);
    }
  }

  signOut(argument: unknown): Promise<void> {
    const question = vscode.l10n.t('Sign Out of which server?');
    return this.#run(argument, { question, remoteOnly: true }, async (server) => {
      const message = plainMessage(vscode.l10n.t('Signing out of {0}', server));
      await withNotice(message, () => this.#deps.signOut(server), NOT_CANCELLABLE);
      void vscode.window.showInformationMessage(plainMessage(vscode.l10n.t('Signed out of {0}.', server)));
    });
  }

  changeInputs(argument: unknown): Promise<void> {
    const question = vscode.l10n.t('Change the Inputs of which server?');
    return this.#run(argument, { question }, async (server) => {
      const hasInputs = await this.#deps.forgetInputs(server);
      const message = hasInputs
        ? vscode.l10n.t(
            'The inputs of {0} are forgotten. You are asked for them when it is started again.',
            server,
          )
        : vscode.l10n.t('The configuration of {0} asks for no inputs.', server);
      const buttons = hasInputs ? [RESTART] : [];
      const answer = await vscode.window.showInformationMessage(plainMessage(message), ...buttons);
      if (answer === RESTART) await this.#restart(server);
    });
  }

  async #run(
    argument: unknown,
    choice: ServerChoice,
    work: (server: string) => Promise<void>,
  ): Promise<void> {
    const server = readString(readFields(argument), 'server') ?? (await this.#pickServer(choice));
    if (server === undefined) return;
    try {
      await work(server);
    } catch (error) {
      void this.#showError(server, error);
    }
  }

  #restart(server: string): Promise<void> {
    const { host } = this.#deps;
    return this.#launch(server, vscode.l10n.t('Restarting {0}', server), () => host.restart(server));
  }

  /** Asks for permission first. Cancel stops the server. */
  async #launch(server: string, message: string, work: () => Promise<void>): Promise<void> {
    if (!vscode.workspace.isTrusted) throw new Error(UNTRUSTED);
    if ((await this.#deps.askForConsent(server)) !== 'given') return;
    await withNotice(plainMessage(message), async (signal) => {
      const stop = () => void this.#deps.host.stop(server).catch(() => undefined);
      signal.addEventListener('abort', stop, { once: true });
      await work();
    });
  }

  async #showError(server: string | undefined, error: unknown): Promise<void> {
    const reason = messageOf(error);
    if (server === undefined) return void vscode.window.showErrorMessage(plainMessage(reason));
    const message = reason.includes(server) ? reason : `${server}: ${reason}`;
    const answer = await vscode.window.showErrorMessage(plainMessage(message), SHOW_LOG);
    if (answer === SHOW_LOG) this.#deps.logs.show(server);
  }

  async #pickServer({ question, states, remoteOnly }: ServerChoice): Promise<string | undefined> {
    const rows = await this.#deps.rows.reload();
    const items = rows
      .filter(({ state, isRemote }) => (states?.includes(state.kind) ?? true) && (isRemote || !remoteOnly))
      .map((row) => {
        const { label, description = '' } = serverItem(row);
        return { label, description, server: row.server };
      });
    if (items.length === 0) {
      void vscode.window.showInformationMessage(
        vscode.l10n.t('There is no server for which that can be done.'),
      );
      return undefined;
    }
    const options = { title: 'Filechat', placeHolder: question };
    return (await vscode.window.showQuickPick(items, options))?.server;
  }

  async #chooseResource(argument: unknown): Promise<ResourceName | undefined> {
    const { host, rows } = this.#deps;
    const fields = readFields(argument);
    return chooseResource(host, {
      server: readString(fields, 'server'),
      uri: readString(fields, 'resource'),
      template: readString(fields, 'template'),
      servers: async () =>
        (await rows.all()).filter(({ state }) => state.kind !== 'unasked').map((row) => row.server),
    });
  }
}

async function pickLevel(server: string): Promise<LogLevel | undefined> {
  const placeHolder = vscode.l10n.t(
    'What should {0} log? This and everything below it in the list.',
    plainMessage(server),
  );
  const level = await vscode.window.showQuickPick([...LEVELS], { title: 'Filechat', placeHolder });
  return LEVELS.find((each) => each === level);
}
