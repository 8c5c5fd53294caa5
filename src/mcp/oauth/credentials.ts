import type { StoredOAuthClientInformation, StoredOAuthTokens } from '@modelcontextprotocol/client';
import { isObject, parseJson } from '../../base/json.ts';

/** The secret storage of the editor, or memory on the command line. Values are JSON. */
export interface CredentialStore {
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string): Promise<void>;
  delete(key: string): Promise<void>;
}

/** Issued by one authorization server for one MCP server. */
export interface StoredCredentials {
  readonly client?: StoredOAuthClientInformation | undefined;
  /** The redirect URL that the client was registered with; it cannot use another one. */
  readonly redirectUrl?: string | undefined;
  readonly tokens?: StoredOAuthTokens | undefined;
}

/** All issuers of stored credentials, and the issuer of the current tokens. */
interface Index {
  readonly issuers: readonly string[];
  readonly current?: string | undefined;
}

/**
 * The credentials for one MCP server, stored by issuer, so that they are never sent to another authorization server
 * that the MCP server may name later.
 */
export class Credentials {
  readonly #store: CredentialStore;
  readonly #key: string;

  constructor(store: CredentialStore, serverUrl: string) {
    const url = new URL(serverUrl);
    url.hash = '';
    this.#store = store;
    // URLs contain no spaces, so a space separates the issuer.
    this.#key = `oauth ${url.href}`;
  }

  async issuer(): Promise<string | undefined> {
    return (await this.#index()).current;
  }

  async tokens(): Promise<StoredOAuthTokens | undefined> {
    const issuer = await this.issuer();
    return issuer === undefined ? undefined : (await this.read(issuer)).tokens;
  }

  async read(issuer: string): Promise<StoredCredentials> {
    const json = await this.#readJson(this.#keyOf(issuer));
    return isObject(json) ? (json as StoredCredentials) : {};
  }

  async change(issuer: string, change: StoredCredentials): Promise<void> {
    const { current, issuers } = await this.#index();
    // The index is written first, so that `forget` finds everything that is stored.
    const index: Index = {
      current: change.tokens === undefined ? current : issuer,
      issuers: [...issuers.filter((other) => other !== issuer), issuer],
    };
    await this.#store.set(this.#key, JSON.stringify(index));
    await this.#store.set(this.#keyOf(issuer), JSON.stringify({ ...(await this.read(issuer)), ...change }));
  }

  async forget(): Promise<void> {
    for (const issuer of (await this.#index()).issuers) await this.#store.delete(this.#keyOf(issuer));
    await this.#store.delete(this.#key);
  }

  #keyOf(issuer: string): string {
    return `${this.#key} ${issuer}`;
  }

  async #index(): Promise<Index> {
    const json = await this.#readJson(this.#key);
    return isObject(json) && Array.isArray(json['issuers']) ? (json as unknown as Index) : { issuers: [] };
  }

  /** Unreadable credentials count as missing: the user signs in again. */
  async #readJson(key: string): Promise<unknown> {
    return parseJson((await this.#store.get(key)) ?? '');
  }
}
