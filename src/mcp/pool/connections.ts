import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/client';
import { unlessAborted } from '../../base/async.ts';
import { field } from '../../base/json.ts';
import type { Disposable } from '../../ports/document.ts';
import type {
  CompletionRequest,
  LogLevel,
  PromptList,
  ResourceList,
  ResourceName,
  ServerChange,
  ServerState,
} from '../../ports/servers.ts';
import type { ToolCall, ToolInfo, ToolList, ToolProgress } from '../../ports/tools.ts';

import type { Connection } from '../connection/connection.ts';
import { collectPrompts, collectResources, collectTemplates } from '../lists/resources.ts';
import { collectTools } from '../lists/tools.ts';
import type { SpillTable } from '../spill/table.ts';
import { makeCall } from './calls.ts';
import { type PoolOptions, ServerPool } from './pool.ts';

export type ConnectionsOptions = PoolOptions;

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: ToolProgress) => void) | undefined;
  /** Where the long base64 strings of the result go; without it they stay in it. The caller disposes it. */
  readonly spills?: SpillTable | undefined;
  readonly chat?: string | undefined;
}

const MAX_COMPLETIONS = 100;

/** What can be asked of servers. Each is started when it is first needed. */
export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #pool: ServerPool;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
    this.#pool = new ServerPool(options);
  }

  onDidChange(listener: (server: string, what: ServerChange) => void): Disposable {
    return this.#pool.onDidChange(listener);
  }

  states(): Promise<ReadonlyMap<string, ServerState>> {
    return this.#pool.states();
  }

  start(server: string): Promise<void> {
    return this.#pool.start(server);
  }

  stop(server: string): Promise<void> {
    return this.#pool.stop(server);
  }

  restart(server: string): Promise<void> {
    return this.#pool.restart(server);
  }

  /** Closes what is no longer configured, or not as it was. */
  settle(): Promise<void> {
    return this.#pool.settle();
  }

  signOut(server: string): Promise<void> {
    return this.#pool.signOut(server);
  }

  /** Never rejects because of a server: one that cannot be asked is named among the failures. */
  async listTools(server?: string, signal?: AbortSignal): Promise<ToolList> {
    signal?.throwIfAborted();
    const names = server === undefined ? [...(await this.#options.servers()).keys()] : [server];
    const asked = Promise.all(names.map((name) => this.#listToolsOf(name)));
    const found = await unlessAborted(asked, signal);
    return {
      tools: found.flatMap((list) => list.tools),
      failures: found.flatMap((list) => list.failures),
      instructions: found.flatMap((list) => list.instructions ?? []),
    };
  }

  /**
   * Calls a tool, once, and resolves to the raw result. Rejects with the signal's reason on abort, else with a
   * message that can stand in a document.
   */
  async callTool(call: ToolCall, { signal, onProgress, spills, chat }: CallOptions = {}): Promise<unknown> {
    signal?.throwIfAborted();
    const { server, tool } = call;
    const leave = this.#pool.chats.enter(server, chat);
    try {
      const running = await this.#pool.use(server, signal);
      const result = await makeCall(call, {
        running,
        relist: () => this.#listToolsOf(server),
        requests: this.#options.requests ?? {},
        askedBy: { server, chats: this.#pool.chats.at(server) },
        timeoutMs: this.#pool.timeoutMs(),
        signal,
        onProgress,
        spills,
      });
      this.#pool.resetBackoff(server);
      return result;
    } catch (error) {
      signal?.throwIfAborted();
      throw new Error(`Tool ${tool} of server ${server} failed: ${sentence((error as Error).message)}`);
    } finally {
      leave();
    }
  }

  /** What the server said of a tool when it was last asked. */
  toolInfo(server: string, tool: string): ToolInfo | undefined {
    return this.#pool.toolInfo(server, tool);
  }

  async listResources(server: string, signal?: AbortSignal): Promise<ResourceList> {
    try {
      const ask = await this.#asker(server, 'resources', signal);
      const found = await collectResources(server, (cursor) => ask('resources/list', cursor));
      const more = await collectTemplates(server, (cursor) => ask('resources/templates/list', cursor));
      this.#notice(server, [...found.notices, ...more.notices]);
      const failure = found.failure ?? more.failure;
      return { resources: found.items, templates: more.items, ...(failure === undefined ? {} : { failure }) };
    } catch (error) {
      signal?.throwIfAborted();
      return { resources: [], templates: [], failure: sentence((error as Error).message) };
    }
  }

  async listPrompts(server: string, signal?: AbortSignal): Promise<PromptList> {
    try {
      const ask = await this.#asker(server, 'prompts', signal);
      const { items, notices, failure } = await collectPrompts(server, (cursor) =>
        ask('prompts/list', cursor),
      );
      this.#notice(server, notices);
      return { prompts: items, ...(failure === undefined ? {} : { failure }) };
    } catch (error) {
      signal?.throwIfAborted();
      return { prompts: [], failure: sentence((error as Error).message) };
    }
  }

  /** The raw result of a request that reads something. Rejects as `callTool` does. */
  async read(
    server: string,
    request: { readonly method: string; readonly params: Readonly<Record<string, unknown>> },
    { signal, onProgress, spills, chat }: CallOptions = {},
  ): Promise<unknown> {
    signal?.throwIfAborted();
    const leave = this.#pool.chats.enter(server, chat);
    try {
      const { connection } = await this.#pool.use(server, signal);
      const options = { timeoutMs: this.#pool.timeoutMs(), signal, onProgress, spills };
      return await connection.request(request.method, request.params, options);
    } catch (error) {
      signal?.throwIfAborted();
      throw new Error(`Server ${server} failed: ${sentence((error as Error).message)}`);
    } finally {
      leave();
    }
  }

  async complete(
    { server, of, argument, value, others }: CompletionRequest,
    signal?: AbortSignal,
  ): Promise<readonly string[]> {
    const state = this.#pool.stateOf(server);
    if (state.kind !== 'ready' || !state.about.offers.completions) return [];
    const ref =
      of.kind === 'prompt'
        ? { type: 'ref/prompt', name: of.prompt }
        : { type: 'ref/resource', uri: of.uriTemplate };
    const context = others === undefined ? {} : { context: { arguments: others } };
    const params = { ref, argument: { name: argument, value }, ...context };
    try {
      const result = await this.read(server, { method: 'completion/complete', params }, { signal });
      const values = field(field(result, 'completion'), 'values');
      const texts = Array.isArray(values) ? values.filter((each) => typeof each === 'string') : [];
      return texts.slice(0, MAX_COMPLETIONS);
    } catch (error) {
      if (!signal?.aborted) this.#pool.logOf(server).info(`no completions: ${(error as Error).message}`);
      return [];
    }
  }

  /** Goes on after the server was started anew. */
  watch(resource: ResourceName, onUpdate: () => void): Disposable {
    return this.#pool.watch(resource, onUpdate);
  }

  async setLogLevel(server: string, level: LogLevel): Promise<void> {
    const { connection } = await this.#pool.use(server);
    await connection.setLogLevel(level, { timeoutMs: this.#pool.timeoutMs() });
  }

  rootsChanged(): void {
    for (const [name, connection] of this.#pool.running()) {
      connection.rootsChanged().catch((error: unknown) => this.#pool.logOf(name).info(String(error)));
    }
  }

  /** Closes all servers; resolves when none of their processes is left. */
  dispose(): Promise<void> {
    return this.#pool.dispose();
  }

  async #listToolsOf(server: string): Promise<ToolList> {
    try {
      const running = await this.#pool.use(server);
      const { connection } = running;
      const ask = this.#pages(connection);
      const { mirrorsHeaders } = connection;
      const found = await collectTools(server, (cursor) => ask('tools/list', cursor), {
        paramHeaders: mirrorsHeaders,
      });
      this.#notice(server, found.notices);
      running.tools = new Map(found.items.map((tool) => [tool.tool, tool]));
      const failures = found.failure === undefined ? [] : [listFailure(server, found.failure)];
      const text = connection.state.kind === 'ready' ? connection.state.about.instructions : undefined;
      return { tools: found.items, failures, instructions: text === undefined ? [] : [{ server, text }] };
    } catch (error) {
      return { tools: [], failures: [{ server, reason: sentence((error as Error).message) }] };
    }
  }

  /** Asks page after page; a server that does not have what is asked for has none of it. */
  async #asker(server: string, what: 'resources' | 'prompts', signal?: AbortSignal): Promise<AskPage> {
    signal?.throwIfAborted();
    const { connection } = await this.#pool.use(server, signal);
    if (!connection.offers[what]) return async () => NOTHING;
    return this.#pages(connection, signal);
  }

  #pages(connection: Connection, signal?: AbortSignal): AskPage {
    const options = { timeoutMs: this.#pool.timeoutMs(), signal };
    return async (method, cursor) => {
      try {
        return await connection.request(method, cursor === undefined ? {} : { cursor }, options);
      } catch (error) {
        if (isUnknownMethod(error)) return NOTHING;
        throw error;
      }
    };
  }

  #notice(server: string, notices: readonly string[]): void {
    for (const notice of notices) this.#pool.logOf(server).warn(notice);
  }
}

type AskPage = (method: string, cursor: string | undefined) => Promise<unknown>;

/** An empty page of every list. */
const NOTHING = { tools: [], resources: [], resourceTemplates: [], prompts: [] };

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
