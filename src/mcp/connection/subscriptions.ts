import type { Client, McpSubscription, SubscriptionFilter } from '@modelcontextprotocol/client';
import type { Disposable } from '../../ports/document.ts';
import type { ResourceName } from '../../ports/servers.ts';

type Opened = Promise<McpSubscription | undefined>;

const FIRST_DELAY_MS = 1000;
const MAX_DELAY_MS = 60_000;

/**
 * Subscribes to changes of lists and resources. Older revisions report lists unasked and take one request per resource;
 * the newer one takes a single request that stays open and lists everything.
 */
export class Subscriptions {
  readonly #client: Client;
  readonly #onError: (error: unknown) => void;
  /** Called for resources that may have changed unnoticed. */
  readonly #onGap: (uri: string) => void;
  readonly #uris = new Set<string>();
  #open: Opened | undefined;
  #closed = false;
  #failures = 0;
  /** The open request, as the server acknowledged it. */
  #followed: McpSubscription | undefined;
  #breaks = 0;

  constructor(
    client: Client,
    { onError, onGap }: { onError: (error: unknown) => void; onGap: (uri: string) => void },
  ) {
    this.#client = client;
    this.#onError = onError;
    this.#onGap = onGap;
  }

  /** How often changes of the tools may have been missed; undefined while the server does not report them. */
  get toolBreaks(): number | undefined {
    return this.#followed?.honoredFilter.toolsListChanged === true ? this.#breaks : undefined;
  }

  listen(): void {
    if (this.#client.getProtocolEra() === 'modern') this.#relisten();
  }

  add(uri: string): void {
    this.#uris.add(uri);
    this.#update('resources/subscribe', uri);
  }

  remove(uri: string): void {
    if (this.#uris.delete(uri)) this.#update('resources/unsubscribe', uri);
  }

  close(): void {
    this.#closed = true;
  }

  #update(method: 'resources/subscribe' | 'resources/unsubscribe', uri: string): void {
    if (this.#client.getProtocolEra() === 'modern') this.#relisten();
    else this.#client.request({ method, params: { uri } }).catch(this.#onError);
  }

  /** Opens the new request before it closes the old one, so that no change is missed. */
  #relisten(): void {
    const before = this.#open;
    const filter = this.#filter();
    const next = Object.keys(filter).length === 0 ? undefined : this.#client.listen(filter);
    const opened = Promise.resolve(next).catch((error: unknown) => {
      this.#onError(error);
      this.#retryLater(opened);
      return undefined;
    });
    this.#open = opened;
    void opened.then(async (subscription) => {
      const followed = subscription && this.#follow(subscription, opened);
      await (await before)?.close();
      await followed;
    }, this.#onError);
  }

  /** Reopens a stream that the server closed. */
  async #follow(subscription: McpSubscription, opened: Opened): Promise<void> {
    const openedAtMs = performance.now();
    this.#followed = subscription;
    const end = await subscription.closed;
    if (this.#followed === subscription) {
      this.#followed = undefined;
      this.#breaks += 1;
    }
    if (end !== 'remote') return;
    if (performance.now() - openedAtMs > MAX_DELAY_MS) this.#failures = 0;
    this.#retryLater(opened);
  }

  /** Retries with a growing delay, unless the request was replaced. */
  #retryLater(opened: Opened): void {
    if (this.#open !== opened || this.#closed) return;
    this.#open = undefined;
    const delayMs = Math.min(FIRST_DELAY_MS * 2 ** this.#failures, MAX_DELAY_MS);
    this.#failures += 1;
    const again = () => {
      if (this.#closed || this.#open !== undefined) return;
      this.#relisten();
      for (const uri of this.#uris) this.#onGap(uri);
    };
    // The retry must not keep the host alive.
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

/** The listeners for changes of resources, by server and URI. */
export class Watches {
  readonly #watched = new Map<string, Map<string, Set<() => void>>>();

  /** Calls `first` with the first listener of a URI, `last` after its last one was disposed. */
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

  urisOf(server: string): readonly string[] {
    return [...(this.#watched.get(server)?.keys() ?? [])];
  }

  notify(server: string, uri: string): void {
    for (const listener of this.#watched.get(server)?.get(uri) ?? []) listener();
  }
}
