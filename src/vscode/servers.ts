import * as vscode from 'vscode';
import { readServers, readServersFile, type ServerConfig } from '../mcp/config.ts';
import { describeServer, fingerprintServer } from '../mcp/consent.ts';
import type { Log } from '../ports.ts';
import { userServers } from './settings.ts';

const REMEMBERED = 'consent.servers';
const ALLOW = 'Allow';
const DECLINE = 'Don’t Allow';

type Servers = ReadonlyMap<string, ServerConfig>;

/** The server that Filechat brings along, for the tour. */
export const SAMPLE_SERVER = 'sample';

export type ServerConsent = 'given' | 'declined' | 'cancelled';

/** The user's own servers, and those of the workspace's `.vscode/mcp.json` that the user has agreed to. */
export class ServerList {
  readonly #memory: vscode.Memento;
  readonly #log: Log;
  readonly #samplePath: string;
  /** What the user would not have; asked again after the next start. */
  readonly #declined = new Set<string>();

  constructor(options: { readonly memory: vscode.Memento; readonly log: Log; readonly samplePath: string }) {
    this.#memory = options.memory;
    this.#log = options.log;
    this.#samplePath = options.samplePath;
  }

  /** What may be started: all that is allowed, or, where nothing is, our own server. */
  async startable(): Promise<Servers> {
    const allowed = await this.allowed();
    if (allowed.size > 0) return allowed;
    const sample: ServerConfig = {
      kind: 'stdio',
      command: process.execPath,
      args: [this.#samplePath],
      // The editor's own program is a Node when it is told to be one.
      env: { ELECTRON_RUN_AS_NODE: '1' },
    };
    return new Map([[SAMPLE_SERVER, sample]]);
  }

  async allowed(): Promise<Servers> {
    const agreed = new Set(this.#agreed());
    const found = [...(await this.#workspaceServers())].filter(([, config]) =>
      agreed.has(fingerprintServer(config)),
    );
    // The user's own come last, so that a workspace cannot put another in their place.
    return new Map([...found, ...this.#userServers()]);
  }

  /**
   * Asks about servers of the workspace that nobody has decided about; `name` limits it to the one that is needed.
   * A question that is only closed is asked again at the next use.
   */
  async askForWorkspaceServers(name?: string): Promise<ServerConsent> {
    const own = this.#userServers();
    const agreed = new Set(this.#agreed());
    let consent: ServerConsent = 'given';
    for (const [id, config] of await this.#workspaceServers()) {
      const print = fingerprintServer(config);
      if (own.has(id) || agreed.has(print) || (name !== undefined && id !== name)) continue;
      const answer = this.#declined.has(print) ? 'declined' : await this.#ask(id, config);
      if (answer === 'cancelled') return answer;
      if (answer === 'declined' && name !== undefined) consent = answer;
    }
    return consent;
  }

  async fingerprint(name: string): Promise<string> {
    const config = (await this.startable()).get(name);
    return config ? fingerprintServer(config) : '';
  }

  async forget(): Promise<void> {
    this.#declined.clear();
    await this.#memory.update(REMEMBERED, undefined);
  }

  async #ask(name: string, config: ServerConfig): Promise<ServerConsent> {
    const verb = config.kind === 'stdio' ? 'start a program' : 'connect to a server';
    const answer = await vscode.window.showWarningMessage(
      `This workspace wants to ${verb}: the MCP server “${name}”.`,
      { modal: true, detail: `${describeServer(config)}\n\nIt is configured in .vscode/mcp.json.` },
      ALLOW,
      DECLINE,
    );
    const print = fingerprintServer(config);
    if (answer === ALLOW) await this.#memory.update(REMEMBERED, [...this.#agreed(), print]);
    if (answer === DECLINE) this.#declined.add(print);
    return answer === ALLOW ? 'given' : answer === DECLINE ? 'declined' : 'cancelled';
  }

  #agreed(): readonly string[] {
    return this.#memory.get<readonly string[]>(REMEMBERED, []);
  }

  #userServers(): Servers {
    const { servers, problems } = readServers(userServers(), { env: process.env });
    for (const problem of problems) this.#log.warn(problem);
    return servers;
  }

  async #workspaceServers(): Promise<Servers> {
    if (!vscode.workspace.isTrusted) return new Map();
    const folders = vscode.workspace.workspaceFolders ?? [];
    const lists = await Promise.all(folders.map((folder) => this.#readFolder(folder)));
    return new Map(lists.flatMap((servers) => [...servers]));
  }

  async #readFolder(folder: vscode.WorkspaceFolder): Promise<Servers> {
    const file = vscode.Uri.joinPath(folder.uri, '.vscode', 'mcp.json');
    const bytes = await this.#readIfThere(file);
    if (!bytes) return new Map();
    const context = { workspaceFolder: folder.uri.fsPath, env: process.env };
    const { servers, problems } = readServersFile(new TextDecoder().decode(bytes), context);
    for (const problem of problems) this.#log.warn(`${file.fsPath}: ${problem}`);
    // As VS Code's own MCP client has it: programs of a workspace start in the workspace.
    return new Map([...servers].map(([name, config]) => [name, startedIn(folder.uri.fsPath, config)]));
  }

  async #readIfThere(file: vscode.Uri): Promise<Uint8Array | undefined> {
    try {
      return await vscode.workspace.fs.readFile(file);
    } catch (error) {
      const missing = error instanceof vscode.FileSystemError && error.code === 'FileNotFound';
      if (!missing) this.#log.warn(`${file.fsPath} could not be read: ${(error as Error).message}`);
      return undefined;
    }
  }
}

function startedIn(cwd: string, config: ServerConfig): ServerConfig {
  return config.kind === 'stdio' && config.cwd === undefined ? { ...config, cwd } : config;
}
