import { randomBytes } from 'node:crypto';
import type {
  OAuthClientInformationContext,
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import { checkAuthorizationUrl } from './authorizationUrl.ts';
import type { Credentials } from './credentials.ts';

/** What the user may say about a server's sign-in. */
export interface OAuthSettings {
  /** A client that the user has registered with the authorization server. */
  readonly clientId?: string;
  readonly clientSecret?: string;
  /** Where authorization servers that know how to may read about this client. */
  readonly clientMetadataUrl?: string;
  readonly scopes?: readonly string[];
}

export interface SignInOptions {
  readonly redirectUrl: string;
  readonly credentials: Credentials;
  readonly settings: OAuthSettings;
}

const STATE_BYTES = 32;

/**
 * One attempt to sign in, as the SDK wants to see it. It is made anew each time, so that nothing of one attempt
 * (state, verifier, what was discovered) can be used in another, and a server that moves to another authorization
 * server is noticed.
 */
export class SignInAttempt implements OAuthClientProvider {
  readonly redirectUrl: string;
  readonly clientMetadataUrl?: string;
  readonly clientMetadata: OAuthClientMetadata;
  /** What the browser has to bring back. */
  readonly stateValue = randomBytes(STATE_BYTES).toString('base64url');
  /** Where the user has to go, once that is known. */
  authorizationUrl: URL | undefined;
  /** False as long as a refresh may do, for which it does not matter where browsers are sent back to. */
  needsBrowser = false;
  readonly #credentials: Credentials;
  readonly #settings: OAuthSettings;
  #verifier = '';
  #discovered: OAuthDiscoveryState | undefined;

  constructor({ redirectUrl, credentials, settings }: SignInOptions) {
    this.redirectUrl = redirectUrl;
    this.#credentials = credentials;
    this.#settings = settings;
    if (settings.clientMetadataUrl !== undefined) this.clientMetadataUrl = settings.clientMetadataUrl;
    this.clientMetadata = {
      client_name: 'Filechat',
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      // What is installed on many machines cannot keep a secret. A server that insists on one gives one anyway.
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

  /** Whether the client is one whose browsers are sent back to where we wait. */
  async hasCurrentRedirect(): Promise<boolean> {
    if (this.#settings.clientId !== undefined) return true;
    return (await this.#credentials.read(this.#issuer())).redirectUrl === this.redirectUrl;
  }

  async saveClientInformation(
    client: StoredOAuthClientInformation,
    context?: OAuthClientInformationContext,
  ): Promise<void> {
    // What another client was given is of no use to this one.
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

  /** A server that names another authorization server tomorrow must not get the secret that was meant for today's. */
  async #checkSecretFor(issuer: string): Promise<void> {
    const known = await this.#credentials.issuer();
    if (known !== undefined && known !== issuer) {
      throw new Error(
        `its authorization server was ${known} and now is ${issuer}, which does not get your client secret. ` +
          'If that is as it should be, sign out of the server and sign in again',
      );
    }
  }
}
