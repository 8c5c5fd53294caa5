import type { Implementation } from '@modelcontextprotocol/client';
import { Backoff, unlessAborted } from '../../base/async.ts';
import type { Disposable, Log } from '../../ports/document.ts';
import type { ResourceName, ServerChange, ServerRequests, ServerState } from '../../ports/servers.ts';
import type { ToolInfo } from '../../ports/tools.ts';
import { fingerprintServer } from '../config/fingerprint.ts';
import type { ResolvedServer } from '../config/inputs.ts';
import type { ServerConfig } from '../config/types.ts';
import { Connection, MAX_TIMER_MS } from '../connection/connection.ts';
import { InMemoryProtocols, type KnownProtocol, type KnownProtocols } from '../connection/knownProtocols.ts';
import { ProcessGuard } from '../connection/processGuard.ts';
import { Watches } from '../connection/subscriptions.ts';
import type { RemoteAuthorization } from '../oauth/authorization.ts';
import { Authorizations, type Authorize } from '../oauth/authorizations.ts';
import { openServer } from './open.ts';

export interface PoolOptions {
  /** Called at every use, so that changed settings apply at once. */
  readonly servers: () => Promise<ReadonlyMap<string, ServerConfig>>;
  readonly log: Log;
  /** The log of one server. By default `log`, with the name of the server. */
  readonly logFor?: ((server: string) => Log) | undefined;
  /** The longest time without a sign of life, at start and during requests. */
  readonly timeoutMs: () => number;
  readonly clientInfo: Implementation;
  readonly requests?: ServerRequests | undefined;
  readonly apps?: boolean | undefined;
  readonly knownProtocols?: KnownProtocols | undefined;
  readonly authorize?: Authorize | undefined;
  /** Resolves inputs, which may ask the user. */
  readonly resolve?: ((server: string, config: ServerConfig) => Promise<ResolvedServer>) | undefined;
  readonly now?: (() => number) | undefined;
  /** The server is closed after this much of one message was dropped. */
  readonly maxDroppedBytes?: number | undefined;
}

/** A server in use, with one configuration. */
interface Slot {
  readonly name: string;
  readonly fingerprint: string;
  authorization: RemoteAuthorization | undefined;
  /** Shared by all requests while the server starts. */
  readonly opened: Promise<Connection>;
  /** The current attempt while opening. */
  connection: Connection | undefined;
  /** True once an attempt has succeeded. */
  isOpen: boolean;
  retired: boolean;
  openedAtMs: number;
  /** The last listed definitions, by name. */
  tools: ReadonlyMap<string, ToolInfo>;
}

type OpeningSlot = Omit<Slot, 'opened'>;

export type RunningServer = Pick<Slot, 'authorization' | 'tools'> & { readonly connection: Connection };

/** The shortest delay before a crashed server is restarted for its subscriptions. */
const MIN_RESTART_MS = 1000;

/** All servers, isolated from each other. A server is started by its first use, and again after it exited or changed. */
export class ServerPool {
  protected readonly options: PoolOptions;
  readonly #knownProtocols: KnownProtocols;
  readonly #slots = new Map<string, Slot>();
  readonly #backoffs = new Map<string, Backoff>();
  /** Connections out of use whose processes may still run. */
  readonly #closing = new Set<Promise<void>>();
  readonly #listeners = new Set<(server: string, what: ServerChange) => void>();
  readonly #guard = new ProcessGuard();
  readonly #authorizations: Authorizations;
  readonly #watches = new Watches();
  protected readonly chats = new PendingChats();
  #disposed = false;

  constructor(options: PoolOptions) {
    this.options = options;
    this.#knownProtocols = options.knownProtocols ?? new InMemoryProtocols();
    this.#authorizations = new Authorizations(options.authorize, (server) => (work) => {
      const connection = this.#slots.get(server)?.connection;
      return connection?.pauseTimersWhile(work) ?? work;
    });
  }

  onDidChange(listener: (server: string, what: ServerChange) => void): Disposable {
    this.#listeners.add(listener);
    return { dispose: () => this.#listeners.delete(listener) };
  }

  async states(): Promise<ReadonlyMap<string, ServerState>> {
    const servers = await this.options.servers();
    return new Map([...servers.keys()].map((name) => [name, this.stateOf(name)]));
  }

  /** Resolves to the running server; starts it if necessary. */
  protected async use(name: string, signal?: AbortSignal | undefined): Promise<RunningServer> {
    const servers = await this.options.servers();
    for (const removed of [...this.#slots.keys()].filter((known) => !servers.has(known))) {
      void this.#retire(removed, 'it was removed from the configuration');
    }
    const config = servers.get(name);
    if (config === undefined) {
      const known =
        servers.size === 0 ? 'None is configured.' : `There are: ${[...servers.keys()].join(', ')}.`;
      throw new Error(`There is no server ${name}. ${known}`);
    }
    const slot = this.#slotFor(name, config);
    const connection = await unlessAborted(slot.opened, signal);
    return Object.assign(slot, { connection });
  }

  protected resetBackoff(name: string): void {
    this.#backoffOf(name).reset();
  }

  protected running(): readonly (readonly [string, Connection])[] {
    return [...this.#slots].flatMap(([name, { connection }]) =>
      connection?.state.kind === 'ready' ? [[name, connection] as const] : [],
    );
  }

  /** The last listed definition. */
  toolInfo(server: string, tool: string): ToolInfo | undefined {
    return this.#slots.get(server)?.tools.get(tool);
  }

  protected stateOf(name: string): ServerState {
    const slot = this.#slots.get(name);
    const state = slot?.connection?.state;
    if (state?.kind === 'ready') return state;
    if (slot !== undefined && !isDead(slot)) return { kind: 'starting' };
    const { reason, retryAtMs } = this.#backoffOf(name);
    return reason === undefined ? { kind: 'idle' } : { kind: 'failed', reason, retryAtMs };
  }

  /** Starts a server at once, even after failures. */
  async start(server: string): Promise<void> {
    this.resetBackoff(server);
    this.#authorizations.askAgain(server);
    await this.use(server);
  }

  async stop(server: string): Promise<void> {
    this.resetBackoff(server);
    await this.#retire(server, 'it was stopped');
    this.#notify(server, 'state');
  }

  /** Closes servers whose configuration was removed or changed. */
  async settle(): Promise<void> {
    if (this.#slots.size === 0) return;
    const servers = await this.options.servers();
    for (const [name, slot] of this.#slots) {
      const config = servers.get(name);
      if (config !== undefined && fingerprintServer(config) === slot.fingerprint) continue;
      void this.#retire(name, 'its configuration was changed', slot);
      this.#notify(name, 'state');
    }
  }

  async restart(server: string): Promise<void> {
    await this.stop(server);
    await this.start(server);
  }

  async signOut(server: string): Promise<void> {
    const config = (await this.options.servers()).get(server);
    const live = this.#slots.get(server)?.authorization;
    if (live !== undefined) await live.signOut();
    else if (config !== undefined) {
      const { resolve = withoutInputs } = this.options;
      await this.#authorizations.of(server, (await resolve(server, config)).config)?.signOut();
    }
    await this.stop(server);
  }

  /** Continues after a restart of the server. */
  watch(resource: ResourceName, onUpdate: () => void): Disposable {
    const { server, uri } = resource;
    const subscriptions = () => this.#slots.get(server)?.connection?.subscriptions;
    return this.#watches.add(resource, onUpdate, {
      first: () => subscriptions()?.add(uri),
      last: () => subscriptions()?.remove(uri),
    });
  }

  protected logOf(name: string): Log {
    const { log, logFor } = this.options;
    return logFor ? logFor(name) : withName(log, name);
  }

  /** The setting can be any number; timers treat values out of their range as 1. */
  protected timeoutMs(): number {
    const ms = Math.round(this.options.timeoutMs());
    return ms > 0 ? Math.min(ms, MAX_TIMER_MS) : 1;
  }

  /** Closes all servers; resolves when none of their processes is left. */
  async dispose(): Promise<void> {
    this.#disposed = true;
    for (const name of [...this.#slots.keys()]) void this.#retire(name, 'Filechat is closing');
    await Promise.all(this.#closing);
    await this.#guard.dispose();
  }

  #slotFor(name: string, config: ServerConfig): Slot {
    if (this.#disposed) throw new Error('Filechat is closing.');
    const fingerprint = fingerprintServer(config);
    const old = this.#slots.get(name);
    if (old?.fingerprint === fingerprint && !isDead(old)) return old;
    if (old !== undefined && old.fingerprint !== fingerprint) this.resetBackoff(name);
    void this.#retire(name, 'its configuration was changed');
    const refusal = this.#backoffOf(name).refusal(this.#now());
    if (refusal !== undefined) throw new Error(`Server ${name} is not started: ${refusal}`);
    const slot = this.#createSlot(name, config, fingerprint);
    this.#slots.set(name, slot);
    slot.opened.then(
      () => this.#ready(slot),
      (error: Error) => this.#failed(slot, error.message),
    );
    this.#notify(name, 'state');
    return slot;
  }

  #createSlot(name: string, config: ServerConfig, fingerprint: string): Slot {
    const slot: OpeningSlot = {
      name,
      fingerprint,
      authorization: undefined,
      connection: undefined,
      isOpen: false,
      retired: false,
      openedAtMs: this.#now(),
      tools: new Map(),
    };
    const { resolve = withoutInputs } = this.options;
    const opened = openServer({
      // Asynchronous, so that the slot is in place when inputs are requested.
      server: Promise.resolve().then(() => resolve(name, config)),
      knownProtocols: this.#knownProtocols,
      fingerprint,
      nowMs: this.#now(),
      timeoutMs: this.timeoutMs(),
      isWanted: () => !slot.retired,
      connect: (server, known) => this.#connect(slot, server, known),
    });
    return Object.assign(slot, { opened });
  }

  #connect(slot: OpeningSlot, server: ResolvedServer, knownProtocol: KnownProtocol | undefined): Connection {
    const { name } = slot;
    const { clientInfo, requests = {}, apps = false, maxDroppedBytes } = this.options;
    slot.authorization = this.#authorizations.of(name, server.config);
    slot.connection = new Connection({
      ...server,
      name,
      clientInfo,
      log: this.logOf(name),
      requests,
      apps,
      knownProtocol,
      authorization: slot.authorization,
      guard: this.#guard,
      maxDroppedBytes,
      chats: () => this.chats.at(name),
      onChange: (what) => this.#changed(slot, what),
      onUpdated: (uri) => this.#watches.notify(name, uri),
    });
    return slot.connection;
  }

  #ready(slot: Slot): void {
    const { name } = slot;
    slot.isOpen = true;
    slot.openedAtMs = this.#now();
    for (const uri of this.#watches.urisOf(name)) {
      slot.connection?.subscriptions.add(uri);
      // The resource may have changed in the meantime.
      this.#watches.notify(name, uri);
    }
    this.#notify(name, 'state');
  }

  #failed(slot: OpeningSlot, reason: string): void {
    const { name } = slot;
    if (this.#slots.get(name) !== slot) return;
    const nowMs = this.#now();
    // The time of a failed start does not count as uptime.
    const livedMs = slot.isOpen ? nowMs - slot.openedAtMs : 0;
    this.#backoffOf(name).failed(reason, { nowMs, livedMs });
    this.options.log.error(reason);
    void this.#retire(name, reason, slot);
    this.#notify(name, 'state');
  }

  /** A server that closed unexpectedly has failed. */
  #changed(slot: OpeningSlot, what: ServerChange): void {
    const { name, connection } = slot;
    if (what !== 'state') this.#notify(name, what);
    else if (connection?.state.kind === 'closed' && isDead(slot) && !slot.retired) {
      this.#crashed(slot, connection.state.reason);
    }
  }

  #crashed(slot: OpeningSlot, reason: string): void {
    const { name } = slot;
    this.#failed(slot, `Server ${name}: ${reason}`);
    if (this.#watches.urisOf(name).length === 0 || this.#disposed) return;
    // Subscribed resources continue after a restart.
    const waitMs = Math.max(this.#backoffOf(name).retryAtMs - this.#now(), MIN_RESTART_MS);
    setTimeout(() => void this.#restartForWatches(name), waitMs).unref();
  }

  async #restartForWatches(name: string): Promise<void> {
    if (this.#disposed || this.#watches.urisOf(name).length === 0) return;
    try {
      await this.use(name);
    } catch (error) {
      this.logOf(name).warn((error as Error).message);
    }
  }

  #backoffOf(name: string): Backoff {
    const backoff = this.#backoffs.get(name) ?? new Backoff();
    this.#backoffs.set(name, backoff);
    return backoff;
  }

  #notify(server: string, what: ServerChange): void {
    for (const listener of this.#listeners) listener(server, what);
  }

  #now(): number {
    return (this.options.now ?? Date.now)();
  }

  /** Closes a server, unless its slot was replaced. Resolves when its process is gone. */
  #retire(
    name: string,
    reason: string,
    expected: OpeningSlot | undefined = this.#slots.get(name),
  ): Promise<void> {
    const slot = this.#slots.get(name);
    if (slot === undefined || slot !== expected) return Promise.resolve();
    this.#slots.delete(name);
    slot.retired = true;
    slot.authorization?.cancel();
    const closed = Promise.resolve(slot.connection?.close(reason)).finally(() =>
      this.#closing.delete(closed),
    );
    this.#closing.add(closed);
    return closed;
  }
}

/** A server that is still opening may try another protocol. */
function isDead(slot: OpeningSlot): boolean {
  return slot.isOpen && slot.connection?.state.kind === 'closed';
}

async function withoutInputs(_server: string, config: ServerConfig): Promise<ResolvedServer> {
  return { config, secrets: [] };
}

function withName(log: Log, name: string): Log {
  return {
    debug: (message) => log.debug?.(`[${name}] ${message}`),
    info: (message) => log.info(`[${name}] ${message}`),
    warn: (message) => log.warn(`[${name}] ${message}`),
    error: (message) => log.error(`[${name}] ${message}`),
  };
}

/** The chats with pending calls, by server. */
class PendingChats {
  readonly #chats = new Map<string, string[]>();

  /** Adds a chat until the returned function is called. */
  enter(server: string, chat: string | undefined): () => void {
    if (chat === undefined) return () => undefined;
    const chats = this.#chats.get(server) ?? [];
    this.#chats.set(server, chats);
    chats.unshift(chat);
    return () => void chats.splice(chats.indexOf(chat), 1);
  }

  /** The latest first. */
  at(server: string): readonly string[] {
    return [...(this.#chats.get(server) ?? [])];
  }
}
