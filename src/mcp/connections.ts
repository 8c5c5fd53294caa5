import { type Implementation, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/client';
import type { Log, ToolCall, ToolInfo, ToolList, ToolProgress } from '../ports.ts';
import type { ServerConfig } from './config.ts';
import { Connection } from './connection.ts';
import { fingerprintServer } from './consent.ts';
import type { SpillTable } from './spill/spillTable.ts';
import { collectTools } from './toolList.ts';
import { unlessAborted } from './waiting.ts';

export interface ConnectionsOptions {
  /** Asked at every use, so that a change of the settings counts at once. */
  readonly servers: () => Promise<ReadonlyMap<string, ServerConfig>>;
  readonly log: Log;
  /** How long a server may be silent while it starts and while it works. */
  readonly timeoutMs: () => number;
  readonly clientInfo: Implementation;
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: ToolProgress) => void) | undefined;
  /** Where the long base64 strings of the result go; without it they stay in it. The caller disposes it. */
  readonly spills?: SpillTable | undefined;
}

interface Slot {
  readonly fingerprint: string;
  readonly connection: Connection;
  /** Shared by all who use the server while it starts. */
  readonly opened: Promise<void>;
}

const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** All servers, each apart: connected at first use, connected anew at the next use after it died or changed. */
export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #slots = new Map<string, Slot>();
  /** Connections that are no longer used but whose processes may still live. */
  readonly #closing = new Set<Promise<void>>();
  #disposed = false;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  /** Never rejects because of a server: one that cannot be asked is named among the failures. */
  async listTools(server?: string, signal?: AbortSignal): Promise<ToolList> {
    signal?.throwIfAborted();
    const servers = await this.#options.servers();
    const names = server === undefined ? [...servers.keys()] : [server];
    const tools: ToolInfo[] = [];
    const failures: { server: string; reason: string }[] = [];
    const asked = Promise.all(names.map((name) => this.#listToolsOf(name, servers)));
    for (const found of await unlessAborted(asked, signal)) {
      tools.push(...found.tools);
      failures.push(...found.failures);
    }
    return { tools, failures };
  }

  /**
   * Calls a tool, once, and resolves to the raw result. Rejects with the signal's reason on abort, else with a
   * message that can stand in a document.
   */
  async callTool(call: ToolCall, { signal, onProgress, spills }: CallOptions = {}): Promise<unknown> {
    signal?.throwIfAborted();
    const { server, tool } = call;
    try {
      const connection = await this.#use(server, await this.#options.servers(), signal);
      const params = { name: tool, arguments: call.arguments };
      return await connection.request('tools/call', params, {
        timeoutMs: this.#timeoutMs(),
        signal,
        onProgress,
        spills,
      });
    } catch (error) {
      signal?.throwIfAborted();
      throw new Error(`Tool ${tool} of server ${server} failed: ${sentence((error as Error).message)}`);
    }
  }

  /** Closes all servers; resolves when none of their processes is left. */
  async dispose(): Promise<void> {
    this.#disposed = true;
    for (const name of [...this.#slots.keys()]) {
      this.#retire(name, 'Filechat is closing');
    }
    await Promise.all(this.#closing);
  }

  async #listToolsOf(server: string, servers: ReadonlyMap<string, ServerConfig>): Promise<ToolList> {
    try {
      const connection = await this.#use(server, servers);
      const found = await collectTools(server, (cursor) => this.#askTools(connection, cursor));
      for (const notice of found.notices) {
        this.#options.log.warn(`[${server}] ${notice}`);
      }
      const failures = found.failure === undefined ? [] : [listFailure(server, found.failure)];
      return { tools: found.tools, failures };
    } catch (error) {
      return { tools: [], failures: [{ server, reason: sentence((error as Error).message) }] };
    }
  }

  async #askTools(connection: Connection, cursor: string | undefined): Promise<unknown> {
    const params = cursor === undefined ? {} : { cursor };
    try {
      return await connection.request('tools/list', params, { timeoutMs: this.#timeoutMs() });
    } catch (error) {
      if (isUnknownMethod(error)) {
        return { tools: [] };
      }
      throw error;
    }
  }

  /** The live connection to a server; starts one when there is none. */
  async #use(
    name: string,
    servers: ReadonlyMap<string, ServerConfig>,
    signal?: AbortSignal | undefined,
  ): Promise<Connection> {
    this.#retireRemoved(servers);
    const config = servers.get(name);
    if (config === undefined) {
      const known = [...servers.keys()].join(', ');
      throw new Error(
        `There is no server ${name}. ${known === '' ? 'None is configured.' : `There are: ${known}.`}`,
      );
    }
    const slot = this.#slotFor(name, config);
    await unlessAborted(slot.opened, signal);
    return slot.connection;
  }

  #slotFor(name: string, config: ServerConfig): Slot {
    if (this.#disposed) {
      throw new Error('Filechat is closing.');
    }
    const fingerprint = fingerprintServer(config);
    const old = this.#slots.get(name);
    if (old?.fingerprint === fingerprint && old.connection.state.kind !== 'closed') {
      return old;
    }
    this.#retire(name, 'its configuration was changed');
    const { log, clientInfo } = this.#options;
    const connection = new Connection({ name, config, clientInfo, log });
    const slot = {
      fingerprint,
      connection,
      opened: connection.open({ timeoutMs: this.#timeoutMs() }),
    };
    this.#slots.set(name, slot);
    slot.opened.catch((error: Error) => {
      log.error(error.message);
      this.#retire(name, error.message, slot);
    });
    return slot;
  }

  /** The setting may hold any number, and timers take only some: others they would turn into no time at all. */
  #timeoutMs(): number {
    const ms = Math.round(this.#options.timeoutMs());
    return ms > 0 ? Math.min(ms, MAX_TIMEOUT_MS) : 1;
  }

  #retireRemoved(servers: ReadonlyMap<string, ServerConfig>): void {
    for (const name of [...this.#slots.keys()].filter((known) => !servers.has(known))) {
      this.#retire(name, 'it was removed from the configuration');
    }
  }

  /** Takes a server out of use and closes it, unless another has taken its place already. */
  #retire(name: string, reason: string, expected = this.#slots.get(name)): void {
    const slot = this.#slots.get(name);
    if (slot !== undefined && slot === expected) {
      this.#slots.delete(name);
      const closed = slot.connection.close(reason).finally(() => this.#closing.delete(closed));
      this.#closing.add(closed);
    }
  }
}

function listFailure(server: string, reason: string): ToolList['failures'][number] {
  return { server, reason: sentence(`The tools of server ${server} could not be listed: ${reason}`) };
}

function sentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}

/** A server without tools, only with resources or prompts, does not know how to list them. */
function isUnknownMethod(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof ProtocolError && cause.code === ProtocolErrorCode.MethodNotFound;
}
