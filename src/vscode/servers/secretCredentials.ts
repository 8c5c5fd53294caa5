import type { SecretStorage } from 'vscode';
import type { CredentialStore } from '../../mcp/oauth/credentials.ts';

/** What is kept of authorization servers has keys that begin so; other secrets have others. */
const PREFIX = 'oauth ';

/** Tokens and registrations in the secret store of the editor. */
export function secretCredentials(secrets: SecretStorage): CredentialStore {
  return {
    get: async (key) => secrets.get(key),
    set: async (key, value) => secrets.store(key, value),
    delete: async (key) => secrets.delete(key),
  };
}

/** Of all servers, also of those that are no longer configured. */
export async function forgetCredentials(secrets: SecretStorage): Promise<void> {
  const keys = (await secrets.keys()).filter((key) => key.startsWith(PREFIX));
  await Promise.all(keys.map((key) => secrets.delete(key)));
}
