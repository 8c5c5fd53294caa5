import {
  type AuthOptions,
  type AuthProvider,
  auth,
  computeScopeUnion,
  extractWWWAuthenticateParams,
  type FetchLike,
  type InsufficientScopeError,
  IssuerMismatchError,
  isStrictScopeSuperset,
  OAuthError,
  validateAuthorizationResponseIssuer,
} from '@modelcontextprotocol/client';
import { unlessAborted } from '../../base/async.ts';
import { messageOf } from '../../base/errors.ts';
import { defined } from '../../base/json.ts';
import { showInvisible } from '../../chat/format/escapeMarkers.ts';
import type { OAuthConfig } from '../config/types.ts';
import { createConfinedFetch } from './confinedFetch.ts';
import { type CredentialStore, Credentials } from './credentials.ts';
import { guardFetch, SignInAttempt } from './signIn.ts';

export interface Browser {
  redirectUrl(): Promise<string>;
  /** Opens the URL and resolves to the callback URL, or to `declined` when the user cancels. */
  visit(url: URL, server: string, signal: AbortSignal): Promise<URL | 'declined'>;
}

export interface AuthorizationOptions {
  readonly server: string;
  readonly serverUrl: string;
  readonly store: CredentialStore;
  readonly browser: Browser;
  readonly settings?: OAuthConfig | undefined;
  readonly fetch?: FetchLike | undefined;
  /** Pauses the timeouts of calls while the user signs in. */
  readonly onAsk?: (<T>(work: Promise<T>) => Promise<T>) | undefined;
}

/** A failed sign-in; its message is shown to the user. */
class SignInError extends Error {
  override readonly name = 'SignInError';
}

interface Challenge {
  readonly scope?: string | undefined;
  readonly resourceMetadataUrl?: URL | undefined;
}

/** A sign-in in progress, shared by all requests that need it. */
interface Flow {
  readonly done: Promise<void>;
  readonly abort: AbortController;
  /** The number of waiting requests. Requests of a transport have no signal and wait until the end. */
  waiting: number;
}

const MAX_VISIT_MINUTES = 15;

/** Signs in to one MCP server: silently if possible, otherwise in the browser. */
export class RemoteAuthorization {
  /** The SDK's transports ask for the token before each request, and retry once after a 401. */
  readonly provider: AuthProvider;
  readonly #options: AuthorizationOptions;
  readonly #credentials: Credentials;
  #flow: Flow | undefined;
  #declined: SignInError | undefined;
  #requested: string | undefined;
  #sentToken: string | undefined;

  constructor(options: AuthorizationOptions) {
    this.#options = options;
    this.#credentials = new Credentials(options.store, options.serverUrl);
    this.#requested = options.settings?.scopes?.join(' ');
    this.provider = {
      token: async () => {
        this.#sentToken = (await this.#credentials.tokens())?.access_token;
        return this.#sentToken;
      },
      onUnauthorized: ({ response }) => this.#onUnauthorized(extractWWWAuthenticateParams(response)),
    };
  }

  /**
   * After a 403 that requires more scopes: asks the user for these and the granted ones. Resolves to false when all of
   * them were requested before, so that a retry would be useless.
   */
  async stepUp(error: InsufficientScopeError, signal: AbortSignal): Promise<boolean> {
    const granted = (await this.#credentials.tokens())?.scope;
    const known = computeScopeUnion(this.#requested, granted);
    const wanted = computeScopeUnion(known, error.requiredScope);
    if (!isStrictScopeSuperset(wanted, known)) return false;
    // A sign-in in progress does not request the new scopes.
    await unlessAborted(Promise.allSettled([this.#flow?.done]), signal);
    const { resourceMetadataUrl } = error;
    await this.#joinOrBegin({ scope: wanted, resourceMetadataUrl }, false, signal);
    return true;
  }

  async signOut(): Promise<void> {
    this.cancel();
    this.askAgain();
    this.#requested = this.#options.settings?.scopes?.join(' ');
    await this.#credentials.forget();
  }

  /** Cancels a sign-in in progress, for instance because the server is no longer needed. */
  cancel(): void {
    this.#flow?.abort.abort();
  }

  /** Allows the browser to be opened again after the user declined. */
  askAgain(): void {
    this.#declined = undefined;
  }

  async #onUnauthorized({ scope, resourceMetadataUrl }: Challenge): Promise<void> {
    const token = this.#flow ? undefined : (await this.#credentials.tokens())?.access_token;
    // Another window may have signed in meanwhile.
    if (token !== undefined && token !== this.#sentToken) return;
    const wanted = computeScopeUnion(this.#requested, scope);
    await this.#joinOrBegin({ scope: wanted, resourceMetadataUrl }, true);
  }

  /** Joins the sign-in in progress or begins one. It is cancelled when no request waits for it any more. */
  async #joinOrBegin(challenge: Challenge, mayRefresh: boolean, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    const flow = this.#flow ?? this.#begin(challenge, mayRefresh);
    flow.waiting += 1;
    const leave = () => {
      flow.waiting -= 1;
      if (flow.waiting === 0) flow.abort.abort();
    };
    signal?.addEventListener('abort', leave, { once: true });
    try {
      await unlessAborted(flow.done, signal);
    } finally {
      signal?.removeEventListener('abort', leave);
    }
  }

  #begin(challenge: Challenge, mayRefresh: boolean): Flow {
    const abort = new AbortController();
    const done = this.#signIn(challenge, mayRefresh, abort.signal).finally(() => {
      this.#flow = undefined;
    });
    // Waiting requests get the failure; without any it must not be an unhandled rejection.
    done.catch(() => {});
    this.#flow = { done, abort, waiting: 0 };
    return this.#flow;
  }

  async #signIn(challenge: Challenge, mayRefresh: boolean, signal: AbortSignal): Promise<void> {
    try {
      await this.#runSignIn(challenge, mayRefresh, signal);
    } catch (error) {
      if (error instanceof SignInError) throw error;
      if (signal.aborted) throw this.#failure('it was cancelled', error);
      throw this.#failure(explain(error), error);
    }
  }

  async #runSignIn(challenge: Challenge, mayRefresh: boolean, signal: AbortSignal): Promise<void> {
    const { browser, settings = {}, serverUrl, fetch = createConfinedFetch(serverUrl) } = this.#options;
    const redirectUrl = await browser.redirectUrl();
    const signIn = new SignInAttempt(redirectUrl, this.#credentials, settings);
    this.#requested = computeScopeUnion(this.#requested, challenge.scope);
    const options = {
      serverUrl,
      // Not the transport's fetch, which would send the headers of the MCP server to the authorization server.
      fetchFn: guardFetch(fetch, signal),
      ...defined(challenge),
    };
    if ((await beginSignIn(signIn, options, mayRefresh)) || signIn.authorizationUrl === undefined) return;
    const callback = await this.#visit(signIn.authorizationUrl, signal);
    await auth(signIn, { ...options, ...defined(this.#readCallback(callback, signIn)) });
  }

  async #visit(address: URL, signal: AbortSignal): Promise<URL> {
    const { browser, server, onAsk = (work) => work } = this.#options;
    // After the user declined, the browser is not opened again for each call.
    if (this.#declined) throw this.#declined;
    const timeout = AbortSignal.timeout(MAX_VISIT_MINUTES * 60_000);
    const either = AbortSignal.any([signal, timeout]);
    const visit = unlessAborted(browser.visit(address, server, either), either).catch((error: unknown) => {
      if (signal.aborted || !timeout.aborted) throw error;
      throw this.#failure(`it was not completed within ${MAX_VISIT_MINUTES} minutes. Try again`, error);
    });
    const callback = await onAsk(visit);
    if (callback === 'declined') throw this.#decline();
    return callback;
  }

  /** Verifies the state, then the issuer, before anything else of the callback is used. */
  #readCallback(callback: URL, signIn: SignInAttempt) {
    const read = (name: string) => callback.searchParams.get(name) ?? undefined;
    if (read('state') !== signIn.stateValue) {
      throw this.#failure('the sign-in response does not match this request. Try again');
    }
    const iss = read('iss');
    const metadata = signIn.discoveryState()?.authorizationServerMetadata;
    validateAuthorizationResponseIssuer({
      iss,
      expectedIssuer: metadata?.issuer,
      issParameterSupported: metadata?.authorization_response_iss_parameter_supported === true,
    });
    const error = read('error');
    if (error === 'access_denied') throw this.#decline();
    if (error !== undefined) {
      const told = quote(read('error_description') ?? error);
      throw this.#failure(`the authorization server returned an error: ${told}`);
    }
    const authorizationCode = read('code');
    if (authorizationCode === undefined) throw this.#failure('the authorization server sent no code');
    return { authorizationCode, iss };
  }

  #decline(): SignInError {
    const message = `The sign-in to ${this.#options.server} was cancelled; restart the server to try again`;
    this.#declined = new SignInError(message);
    return this.#declined;
  }

  #failure(reason: string, cause?: unknown): SignInError {
    return new SignInError(`The sign-in to ${this.#options.server} failed: ${reason}`, { cause });
  }
}

/** Signs in without the user if possible. Resolves to false when the user has to visit the authorization URL. */
async function beginSignIn(
  signIn: SignInAttempt,
  options: AuthOptions,
  mayRefresh: boolean,
): Promise<boolean> {
  const begin = async (forceReauthorization: boolean) => {
    signIn.needsBrowser = forceReauthorization;
    return (await auth(signIn, { ...options, forceReauthorization })) === 'AUTHORIZED';
  };
  if (mayRefresh) {
    try {
      if (await begin(false)) return true;
      if (await signIn.hasCurrentRedirect()) return false;
    } catch (error) {
      // After a rejected refresh the user can still sign in.
      if (!(error instanceof OAuthError)) throw error;
    }
  }
  return begin(true);
}

const MAX_QUOTE_CHARS = 300;

function explain(error: unknown): string {
  if (error instanceof IssuerMismatchError) {
    // The received issuer may come from an attacker, so it is not shown.
    return `the response does not come from the expected authorization server, ${quote(error.expected ?? '')}`;
  }
  // The message of a ZodError is pages of JSON.
  if (error instanceof Error && /ZodError$/.test(error.name)) {
    return 'the metadata of the authorization server is invalid';
  }
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : '';
  return quote(messageOf(error).replace(/\.$/, '') + cause);
}

/** Untrusted text as one short line with invisible characters shown. */
function quote(text: string): string {
  const line = showInvisible(text.slice(0, MAX_QUOTE_CHARS).replace(/\s+/g, ' ')).trim();
  return text.length > MAX_QUOTE_CHARS ? `${line}…` : line;
}
