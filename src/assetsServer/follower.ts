import { type McpServer, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { CatalogChange } from '../catalog/watch.ts';
import type { Disposable } from '../ports/document.ts';

import type { Joined } from './changes.ts';
import { logUnforeseen } from './refusal.ts';
import type { Shared } from './shared.ts';

const MAX_SUBSCRIPTIONS = 1000;

/** Tells one client what changes, from the time it wants to know until its connection ends. */
export class Follower implements Disposable {
  readonly #server: McpServer;
  readonly #shared: Shared;
  readonly #tellsAll: boolean;
  /** What the client asked for, by the address under which it is listed. */
  readonly #subscribed = new Map<string, Set<string>>();
  #joined: Joined | undefined;
  #disposed = false;

  /** Since 2026 the SDK knows what a client wants to hear of, and drops the rest of what it is told. */
  constructor(server: McpServer, shared: Shared, era: 'legacy' | 'modern') {
    this.#server = server;
    this.#shared = shared;
    this.#tellsAll = era === 'modern';
  }

  /** Resolves when nothing is missed any more. A second call waits for the first. */
  async start(): Promise<void> {
    if (this.#disposed) return;
    this.#joined ??= this.#shared.watching.join((change) => void this.#tell(change));
    const joined = this.#joined;
    try {
      await joined.ready;
    } catch (error) {
      logUnforeseen(this.#shared, error);
      joined.dispose();
      if (this.#joined === joined) this.#joined = undefined;
    }
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
    if (!this.isFollowing)
      throw new ProtocolError(ProtocolErrorCode.InternalError, 'Changes of these folders cannot be watched.');
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

  async #tell({ list, updated }: CatalogChange): Promise<void> {
    const uris = this.#tellsAll ? updated : updated.flatMap((uri) => [...(this.#subscribed.get(uri) ?? [])]);
    try {
      if (list) await this.#server.server.sendResourceListChanged();
      for (const uri of uris) await this.#server.server.sendResourceUpdated({ uri });
    } catch {
      // The connection has just ended.
    }
  }
}
