import { randomBytes } from 'node:crypto';
import type {
  OAuthClientInformationContext,
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import type { OAuthConfig } from '../config/types.ts';
import { checkAuthorizationUrl } from './authorizationUrl.ts';
import type { Credentials } from './credentials.ts';

const STATE_BYTES = 32;

/**
 * One sign-in attempt for the SDK. A new one is created for each attempt, so that state, verifier and discovered
 * metadata are never reused, and a change of the authorization server is noticed.
 */
export class SignInAttempt implements OAuthClientProvider {
  readonly redirectUrl: string;
  readonly clientMetadataUrl?: string;
  readonly clientMetadata: OAuthClientMetadata;
  /** The callback must contain it. */
  readonly stateValue = randomBytes(STATE_BYTES).toString('base64url');
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
    const issuer = context?.issuer ?? this.#issuer();
    const { clientId, clientSecret } = this.#settings;
    if (clientId !== undefined) {
      if (clientSecret !== undefined) await this.#checkSecretFor(issuer);
      const secret = clientSecret === undefined ? {} : { client_secret: clientSecret };
      return { client_id: clientId, ...secret, issuer };
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
    await this.#credentials.change(context?.issuer ?? this.#issuer(), change);
  }

  async tokens(context?: OAuthClientInformationContext): Promise<StoredOAuthTokens | undefined> {
    return (await this.#credentials.read(context?.issuer ?? this.#issuer())).tokens;
  }

  async saveTokens(tokens: StoredOAuthTokens, context?: OAuthClientInformationContext): Promise<void> {
    await this.#credentials.change(context?.issuer ?? this.#issuer(), { tokens });
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

  #issuer(): string {
    const { authorizationServerMetadata, authorizationServerUrl } = this.#discovered ?? {};
    const issuer = authorizationServerMetadata?.issuer ?? authorizationServerUrl;
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
