import type { Implementation } from '@modelcontextprotocol/client';
import type {
  Disposable,
  Log,
  ResourceName,
  ServerChange,
  ServerRequests,
  ServerState,
  ToolInfo,
} from '../ports.ts';
import { Backoff } from './backoff.ts';
import type { RemoteServer, ServerConfig } from './config.ts';
import { Connection } from './connection.ts';
import { fingerprintServer } from './consent.ts';
import type { RemoteAuthorization } from './oauth/authorization.ts';
import { openServer } from './openServer.ts';
import { MemoryVerdicts, type VerdictStore } from './verdicts.ts';
import { unlessAborted } from './waiting.ts';

export interface PoolOptions {
  /** Asked at every use, so that a change of the settings counts at once. */
  readonly servers: () => Promise<ReadonlyMap<string, ServerConfig>>;
  readonly log: Log;
  /** Where one server's own words go; without it they go to `log`, with its name. */
  readonly logFor?: ((server: string) => Log) | undefined;
  /** How long a server may be silent while it starts and while it works. */
  readonly timeoutMs: () => number;
  readonly clientInfo: Implementation;
  readonly requests?: ServerRequests | undefined;
  readonly apps?: boolean | undefined;
  readonly verdicts?: VerdictStore | undefined;
  readonly authorize?: Authorize | undefined;
  /** Fills in what the user has to be asked for. */
  readonly resolve?: ((server: string, config: ServerConfig) => Promise<ServerConfig>) | undefined;
  readonly now?: (() => number) | undefined;
}

/** How to sign in to a server. `onAsk` lets no time pass for the server while the user is asked. */
export type Authorize = (
  config: RemoteServer,
  server: string,
  onAsk: <T>(work: Promise<T>) => Promise<T>,
) => RemoteAuthorization | undefined;

/** One configuration of a server in use. */
interface Slot {
  readonly fingerprint: string;
  authorization: RemoteAuthorization | undefined;
  /** Shared by all who use the server while it starts. */
  readonly opened: Promise<Connection>;
  /** The one that is being opened, or that is open. */
  connection: Connection | undefined;
  /** It is open, and nothing else will be tried. */
  isOpen: boolean;
  retired: boolean;
  openedAtMs: number;
  /** What the server has said of its tools. */
  tools: ReadonlyMap<string, ToolInfo>;
}

/** A server that runs. */
export interface RunningServer {
  readonly connection: Connection;
  readonly authorization: RemoteAuthorization | undefined;
  tools: ReadonlyMap<string, ToolInfo>;
}

const MAX_TIMEOUT_MS = 2 ** 31 - 1;
/** Between the death of a server and its next start, when nobody waits for it. */
const REST_MS = 1000;

/** All servers, each apart: started at first use, started anew at the next use after it died or changed. */
export class ServerPool {
  readonly #options: PoolOptions;
  readonly #verdicts: VerdictStore;
  readonly #slots = new Map<string, Slot>();
  readonly #health = new Map<string, Backoff>();
  /** Connections that are no longer used but whose processes may still live. */
  readonly #closing = new Set<Promise<void>>();
  readonly #listeners = new Set<(server: string, what: ServerChange) => void>();
  readonly #authorizations = new Map<string, RemoteAuthorization | undefined>();
  /** Who wants to know of changes, by server and address. */
  readonly #watched = new Map<string, Map<string, Set<() => void>>>();
  /** The chats whose calls are under way, by server, the latest first. */
  readonly #chats = new Map<string, string[]>();
  #disposed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#verdicts = options.verdicts ?? new MemoryVerdicts();
  }

  onDidChange(listener: (server: string, what: ServerChange) => void): Disposable {
    this.#listeners.add(listener);
    return { dispose: () => this.#listeners.delete(listener) };
  }

  async states(): Promise<ReadonlyMap<string, ServerState>> {
    const servers = await this.#options.servers();
    return new Map([...servers.keys()].map((name) => [name, this.stateOf(name)]));
  }

  /** The live connection to a server; starts one when there is none. */
  async use(name: string, signal?: AbortSignal | undefined): Promise<RunningServer> {
    const servers = await this.#options.servers();
    this.#retireRemoved(servers);
    const config = servers.get(name);
    if (config === undefined) {
      const known = [...servers.keys()].join(', ');
      throw new Error(
        `There is no server ${name}. ${known === '' ? 'None is configured.' : `There are: ${known}.`}`,
      );
    }
    const slot = this.#slotFor(name, config);
    const connection = await unlessAborted(slot.opened, signal);
    return {
      connection,
      authorization: slot.authorization,
      get tools() {
        return slot.tools;
      },
      set tools(tools) {
        slot.tools = tools;
      },
    };
  }

  /** Something worked. */
  isWell(name: string): void {
    this.#healthOf(name).reset();
  }

  /** What runs now. */
  running(): readonly (readonly [string, Connection])[] {
    return [...this.#slots].flatMap(([name, { connection }]) =>
      connection?.state.kind === 'ready' ? [[name, connection] as const] : [],
    );
  }

  toolInfo(server: string, tool: string): ToolInfo | undefined {
    return this.#slots.get(server)?.tools.get(tool);
  }

  stateOf(name: string): ServerState {
    const slot = this.#slots.get(name);
    const state = slot?.connection?.state;
    if (state?.kind === 'ready') return state;
    if (slot !== undefined && !isDead(slot)) return { kind: 'starting' };
    const { reason, retryAtMs } = this.#healthOf(name);
    return reason === undefined ? { kind: 'idle' } : { kind: 'failed', reason, retryAtMs };
  }

  /** Starts a server that does not run, whatever has become of it before. */
  async start(server: string): Promise<void> {
    this.#healthOf(server).reset();
    for (const [key, authorization] of this.#authorizations) {
      if (key.startsWith(`${server} `)) authorization?.askAgain();
    }
    await this.use(server);
  }

  async stop(server: string): Promise<void> {
    this.#healthOf(server).reset();
    this.#retire(server, 'it was stopped');
    await Promise.all(this.#closing);
    this.#tell(server, 'state');
  }

  async restart(server: string): Promise<void> {
    await this.stop(server);
    await this.start(server);
  }

  async signOut(server: string): Promise<void> {
    const config = (await this.#options.servers()).get(server);
    if (config !== undefined) await this.#authorizationFor(server, config)?.signOut();
    await this.stop(server);
  }

  /** Goes on after the server was started anew. */
  watch({ server, uri }: ResourceName, onUpdate: () => void): Disposable {
    const uris = getOrAdd(this.#watched, server, () => new Map<string, Set<() => void>>());
    const listeners = getOrAdd(uris, uri, () => new Set<() => void>());
    if (listeners.size === 0) this.#slots.get(server)?.connection?.subscriptions.add(uri);
    listeners.add(onUpdate);
    return {
      dispose: () => {
        if (!listeners.delete(onUpdate) || listeners.size > 0) return;
        uris.delete(uri);
        this.#slots.get(server)?.connection?.subscriptions.remove(uri);
      },
    };
  }

  /** Remembers the chat as long as its call lasts. */
  enter(server: string, chat: string | undefined): () => void {
    if (chat === undefined) return () => undefined;
    const chats = getOrAdd(this.#chats, server, () => []);
    chats.unshift(chat);
    return () => void chats.splice(chats.indexOf(chat), 1);
  }

  /** A copy, because whoever is asked by a server may look at it when the call is over. */
  chatsAt(server: string): readonly string[] {
    return [...(this.#chats.get(server) ?? [])];
  }

  logOf(name: string): Log {
    const { log, logFor } = this.#options;
    if (logFor) return logFor(name);
    return {
      debug: (message) => log.debug?.(`[${name}] ${message}`),
      info: (message) => log.info(`[${name}] ${message}`),
      warn: (message) => log.warn(`[${name}] ${message}`),
      error: (message) => log.error(`[${name}] ${message}`),
    };
  }

  /** The setting may hold any number, and timers take only some: others they would turn into no time at all. */
  timeoutMs(): number {
    const ms = Math.round(this.#options.timeoutMs());
    return ms > 0 ? Math.min(ms, MAX_TIMEOUT_MS) : 1;
  }

  /** Closes all servers; resolves when none of their processes is left. */
  async dispose(): Promise<void> {
    this.#disposed = true;
    for (const name of [...this.#slots.keys()]) {
      this.#retire(name, 'Filechat is closing');
    }
    await Promise.all(this.#closing);
  }

  #slotFor(name: string, config: ServerConfig): Slot {
    if (this.#disposed) {
      throw new Error('Filechat is closing.');
    }
    const fingerprint = fingerprintServer(config);
    const old = this.#slots.get(name);
    if (old?.fingerprint === fingerprint && !isDead(old)) return old;
    if (old !== undefined && old.fingerprint !== fingerprint) this.#healthOf(name).reset();
    this.#retire(name, 'its configuration was changed');
    const refusal = this.#healthOf(name).refusal(this.#now());
    if (refusal !== undefined) throw new Error(`Server ${name} is not started: ${refusal}`);
    const slot = this.#createSlot(name, config, fingerprint);
    this.#slots.set(name, slot);
    slot.opened.then(
      () => this.#ready(name, slot),
      (error: Error) => this.#failed(name, slot, error.message),
    );
    this.#tell(name, 'state');
    return slot;
  }

  #createSlot(name: string, config: ServerConfig, fingerprint: string): Slot {
    const slot: Omit<Slot, 'opened'> = {
      fingerprint,
      authorization: undefined,
      connection: undefined,
      isOpen: false,
      retired: false,
      openedAtMs: this.#now(),
      tools: new Map(),
    };
    const { resolve = async (_server, given) => given, clientInfo, requests, apps } = this.#options;
    const opened = openServer({
      // On the next turn, so that who asks for inputs finds the slot in its place.
      config: Promise.resolve().then(() => resolve(name, config)),
      verdicts: this.#verdicts,
      fingerprint,
      nowMs: this.#now(),
      timeoutMs: this.timeoutMs(),
      isWanted: () => !slot.retired,
      connect: (own, verdict) => {
        slot.authorization = this.#authorizationFor(name, own);
        slot.connection = new Connection({
          name,
          config: own,
          clientInfo,
          log: this.logOf(name),
          requests,
          apps,
          verdict,
          authorization: slot.authorization,
          chats: () => this.chatsAt(name),
          onChange: (what) => this.#changed(name, slot as Slot, what),
          onUpdated: (uri) => this.#updated(name, uri),
        });
        return slot.connection;
      },
    });
    return Object.assign(slot, { opened });
  }

  #ready(name: string, slot: Slot): void {
    slot.isOpen = true;
    slot.openedAtMs = this.#now();
    for (const uri of this.#watched.get(name)?.keys() ?? []) slot.connection?.subscriptions.add(uri);
    this.#tell(name, 'state');
  }

  #failed(name: string, slot: Slot, reason: string): void {
    if (this.#slots.get(name) !== slot) return;
    const nowMs = this.#now();
    this.#healthOf(name).failed(reason, { nowMs, livedMs: nowMs - slot.openedAtMs });
    this.#options.log.error(reason);
    this.#retire(name, reason, slot);
    this.#tell(name, 'state');
  }

  /** A server that has closed without being told to has failed. */
  #changed(name: string, slot: Slot, what: ServerChange): void {
    const { connection } = slot;
    if (what !== 'state') this.#tell(name, what);
    else if (connection?.state.kind === 'closed' && isDead(slot) && !slot.retired) {
      this.#died(name, slot, connection.state.reason);
    }
  }

  #died(name: string, slot: Slot, reason: string): void {
    this.#failed(name, slot, `Server ${name}: ${reason}`);
    if ((this.#watched.get(name)?.size ?? 0) === 0 || this.#disposed) return;
    // Somebody has something of it open, and wants it to go on.
    const waitMs = Math.max(this.#healthOf(name).retryAtMs - this.#now(), REST_MS);
    setTimeout(() => void this.#startAgain(name), waitMs).unref();
  }

  async #startAgain(name: string): Promise<void> {
    if (this.#disposed || (this.#watched.get(name)?.size ?? 0) === 0) return;
    try {
      await this.use(name);
    } catch (error) {
      this.logOf(name).warn((error as Error).message);
    }
  }

  #updated(name: string, uri: string): void {
    for (const listener of this.#watched.get(name)?.get(uri) ?? []) listener();
  }

  /** One for each address of a server: who has given up signing in is not asked again by the next start. */
  #authorizationFor(server: string, config: ServerConfig): RemoteAuthorization | undefined {
    if (config.kind === 'stdio' || hasOwnCredentials(config)) return undefined;
    return getOrAdd(this.#authorizations, `${server} ${fingerprintServer({ ...config, kind: 'http' })}`, () =>
      this.#options.authorize?.(config, server, (work) => {
        const connection = this.#slots.get(server)?.connection;
        return connection?.whileAsking(work) ?? work;
      }),
    );
  }

  #healthOf(name: string): Backoff {
    return getOrAdd(this.#health, name, () => new Backoff());
  }

  #tell(server: string, what: ServerChange): void {
    for (const listener of this.#listeners) listener(server, what);
  }

  #now(): number {
    return (this.#options.now ?? Date.now)();
  }

  #retireRemoved(servers: ReadonlyMap<string, ServerConfig>): void {
    for (const name of [...this.#slots.keys()].filter((known) => !servers.has(known))) {
      this.#retire(name, 'it was removed from the configuration');
    }
  }

  /** Takes a server out of use and closes it, unless another has taken its place already. */
  #retire(name: string, reason: string, expected = this.#slots.get(name)): void {
    const slot = this.#slots.get(name);
    if (slot === undefined || slot !== expected) return;
    this.#slots.delete(name);
    slot.retired = true;
    slot.authorization?.cancel();
    const closed = Promise.resolve(slot.connection?.close(reason)).finally(() =>
      this.#closing.delete(closed),
    );
    this.#closing.add(closed);
  }
}

/** While it opens, the opening itself will say why it failed, and may try another way. */
function isDead(slot: Slot): boolean {
  return slot.isOpen && slot.connection?.state.kind === 'closed';
}

/** Who has written down how to prove who they are needs no sign-in. */
function hasOwnCredentials({ headers }: RemoteServer): boolean {
  return Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
}

function getOrAdd<K, V>(map: Map<K, V>, key: K, create: () => V): V {
  const found = map.get(key) ?? create();
  map.set(key, found);
  return found;
}
