import type * as vscode from 'vscode';
import type { KnownProtocol, KnownProtocols } from '../../mcp/connection/knownProtocols.ts';
import type { CredentialStore } from '../../mcp/oauth/credentials.ts';

const REMEMBERED = 'server.verdicts';

const MAX_VERDICTS = 200;

/** Verdicts that outlive the window. */
export class VerdictMemory implements KnownProtocols {
  readonly #memory: vscode.Memento;

  constructor(memory: vscode.Memento) {
    this.#memory = memory;
  }

  read(fingerprint: string): KnownProtocol | undefined {
    return this.#all().get(fingerprint);
  }

  write(fingerprint: string, known: KnownProtocol | undefined): void {
    const all = this.#all();
    if (known === undefined && !all.has(fingerprint)) return;
    all.delete(fingerprint);
    if (known !== undefined) all.set(fingerprint, known);
    void this.#memory.update(REMEMBERED, Object.fromEntries([...all].slice(-MAX_VERDICTS)));
  }

  #all(): Map<string, KnownProtocol> {
    return new Map(Object.entries(this.#memory.get<Readonly<Record<string, KnownProtocol>>>(REMEMBERED, {})));
  }
}

/** The keys that `mcp/oauth/credentials.ts` uses start with this. */
const PREFIX = 'oauth ';

export function secretCredentials(secrets: vscode.SecretStorage): CredentialStore {
  return {
    get: async (key) => secrets.get(key),
    set: async (key, value) => secrets.store(key, value),
    delete: async (key) => secrets.delete(key),
  };
}

/** For all servers, including those that are no longer configured. */
export async function forgetCredentials(secrets: vscode.SecretStorage): Promise<void> {
  const keys = (await secrets.keys()).filter((key) => key.startsWith(PREFIX));
  await Promise.all(keys.map((key) => secrets.delete(key)));
}
