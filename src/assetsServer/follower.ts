import { type McpServer, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { CatalogChange, Joined } from '../catalog/watch.ts';
import type { Disposable } from '../ports/document.ts';
import type { Shared } from './shared.ts';

const MAX_SUBSCRIPTIONS = 1000;

/** Notifies one client of changes, until its connection ends. */
export class Follower implements Disposable {
  readonly #server: McpServer;
  readonly #shared: Shared;
  readonly #notifiesAll: boolean;
  /** The requested addresses, by the address in lists. */
  readonly #subscribed = new Map<string, Set<string>>();
  #joined: Joined | undefined;
  #disposed = false;

  constructor(server: McpServer, shared: Shared, era: 'legacy' | 'modern') {
    this.#server = server;
    this.#shared = shared;
    // For modern clients the SDK filters notifications by subscription.
    this.#notifiesAll = era === 'modern';
  }

  async start(): Promise<void> {
    if (this.#disposed) return;
    this.#joined ??= this.#shared.watching.join((change) => void this.#notify(change));
    await this.#joined.ready;
  }

  get isFollowing(): boolean {
    return this.#joined !== undefined;
  }

  async subscribe(listedUri: string, askedUri: string): Promise<void> {
    const asked = this.#subscribed.get(listedUri) ?? new Set();
    if (this.#subscribed.size >= MAX_SUBSCRIPTIONS && asked.size === 0)
      throw new ProtocolError(
        ProtocolErrorCode.InvalidRequest,
        `A client may subscribe to ${MAX_SUBSCRIPTIONS} resources. Unsubscribe from one first.`,
      );
    this.#subscribed.set(listedUri, asked.add(askedUri));
    await this.start();
  }

  unsubscribe(askedUri: string): void {
    for (const [listed, asked] of this.#subscribed) {
      asked.delete(askedUri);
      if (asked.size === 0) this.#subscribed.delete(listed);
    }
  }

  dispose(): void {
    this.#disposed = true;
    this.#joined?.dispose();
    this.#joined = undefined;
    this.#subscribed.clear();
  }

  async #notify({ list, updated }: CatalogChange): Promise<void> {
    const uris = this.#notifiesAll
      ? updated
      : updated.flatMap((uri) => [...(this.#subscribed.get(uri) ?? [])]);
    try {
      if (list) await this.#server.server.sendResourceListChanged();
      for (const uri of uris) await this.#server.server.sendResourceUpdated({ uri });
    } catch {
      // The connection has just ended.
    }
  }
}
