import { unlessAborted } from '../../base/async.ts';
import { defined, field } from '../../base/json.ts';
import type { PromptList, ResourceList } from '../../ports/servers.ts';
import type { ToolList } from '../../ports/tools.ts';
import type { Connection } from '../connection/connection.ts';
import type { CallContext } from '../connection/types.ts';
import { collectPrompts, collectResources, collectTemplates, collectTools } from '../lists/definitions.ts';
import type { PageRequest } from '../lists/pages.ts';
import { ServerPool } from './pool.ts';
import type { RunningServer } from './slot.ts';

export interface CallOptions extends CallContext {
  readonly chat?: string | undefined;
}

interface ReadRequest {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** Requests that only read: lists, resources, prompts. They are sent again if their session has expired. */
export class ReadingPool extends ServerPool {
  /** Never rejects because of a server: the result lists failed servers. */
  async listTools(server?: string, signal?: AbortSignal): Promise<ToolList> {
    signal?.throwIfAborted();
    const names = server === undefined ? [...(await this.servers()).keys()] : [server];
    const lists = await unlessAborted(Promise.all(names.map((name) => this.#listToolsOf(name))), signal);
    return {
      tools: lists.flatMap((list) => list.tools),
      failures: lists.flatMap((list) => list.failures),
      instructions: lists.flatMap((list) => list.instructions ?? []),
      resourceServers: lists.flatMap((list) => list.resourceServers ?? []),
    };
  }

  async listResources(server: string, signal?: AbortSignal): Promise<ResourceList> {
    try {
      const request = await this.#pagesOf(server, 'resources', signal);
      const found = await collectResources(server, request);
      const more = await collectTemplates(server, request);
      this.#logNotices(server, [...found.notices, ...more.notices]);
      const failure = found.failure ?? more.failure;
      return { resources: found.items, templates: more.items, ...defined({ failure }) };
    } catch (error) {
      signal?.throwIfAborted();
      return { resources: [], templates: [], failure: sentence((error as Error).message) };
    }
  }

  async listPrompts(server: string, signal?: AbortSignal): Promise<PromptList> {
    try {
      const request = await this.#pagesOf(server, 'prompts', signal);
      const { items: prompts, notices, failure } = await collectPrompts(server, request);
      this.#logNotices(server, notices);
      return { prompts, ...defined({ failure }) };
    } catch (error) {
      signal?.throwIfAborted();
      return { prompts: [], failure: sentence((error as Error).message) };
    }
  }

  /** Resolves to the raw result of a request that only reads. Rejects as `run` does. */
  read(server: string, request: ReadRequest, options: CallOptions = {}): Promise<unknown> {
    const { uri } = request.params;
    const subject = typeof uri === 'string' ? `Reading ${uri} from server ${server}` : `Server ${server}`;
    const { chat, ...context } = options;
    return this.run(server, subject, options, ({ connection }) =>
      this.#request(server, connection, request, context),
    );
  }

  /** Sends the request once more, in a new session, if its session has expired. */
  async #request(
    server: string,
    connection: Connection,
    { method, params }: ReadRequest,
    context: CallContext,
  ): Promise<unknown> {
    const options = { ...context, timeoutMs: this.timeoutMs() };
    try {
      return await connection.request(method, params, options);
    } catch (error) {
      // A cursor belongs to its session.
      if (!hasExpired(connection) || context.signal?.aborted || 'cursor' in params) throw error;
      return (await this.use(server, context.signal)).connection.request(method, params, options);
    }
  }

  /**
   * Runs work with a server on behalf of a chat. Rejects with the signal's reason on abort, otherwise with a message that
   * can be shown in a document, which `subject` begins.
   */
  protected async run(
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

  /** The last list, if the server would have reported a change; otherwise it is requested again. */
  async #listToolsOf(server: string): Promise<ToolList> {
    try {
      const { listed, connection } = await this.use(server);
      return listed && listed.version === connection.toolsVersion
        ? listed.list
        : await this.listAgain(server);
    } catch (error) {
      const isUnknown = (await this.servers()).has(server) ? undefined : true;
      const reason = sentence((error as Error).message);
      return { tools: [], failures: [{ server, reason, ...defined({ isUnknown }) }] };
    }
  }

  protected async listAgain(server: string): Promise<ToolList> {
    const running = await this.use(server);
    const { connection } = running;
    const version = connection.toolsVersion;
    const request = this.#pages(server, connection);
    const found = await collectTools(server, request, { paramHeaders: connection.mirrorsHeaders });
    this.#logNotices(server, found.notices);
    const reason = `The tools of server ${server} could not be listed: ${found.failure}`;
    const failures = found.failure === undefined ? [] : [{ server, reason: sentence(reason) }];
    const current = hasExpired(connection) ? await this.use(server) : running;
    const { state, offers } = current.connection;
    const text = state.kind === 'ready' ? state.about.instructions : undefined;
    const list = {
      tools: found.items,
      failures,
      instructions: text === undefined ? [] : [{ server, text }],
      resourceServers: offers.resources ? [server] : [],
    };
    current.tools = new Map(found.items.map((tool) => [tool.tool, tool]));
    const isKept = failures.length === 0 && current === running && version !== undefined;
    current.listed = isKept ? { list, version } : undefined;
    return list;
  }

  /** A server without the capability has empty lists. */
  async #pagesOf(server: string, what: 'resources' | 'prompts', signal?: AbortSignal): Promise<PageRequest> {
    signal?.throwIfAborted();
    const { connection } = await this.use(server, signal);
    return connection.offers[what] ? this.#pages(server, connection, signal) : async () => EMPTY_PAGE;
  }

  #pages(server: string, first: Connection, signal?: AbortSignal): PageRequest {
    let connection = first;
    return async (method, params) => {
      try {
        if (hasExpired(connection)) connection = (await this.use(server, signal)).connection;
        return await this.#request(server, connection, { method, params }, { signal });
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

const EMPTY_PAGE = { tools: [], resources: [], resourceTemplates: [], prompts: [] };

function sentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}

const METHOD_NOT_FOUND = -32_601;

/** Servers that have only resources or prompts do not know `tools/list`. */
function isUnknownMethod(error: unknown): boolean {
  return error instanceof Error && field(error.cause, 'code') === METHOD_NOT_FOUND;
}

function hasExpired({ state }: Connection): boolean {
  return state.kind === 'closed' && state.isExpired;
}
