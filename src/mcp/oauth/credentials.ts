import type { StoredOAuthClientInformation, StoredOAuthTokens } from '@modelcontextprotocol/client';
import { isObject } from '../../base/json.ts';

/** Where tokens and registrations live: the secret store of the editor, or memory on the command line. Values are JSON text. */
export interface CredentialStore {
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string): Promise<void>;
  delete(key: string): Promise<void>;
}

/** What one authorization server gave us for one MCP server. */
export interface StoredCredentials {
  readonly client?: StoredOAuthClientInformation | undefined;
  /** Where that client said that browsers are sent back to; it is good for no other place. */
  readonly redirectUrl?: string | undefined;
  readonly tokens?: StoredOAuthTokens | undefined;
}

/** Where to look: all that have issued something, and who issued the tokens in use. */
interface Index {
  readonly issuers: readonly string[];
  readonly current?: string | undefined;
}

/**
 * The credentials for one MCP server. They are kept by the authorization server that issued them, so that another
 * one, which the MCP server may name tomorrow, never gets to see them.
 */
export class Credentials {
  readonly #store: CredentialStore;
  readonly #key: string;

  constructor(store: CredentialStore, serverUrl: string) {
    const url = new URL(serverUrl);
    url.hash = '';
    this.#store = store;
    // An address has no spaces, so what follows one is the issuer.
    this.#key = `oauth ${url.href}`;
  }

  /** Who issued the tokens in use. */
  async issuer(): Promise<string | undefined> {
    return (await this.#index()).current;
  }

  /** The tokens in use. */
  async tokens(): Promise<StoredOAuthTokens | undefined> {
    const issuer = await this.issuer();
    return issuer === undefined ? undefined : (await this.read(issuer)).tokens;
  }

  async read(issuer: string): Promise<StoredCredentials> {
    const kept = await this.#readJson(this.#keyOf(issuer));
    return isObject(kept) ? (kept as StoredCredentials) : {};
  }

  async change(issuer: string, change: StoredCredentials): Promise<void> {
    const { current, issuers } = await this.#index();
    // Listed before anything is kept, so that nothing is kept that cannot be forgotten.
    const index: Index = {
      current: change.tokens === undefined ? current : issuer,
      issuers: [...issuers.filter((other) => other !== issuer), issuer],
    };
    await this.#store.set(this.#key, JSON.stringify(index));
    await this.#store.set(this.#keyOf(issuer), JSON.stringify({ ...(await this.read(issuer)), ...change }));
  }

  /** Forgets the tokens and registrations of all issuers. */
  async forget(): Promise<void> {
    for (const issuer of (await this.#index()).issuers) {
      await this.#store.delete(this.#keyOf(issuer));
    }
    await this.#store.delete(this.#key);
  }

  #keyOf(issuer: string): string {
    return `${this.#key} ${issuer}`;
  }

  async #index(): Promise<Index> {
    const json = await this.#readJson(this.#key);
    return isObject(json) && Array.isArray(json['issuers']) ? (json as unknown as Index) : { issuers: [] };
  }

  async #readJson(key: string): Promise<unknown> {
    const text = await this.#store.get(key);
    try {
      return text === undefined ? undefined : JSON.parse(text);
    } catch {
      // What cannot be read is as good as nothing: the user is asked again.
      return undefined;
    }
  }
}
