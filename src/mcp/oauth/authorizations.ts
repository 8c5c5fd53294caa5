import { fingerprintServer } from '../config/fingerprint.ts';
import type { RemoteServer, ServerConfig } from '../config/types.ts';
import type { RemoteAuthorization } from './authorization.ts';

/** Creates the sign-in for a server. `onAsk` pauses the server's timeouts while the user signs in. */
export type Authorize = (
  config: RemoteServer,
  server: string,
  onAsk: <T>(work: Promise<T>) => Promise<T>,
) => Promise<RemoteAuthorization>;

/** One sign-in per server configuration, kept across restarts, so that a declined sign-in is not asked for again. */
export class Authorizations {
  readonly #authorize: Authorize | undefined;
  readonly #onAsk: (server: string) => <T>(work: Promise<T>) => Promise<T>;
  readonly #known = new Map<string, Map<string, Promise<RemoteAuthorization>>>();

  constructor(
    authorize: Authorize | undefined,
    onAsk: (server: string) => <T>(work: Promise<T>) => Promise<T>,
  ) {
    this.#authorize = authorize;
    this.#onAsk = onAsk;
  }

  async of(server: string, config: ServerConfig): Promise<RemoteAuthorization | undefined> {
    if (config.kind === 'stdio' || hasOwnCredentials(config)) return undefined;
    const known = this.#known.get(server) ?? new Map<string, Promise<RemoteAuthorization>>();
    const print = fingerprintServer({ ...config, kind: 'http' });
    const found = known.get(print) ?? this.#authorize?.(config, server, this.#onAsk(server));
    if (found !== undefined) this.#known.set(server, known.set(print, found));
    return found;
  }

  async askAgain(server: string): Promise<void> {
    for (const authorization of this.#known.get(server)?.values() ?? []) (await authorization).askAgain();
  }
}

function hasOwnCredentials({ headers }: RemoteServer): boolean {
  return Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
}
