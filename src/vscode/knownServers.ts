import type { PromptInfo, ResourceList, ServerHost, ServerState, ToolInfo, ToolName } from '../ports.ts';

/** What servers offer, as far as it can be told without starting one: who types or points at something starts nothing. */
export class KnownServers {
  readonly #host: ServerHost;
  /** What a server that has ended offered while it lived. */
  readonly #tools = new Map<string, readonly ToolInfo[]>();

  constructor(host: ServerHost) {
    this.#host = host;
  }

  states(): Promise<ReadonlyMap<string, ServerState>> {
    return this.#host.states();
  }

  async tools(): Promise<readonly ToolInfo[]> {
    const states = await this.#host.states();
    const lists = [...states].map(async ([server, state]) => {
      if (state.kind !== 'ready') return this.#tools.get(server) ?? [];
      const { tools } = await this.#host.listTools(server);
      this.#tools.set(server, tools);
      return tools;
    });
    return (await Promise.all(lists)).flat();
  }

  async tool({ server, tool }: ToolName): Promise<ToolInfo | undefined> {
    return (await this.tools()).find((each) => each.server === server && each.tool === tool);
  }

  async prompts(): Promise<readonly PromptInfo[]> {
    const ready = await this.#ready();
    const lists = await Promise.all(ready.map((server) => this.#host.listPrompts(server)));
    return lists.flatMap(({ prompts }) => prompts);
  }

  async resources(): Promise<readonly ResourceList[]> {
    const ready = await this.#ready();
    return Promise.all(ready.map((server) => this.#host.listResources(server)));
  }

  async #ready(): Promise<readonly string[]> {
    return [...(await this.#host.states())].flatMap(([server, state]) =>
      state.kind === 'ready' ? [server] : [],
    );
  }
}
