import * as vscode from 'vscode';
import { showInvisible } from '../../chat/format/escape.ts';
import { looksSecret } from '../../mcp/config/checks.ts';
import { describeChange, describeServer, fingerprintServer } from '../../mcp/config/fingerprint.ts';
import { inputsOf, type ResolvedServer, resolveInputs } from '../../mcp/config/inputs.ts';
import type { ServerConfig } from '../../mcp/config/types.ts';
import type { Log } from '../../ports/document.ts';

import type { ServerInputs } from './inputs.ts';
import {
  type ConfiguredServer,
  readUserServers,
  readWorkspaceServers,
  watchServerSettings,
} from './settings.ts';

const REMEMBERED = 'consent.servers';
const ALLOW = vscode.l10n.t('Allow');
const DECLINE = vscode.l10n.t('Don’t Allow');

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

/** What the user has agreed to last, of one server. */
interface Agreement {
  readonly print: string;
  /** What was shown of it. */
  readonly text: string;
  /** The env file that it reads. */
  readonly envFile?: string | undefined;
}

/**
 * The user's own servers, and those that the user has agreed to because a workspace decides about them: all of
 * `.vscode/mcp.json`, and the user's own whose env file lies in the workspace. Agreement is to one configuration,
 * whole: with any change of it, env file included, the user is asked again.
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
  #isSampleOffered = false;

  /** The servers, or what the user has agreed to, may be others now. */
  readonly onDidChange = this.#changed.event;

  constructor(options: ServerListOptions) {
    this.#options = options;
  }

  dispose(): void {
    this.#watch.dispose();
    this.#changed.dispose();
  }

  /** What may be started: all that is allowed, and where nothing is, or a sample was opened, our own server. */
  async startable(): Promise<Servers> {
    if (!vscode.workspace.isTrusted) return new Map();
    const allowed = await this.allowed();
    if (allowed.size > 0 && !this.#isSampleOffered) return allowed;
    // One that is configured under its name comes first, also while it waits for the user's word.
    const isTaken = allowed.size > 0 && (await this.#read()).has(SAMPLE_SERVER);
    return isTaken ? allowed : new Map([...allowed, [SAMPLE_SERVER, this.#sample()]]);
  }

  /** From now on our own server is there beside others. Chats that do not name it get nothing of it. */
  offerSample(): void {
    if (this.#isSampleOffered) return;
    this.#isSampleOffered = true;
    this.#changed.fire();
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
    const isHidden = !this.#isSampleOffered && listed.some(({ agreed }) => agreed);
    if (isHidden || listed.some(({ name }) => name === SAMPLE_SERVER)) return listed;
    return [...listed, { name: SAMPLE_SERVER, config: this.#sample(), source: 'sample', agreed: true }];
  }

  /** By what was read last. */
  source(name: string): ServerSource {
    return this.#sources.get(name) ?? (name === SAMPLE_SERVER ? 'sample' : 'workspace');
  }

  /**
   * Asks about servers of the workspace that nobody has decided about, then for the inputs that are missing: later,
   * a list may be open that such a box would close. `name` limits it to one server. A question that is only closed is
   * asked again at the next use; an input that was not given, only when its server is needed.
   */
  async askForWorkspaceServers(name?: string, isNeeded = name !== undefined): Promise<ServerConsent> {
    let consent: ServerConsent = 'given';
    for (const server of (await this.#read()).values()) {
      if (this.#isAgreed(server) || (name !== undefined && server.name !== name)) continue;
      const answer = this.#declined.has(declinedKey(server)) ? 'declined' : await this.#ask(server);
      if (answer === 'cancelled') return answer;
      if (answer === 'declined' && name !== undefined) consent = answer;
    }
    const areGiven = await this.#askForInputs(name, isNeeded);
    return areGiven || name === undefined ? consent : 'cancelled';
  }

  /** Asks about one, also when the user has declined it before. */
  async agree(name: string): Promise<ServerConsent> {
    this.#options.inputs?.askAgain();
    const server = (await this.#read()).get(name);
    return server === undefined || this.#isAgreed(server) ? 'given' : this.#ask(server);
  }

  /** What is started in the end: with the inputs in it, for which the user may be asked. Rejects with a sentence. */
  async resolve(name: string, config: ServerConfig, signal?: AbortSignal): Promise<ResolvedServer> {
    const print = fingerprintServer(config);
    if ((await this.fingerprint(name)) !== print) {
      throw new Error('Its configuration has changed meanwhile. Start it again.');
    }
    const server = (await this.#read()).get(name);
    // Ours may have the name of one that the user has not agreed to.
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

  /** What was given to a server will be asked for again. Says whether there is anything that it asks for. */
  async forgetInputs(name: string): Promise<boolean> {
    const server = (await this.#read()).get(name);
    const ids = server ? inputsOf(server.config) : [];
    if (server) await this.#options.inputs?.forgetFor(server.place, ids);
    return ids.length > 0;
  }

  async forget(): Promise<void> {
    this.#declined.clear();
    await this.#options.memory.update(REMEMBERED, undefined);
    this.#changed.fire();
  }

  /** Whether all are there. Who gives up one is not asked for the others of that server. */
  async #askForInputs(name: string | undefined, isNeeded: boolean): Promise<boolean> {
    // Who has given up is asked again by what needs the server, and not by every reply.
    if (isNeeded) this.#options.inputs?.askAgain();
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
    const { place, name, written, inputs } = server;
    const request = { place, id, server: name, config: written, definition: inputs.get(id) };
    return this.#options.inputs?.get(request, signal);
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
    // Now its env file may be read, which may lie anywhere; and anything may have changed while the user was reading.
    const now = (await this.#read()).get(server.name);
    return now === undefined || this.#isAgreed(now) ? 'given' : this.#ask(now);
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

  /** The user's own settings are the user's own words; a workspace cannot write there, but into its own files. */
  #isAgreed(server: ConfiguredServer): boolean {
    const isOwn = server.source === 'user' && server.envFile?.folder === undefined;
    return isOwn || this.#agreement(server)?.print === fingerprintServer(server.config);
  }

  #mayRead(server: ConfiguredServer): boolean {
    const { envFile } = server;
    return envFile?.folder !== undefined || this.#agreement(server)?.envFile === envFile?.path;
  }

  /** What an earlier version has kept says too little of what was agreed to. */
  #agreement(server: ConfiguredServer): Agreement | undefined {
    const all = this.#options.memory.get<Readonly<Record<string, Agreement | string>>>(REMEMBERED, {});
    const found = Object.hasOwn(all, agreementKey(server)) ? all[agreementKey(server)] : undefined;
    return typeof found === 'string' ? undefined : found;
  }

  /** The user's own come last, so that a workspace cannot put another in their place. */
  async #read(): Promise<ReadonlyMap<string, ConfiguredServer>> {
    const warn = (problem: string) => this.#warnOnce(problem);
    const mayRead = (server: ConfiguredServer) => this.#mayRead(server);
    const [own, found] = await Promise.all([readUserServers(warn), readWorkspaceServers(warn, mayRead)]);
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

/** The name of a server holds no space. One of the user's is agreed to for each workspace that decides about it. */
function agreementKey({ place, name, source, envFile }: ConfiguredServer): string {
  return source === 'user' ? `${place} ${envFile?.folder} ${name}` : `${place} ${name}`;
}

function declinedKey(server: ConfiguredServer): string {
  return `${agreementKey(server)} ${fingerprintServer(server.config)}`;
}

/** What stands in a file of the workspace is no secret of the user's. */
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

/** What has changed comes first, then the whole. */
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
