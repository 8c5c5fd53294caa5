import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/client';
import { unlessAborted } from '../../base/async.ts';
import { field } from '../../base/json.ts';
import type { CompletionRequest, LogLevel, PromptList, ResourceList } from '../../ports/servers.ts';
import type { ToolCall, ToolList } from '../../ports/tools.ts';
import type { CallContext, Connection } from '../connection/connection.ts';
import { collectPrompts, collectResources, collectTemplates, collectTools } from '../lists/definitions.ts';
import { makeCall } from './calls.ts';
import { type PoolOptions, type RunningServer, ServerPool } from './pool.ts';

export type ConnectionsOptions = PoolOptions;

export interface CallOptions extends CallContext {
  readonly chat?: string | undefined;
}

const MAX_COMPLETIONS = 100;

/** Requests to servers. A server is started when it is first needed. */
export class Connections extends ServerPool {
  /** Never rejects because of a server: the result lists failed servers. */
  async listTools(server?: string, signal?: AbortSignal): Promise<ToolList> {
    signal?.throwIfAborted();
    const names = server === undefined ? [...(await this.options.servers()).keys()] : [server];
    const lists = await unlessAborted(Promise.all(names.map((name) => this.#listToolsOf(name))), signal);
    return {
      tools: lists.flatMap((list) => list.tools),
      failures: lists.flatMap((list) => list.failures),
      instructions: lists.flatMap((list) => list.instructions ?? []),
    };
  }

  /**
   * Calls a tool, once, and resolves to the raw result. Rejects with the signal's reason on abort, otherwise with a
   * message that can be shown in a document.
   */
  callTool(call: ToolCall, options: CallOptions = {}): Promise<unknown> {
    const { server, tool } = call;
    return this.#run(server, `Tool ${tool} of server ${server}`, options, async (running) => {
      const result = await makeCall(call, {
        ...options,
        running,
        relist: () => this.#listToolsOf(server),
        requests: this.options.requests ?? {},
        askedBy: { server, chats: this.chats.at(server) },
        timeoutMs: this.timeoutMs(),
      });
      this.resetBackoff(server);
      return result;
    });
  }

  async listResources(server: string, signal?: AbortSignal): Promise<ResourceList> {
    try {
      const ask = await this.#asker(server, 'resources', signal);
      const found = await collectResources(server, (cursor) => ask('resources/list', cursor));
      const more = await collectTemplates(server, (cursor) => ask('resources/templates/list', cursor));
      this.#logNotices(server, [...found.notices, ...more.notices]);
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
      this.#logNotices(server, notices);
      return { prompts: items, ...(failure === undefined ? {} : { failure }) };
    } catch (error) {
      signal?.throwIfAborted();
      return { prompts: [], failure: sentence((error as Error).message) };
    }
  }

  /** Resolves to the raw result of a request that only reads. Rejects as `callTool` does. */
  read(
    server: string,
    request: { readonly method: string; readonly params: Readonly<Record<string, unknown>> },
    options: CallOptions = {},
  ): Promise<unknown> {
    return this.#run(server, `Server ${server}`, options, ({ connection }) => {
      const { signal, onProgress, spills } = options;
      const own = { timeoutMs: this.timeoutMs(), signal, onProgress, spills };
      return connection.request(request.method, request.params, own);
    });
  }

  async complete(
    { server, of, argument, value, others }: CompletionRequest,
    signal?: AbortSignal,
  ): Promise<readonly string[]> {
    const state = this.stateOf(server);
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
      if (!signal?.aborted) this.logOf(server).info(`no completions: ${(error as Error).message}`);
      return [];
    }
  }

  async setLogLevel(server: string, level: LogLevel): Promise<void> {
    const { connection } = await this.use(server);
    await connection.setLogLevel(level, { timeoutMs: this.timeoutMs() });
  }

  rootsChanged(): void {
    for (const [name, connection] of this.running()) {
      connection.rootsChanged().catch((error: unknown) => this.logOf(name).info(String(error)));
    }
  }

  /** Runs work with a server on behalf of a chat. `subject` begins the message of a failure. */
  async #run(
    server: string,
    subject: string,
    { signal, chat }: CallOptions,
    work: (running: RunningServer) => Promise<unknown>,
  ): Promise<unknown> {
    signal?.throwIfAborted();
    const leave = this.chats.enter(server, chat);
    try {
      return await work(await this.use(server, signal));
    } catch (error) {
      signal?.throwIfAborted();
      throw new Error(`${subject} failed: ${sentence((error as Error).message)}`);
    } finally {
      leave();
    }
  }

  async #listToolsOf(server: string): Promise<ToolList> {
    try {
      const running = await this.use(server);
      const { connection } = running;
      const ask = this.#pages(connection);
      const found = await collectTools(server, (cursor) => ask('tools/list', cursor), {
        paramHeaders: connection.mirrorsHeaders,
      });
      this.#logNotices(server, found.notices);
      running.tools = new Map(found.items.map((tool) => [tool.tool, tool]));
      const reason = `The tools of server ${server} could not be listed: ${found.failure}`;
      const failures = found.failure === undefined ? [] : [{ server, reason: sentence(reason) }];
      const text = connection.state.kind === 'ready' ? connection.state.about.instructions : undefined;
      return { tools: found.items, failures, instructions: text === undefined ? [] : [{ server, text }] };
    } catch (error) {
      return { tools: [], failures: [{ server, reason: sentence((error as Error).message) }] };
    }
  }

  /** A server without the capability has empty lists. */
  async #asker(server: string, what: 'resources' | 'prompts', signal?: AbortSignal): Promise<AskPage> {
    signal?.throwIfAborted();
    const { connection } = await this.use(server, signal);
    return connection.offers[what] ? this.#pages(connection, signal) : async () => EMPTY_PAGE;
  }

  #pages(connection: Connection, signal?: AbortSignal): AskPage {
    const options = { timeoutMs: this.timeoutMs(), signal };
    return async (method, cursor) => {
      try {
        return await connection.request(method, cursor === undefined ? {} : { cursor }, options);
      } catch (error) {
        if (isUnknownMethod(error)) return EMPTY_PAGE;
        throw error;
      }
    };
  }

  #logNotices(server: string, notices: readonly string[]): void {
    for (const notice of notices) this.logOf(server).warn(notice);
  }
}

type AskPage = (method: string, cursor: string | undefined) => Promise<unknown>;

const EMPTY_PAGE = { tools: [], resources: [], resourceTemplates: [], prompts: [] };

function sentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}

/** Servers that have only resources or prompts do not know `tools/list`. */
function isUnknownMethod(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof ProtocolError && cause.code === ProtocolErrorCode.MethodNotFound;
}
