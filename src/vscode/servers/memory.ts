import type * as vscode from 'vscode';
import type { KnownProtocol, KnownProtocols } from '../../mcp/connection/knownProtocols.ts';
import type { CredentialStore } from '../../mcp/oauth/credentials.ts';

/** The historical name of stored data: renaming it would lose the known protocols. */
const STORAGE_KEY = 'server.verdicts';
const MAX_REMEMBERED = 200;

/** The protocols of servers by fingerprint, across sessions. */
export function rememberedProtocols(memory: vscode.Memento): KnownProtocols {
  const readAll = () =>
    new Map(Object.entries(memory.get<Readonly<Record<string, KnownProtocol>>>(STORAGE_KEY, {})));
  return {
    read: (fingerprint) => readAll().get(fingerprint),
    write: (fingerprint, known) => {
      const all = readAll();
      if (!all.delete(fingerprint) && known === undefined) return;
      if (known !== undefined) all.set(fingerprint, known);
      void memory.update(STORAGE_KEY, Object.fromEntries([...all].slice(-MAX_REMEMBERED)));
    },
  };
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

export async function forgetCredentials(secrets: vscode.SecretStorage): Promise<void> {
  const keys = (await secrets.keys()).filter((key) => key.startsWith(PREFIX));
  await Promise.all(keys.map((key) => secrets.delete(key)));
}
