import type { Disposable } from '../../ports/document.ts';
import type { PromptInfo, ResourceList, ServerChange, ServerHost, ServerState } from '../../ports/servers.ts';
import type { ToolInfo, ToolName } from '../../ports/tools.ts';

type Host = Pick<ServerHost, 'states' | 'onDidChange' | 'listTools' | 'listPrompts' | 'listResources'>;

/**
 * What servers offer, as far as it can be told without starting one: who types or points at something starts nothing.
 * A server that runs is asked once, and again when it says that something has changed.
 */
export class KnownServers implements Disposable {
  readonly #host: Host;
  readonly #builtIn: () => Promise<readonly ToolInfo[]>;
  readonly #subscription: Disposable;
  readonly #tools: Answers<readonly ToolInfo[]>;
  readonly #prompts: Answers<readonly PromptInfo[]>;
  readonly #resources: Answers<ResourceList>;

  /** `builtIn` are the tools that are there without a server. */
  constructor(host: Host, builtIn: () => Promise<readonly ToolInfo[]> = async () => []) {
    this.#host = host;
    this.#builtIn = builtIn;
    this.#tools = new Answers('tools', async (server) => {
      const { tools, failures } = await host.listTools(server);
      return { value: tools, failed: failures.length > 0 };
    });
    this.#prompts = new Answers('prompts', async (server) => {
      const { prompts, failure } = await host.listPrompts(server);
      return { value: prompts, failed: failure !== undefined };
    });
    this.#resources = new Answers('resources', async (server) => {
      const list = await host.listResources(server);
      return { value: list, failed: list.failure !== undefined };
    });
    this.#subscription = host.onDidChange((server, what) => {
      for (const each of [this.#tools, this.#prompts, this.#resources]) each.changed(server, what);
    });
  }

  dispose(): void {
    this.#subscription.dispose();
  }

  states(): Promise<ReadonlyMap<string, ServerState>> {
    return this.#host.states();
  }

  /** Also what a server that has ended offered while it lived. */
  async tools(): Promise<readonly ToolInfo[]> {
    const states = await this.#host.states();
    const lists = [...states].map(([server, { kind }]) =>
      kind === 'ready' ? this.#tools.of(server) : (this.#tools.lastOf(server) ?? []),
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

  async #ofReady<T>(answers: Answers<T>): Promise<readonly T[]> {
    const ready = [...(await this.#host.states())].filter(([, { kind }]) => kind === 'ready');
    return Promise.all(ready.map(([server]) => answers.of(server)));
  }
}

/** What each server has answered to one question. */
class Answers<T> {
  readonly #about: ServerChange;
  readonly #ask: (server: string) => Promise<{ readonly value: T; readonly failed: boolean }>;
  readonly #asked = new Map<string, Promise<T>>();
  readonly #last = new Map<string, T>();

  constructor(
    about: ServerChange,
    ask: (server: string) => Promise<{ readonly value: T; readonly failed: boolean }>,
  ) {
    this.#about = about;
    this.#ask = ask;
  }

  of(server: string): Promise<T> {
    const known = this.#asked.get(server);
    if (known !== undefined) return known;
    const asked: Promise<T> = this.#ask(server).then(({ value, failed }) => {
      if (!failed) this.#last.set(server, value);
      // Who has not answered is asked again the next time.
      else if (this.#asked.get(server) === asked) this.#asked.delete(server);
      return value;
    });
    this.#asked.set(server, asked);
    return asked;
  }

  /** As it was when it was last told. */
  lastOf(server: string): T | undefined {
    return this.#last.get(server);
  }

  changed(server: string, what: ServerChange): void {
    if (what === 'state' || what === this.#about) this.#asked.delete(server);
  }
}
