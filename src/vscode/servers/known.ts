import type { Disposable } from '../../ports/document.ts';
import type { PromptInfo, ResourceList, ServerChange, ServerHost, ServerState } from '../../ports/servers.ts';
import type { ToolInfo, ToolName } from '../../ports/tools.ts';

type Host = Pick<ServerHost, 'states' | 'onDidChange' | 'listTools' | 'listPrompts' | 'listResources'>;

/** Caches the lists of running servers, for completion and hovers. Starts no server. */
export class KnownServers implements Disposable {
  readonly #host: Host;
  readonly #builtIn: () => Promise<readonly ToolInfo[]>;
  readonly #subscription: Disposable;
  readonly #tools: ListCache<readonly ToolInfo[]>;
  readonly #prompts: ListCache<readonly PromptInfo[]>;
  readonly #resources: ListCache<ResourceList>;

  constructor(host: Host, builtIn: () => Promise<readonly ToolInfo[]> = async () => []) {
    this.#host = host;
    this.#builtIn = builtIn;
    this.#tools = new ListCache('tools', async (server) => {
      const { tools, failures } = await host.listTools(server);
      return { list: tools, failed: failures.length > 0 };
    });
    this.#prompts = new ListCache('prompts', async (server) => {
      const { prompts, failure } = await host.listPrompts(server);
      return { list: prompts, failed: failure !== undefined };
    });
    this.#resources = new ListCache('resources', async (server) => {
      const list = await host.listResources(server);
      return { list, failed: list.failure !== undefined };
    });
    this.#subscription = host.onDidChange((server, what) => {
      for (const list of [this.#tools, this.#prompts, this.#resources]) list.invalidate(server, what);
    });
  }

  dispose(): void {
    this.#subscription.dispose();
  }

  states(): Promise<ReadonlyMap<string, ServerState>> {
    return this.#host.states();
  }

  /** Includes the tools that a stopped server had when it last ran. */
  async tools(): Promise<readonly ToolInfo[]> {
    const states = await this.#host.states();
    const lists = [...states].map(([server, { kind }]) =>
      kind === 'ready' ? this.#tools.get(server) : (this.#tools.last(server) ?? []),
    );
    return (await Promise.all([...lists, this.#builtIn()])).flat();
  }

  async tool({ server, tool }: ToolName): Promise<ToolInfo | undefined> {
    return (await this.tools()).find((each) => each.server === server && each.tool === tool);
  }

  async prompts(): Promise<readonly PromptInfo[]> {
    return (await this.#ofReady(this.#prompts)).flat();
  }

  resources(): Promise<readonly ResourceList[]> {
    return this.#ofReady(this.#resources);
  }

  async #ofReady<T>(lists: ListCache<T>): Promise<readonly T[]> {
    const ready = [...(await this.#host.states())].filter(([, { kind }]) => kind === 'ready');
    return Promise.all(ready.map(([server]) => lists.get(server)));
  }
}

type FetchList<T> = (server: string) => Promise<{ readonly list: T; readonly failed: boolean }>;

class ListCache<T> {
  readonly #kind: ServerChange;
  readonly #fetch: FetchList<T>;
  readonly #pending = new Map<string, Promise<T>>();
  readonly #last = new Map<string, T>();

  constructor(kind: ServerChange, fetch: FetchList<T>) {
    this.#kind = kind;
    this.#fetch = fetch;
  }

  get(server: string): Promise<T> {
    const known = this.#pending.get(server);
    if (known !== undefined) return known;
    const fetched = this.#fetch(server);
    // A failed request is retried at the next use.
    const forget = () => this.#pending.get(server) === value && this.#pending.delete(server);
    const value = fetched.then(({ list }) => list);
    fetched.then(({ list, failed }) => (failed ? forget() : this.#last.set(server, list)), forget);
    this.#pending.set(server, value);
    return value;
  }

  /** The last complete list, also after `invalidate`. */
  last(server: string): T | undefined {
    return this.#last.get(server);
  }

  invalidate(server: string, what: ServerChange): void {
    if (what === 'state' || what === this.#kind) this.#pending.delete(server);
  }
}
