import type { Implementation } from '@modelcontextprotocol/client';
import { unlessAborted } from '../../base/async.ts';
import { Backoff } from '../../base/backoff.ts';
import type { Disposable, Log } from '../../ports/document.ts';
import type { ServerRequests } from '../../ports/requests.ts';
import type { ResourceName, ServerChange, ServerState } from '../../ports/servers.ts';
import type { ToolInfo } from '../../ports/tools.ts';

import { fingerprintServer } from '../config/fingerprint.ts';
import type { ResolvedServer } from '../config/inputs.ts';
import type { ServerConfig } from '../config/types.ts';
import { Connection } from '../connection/connection.ts';
import { InMemoryProtocols, type KnownProtocols } from '../connection/knownProtocols.ts';
import { ProcessGuard } from '../connection/processGuard.ts';
import { Watches } from '../connection/subscriptions.ts';
import type { RemoteAuthorization } from '../oauth/authorization.ts';
import { Authorizations, type Authorize } from '../oauth/authorizations.ts';

import { openServer } from './open.ts';

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
  readonly knownProtocols?: KnownProtocols | undefined;
  readonly authorize?: Authorize | undefined;
  /** Fills in what the user has to be asked for. */
  readonly resolve?: ((server: string, config: ServerConfig) => Promise<ResolvedServer>) | undefined;
  readonly now?: (() => number) | undefined;
  /** How much of one message is thrown away before its server is closed. */
  readonly maxDroppedBytes?: number | undefined;
}

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
  readonly #knownProtocols: KnownProtocols;
  readonly #slots = new Map<string, Slot>();
  readonly #health = new Map<string, Backoff>();
  /** Connections that are no longer used but whose processes may still live. */
  readonly #closing = new Set<Promise<void>>();
  readonly #listeners = new Set<(server: string, what: ServerChange) => void>();
  readonly #guard = new ProcessGuard();
  readonly #authorizations: Authorizations;
  readonly #watches = new Watches();
  readonly chats = new LiveChats();
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
  resetBackoff(name: string): void {
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
    this.#authorizations.askAgain(server);
    await this.use(server);
  }

  async stop(server: string): Promise<void> {
    this.#healthOf(server).reset();
    await this.#retire(server, 'it was stopped');
    this.#tell(server, 'state');
  }

  /** Closes what is no longer configured, or not as it was. */
  async settle(): Promise<void> {
    if (this.#slots.size === 0) return;
    const servers = await this.#options.servers();
    for (const [name, slot] of this.#slots) {
      const config = servers.get(name);
      if (config !== undefined && fingerprintServer(config) === slot.fingerprint) continue;
      void this.#retire(name, 'its configuration was changed', slot);
      this.#tell(name, 'state');
    }
  }

  async restart(server: string): Promise<void> {
    await this.stop(server);
    await this.start(server);
  }

  async signOut(server: string): Promise<void> {
    const config = (await this.#options.servers()).get(server);
    const live = this.#slots.get(server)?.authorization;
    if (live !== undefined) await live.signOut();
    else if (config !== undefined) {
      const { resolve = asItIs } = this.#options;
      await this.#authorizations.of(server, (await resolve(server, config)).config)?.signOut();
    }
    await this.stop(server);
  }

  /** Goes on after the server was started anew. */
  watch(resource: ResourceName, onUpdate: () => void): Disposable {
    const { server, uri } = resource;
    const subscriptions = () => this.#slots.get(server)?.connection?.subscriptions;
    return this.#watches.add(resource, onUpdate, {
      first: () => subscriptions()?.add(uri),
      last: () => subscriptions()?.remove(uri),
    });
  }

  logOf(name: string): Log {
    const { log, logFor } = this.#options;
    return logFor ? logFor(name) : withName(log, name);
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
      void this.#retire(name, 'Filechat is closing');
    }
    await Promise.all(this.#closing);
    await this.#guard.dispose();
  }

  #slotFor(name: string, config: ServerConfig): Slot {
    if (this.#disposed) {
      throw new Error('Filechat is closing.');
    }
    const fingerprint = fingerprintServer(config);
    const old = this.#slots.get(name);
    if (old?.fingerprint === fingerprint && !isDead(old)) return old;
    if (old !== undefined && old.fingerprint !== fingerprint) this.#healthOf(name).reset();
    void this.#retire(name, 'its configuration was changed');
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
    const { resolve = asItIs, clientInfo, requests, apps, maxDroppedBytes } = this.#options;
    const opened = openServer({
      // On the next turn, so that who asks for inputs finds the slot in its place.
      server: Promise.resolve().then(() => resolve(name, config)),
      knownProtocols: this.#knownProtocols,
      fingerprint,
      nowMs: this.#now(),
      timeoutMs: this.timeoutMs(),
      isWanted: () => !slot.retired,
      connect: ({ config: own, secrets }, knownProtocol) => {
        slot.authorization = this.#authorizations.of(name, own);
        slot.connection = new Connection({
          name,
          config: own,
          secrets,
          clientInfo,
          log: this.logOf(name),
          requests,
          apps,
          knownProtocol,
          authorization: slot.authorization,
          guard: this.#guard,
          maxDroppedBytes,
          chats: () => this.chats.at(name),
          onChange: (what) => this.#changed(name, slot as Slot, what),
          onUpdated: (uri) => this.#watches.notify(name, uri),
        });
        return slot.connection;
      },
    });
    return Object.assign(slot, { opened });
  }

  #ready(name: string, slot: Slot): void {
    slot.isOpen = true;
    slot.openedAtMs = this.#now();
    for (const uri of this.#watches.urisOf(name)) {
      slot.connection?.subscriptions.add(uri);
      // While nobody listened it may have changed.
      this.#watches.notify(name, uri);
    }
    this.#tell(name, 'state');
  }

  #failed(name: string, slot: Slot, reason: string): void {
    if (this.#slots.get(name) !== slot) return;
    const nowMs = this.#now();
    // The time that a start took is no time in which it was well.
    const livedMs = slot.isOpen ? nowMs - slot.openedAtMs : 0;
    this.#healthOf(name).failed(reason, { nowMs, livedMs });
    this.#options.log.error(reason);
    void this.#retire(name, reason, slot);
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
    if (this.#watches.urisOf(name).length === 0 || this.#disposed) return;
    // Somebody has something of it open, and wants it to go on.
    const waitMs = Math.max(this.#healthOf(name).retryAtMs - this.#now(), REST_MS);
    setTimeout(() => void this.#startAgain(name), waitMs).unref();
  }

  async #startAgain(name: string): Promise<void> {
    if (this.#disposed || this.#watches.urisOf(name).length === 0) return;
    try {
      await this.use(name);
    } catch (error) {
      this.logOf(name).warn((error as Error).message);
    }
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
      void this.#retire(name, 'it was removed from the configuration');
    }
  }

  /** Takes a server out of use and closes it, unless another has taken its place already. Resolves when it is gone. */
  #retire(name: string, reason: string, expected = this.#slots.get(name)): Promise<void> {
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

/** While it opens, the opening itself will say why it failed, and may try another way. */
function isDead(slot: Slot): boolean {
  return slot.isOpen && slot.connection?.state.kind === 'closed';
}

async function asItIs(_server: string, config: ServerConfig): Promise<ResolvedServer> {
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

function getOrAdd<K, V>(map: Map<K, V>, key: K, create: () => V): V {
  const found = map.get(key) ?? create();
  map.set(key, found);
  return found;
}

/** The chats whose calls are under way, by server. */
class LiveChats {
  readonly #chats = new Map<string, string[]>();

  /** Remembers the chat until what is returned is called. */
  enter(server: string, chat: string | undefined): () => void {
    if (chat === undefined) return () => undefined;
    const chats = this.#chats.get(server) ?? [];
    this.#chats.set(server, chats);
    chats.unshift(chat);
    return () => void chats.splice(chats.indexOf(chat), 1);
  }

  /** As it is now, the latest first. */
  at(server: string): readonly string[] {
    return [...(this.#chats.get(server) ?? [])];
  }
}
