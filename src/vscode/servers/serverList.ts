import * as vscode from 'vscode';
import { fingerprintServer } from '../../mcp/config/fingerprint.ts';
import { inputsOf, type ResolvedServer, resolveInputs } from '../../mcp/config/inputs.ts';
import type { ServerConfig } from '../../mcp/config/types.ts';
import type { Log } from '../../ports/document.ts';
import { usesEditorServers } from '../settings.ts';
import { type Agreement, askAboutServers, describe } from './askAboutServers.ts';
import {
  type ConfiguredServer,
  type Reading,
  readConfiguredServers,
  readProfileServers,
  watchServerSettings,
} from './configuredServers.ts';
import type { ServerInputs } from './inputs.ts';
import { findProfileFile, watchProfileFile } from './profile.ts';

const REMEMBERED = 'consent.servers';

type Servers = ReadonlyMap<string, ServerConfig>;

export const SAMPLE_SERVER = 'sample';

type ServerConsent = 'given' | 'declined' | 'cancelled';

interface Due {
  /** Whether cancelled inputs are asked for again; by default if servers are named. */
  readonly isNeeded?: boolean;
  /** The chat that needs the servers. */
  readonly chat?: vscode.Uri | undefined;
}

export interface ListedServer {
  readonly name: string;
  readonly config: ServerConfig;
  readonly source: ConfiguredServer['source'] | 'sample';
  readonly isAllowed: boolean;
  readonly problem?: string;
}

interface ServerListOptions {
  readonly memory: vscode.Memento;
  readonly log: Log;
  readonly samplePath: string;
  readonly inputs: ServerInputs;
  readonly globalStorage: vscode.Uri;
}

/**
 * The configured servers. Those that a workspace controls need the user's permission: all in `.vscode/mcp.json`, and
 * those in the user settings whose env file is in the workspace. Permission is for one exact configuration, env file
 * included; after any change the user is asked again.
 */
export class ServerList implements vscode.Disposable {
  readonly #options: ServerListOptions;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #watch: vscode.Disposable;
  /** Declined servers stay declined until the window is reloaded. */
  readonly #declined = new Set<string>();
  /** Settings are read at every use, but each problem is logged once. */
  readonly #logged = new Set<string>();
  #isSampleOffered = false;

  readonly onDidChange = this.#changed.event;

  constructor(options: ServerListOptions) {
    this.#options = options;
    const report = () => this.#changed.fire();
    this.#watch = vscode.Disposable.from(
      watchServerSettings(report),
      watchProfileFile(options.globalStorage, report),
    );
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
   * Asks one question for all servers that need permission, then for missing inputs: an input box that opens later would
   * close an open list. `names` limits it to some servers. A dismissed dialog is shown again at the next use; a cancelled
   * input is asked for again only when its server is needed.
   */
  async askForWorkspaceServers(names?: readonly string[], due: Due = {}): Promise<ServerConsent> {
    const isWanted = ({ name }: ConfiguredServer) => names === undefined || names.includes(name);
    const unasked = [...(await this.#read()).values()].filter(
      (each) => isWanted(each) && !this.#isAllowed(each) && !this.#declined.has(declinedKey(each)),
    );
    if (unasked.length > 0 && (await this.#ask(unasked, due.chat)) === 'cancelled') return 'cancelled';
    const { isNeeded = names !== undefined } = due;
    const areGiven = await this.#askForInputs(names, isNeeded);
    if (names === undefined) return 'given';
    if (!areGiven && isNeeded) return 'cancelled';
    const servers = await this.#read();
    const areAllowed = names.every((name) => {
      const server = servers.get(name);
      return server === undefined || this.#isAllowed(server);
    });
    return areAllowed ? 'given' : 'declined';
  }

  /** Asks even if the user has declined the server before. */
  async askForConsent(name: string): Promise<ServerConsent> {
    this.#options.inputs.askAgain();
    const server = (await this.#read()).get(name);
    return server === undefined || this.#isAllowed(server) ? 'given' : this.#ask([server]);
  }

  /** For a server that the user has just reviewed and added. The variables of an env file are still asked about. */
  async allow(name: string): Promise<void> {
    const server = (await this.#read()).get(name);
    if (server && server.envFile === undefined && !this.#isAllowed(server)) await this.#remember(server);
  }

  /** Where a server is configured: `USER_PLACE`, or the URI of a workspace folder. */
  async placeOf(name: string): Promise<string | undefined> {
    return (await this.#read()).get(name)?.place;
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
    return resolveInputs(config, (id) => this.#input(server, id, signal), { definitions: server.inputs });
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
  async #askForInputs(names: readonly string[] | undefined, isNeeded: boolean): Promise<boolean> {
    // Cancelled inputs are asked for again when the server is needed, but not at every reply.
    if (isNeeded) this.#options.inputs.askAgain();
    let areGiven = true;
    for (const server of (await this.#read()).values()) {
      if (!this.#isAllowed(server) || names?.includes(server.name) === false) continue;
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

  async #ask(servers: readonly ConfiguredServer[], chat?: vscode.Uri): Promise<ServerConsent> {
    const asked = servers.map((server) => ({
      server,
      was: this.#agreement(server),
      isFileRead: this.#mayRead(server),
    }));
    const answer = await askAboutServers(asked, chat);
    if (answer === 'declined') for (const server of servers) this.#declined.add(declinedKey(server));
    if (answer !== 'given') return answer;
    for (const server of servers) await this.#remember(server);
    // Their env files may now be read, and the configuration may have changed while the dialog was open.
    const now = await this.#read();
    const changed = servers
      .flatMap(({ name }) => now.get(name) ?? [])
      .filter((each) => !this.#isAllowed(each));
    return changed.length === 0 ? 'given' : this.#ask(changed, chat);
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

  /** What the user has configured needs no permission, because a workspace cannot write it. It can write an env file inside it. */
  #isAllowed(server: ConfiguredServer): boolean {
    const isOwn = server.source !== 'workspace' && server.envFile?.folder === undefined;
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

  /** The servers of VS Code's profile, as long as they are not used. */
  async unusedProfileServers(): Promise<readonly ConfiguredServer[]> {
    return usesEditorServers() ? [] : readProfileServers(this.#reading());
  }

  async #read(): Promise<ReadonlyMap<string, ConfiguredServer>> {
    const servers = await readConfiguredServers(this.#reading());
    return new Map(servers.map((server) => [server.name, server]));
  }

  #reading(): Reading {
    return {
      warn: (problem) => this.#warnOnce(problem),
      mayRead: (server) => this.#mayRead(server),
      profileFile: () => findProfileFile(this.#options.globalStorage),
    };
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
  return source === 'workspace' ? `${place} ${name}` : `${place} ${envFile?.folder} ${name}`;
}

function declinedKey(server: ConfiguredServer): string {
  return `${agreementKey(server)} ${fingerprintServer(server.config)}`;
}
