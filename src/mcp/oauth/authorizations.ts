import { fingerprintServer } from '../config/fingerprint.ts';
import type { RemoteServer, ServerConfig } from '../config/types.ts';
import type { RemoteAuthorization } from './authorization.ts';

/** How to sign in to a server. `onAsk` lets no time pass for the server while the user is asked. */
export type Authorize = (
  config: RemoteServer,
  server: string,
  onAsk: <T>(work: Promise<T>) => Promise<T>,
) => RemoteAuthorization | undefined;

/** The sign-ins, one for each address of a server: who has given up is not asked again by the next start. */
export class Authorizations {
  readonly #authorize: Authorize | undefined;
  readonly #onAsk: (server: string) => <T>(work: Promise<T>) => Promise<T>;
  readonly #known = new Map<string, Map<string, RemoteAuthorization>>();

  constructor(
    authorize: Authorize | undefined,
    onAsk: (server: string) => <T>(work: Promise<T>) => Promise<T>,
  ) {
    this.#authorize = authorize;
    this.#onAsk = onAsk;
  }

  of(server: string, config: ServerConfig): RemoteAuthorization | undefined {
    if (config.kind === 'stdio' || hasOwnCredentials(config)) return undefined;
    const known = this.#known.get(server) ?? new Map<string, RemoteAuthorization>();
    const print = fingerprintServer({ ...config, kind: 'http' });
    const found = known.get(print) ?? this.#authorize?.(config, server, this.#onAsk(server));
    if (found !== undefined) this.#known.set(server, known.set(print, found));
    return found;
  }

  /** The user wants to be asked again. */
  askAgain(server: string): void {
    for (const authorization of this.#known.get(server)?.values() ?? []) authorization.askAgain();
  }
}

/** Who has written down how to prove who they are needs no sign-in. */
function hasOwnCredentials({ headers }: RemoteServer): boolean {
  return Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
}
