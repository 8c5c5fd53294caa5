import type * as vscode from 'vscode';
import type { Verdict, VerdictStore } from '../../mcp/connection/knownProtocols.ts';
import type { CredentialStore } from '../../mcp/oauth/credentials.ts';

const REMEMBERED = 'server.verdicts';

const MAX_VERDICTS = 200;

/** Verdicts that outlive the window. */
export class VerdictMemory implements VerdictStore {
  readonly #memory: vscode.Memento;

  constructor(memory: vscode.Memento) {
    this.#memory = memory;
  }

  read(fingerprint: string): Verdict | undefined {
    return this.#all().get(fingerprint);
  }

  write(fingerprint: string, verdict: Verdict | undefined): void {
    const all = this.#all();
    if (verdict === undefined && !all.has(fingerprint)) return;
    all.delete(fingerprint);
    if (verdict !== undefined) all.set(fingerprint, verdict);
    void this.#memory.update(REMEMBERED, Object.fromEntries([...all].slice(-MAX_VERDICTS)));
  }

  #all(): Map<string, Verdict> {
    return new Map(Object.entries(this.#memory.get<Readonly<Record<string, Verdict>>>(REMEMBERED, {})));
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
