import { randomBytes } from 'node:crypto';
import type {
  FetchLike,
  OAuthClientInformationContext,
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import { BUDGET } from '../../base/budget.ts';
import { limitBody } from '../../base/httpBody.ts';
import { defined } from '../../base/json.ts';
import { refusalReason } from '../config/networkReach.ts';
import type { OAuthConfig } from '../config/types.ts';
import { RefusedAddressError } from './confinedFetch.ts';
import type { Credentials } from './credentials.ts';

/**
 * One sign-in attempt for the SDK. A new one is created for each attempt, so that state, verifier and discovered
 * metadata are never reused, and a change of the authorization server is noticed.
 */
export class SignInAttempt implements OAuthClientProvider {
  readonly redirectUrl: string;
  readonly clientMetadataUrl?: string;
  readonly clientMetadata: OAuthClientMetadata;
  /** The callback must contain it. */
  readonly stateValue = randomBytes(32).toString('base64url');
  /** Set once the user has to sign in there. */
  authorizationUrl: URL | undefined;
  /** False while a refresh may suffice, for which the redirect URL does not matter. */
  needsBrowser = false;
  readonly #credentials: Credentials;
  readonly #settings: OAuthConfig;
  #verifier = '';
  #discovered: OAuthDiscoveryState | undefined;

  constructor(redirectUrl: string, credentials: Credentials, settings: OAuthConfig) {
    this.redirectUrl = redirectUrl;
    this.#credentials = credentials;
    this.#settings = settings;
    if (settings.clientMetadataUrl !== undefined) this.clientMetadataUrl = settings.clientMetadataUrl;
    this.clientMetadata = {
      client_name: 'Filechat',
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      // A public client cannot keep a secret. Servers that require one issue it anyway.
      token_endpoint_auth_method: 'none',
    };
  }

  state(): string {
    return this.stateValue;
  }

  async clientInformation(
    context?: OAuthClientInformationContext,
  ): Promise<StoredOAuthClientInformation | undefined> {
    const issuer = this.#issuer(context);
    const { clientId, clientSecret } = this.#settings;
    if (clientId !== undefined) {
      if (clientSecret !== undefined) await this.#checkSecretFor(issuer);
      return { client_id: clientId, ...defined({ client_secret: clientSecret }), issuer };
    }
    const { client } = await this.#credentials.read(issuer);
    return this.needsBrowser && !(await this.hasCurrentRedirect()) ? undefined : client;
  }

  async hasCurrentRedirect(): Promise<boolean> {
    if (this.#settings.clientId !== undefined) return true;
    return (await this.#credentials.read(this.#issuer())).redirectUrl === this.redirectUrl;
  }

  async saveClientInformation(
    client: StoredOAuthClientInformation,
    context?: OAuthClientInformationContext,
  ): Promise<void> {
    // Tokens of the previous client are useless to the new one.
    const change = { client, redirectUrl: this.redirectUrl, tokens: undefined };
    await this.#credentials.change(this.#issuer(context), change);
  }

  async tokens(context?: OAuthClientInformationContext): Promise<StoredOAuthTokens | undefined> {
    return (await this.#credentials.read(this.#issuer(context))).tokens;
  }

  async saveTokens(tokens: StoredOAuthTokens, context?: OAuthClientInformationContext): Promise<void> {
    await this.#credentials.change(this.#issuer(context), { tokens });
  }

  redirectToAuthorization(address: URL): void {
    this.authorizationUrl = checkAuthorizationUrl(address);
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }

  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.#discovered = state;
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovered;
  }

  async invalidateCredentials(what: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): Promise<void> {
    if (what === 'client' || what === 'all') {
      await this.#credentials.change(this.#issuer(), { client: undefined, tokens: undefined });
    }
    if (what === 'tokens') await this.#credentials.change(this.#issuer(), { tokens: undefined });
    if (what === 'discovery' || what === 'all') this.#discovered = undefined;
  }

  #issuer(context?: OAuthClientInformationContext): string {
    const { authorizationServerMetadata, authorizationServerUrl } = this.#discovered ?? {};
    const issuer = context?.issuer ?? authorizationServerMetadata?.issuer ?? authorizationServerUrl;
    if (issuer === undefined) throw new Error('The authorization server is not known yet.');
    return issuer;
  }

  /** The secret must not be sent to another authorization server that the MCP server names later. */
  async #checkSecretFor(issuer: string): Promise<void> {
    const known = await this.#credentials.issuer();
    if (known !== undefined && known !== issuer) {
      throw new Error(
        `its authorization server changed from ${known} to ${issuer}, so your client secret was not sent. ` +
          'If the change is expected, sign out of the server and sign in again',
      );
    }
  }
}

/** Throws for URLs that must never be opened or fetched; see `refusalReason`. */
export function checkAuthorizationUrl(url: string | URL): URL {
  if (!URL.canParse(String(url))) {
    throw new RefusedAddressError('The sign-in address of the server is not a valid URL.');
  }
  const parsed = new URL(url);
  const reason = refusalReason(parsed);
  if (reason !== undefined) {
    throw new RefusedAddressError(`The sign-in address ${describe(parsed)} is not allowed: ${reason}.`);
  }
  return parsed;
}

const REQUEST_TIMEOUT_MS = 30_000;

/** A `fetch` that checks every URL, follows no redirects, and limits time and size. */
export function guardFetch(fetchFn: FetchLike, signal: AbortSignal): FetchLike {
  return async (url, init) => {
    const address = checkAuthorizationUrl(url);
    const response = await fetchFn(url, {
      ...init,
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]),
    });
    const location = response.headers.get('location');
    if (location !== null && URL.canParse(location, address.href)) {
      // A followed redirect is checked again, but this error is clearer than an unexpected status.
      checkAuthorizationUrl(new URL(location, address));
    }
    return limitBody(response, { maxBytes: BUDGET.bodyBytes, maxValues: BUDGET.requestValues });
  };
}

const MAX_SHOWN_CHARS = 200;

/** Scheme and host only; the rest may be long and contain anything. */
function describe({ protocol, host }: URL): string {
  return `${protocol}${host === '' ? '' : `//${host}`}`.slice(0, MAX_SHOWN_CHARS);
}
