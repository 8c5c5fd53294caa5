import * as vscode from 'vscode';
import type { ServerConfig } from '../mcp/config.ts';
import { describeServer, fingerprintServer } from '../mcp/consent.ts';
import { inputsOf, resolveInputs } from '../mcp/inputs.ts';
import type { Log } from '../ports.ts';
import type { ServerInputs } from './inputs.ts';
import {
  type ConfiguredServer,
  readUserServers,
  readWorkspaceServers,
  watchServerSettings,
} from './serverSettings.ts';

const REMEMBERED = 'consent.servers';
const ALLOW = 'Allow';
const DECLINE = 'Don’t Allow';

type Servers = ReadonlyMap<string, ServerConfig>;

/** The server that Filechat brings along, for the tour. */
export const SAMPLE_SERVER = 'sample';

export type ServerConsent = 'given' | 'declined' | 'cancelled';
export type ServerSource = 'user' | 'workspace' | 'sample';

/** A server that is configured, whether or not it may be started. */
export interface ListedServer {
  readonly name: string;
  readonly config: ServerConfig;
  readonly source: ServerSource;
  readonly agreed: boolean;
  /** Why it cannot be started. */
  readonly problem?: string;
}

export interface ServerListOptions {
  readonly memory: vscode.Memento;
  readonly log: Log;
  readonly samplePath: string;
  /** Without it, servers that need inputs do not start. */
  readonly inputs?: ServerInputs;
}

/**
 * The user's own servers, and those of the workspace's `.vscode/mcp.json` that the user has agreed to. Agreement is
 * to one configuration, whole: with any change of it, env file included, the user is asked again.
 */
export class ServerList implements vscode.Disposable {
  readonly #options: ServerListOptions;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #watch = watchServerSettings(() => this.#changed.fire());
  /** What the user would not have; asked again after the next start. */
  readonly #declined = new Set<string>();
  /** Settings are read at every use, and a problem in them is told once. */
  readonly #told = new Set<string>();
  #sources: ReadonlyMap<string, ServerSource> = new Map();

  /** The servers, or what the user has agreed to, may be others now. */
  readonly onDidChange = this.#changed.event;

  constructor(options: ServerListOptions) {
    this.#options = options;
  }

  dispose(): void {
    this.#watch.dispose();
    this.#changed.dispose();
  }

  /** What may be started: all that is allowed, or, where nothing is, our own server. */
  async startable(): Promise<Servers> {
    if (!vscode.workspace.isTrusted) return new Map();
    const allowed = await this.allowed();
    return allowed.size > 0 ? allowed : new Map([[SAMPLE_SERVER, this.#sample()]]);
  }

  async allowed(): Promise<Servers> {
    const allowed = [...(await this.#read()).values()].filter((server) => this.#isAgreed(server));
    return new Map(allowed.map(({ name, config }) => [name, config]));
  }

  /** Everything that is configured, also what waits for the user's word. */
  async all(): Promise<readonly ListedServer[]> {
    const listed = [...(await this.#read()).values()].map((server): ListedServer => {
      const { name, config, source, problem } = server;
      return { name, config, source, agreed: this.#isAgreed(server), ...(problem && { problem }) };
    });
    if (listed.some(({ name, agreed }) => agreed || name === SAMPLE_SERVER)) return listed;
    return [...listed, { name: SAMPLE_SERVER, config: this.#sample(), source: 'sample', agreed: true }];
  }

  /** By what was read last. */
  source(name: string): ServerSource {
    return this.#sources.get(name) ?? (name === SAMPLE_SERVER ? 'sample' : 'workspace');
  }

  /**
   * Asks about servers of the workspace that nobody has decided about, then for the inputs that are missing: later,
   * a list may be open that such a box would close. `name` limits it to the server that is needed. A question that
   * is only closed is asked again at the next use.
   */
  async askForWorkspaceServers(name?: string): Promise<ServerConsent> {
    let consent: ServerConsent = 'given';
    for (const server of (await this.#read()).values()) {
      if (this.#isAgreed(server) || (name !== undefined && server.name !== name)) continue;
      const answer = this.#declined.has(declinedKey(server)) ? 'declined' : await this.#ask(server);
      if (answer === 'cancelled') return answer;
      if (answer === 'declined' && name !== undefined) consent = answer;
    }
    const areGiven = await this.#askForInputs(name);
    return areGiven || name === undefined ? consent : 'cancelled';
  }

  /** Asks about one, also when the user has declined it before. */
  async agree(name: string): Promise<ServerConsent> {
    this.#options.inputs?.askAgain();
    const server = (await this.#read()).get(name);
    return server === undefined || this.#isAgreed(server) ? 'given' : this.#ask(server);
  }

  /** What is started in the end: with the inputs in it, for which the user may be asked. Rejects with a sentence. */
  async resolve(name: string, config: ServerConfig, signal?: AbortSignal): Promise<ServerConfig> {
    const print = fingerprintServer(config);
    if ((await this.fingerprint(name)) !== print) {
      throw new Error('Its configuration has changed meanwhile. Start it again.');
    }
    const server = (await this.#read()).get(name);
    // Ours may have the name of one that the user has not agreed to.
    if (server === undefined || fingerprintServer(server.config) !== print) return config;
    if (server.problem !== undefined) throw new Error(server.problem);
    return resolveInputs(config, (id) => this.#input(server, id, signal));
  }

  async fingerprint(name: string): Promise<string> {
    const config = (await this.startable()).get(name);
    return config ? fingerprintServer(config) : '';
  }

  async forget(): Promise<void> {
    this.#declined.clear();
    await this.#options.memory.update(REMEMBERED, undefined);
    this.#changed.fire();
  }

  /** Whether all are there. Who gives up one is not asked for the others of that server. */
  async #askForInputs(name: string | undefined): Promise<boolean> {
    this.#options.inputs?.askAgain();
    let areGiven = true;
    for (const server of (await this.#read()).values()) {
      if (!this.#isAgreed(server) || (name !== undefined && server.name !== name)) continue;
      for (const id of server.problem === undefined ? inputsOf(server.config) : []) {
        if ((await this.#input(server, id)) !== undefined) continue;
        areGiven = false;
        break;
      }
    }
    return areGiven;
  }

  async #input(server: ConfiguredServer, id: string, signal?: AbortSignal): Promise<string | undefined> {
    const { place, name, config, inputs } = server;
    const request = { place, id, server: name, config, definition: inputs.get(id) };
    return this.#options.inputs?.get(request, signal);
  }

  async #ask(server: ConfiguredServer): Promise<ServerConsent> {
    const detail = [describeServer(server.config), server.problem, 'It is configured in .vscode/mcp.json.'];
    const answer = await vscode.window.showWarningMessage(
      this.#question(server),
      { modal: true, detail: detail.filter((each) => each !== undefined).join('\n\n') },
      ALLOW,
      DECLINE,
    );
    if (answer === ALLOW) await this.#remember(server);
    if (answer === DECLINE) this.#declined.add(declinedKey(server));
    return answer === ALLOW ? 'given' : answer === DECLINE ? 'declined' : 'cancelled';
  }

  #question(server: ConfiguredServer): string {
    const { name, config } = server;
    if (Object.hasOwn(this.#agreed(), agreementKey(server))) {
      return `The MCP server “${name}” of this workspace has changed since you allowed it.`;
    }
    const verb = config.kind === 'stdio' ? 'start a program' : 'connect to a server';
    return `This workspace wants to ${verb}: the MCP server “${name}”.`;
  }

  async #remember(server: ConfiguredServer): Promise<void> {
    const agreed = { ...this.#agreed(), [agreementKey(server)]: fingerprintServer(server.config) };
    await this.#options.memory.update(REMEMBERED, agreed);
    this.#changed.fire();
  }

  /** The user's own settings are the user's own words; a workspace cannot write there. */
  #isAgreed(server: ConfiguredServer): boolean {
    const print = this.#agreed()[agreementKey(server)];
    return server.source === 'user' || print === fingerprintServer(server.config);
  }

  /** The fingerprint that was agreed to last, for each server by its place and name. */
  #agreed(): Readonly<Record<string, string>> {
    return this.#options.memory.get<Readonly<Record<string, string>>>(REMEMBERED, {});
  }

  /** The user's own come last, so that a workspace cannot put another in their place. */
  async #read(): Promise<ReadonlyMap<string, ConfiguredServer>> {
    const warn = (problem: string) => this.#warnOnce(problem);
    const [own, found] = await Promise.all([readUserServers(warn), readWorkspaceServers(warn)]);
    const servers = new Map([...found, ...own].map((server) => [server.name, server]));
    this.#sources = new Map([...servers].map(([name, { source }]) => [name, source]));
    return servers;
  }

  #warnOnce(problem: string): void {
    if (!this.#told.has(problem)) this.#options.log.warn(problem);
    this.#told.add(problem);
  }

  #sample(): ServerConfig {
    return {
      kind: 'stdio',
      command: process.execPath,
      args: [this.#options.samplePath],
      // The editor's own program is a Node when it is told to be one.
      env: { ELECTRON_RUN_AS_NODE: '1' },
    };
  }
}

function agreementKey({ place, name }: ConfiguredServer): string {
  return `${place} ${name}`;
}

function declinedKey(server: ConfiguredServer): string {
  return `${agreementKey(server)} ${fingerprintServer(server.config)}`;
}
