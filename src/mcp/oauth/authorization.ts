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
import { showInvisible } from '../../chat/format/escape.ts';
import { guardFetch } from './authorizationUrl.ts';
import { type CredentialStore, Credentials } from './credentials.ts';
import { type OAuthSettings, SignInAttempt } from './signIn.ts';

/** Leads a person through an address in a browser and comes back with the address that the browser was sent back to. */
export interface Browser {
  /** Where the browser is sent back to. */
  redirectUrl(): Promise<string>;
  /** Rejects when the user gives up. */
  visit(url: URL, server: string, signal: AbortSignal): Promise<URL>;
}

export interface AuthorizationOptions {
  /** How the user calls the server. */
  readonly server: string;
  readonly serverUrl: string;
  readonly store: CredentialStore;
  readonly browser: Browser;
  readonly settings?: OAuthSettings | undefined;
  readonly fetch?: FetchLike | undefined;
  /** Waits for the user, and lets no time pass for the calls meanwhile. */
  readonly onAsk?: (<T>(work: Promise<T>) => Promise<T>) | undefined;
}

/** A sign-in that did not come about, as a sentence for the user. */
export class SignInError extends Error {
  override readonly name = 'SignInError';
}

interface Challenge {
  readonly scope?: string | undefined;
  readonly resourceMetadataUrl?: URL | undefined;
}

/** One sign-in under way, shared by all who need it. */
interface Flow {
  readonly done: Promise<void>;
  readonly abort: AbortController;
  /** How many wait; those who come from a transport cannot stop waiting. */
  waiting: number;
}

/** A user who has not come back by then has given up. */
const MAX_VISIT_MS = 15 * 60 * 1000;

/** Signs in to one MCP server: silently when it can, through the browser when it must. */
export class RemoteAuthorization {
  /** For the transports of the SDK: they ask for the token before each request, and try once more after a 401. */
  readonly provider: AuthProvider;
  readonly #options: AuthorizationOptions;
  readonly #credentials: Credentials;
  #flow: Flow | undefined;
  #declined: SignInError | undefined;
  /** All scopes that were asked for. */
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
   * After a 403 that names more scopes: asks the user for them and those given before. True when it is worth another
   * try; false when all of them were asked for already, so that asking again would change nothing.
   */
  async stepUp(error: InsufficientScopeError, signal: AbortSignal): Promise<boolean> {
    const granted = (await this.#credentials.tokens())?.scope;
    const known = computeScopeUnion(this.#requested, granted);
    const wanted = computeScopeUnion(known, error.requiredScope);
    if (!isStrictScopeSuperset(wanted, known)) return false;
    // A sign-in that began before does not ask for these.
    await unlessAborted(Promise.allSettled([this.#flow?.done]), signal);
    const { resourceMetadataUrl } = error;
    await this.#joinOrBegin({ scope: wanted, resourceMetadataUrl }, { mayRefresh: false, signal });
    return true;
  }

  /** Forgets everything that was given to us for this server. */
  async signOut(): Promise<void> {
    this.cancel();
    this.askAgain();
    this.#requested = this.#options.settings?.scopes?.join(' ');
    await this.#credentials.forget();
  }

  /** Ends a sign-in under way, for instance because the server is no longer needed. */
  cancel(): void {
    this.#flow?.abort.abort();
  }

  /** The user has given up once, and now wants to be asked again. */
  askAgain(): void {
    this.#declined = undefined;
  }

  async #onUnauthorized({ scope, resourceMetadataUrl }: Challenge): Promise<void> {
    const token = this.#flow ? undefined : (await this.#credentials.tokens())?.access_token;
    // Someone else has signed in since, in another window perhaps.
    if (token !== undefined && token !== this.#sentToken) return;
    const wanted = computeScopeUnion(this.#requested, scope);
    await this.#joinOrBegin({ scope: wanted, resourceMetadataUrl }, { mayRefresh: true });
  }

  /** Joins the sign-in under way, or begins one. It ends early when nobody waits for it any more. */
  async #joinOrBegin(
    challenge: Challenge,
    { mayRefresh, signal }: { readonly mayRefresh: boolean; readonly signal?: AbortSignal },
  ): Promise<void> {
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
    // Whoever waits hears of a failure; it must not count as unheard when nobody waits any more.
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
    const { browser, settings = {}, serverUrl, fetch = globalThis.fetch } = this.#options;
    const redirectUrl = await browser.redirectUrl();
    const signIn = new SignInAttempt({ redirectUrl, credentials: this.#credentials, settings });
    this.#requested = computeScopeUnion(this.#requested, challenge.scope);
    const options = {
      serverUrl,
      // Not the transport's own fetch: it adds the headers of the MCP server, which are nobody else's business.
      fetchFn: guardFetch(fetch, signal),
      ...(challenge.scope === undefined ? {} : { scope: challenge.scope }),
      ...(challenge.resourceMetadataUrl === undefined
        ? {}
        : { resourceMetadataUrl: challenge.resourceMetadataUrl }),
    };
    if ((await beginSignIn(signIn, options, mayRefresh)) || signIn.authorizationUrl === undefined) return;
    const answer = await this.#visit(signIn.authorizationUrl, signal);
    const { code, iss } = this.#readCallback(answer, signIn);
    await auth(signIn, { ...options, authorizationCode: code, ...(iss === undefined ? {} : { iss }) });
  }

  async #visit(address: URL, signal: AbortSignal): Promise<URL> {
    const { browser, server, onAsk = (work) => work } = this.#options;
    // Who has said no once is not asked at every call.
    if (this.#declined) throw this.#declined;
    const patience = AbortSignal.any([signal, AbortSignal.timeout(MAX_VISIT_MS)]);
    try {
      return await onAsk(unlessAborted(browser.visit(address, server, patience), patience));
    } catch (error) {
      if (signal.aborted) throw error;
      throw this.#decline(error);
    }
  }

  /** What the browser brought back is believed in this order: that it is ours, who sent it, and only then what it says. */
  #readCallback(
    answer: URL,
    signIn: SignInAttempt,
  ): { readonly code: string; readonly iss: string | undefined } {
    const read = (name: string) => answer.searchParams.get(name) ?? undefined;
    if (read('state') !== signIn.stateValue) {
      throw this.#failure('the browser came back with the answer to another question. Try again');
    }
    const iss = read('iss');
    const metadata = signIn.discoveryState()?.authorizationServerMetadata;
    validateAuthorizationResponseIssuer({
      iss,
      expectedIssuer: metadata?.issuer,
      issParameterSupported: metadata?.authorization_response_iss_parameter_supported === true,
    });
    const error = read('error');
    if (error === 'access_denied') throw this.#decline(undefined);
    if (error !== undefined) {
      throw this.#failure(`the authorization server says ${quote(read('error_description') ?? error)}`);
    }
    const code = read('code');
    if (code === undefined) throw this.#failure('the authorization server sent no code');
    return { code, iss };
  }

  #decline(cause: unknown): SignInError {
    this.#declined = new SignInError(
      `The sign-in to ${this.#options.server} was given up; restart the server to be asked again`,
      { cause },
    );
    return this.#declined;
  }

  #failure(reason: string, cause?: unknown): SignInError {
    return new SignInError(`The sign-in to ${this.#options.server} failed: ${reason}`, { cause });
  }
}

/** Signs in without the user, if that is possible. False when the user has to go to the address of the sign-in. */
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
      // A refresh that the authorization server refuses, whatever for, is no reason not to ask the user.
      if (!(error instanceof OAuthError)) throw error;
    }
  }
  return begin(true);
}

const MAX_QUOTE_CHARS = 300;

const UNUSABLE = 'the authorization server describes itself in a way that cannot be used';

function explain(error: unknown): string {
  if (error instanceof IssuerMismatchError) {
    // What was received may be written by an attacker and is not shown.
    return `the answer does not come from the authorization server that was asked, ${quote(error.expected ?? '')}`;
  }
  // The SDK tells a wrong answer as pages of JSON.
  if (error instanceof Error && /ZodError$/.test(error.name)) return UNUSABLE;
  const reason = messageOf(error);
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : '';
  return quote(reason.replace(/\.$/, '') + cause);
}

/** Foreign words on one line of bounded length, with nothing hidden in them. */
function quote(text: string): string {
  const line = showInvisible(text.slice(0, MAX_QUOTE_CHARS).replace(/\s+/g, ' ')).trim();
  return text.length > MAX_QUOTE_CHARS ? `${line}…` : line;
}
