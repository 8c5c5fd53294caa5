import { Backoff, Throttle, unlessAborted } from '../../base/async.ts';
import type { Disposable, Log } from '../../ports/document.ts';
import type { ResourceName, ServerChange, ServerState } from '../../ports/servers.ts';
import type { ToolInfo } from '../../ports/tools.ts';
import { fingerprintServer } from '../config/fingerprint.ts';
import type { ResolvedServer } from '../config/inputs.ts';
import type { ServerConfig } from '../config/types.ts';
import type { Connection } from '../connection/connection.ts';
import { InMemoryProtocols, type KnownProtocols } from '../connection/knownProtocols.ts';
import { ProcessGuard } from '../connection/processGuard.ts';
import { MAX_TIMER_MS } from '../connection/requestTimers.ts';
import { Watches } from '../connection/subscriptions.ts';
import type { ConnectionOptions } from '../connection/types.ts';
import { Authorizations } from '../oauth/authorizations.ts';
import { EDITOR_ADVICE, type PoolOptions } from './options.ts';
import { PendingChats } from './pendingChats.ts';
import { isDead, type OpeningSlot, type RunningServer, type Slot } from './slot.ts';

/** The shortest time between two notifications about the same list or resource. The last one is never left out. */
const MIN_CHANGE_MS = 500;
/** The shortest delay before a crashed server is restarted for its subscriptions. */
const MIN_RESTART_MS = 1000;

/** All servers, isolated from each other. A server is started by its first use, and again after it exited or changed. */
export class ServerPool {
  readonly #options: PoolOptions;
  readonly #knownProtocols: KnownProtocols;
  readonly #slots = new Map<string, Slot>();
  readonly #backoffs = new Map<string, Backoff>();
  /** Connections out of use whose processes may still run. */
  readonly #closing = new Set<Promise<void>>();
  readonly #listeners = new Set<(server: string, what: ServerChange) => void>();
  readonly #guard = new ProcessGuard();
  readonly #authorizations: Authorizations;
  readonly #watches = new Watches();
  readonly #changes = new Throttle(MIN_CHANGE_MS);
  protected readonly chats = new PendingChats();
  #disposed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
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
    const servers = await this.servers();
    return new Map([...servers.keys()].map((name) => [name, this.stateOf(name)]));
  }

  /** Resolves to the running server; starts it if necessary. */
  protected async use(name: string, signal?: AbortSignal | undefined): Promise<RunningServer> {
    const servers = await this.servers();
    for (const slot of this.#slots.values()) {
      if (!servers.has(slot.name)) void this.#retire(slot, 'it was removed from the configuration');
    }
    const config = servers.get(name);
    if (config === undefined) {
      const known =
        servers.size === 0
          ? 'No servers are configured.'
          : `Configured servers: ${[...servers.keys()].join(', ')}.`;
      throw new Error(`There is no server ${name}. ${known}`);
    }
    const slot = this.#slotFor(name, config);
    const connection = await unlessAborted(slot.opened, signal);
    return Object.assign(slot, { connection });
  }

  protected servers(): Promise<ReadonlyMap<string, ServerConfig>> {
    return this.#options.servers();
  }

  protected resetBackoff(name: string): void {
    this.#backoffs.delete(name);
  }

  protected running(): readonly (readonly [string, Connection])[] {
    return [...this.#slots].flatMap(([name, { connection }]) =>
      connection?.state.kind === 'ready' ? [[name, connection] as const] : [],
    );
  }

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
    await this.#authorizations.askAgain(server);
    await this.use(server);
  }

  async stop(server: string): Promise<void> {
    this.resetBackoff(server);
    await this.#retire(this.#slots.get(server), 'it was stopped');
    this.#notify(server, 'state');
  }

  /** Closes servers whose configuration was removed or changed. */
  async settle(): Promise<void> {
    if (this.#slots.size === 0) return;
    const servers = await this.servers();
    for (const [name, slot] of this.#slots) {
      const config = servers.get(name);
      if (config !== undefined && fingerprintServer(config) === slot.fingerprint) continue;
      void this.#retire(slot, 'its configuration was changed');
      this.#notify(name, 'state');
    }
  }

  async restart(server: string): Promise<void> {
    await this.stop(server);
    await this.start(server);
  }

  async signOut(server: string): Promise<void> {
    const config = (await this.servers()).get(server);
    const live = this.#slots.get(server)?.authorization;
    if (live !== undefined) await live.signOut();
    else if (config !== undefined) {
      const resolved = await this.#resolve(server, config);
      await (await this.#authorizations.of(server, resolved.config))?.signOut();
    }
    await this.stop(server);
  }

  /** Continues after a restart of the server. */
  subscribe(resource: ResourceName, onUpdate: () => void): Disposable {
    const { server, uri } = resource;
    const subscriptions = () => this.#slots.get(server)?.connection?.subscriptions;
    return this.#watches.add(resource, onUpdate, {
      first: () => subscriptions()?.add(uri),
      last: () => subscriptions()?.remove(uri),
    });
  }

  protected logOf(name: string): Log {
    const { log, logFor } = this.#options;
    if (logFor) return logFor(name);
    const named = (level: keyof Log) => (message: string) => log[level]?.(`[${name}] ${message}`);
    return { debug: named('debug'), info: named('info'), warn: named('warn'), error: named('error') };
  }

  /** The setting can be any number; timers treat values out of their range as 1. */
  protected timeoutMs(): number {
    const ms = Math.round(this.#options.timeoutMs());
    return ms > 0 ? Math.min(ms, MAX_TIMER_MS) : 1;
  }

  /** Closes all servers; resolves when none of their processes is left. */
  async dispose(): Promise<void> {
    this.#disposed = true;
    this.#changes.dispose();
    for (const slot of this.#slots.values()) void this.#retire(slot, 'Filechat is closing');
    await Promise.all(this.#closing);
    await this.#guard.dispose();
  }

  #slotFor(name: string, config: ServerConfig): Slot {
    if (this.#disposed) throw new Error('Filechat is closing.');
    const fingerprint = fingerprintServer(config);
    const old = this.#slots.get(name);
    if (old?.fingerprint === fingerprint && !isDead(old)) return old;
    if (this.#backoffs.get(name)?.of !== fingerprint) this.resetBackoff(name);
    void this.#retire(old, 'its configuration was changed');
    const { restart } = this.#options.advice ?? EDITOR_ADVICE;
    const refusal = this.#backoffOf(name).refusal(this.#now(), name, restart);
    if (refusal !== undefined) throw new Error(refusal);
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
      isProcess: 'command' in config,
      authorization: undefined,
      connection: undefined,
      retired: new AbortController(),
      openedAtMs: undefined,
      tools: new Map(),
      listed: undefined,
    };
    return Object.assign(slot, { opened: this.#open(slot, config) });
  }

  async #open(slot: OpeningSlot, config: ServerConfig): Promise<Connection> {
    const { name, fingerprint } = slot;
    const [nowMs, timeoutMs] = [(this.#options.date ?? Date.now)(), this.timeoutMs()];
    // The SDK is large, so it is loaded only now. The slot is in place when inputs are requested.
    const [{ openServer }, { Connection }] = await Promise.all([
      import('./open.ts'),
      import('../connection/connection.ts'),
    ]);
    return openServer({
      server: this.#resolve(name, config).then(async (server) => {
        slot.authorization = await this.#authorizations.of(name, server.config);
        return server;
      }),
      knownProtocols: this.#knownProtocols,
      fingerprint,
      nowMs,
      timeoutMs,
      signal: slot.retired.signal,
      connect: (server, knownProtocol) => {
        slot.connection = new Connection({ ...server, ...this.#connectionOptions(slot), knownProtocol });
        return slot.connection;
      },
    });
  }

  #connectionOptions(slot: OpeningSlot): Omit<ConnectionOptions, 'config' | 'secrets' | 'knownProtocol'> {
    const { name, authorization } = slot;
    const { clientInfo, requests = {}, apps, maxDroppedBytes, advice = EDITOR_ADVICE } = this.#options;
    return {
      name,
      clientInfo,
      log: this.logOf(name),
      requests,
      apps: apps?.() !== undefined,
      authorization,
      guard: this.#guard,
      maxDroppedBytes,
      timeoutSetting: advice.timeoutSetting,
      chats: () => this.chats.at(name),
      onChange: (what) => this.#changed(slot, what),
      onUpdated: (uri) =>
        this.#changes.run(JSON.stringify([name, uri]), () => this.#watches.notify(name, uri)),
    };
  }

  async #resolve(name: string, config: ServerConfig): Promise<ResolvedServer> {
    return (await this.#options.resolve?.(name, config)) ?? { config, secrets: [] };
  }

  #ready(slot: Slot): void {
    const { name } = slot;
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
    if (slot.retired.signal.aborted) return;
    const nowMs = this.#now();
    // A remote server may be back at any time; a command that cannot be run stays so until somebody fixes it.
    const startedAtMs = slot.openedAtMs ?? (slot.isProcess ? undefined : nowMs);
    const livedMs = startedAtMs === undefined ? undefined : nowMs - startedAtMs;
    const backoff = this.#backoffOf(name);
    backoff.failed(reason, { nowMs, livedMs });
    backoff.of = slot.fingerprint;
    this.#options.log.error(reason);
    void this.#retire(slot, reason);
    this.#notify(name, 'state');
  }

  /** Not a failure: the next use begins a new session, without a delay. */
  #expired(slot: OpeningSlot, reason: string): void {
    void this.#retire(slot, reason);
    this.#notify(slot.name, 'state');
  }

  /** A server that closed unexpectedly has failed. */
  #changed(slot: OpeningSlot, what: ServerChange): void {
    const { name, connection } = slot;
    if (what !== 'state') this.#changes.run(`${name} ${what}`, () => this.#notify(name, what));
    else if (connection?.state.kind === 'closed' && isDead(slot) && !slot.retired.signal.aborted) {
      this.#crashed(slot, connection.state);
    }
  }

  #crashed(slot: OpeningSlot, { reason, isExpired }: { reason: string; isExpired: boolean }): void {
    const { name } = slot;
    if (isExpired) this.#expired(slot, reason);
    else this.#failed(slot, `Server ${name}: ${reason}`);
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
    return this.#options.now?.() ?? performance.now();
  }

  /** Closes a server. Resolves when its process is gone. */
  async #retire(slot: OpeningSlot | undefined, reason: string): Promise<void> {
    if (slot === undefined || slot.retired.signal.aborted) return;
    this.#slots.delete(slot.name);
    slot.retired.abort(new Error(reason));
    slot.authorization?.cancel();
    const closed = Promise.resolve(slot.connection?.close(reason)).finally(() =>
      this.#closing.delete(closed),
    );
    this.#closing.add(closed);
    await closed;
  }
}
