import type { Disposable, ResourceName } from '../../ports.ts';

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
