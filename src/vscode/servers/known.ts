import type { Disposable } from '../../ports/document.ts';
import type { PromptInfo, PromptList, ResourceList, ServerHost, ServerState } from '../../ports/servers.ts';
import type { ToolInfo, ToolList, ToolName } from '../../ports/tools.ts';

type Host = Pick<ServerHost, 'states' | 'onDidChange' | 'listTools' | 'listPrompts' | 'listResources'>;

/** Caches the lists of running servers, for completion and hovers. Starts no server. */
export class KnownServers implements Disposable {
  readonly #host: Host;
  readonly #builtIn: () => Promise<readonly ToolInfo[]>;
  readonly #subscription: Disposable;
  readonly #lists: {
    readonly tools: CachedLists<ToolList>;
    readonly prompts: CachedLists<PromptList>;
    readonly resources: CachedLists<ResourceList>;
  };
  /** The last complete list of each server, also after it has stopped. */
  readonly #lastTools = new Map<string, readonly ToolInfo[]>();

  constructor(host: Host, builtIn: () => Promise<readonly ToolInfo[]> = async () => []) {
    this.#host = host;
    this.#builtIn = builtIn;
    this.#lists = {
      tools: cacheLists((server) => host.listTools(server)),
      prompts: cacheLists((server) => host.listPrompts(server)),
      resources: cacheLists((server) => host.listResources(server)),
    };
    this.#subscription = host.onDidChange((server, what) => {
      for (const kind of ['tools', 'prompts', 'resources'] as const) {
        if (what === 'state' || what === kind) this.#lists[kind].forget(server);
      }
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
      kind === 'ready' ? this.#toolsOf(server) : (this.#lastTools.get(server) ?? []),
    );
    return (await Promise.all([...lists, this.#builtIn()])).flat();
  }

  async tool({ server, tool }: ToolName): Promise<ToolInfo | undefined> {
    return (await this.tools()).find((each) => each.server === server && each.tool === tool);
  }

  async prompts(): Promise<readonly PromptInfo[]> {
    return (await this.#ofReady(this.#lists.prompts)).flatMap(({ prompts }) => prompts);
  }

  resources(): Promise<readonly ResourceList[]> {
    return this.#ofReady(this.#lists.resources);
  }

  async #toolsOf(server: string): Promise<readonly ToolInfo[]> {
    const { tools, failures } = await this.#lists.tools.get(server);
    if (failures.length === 0) this.#lastTools.set(server, tools);
    return tools;
  }

  async #ofReady<T>(lists: CachedLists<T>): Promise<readonly T[]> {
    const ready = [...(await this.#host.states())].filter(([, { kind }]) => kind === 'ready');
    return Promise.all(ready.map(([server]) => lists.get(server)));
  }
}

interface CachedLists<T> {
  get(server: string): Promise<T>;
  forget(server: string): void;
}

/** A failed request is retried at the next use. */
function cacheLists<T extends { readonly failure?: string } | Pick<ToolList, 'failures'>>(
  fetch: (server: string) => Promise<T>,
): CachedLists<T> {
  const lists = new Map<string, Promise<T>>();
  const get = (server: string) => {
    const known = lists.get(server);
    if (known !== undefined) return known;
    const list = fetch(server);
    const forget = () => lists.get(server) === list && lists.delete(server);
    list.then((each) => hasFailed(each) && forget(), forget);
    lists.set(server, list);
    return list;
  };
  return { get, forget: (server) => lists.delete(server) };
}

function hasFailed(list: { readonly failure?: string } | Pick<ToolList, 'failures'>): boolean {
  return 'failures' in list ? list.failures.length > 0 : list.failure !== undefined;
}
