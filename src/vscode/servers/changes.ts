import * as vscode from 'vscode';
import { messageOf } from '../../base/errors.ts';
import { inputsOf } from '../../mcp/config/inputs.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import { withNotice } from '../ui/progress.ts';
import { describeAdded, type StartedServer } from './addWords.ts';
import { PROFILE_PLACE } from './configuredServers.ts';
import type { EditorServers } from './editorServers.ts';
import { causeOf } from './items.ts';
import { openServer, removeServer } from './places.ts';

type Attempt =
  | ({ readonly kind: 'started' } & StartedServer)
  | { readonly kind: 'failed'; readonly server: string; readonly reason: string };

/** Adds, edits and removes configured servers. */
export class ServerChanges {
  readonly #servers: EditorServers;

  constructor(servers: EditorServers) {
    this.#servers = servers;
  }

  /** Resolves to the names of the added servers when they have started or failed. */
  async add(argument: unknown): Promise<readonly string[]> {
    const { addServer } = await import('./add.ts');
    const { inputs, list, view } = this.#servers;
    const names = await addServer({ inputs, list, onAdd: (name) => view.expand(name) }, argument);
    if (names.length > 0) await this.#start(names);
    return names;
  }

  async edit(server: string): Promise<void> {
    await openServer(await this.#placeOf(server), server);
  }

  /** Can be undone until the message is closed; only then are its secrets deleted. */
  async remove(server: string): Promise<void> {
    const { client, inputs } = this.#servers;
    const place = await this.#placeOf(server);
    if (place.startsWith(PROFILE_PLACE)) {
      throw new Error(vscode.l10n.t('{0} is a server of VS Code. Remove it there.', server));
    }
    const config = (await this.#servers.list.all()).find(({ name }) => name === server)?.config;
    const restore = await removeServer(place, server);
    if (!restore) throw new Error(vscode.l10n.t('{0} is no longer in the configuration.', server));
    await client.settle();
    reporting(async () => {
      const message = plainMessage(vscode.l10n.t('Removed the server {0}.', server));
      const answer = await vscode.window.showInformationMessage(message, UNDO);
      if (answer === UNDO) return restore();
      const isBack = (await this.#servers.list.placeOf(server)) !== undefined;
      const own = config && !isBack ? inputsOf(config).filter((id) => id.startsWith(`${server}.`)) : [];
      return inputs.forgetFor(place, own);
    });
  }

  async #placeOf(server: string): Promise<string> {
    const place = await this.#servers.list.placeOf(server);
    if (place !== undefined) return place;
    throw new Error(
      vscode.l10n.t('{0} comes with Filechat. It is not in your settings, so it cannot be changed.', server),
    );
  }

  /** Starts new servers side by side and reports what they offer. Cancel stops them. */
  async #start(names: readonly string[]): Promise<void> {
    const { client } = this.#servers;
    if (!vscode.workspace.isTrusted) return this.#tellNotStarted(names);
    const attempts = await withNotice(vscode.l10n.t('Starting {0}', names.join(', ')), (signal) => {
      const stop = () => {
        for (const name of names) void client.stop(name).catch(() => undefined);
      };
      signal.addEventListener('abort', stop, { once: true });
      return Promise.all(names.map((name) => this.#attempt(name, signal)));
    });
    if (!attempts) return this.#tellNotStarted(names);
    const started = attempts.filter((each) => each.kind === 'started');
    if (started.length > 0) reporting(() => this.#tellStarted(started));
    for (const each of attempts) {
      if (each.kind === 'failed') reporting(() => this.#tellFailed(each.server, each.reason));
    }
  }

  async #attempt(server: string, signal: AbortSignal): Promise<Attempt> {
    const { client, list } = this.#servers;
    try {
      if ((await list.askForConsent(server)) !== 'given') throw new Error(NOT_ALLOWED);
      await client.start(server);
      const { tools, failures } = await client.listTools(server, signal);
      const [failure] = failures;
      if (failure) throw new Error(failure.reason);
      return { kind: 'started', server, tools: tools.length };
    } catch (error) {
      return { kind: 'failed', server, reason: messageOf(error) };
    }
  }

  async #tellStarted(started: readonly StartedServer[]): Promise<void> {
    const message = plainMessage(describeAdded(started));
    const buttons = started.some(({ tools }) => tools > 0) ? [SHOW_TOOLS, CALL_TOOL] : [];
    const answer = await vscode.window.showInformationMessage(message, ...buttons);
    const [only] = started;
    const argument = started.length === 1 ? [{ server: only?.server }] : [];
    if (answer === SHOW_TOOLS) await vscode.commands.executeCommand('filechat.servers.focus');
    if (answer === CALL_TOOL) await vscode.commands.executeCommand('filechat.callTool', ...argument);
  }

  async #tellFailed(server: string, reason: string): Promise<void> {
    const cause = causeOf(server, reason);
    const message = vscode.l10n.t('Added {0}, but it could not be started: {1}', server, cause);
    const answer = await vscode.window.showErrorMessage(plainMessage(message), SHOW_LOG, EDIT, REMOVE);
    if (answer === SHOW_LOG) this.#servers.logs.show(server);
    if (answer === EDIT) await this.edit(server);
    if (answer === REMOVE) await this.remove(server);
  }

  #tellNotStarted(names: readonly string[]): void {
    const message = vscode.l10n.t('Added {0}, but did not start it.', names.join(', '));
    void vscode.window.showInformationMessage(plainMessage(message));
  }
}

/** Waits for the answer to a message without keeping the command open. */
function reporting(work: () => Promise<void>): void {
  work().catch((error: unknown) => vscode.window.showErrorMessage(plainMessage(messageOf(error))));
}

const SHOW_TOOLS = vscode.l10n.t('Show Tools');
const CALL_TOOL = vscode.l10n.t('Call Tool…');
const SHOW_LOG = vscode.l10n.t('Show Log');
const EDIT = vscode.l10n.t('Edit');
const REMOVE = vscode.l10n.t('Remove');
const UNDO = vscode.l10n.t('Undo');
const NOT_ALLOWED = vscode.l10n.t('it is not allowed in this workspace');
