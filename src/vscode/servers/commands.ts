import * as vscode from 'vscode';
import { messageOf } from '../../base/errors.ts';
import type { LogLevel, ResourceName, ServerHost } from '../../ports/servers.ts';

import { fillTemplate, pickResource } from '../tools/readResource.ts';
import { readFields, readString } from '../ui/commandArguments.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import { withNotice } from '../ui/progress.ts';
import { type ServerRow, serverItem } from './items.ts';
import type { ServerConsent } from './list.ts';
import type { ServerLogs } from './logs.ts';
import type { ServerRows } from './rows.ts';

export interface ServerCommandParts {
  readonly host: ServerHost;
  readonly rows: ServerRows;
  readonly logs: Pick<ServerLogs, 'show'>;
  /** Asks about a server of the workspace that nobody agreed to. */
  readonly agree: (server: string) => Promise<ServerConsent>;
  readonly openResource: (resource: ResourceName, signal: AbortSignal) => Promise<void>;
  /** Forgets what the server gave us to prove who the user is. */
  readonly signOut: (server: string) => Promise<void>;
  /** Forgets what the user has filled in for the server, who is asked for it at the next start. False if it has none. */
  readonly forgetInputs: (server: string) => Promise<boolean>;
}

/** Which servers can be picked, and what for. */
interface ServerChoice {
  readonly question: string;
  /** All states will do without it. */
  readonly among?: readonly ServerRow['state']['kind'][];
  /** Only those that are reached over the network. */
  readonly remote?: boolean;
}

/** What ends something is not called off half-way. */
const FINAL = { cancellable: false };
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

/** What the view and the palette do with servers. Each takes `{ server }`, and asks which one when there is none. */
export class ServerCommands {
  readonly #parts: ServerCommandParts;

  constructor(parts: ServerCommandParts) {
    this.#parts = parts;
  }

  start(argument: unknown): Promise<void> {
    return this.#run(
      argument,
      { question: vscode.l10n.t('Start which server?'), among: ['idle', 'failed', 'unasked'] },
      (server) =>
        this.#launch(server, vscode.l10n.t('Starting {0}', server), () => this.#parts.host.start(server)),
    );
  }

  stop(argument: unknown): Promise<void> {
    return this.#run(
      argument,
      { question: vscode.l10n.t('Stop which server?'), among: ['ready', 'starting'] },
      (server) =>
        withNotice(
          plainMessage(vscode.l10n.t('Stopping {0}', server)),
          () => this.#parts.host.stop(server),
          FINAL,
        ),
    );
  }

  restart(argument: unknown): Promise<void> {
    return this.#run(
      argument,
      { question: vscode.l10n.t('Restart which server?'), among: ['ready', 'failed', 'starting'] },
      (server) => this.#restart(server),
    );
  }

  showLog(argument: unknown): Promise<void> {
    return this.#run(argument, { question: vscode.l10n.t('Show the Log of which server?') }, async (server) =>
      this.#parts.logs.show(server),
    );
  }

  /** `level` may be given too. */
  setLogLevel(argument: unknown): Promise<void> {
    return this.#run(
      argument,
      { question: vscode.l10n.t('Set the Log Level of which server?'), among: ['ready'] },
      async (server) => {
        const given = readString(readFields(argument), 'level');
        const level = LEVELS.find((each) => each === given) ?? (await pickLevel(server));
        if (!level) return;
        const message = plainMessage(vscode.l10n.t('Setting the log level of {0}', server));
        await withNotice(message, () => this.#parts.host.setLogLevel(server, level));
      },
    );
  }

  /** `resource` is the address of one, `template` that of many; without them the user picks one. */
  async openResource(argument: unknown): Promise<void> {
    const server = readString(readFields(argument), 'server');
    try {
      if (!vscode.workspace.isTrusted) throw new Error(UNTRUSTED);
      if (server !== undefined && (await this.#parts.agree(server)) !== 'given') return;
      const resource = await this.#chooseResource(argument);
      if (!resource) return;
      const message = plainMessage(vscode.l10n.t('Reading {0}', resource.uri));
      await withNotice(message, (signal) => this.#parts.openResource(resource, signal));
    } catch (error) {
      void this.#tell(server, error);
    }
  }

  signOut(argument: unknown): Promise<void> {
    return this.#run(
      argument,
      { question: vscode.l10n.t('Sign Out of which server?'), remote: true },
      async (server) => {
        const message = plainMessage(vscode.l10n.t('Signing out of {0}', server));
        await withNotice(message, () => this.#parts.signOut(server), FINAL);
        void vscode.window.showInformationMessage(plainMessage(vscode.l10n.t('Signed out of {0}.', server)));
      },
    );
  }

  changeInputs(argument: unknown): Promise<void> {
    return this.#run(
      argument,
      { question: vscode.l10n.t('Change the Inputs of which server?') },
      async (server) => {
        const hasInputs = await this.#parts.forgetInputs(server);
        const words = hasInputs
          ? vscode.l10n.t(
              'The inputs of {0} are forgotten. You are asked for them when it is started again.',
              server,
            )
          : vscode.l10n.t('The configuration of {0} asks for no inputs.', server);
        const buttons = hasInputs ? [RESTART] : [];
        const answer = await vscode.window.showInformationMessage(plainMessage(words), ...buttons);
        if (answer === RESTART) await this.#restart(server);
      },
    );
  }

  /** What fails is told, with a way to the server's log. */
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
      void this.#tell(server, error);
    }
  }

  #restart(server: string): Promise<void> {
    const { host } = this.#parts;
    return this.#launch(server, vscode.l10n.t('Restarting {0}', server), () => host.restart(server));
  }

  /** Nothing of a workspace starts without the user's word. Who calls it off ends what has been started. */
  async #launch(server: string, message: string, work: () => Promise<void>): Promise<void> {
    if (!vscode.workspace.isTrusted) throw new Error(UNTRUSTED);
    if ((await this.#parts.agree(server)) !== 'given') return;
    await withNotice(plainMessage(message), async (signal) => {
      const stop = () => void this.#parts.host.stop(server).catch(() => undefined);
      signal.addEventListener('abort', stop, { once: true });
      await work();
    });
  }

  async #tell(server: string | undefined, error: unknown): Promise<void> {
    const reason = messageOf(error);
    if (server === undefined) return void vscode.window.showErrorMessage(plainMessage(reason));
    const words = reason.includes(server) ? reason : `${server}: ${reason}`;
    const answer = await vscode.window.showErrorMessage(plainMessage(words), SHOW_LOG);
    if (answer === SHOW_LOG) this.#parts.logs.show(server);
  }

  async #pickServer({ question, among, remote }: ServerChoice): Promise<string | undefined> {
    const rows = (await this.#parts.rows.readAgain()).filter(
      ({ state, isRemote }) => (among?.includes(state.kind) ?? true) && (isRemote || !remote),
    );
    const items = rows.map((row) => {
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
    const { host, rows } = this.#parts;
    const fields = readFields(argument);
    const server = readString(fields, 'server');
    const template = readString(fields, 'template');
    if (server !== undefined && template !== undefined) {
      const list = await withNotice(
        plainMessage(vscode.l10n.t('Asking {0} for its resources', server)),
        (signal) => host.listResources(server, signal),
      );
      if (!list) return undefined;
      const { templates } = list;
      const found = templates.find(({ uriTemplate }) => uriTemplate === template);
      if (!found) throw new Error(vscode.l10n.t('It has no template {0} any more.', template));
      return fillTemplate(host, found);
    }
    const allowed = async () =>
      (await rows.all()).filter(({ state }) => state.kind !== 'unasked').map((row) => row.server);
    return pickResource(host, allowed, { server, uri: readString(fields, 'resource') });
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
