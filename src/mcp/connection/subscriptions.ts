import type { Client, McpSubscription, SubscriptionFilter } from '@modelcontextprotocol/client';
import type { Disposable } from '../../ports/document.ts';
import type { ResourceName } from '../../ports/servers.ts';

type Opened = Promise<McpSubscription | undefined>;

const FIRST_DELAY_MS = 1000;
const MAX_DELAY_MS = 60_000;

/**
 * What a server is to tell us by itself. Servers of the older revisions tell of changed lists unasked and of
 * resources one by one; those of the newer one want a request that stays open and names everything.
 */
export class Subscriptions {
  readonly #client: Client;
  readonly #onError: (error: unknown) => void;
  /** Told of resources that may have changed unnoticed. */
  readonly #onMissed: (uri: string) => void;
  readonly #uris = new Set<string>();
  #open: Opened | undefined;
  #closed = false;
  #breaks = 0;

  constructor(
    client: Client,
    { onError, onMissed }: { onError: (error: unknown) => void; onMissed: (uri: string) => void },
  ) {
    this.#client = client;
    this.#onError = onError;
    this.#onMissed = onMissed;
  }

  /** Called when the connection is ready. */
  listen(): void {
    if (this.#client.getProtocolEra() === 'modern') this.#relisten();
  }

  add(uri: string): void {
    this.#uris.add(uri);
    this.#tell('resources/subscribe', uri);
  }

  remove(uri: string): void {
    if (this.#uris.delete(uri)) this.#tell('resources/unsubscribe', uri);
  }

  close(): void {
    this.#closed = true;
  }

  #tell(method: 'resources/subscribe' | 'resources/unsubscribe', uri: string): void {
    if (this.#client.getProtocolEra() === 'modern') this.#relisten();
    else this.#client.request({ method, params: { uri } }).catch(this.#onError);
  }

  /** The old request is closed when the new one stands, so that nothing is missed in between. */
  #relisten(): void {
    const before = this.#open;
    const filter = this.#filter();
    const next = Object.keys(filter).length === 0 ? undefined : this.#client.listen(filter);
    const opened = Promise.resolve(next).catch((error: unknown) => {
      this.#onError(error);
      this.#later(opened);
      return undefined;
    });
    this.#open = opened;
    void opened.then(async (subscription) => {
      await (await before)?.close();
      if (subscription !== undefined) await this.#follow(subscription, opened);
    }, this.#onError);
  }

  /** A stream that broke off is opened again. */
  async #follow(subscription: McpSubscription, opened: Opened): Promise<void> {
    const openedAtMs = performance.now();
    if ((await subscription.closed) !== 'remote') return;
    if (performance.now() - openedAtMs > MAX_DELAY_MS) this.#breaks = 0;
    this.#later(opened);
  }

  /** Tries again, later each time, unless another has taken its place. */
  #later(opened: Opened): void {
    if (this.#open !== opened || this.#closed) return;
    this.#open = undefined;
    const delayMs = Math.min(FIRST_DELAY_MS * 2 ** this.#breaks, MAX_DELAY_MS);
    this.#breaks += 1;
    const again = () => {
      if (this.#closed || this.#open !== undefined) return;
      this.#relisten();
      // While nobody listened they may have changed.
      for (const uri of this.#uris) this.#onMissed(uri);
    };
    // Nothing has to wait for this when the host ends.
    setTimeout(again, delayMs).unref();
  }

  #filter(): SubscriptionFilter {
    const { tools, prompts, resources } = this.#client.getServerCapabilities() ?? {};
    return {
      ...(tools?.listChanged ? { toolsListChanged: true } : {}),
      ...(prompts?.listChanged ? { promptsListChanged: true } : {}),
      ...(resources?.listChanged ? { resourcesListChanged: true } : {}),
      ...(this.#uris.size > 0 ? { resourceSubscriptions: [...this.#uris] } : {}),
    };
  }
}

/** Who wants to know when a resource changes, by server and address. */
export class Watches {
  readonly #watched = new Map<string, Map<string, Set<() => void>>>();

  /** `onFirst` and `onLast` are told when an address begins and ends to be of interest. */
  add(
    { server, uri }: ResourceName,
    listener: () => void,
    on: { readonly first: () => void; readonly last: () => void },
  ): Disposable {
    const uris = this.#watched.get(server) ?? new Map<string, Set<() => void>>();
    const listeners = uris.get(uri) ?? new Set();
    this.#watched.set(server, uris.set(uri, listeners));
    if (listeners.size === 0) on.first();
    listeners.add(listener);
    return {
      dispose: () => {
        if (!listeners.delete(listener) || listeners.size > 0) return;
        uris.delete(uri);
        on.last();
      },
    };
  }

  of(server: string): readonly string[] {
    return [...(this.#watched.get(server)?.keys() ?? [])];
  }

  tell(server: string, uri: string): void {
    for (const listener of this.#watched.get(server)?.get(uri) ?? []) listener();
  }
}
