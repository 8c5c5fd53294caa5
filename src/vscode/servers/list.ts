import * as vscode from 'vscode';
import { showInvisible } from '../../chat/format/escape.ts';
import { describeChange, describeServer, fingerprintServer } from '../../mcp/config/fingerprint.ts';
import { inputsOf, type ResolvedServer, resolveInputs } from '../../mcp/config/inputs.ts';
import { looksSecret, type ServerConfig } from '../../mcp/config/types.ts';
import type { Log } from '../../ports/document.ts';
import type { ServerInputs } from './inputs.ts';
import { type ConfiguredServer, readConfiguredServers, watchServerSettings } from './settings.ts';

const REMEMBERED = 'consent.servers';
const ALLOW = vscode.l10n.t('Allow');
const DECLINE = vscode.l10n.t('Don’t Allow');

type Servers = ReadonlyMap<string, ServerConfig>;

export const SAMPLE_SERVER = 'sample';

type ServerConsent = 'given' | 'declined' | 'cancelled';

export interface ListedServer {
  readonly name: string;
  readonly config: ServerConfig;
  readonly source: 'user' | 'workspace' | 'sample';
  readonly isAllowed: boolean;
  readonly problem?: string;
}

interface ServerListOptions {
  readonly memory: vscode.Memento;
  readonly log: Log;
  readonly samplePath: string;
  readonly inputs: ServerInputs;
}

/** The configuration that the user last allowed, as stored. */
interface Agreement {
  readonly print: string;
  /** The description that the user saw. */
  readonly text: string;
  readonly envFile?: string | undefined;
}

/**
 * The configured servers. Those that a workspace controls need the user's permission: all in `.vscode/mcp.json`, and
 * those in the user settings whose env file is in the workspace. Permission is for one exact configuration, env file
 * included; after any change the user is asked again.
 */
export class ServerList implements vscode.Disposable {
  readonly #options: ServerListOptions;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #watch = watchServerSettings(() => this.#changed.fire());
  /** Declined servers stay declined until the window is reloaded. */
  readonly #declined = new Set<string>();
  /** Settings are read at every use, but each problem is logged once. */
  readonly #logged = new Set<string>();
  #isSampleOffered = false;

  readonly onDidChange = this.#changed.event;

  constructor(options: ServerListOptions) {
    this.#options = options;
  }

  dispose(): void {
    this.#watch.dispose();
    this.#changed.dispose();
  }

  /** All allowed servers, and the sample server if there are none or a sample was opened. */
  async startable(): Promise<Servers> {
    if (!vscode.workspace.isTrusted) return new Map();
    const allowed = await this.allowed();
    if (allowed.size > 0 && !this.#isSampleOffered) return allowed;
    // A configured server of the same name takes precedence, even before it is allowed.
    const isTaken = allowed.size > 0 && (await this.#read()).has(SAMPLE_SERVER);
    return isTaken ? allowed : new Map([...allowed, [SAMPLE_SERVER, this.#sample()]]);
  }

  /** Lists the sample server beside others. Only chats that name it use it. */
  offerSample(): void {
    if (this.#isSampleOffered) return;
    this.#isSampleOffered = true;
    this.#changed.fire();
  }

  async allowed(): Promise<Servers> {
    const allowed = [...(await this.#read()).values()].filter((server) => this.#isAllowed(server));
    return new Map(allowed.map(({ name, config }) => [name, config]));
  }

  async all(): Promise<readonly ListedServer[]> {
    const listed = [...(await this.#read()).values()].map((server): ListedServer => {
      const { name, config, source, problem } = server;
      return { name, config, source, isAllowed: this.#isAllowed(server), ...(problem && { problem }) };
    });
    const isHidden = !this.#isSampleOffered && listed.some(({ isAllowed }) => isAllowed);
    if (isHidden || listed.some(({ name }) => name === SAMPLE_SERVER)) return listed;
    return [...listed, { name: SAMPLE_SERVER, config: this.#sample(), source: 'sample', isAllowed: true }];
  }

  /**
   * Asks for permission to use workspace servers, then for missing inputs: an input box that opens later would close
   * an open list. `name` limits it to one server. A dismissed dialog is shown again at the next use; a cancelled input
   * is asked for again only when its server is needed.
   */
  async askForWorkspaceServers(name?: string, isNeeded = name !== undefined): Promise<ServerConsent> {
    let consent: ServerConsent = 'given';
    for (const server of (await this.#read()).values()) {
      if (this.#isAllowed(server) || (name !== undefined && server.name !== name)) continue;
      const answer = this.#declined.has(declinedKey(server)) ? 'declined' : await this.#ask(server);
      if (answer === 'cancelled') return answer;
      if (answer === 'declined' && name !== undefined) consent = answer;
    }
    const areGiven = await this.#askForInputs(name, isNeeded);
    return areGiven || name === undefined ? consent : 'cancelled';
  }

  /** Asks even if the user has declined the server before. */
  async askForConsent(name: string): Promise<ServerConsent> {
    this.#options.inputs.askAgain();
    const server = (await this.#read()).get(name);
    return server === undefined || this.#isAllowed(server) ? 'given' : this.#ask(server);
  }

  /** Fills in the inputs, asking the user for missing ones. */
  async resolve(name: string, config: ServerConfig, signal?: AbortSignal): Promise<ResolvedServer> {
    const print = fingerprintServer(config);
    if ((await this.fingerprint(name)) !== print) {
      throw new Error('Its configuration has changed. Start it again.');
    }
    const server = (await this.#read()).get(name);
    // The sample server may have the name of a configured server that is not allowed yet.
    if (server === undefined || fingerprintServer(server.config) !== print) {
      return { config, secrets: [] };
    }
    if (server.problem !== undefined) throw new Error(server.problem);
    return resolveInputs(config, (id) => this.#input(server, id, signal));
  }

  async fingerprint(name: string): Promise<string> {
    const config = (await this.startable()).get(name);
    return config ? fingerprintServer(config) : '';
  }

  async forgetInputs(name: string): Promise<boolean> {
    const server = (await this.#read()).get(name);
    const ids = server ? inputsOf(server.config) : [];
    if (server) await this.#options.inputs.forgetFor(server.place, ids);
    return ids.length > 0;
  }

  async forget(): Promise<void> {
    this.#declined.clear();
    await this.#options.memory.update(REMEMBERED, undefined);
    this.#changed.fire();
  }

  /** Resolves to whether all are given. After a cancelled input, the server's other inputs are skipped. */
  async #askForInputs(name: string | undefined, isNeeded: boolean): Promise<boolean> {
    // Cancelled inputs are asked for again when the server is needed, but not at every reply.
    if (isNeeded) this.#options.inputs.askAgain();
    let areGiven = true;
    for (const server of (await this.#read()).values()) {
      if (!this.#isAllowed(server) || (name !== undefined && server.name !== name)) continue;
      for (const id of server.problem === undefined ? inputsOf(server.config) : []) {
        if ((await this.#input(server, id)) !== undefined) continue;
        areGiven = false;
        break;
      }
    }
    return areGiven;
  }

  async #input(server: ConfiguredServer, id: string, signal?: AbortSignal): Promise<string | undefined> {
    const { place, name, written, inputs } = server;
    const request = { place, id, server: name, config: written, definition: inputs.get(id) };
    return this.#options.inputs.get(request, signal);
  }

  async #ask(server: ConfiguredServer): Promise<ServerConsent> {
    const was = this.#agreement(server);
    const answer = await vscode.window.showWarningMessage(
      questionAbout(server, was),
      { modal: true, detail: detailOf(server, was, this.#mayRead(server)) },
      ALLOW,
      DECLINE,
    );
    if (answer === DECLINE) this.#declined.add(declinedKey(server));
    if (answer !== ALLOW) return answer === DECLINE ? 'declined' : 'cancelled';
    await this.#remember(server);
    // Its env file may now be read, and the configuration may have changed while the dialog was open.
    const now = (await this.#read()).get(server.name);
    return now === undefined || this.#isAllowed(now) ? 'given' : this.#ask(now);
  }

  async #remember(server: ConfiguredServer): Promise<void> {
    const agreement: Agreement = {
      print: fingerprintServer(server.config),
      text: describe(server),
      envFile: server.envFile?.path,
    };
    const all = this.#options.memory.get<object>(REMEMBERED, {});
    await this.#options.memory.update(REMEMBERED, { ...all, [agreementKey(server)]: agreement });
    this.#changed.fire();
  }

  /** User settings need no permission, because a workspace cannot write them. It can write an env file inside it. */
  #isAllowed(server: ConfiguredServer): boolean {
    const isOwn = server.source === 'user' && server.envFile?.folder === undefined;
    return isOwn || this.#agreement(server)?.print === fingerprintServer(server.config);
  }

  #mayRead(server: ConfiguredServer): boolean {
    const { envFile } = server;
    return envFile?.folder !== undefined || this.#agreement(server)?.envFile === envFile?.path;
  }

  /** Ignores agreements of earlier versions, which are plain strings. */
  #agreement(server: ConfiguredServer): Agreement | undefined {
    const all = this.#options.memory.get<Readonly<Record<string, Agreement | string>>>(REMEMBERED, {});
    const found = Object.hasOwn(all, agreementKey(server)) ? all[agreementKey(server)] : undefined;
    return typeof found === 'string' ? undefined : found;
  }

  async #read(): Promise<ReadonlyMap<string, ConfiguredServer>> {
    const servers = await readConfiguredServers({
      warn: (problem) => this.#warnOnce(problem),
      mayRead: (server) => this.#mayRead(server),
    });
    return new Map(servers.map((server) => [server.name, server]));
  }

  #warnOnce(problem: string): void {
    if (!this.#logged.has(problem)) this.#options.log.warn(problem);
    this.#logged.add(problem);
  }

  #sample(): ServerConfig {
    return {
      kind: 'stdio',
      command: process.execPath,
      args: [this.#options.samplePath],
      // Makes the editor's executable run as Node.
      env: { ELECTRON_RUN_AS_NODE: '1' },
    };
  }
}

/** Names of servers contain no spaces. A user server is allowed per workspace folder that has its env file. */
function agreementKey({ place, name, source, envFile }: ConfiguredServer): string {
  return source === 'user' ? `${place} ${envFile?.folder} ${name}` : `${place} ${name}`;
}

function declinedKey(server: ConfiguredServer): string {
  return `${agreementKey(server)} ${fingerprintServer(server.config)}`;
}

/** Masks secrets in user settings; a workspace file contains none of the user's secrets. */
function describe({ written, source }: ConfiguredServer): string {
  return source === 'user' ? describeServer(written, looksSecret) : describeServer(written);
}

function questionAbout({ name, config, source }: ConfiguredServer, was: Agreement | undefined): string {
  if (was?.print === fingerprintServer(withoutFile(config))) {
    return vscode.l10n.t('The env file of the MCP server “{0}” sets variables that you have not seen.', name);
  }
  if (source === 'user') {
    return was === undefined
      ? vscode.l10n.t('Your MCP server “{0}” takes its variables from a file of this workspace.', name)
      : vscode.l10n.t(
          'Your MCP server “{0}”, which takes variables from this workspace, has changed since you allowed it.',
          name,
        );
  }
  if (was !== undefined)
    return vscode.l10n.t('The MCP server “{0}” of this workspace has changed since you allowed it.', name);
  return config.kind === 'stdio'
    ? vscode.l10n.t('This workspace wants to start a program: the MCP server “{0}”.', name)
    : vscode.l10n.t('This workspace wants to connect to a server: the MCP server “{0}”.', name);
}

function withoutFile(config: ServerConfig): ServerConfig {
  if (config.kind !== 'stdio') return config;
  const { fileVariables: _unseen, ...own } = config;
  return own;
}

function detailOf(server: ConfiguredServer, was: Agreement | undefined, isRead: boolean): string {
  const text = describe(server);
  const path = server.envFile && showInvisible(server.envFile.path);
  const notes = [
    was && describeChange(was.text, text),
    text,
    server.problem,
    path !== undefined && !isRead
      ? [
          vscode.l10n.t('Its env file is outside of this workspace: {0}', path),
          vscode.l10n.t('It is read if you allow this. Then you are asked again, with what it sets.'),
        ].join('\n')
      : undefined,
    server.source === 'workspace'
      ? vscode.l10n.t('It is configured in .vscode/mcp.json.')
      : vscode.l10n.t(
          'It is configured in your settings. Whoever writes to this workspace decides what is in {0}',
          String(path),
        ),
  ];
  return notes.filter((each) => each !== undefined).join('\n\n');
}
