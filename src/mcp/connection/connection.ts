import {
  type Client,
  type Implementation,
  LOG_LEVEL_META_KEY,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  type StandardSchemaV1,
  type VersionNegotiationOptions,
} from '@modelcontextprotocol/client';
import { atMost, startTimer, unlessAborted } from '../../base/async.ts';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../ports/document.ts';
import type { ServerRequests } from '../../ports/requests.ts';
import type { LogLevel, ServerAbout, ServerChange, ServerOffers } from '../../ports/servers.ts';
import type { ToolProgress } from '../../ports/tools.ts';

import type { ServerConfig } from '../config/types.ts';

import { pickIcon } from '../lists/icons.ts';
import type { RemoteAuthorization } from '../oauth/authorization.ts';
import type { SpillTable } from '../spill/table.ts';
import { type Ticket, withTicket } from '../spill/tickets.ts';
import { createClient } from './clientSetup.ts';
import { explainFailure, explainSilence, isBroken, oneLine } from './failure.ts';
import type { KnownProtocol } from './knownProtocols.ts';
import type { ProcessGuard } from './processGuard.ts';
import { RequestTimers } from './requestTimers.ts';
import { createMask, LogLimit, StderrTail } from './stderr.ts';
import { Subscriptions } from './subscriptions.ts';
import { type Channel, createChannel } from './transport.ts';

export interface ConnectionOptions {
  readonly name: string;
  /** With all inputs filled in. */
  readonly config: ServerConfig;
  /** What must not be told to anybody. */
  readonly secrets?: readonly string[] | undefined;
  readonly clientInfo: Implementation;
  readonly log: Log;
  readonly requests?: ServerRequests | undefined;
  /** The chats whose calls are under way, the latest first. */
  readonly chats?: (() => readonly string[]) | undefined;
  readonly apps?: boolean | undefined;
  readonly knownProtocol?: KnownProtocol | undefined;
  readonly authorization?: RemoteAuthorization | undefined;
  readonly guard?: ProcessGuard | undefined;
  readonly maxDroppedBytes?: number | undefined;
  readonly onChange?: ((what: ServerChange) => void) | undefined;
  readonly onUpdated?: ((uri: string) => void) | undefined;
}

export interface OpenOptions {
  readonly timeoutMs: number;
  readonly isPatient?: boolean;
}

export interface RequestOptions {
  /** How long the server may be silent; progress, and each piece of a long answer, start the time anew. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: ToolProgress) => void) | undefined;
  /** Where the long strings of the answer go. The caller disposes it, whatever becomes of the request. */
  readonly spills?: SpillTable | undefined;
  /** For this request alone, where it is one of HTTP. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export type ConnectionState =
  | { readonly kind: 'opening' }
  | { readonly kind: 'ready'; readonly about: ServerAbout }
  | { readonly kind: 'closed'; readonly reason: string };

/** However often progress is reported, a request ends after this time. */
const MAX_REQUEST_MS = 60 * 60 * 1000;
/** How long a closing server is waited for: for its last words, and for its goodbye. */
const GRACE_MS = 1000;
const MAX_TIMER_MS = 2 ** 31 - 1;
/**
 * A process that does not know the question of the newer revision may say nothing at all. It may also be slow to
 * start; then it finds the old greeting behind the new one.
 */
const MAX_PROBE_MS = 2000;
const STDERR_LINES_IN_REASON = 5;

/** A schema that lets everything through as it is. */
const ANYTHING: StandardSchemaV1<unknown, unknown> = {
  '~standard': { version: 1, vendor: 'filechat', validate: (value) => ({ value }) },
};

/** One life of one server: it is opened once, and once closed it stays closed. */
export class Connection {
  readonly subscriptions: Subscriptions;
  readonly #options: ConnectionOptions;
  readonly #channel: Channel;
  readonly #client: Client;
  readonly #stderr: StderrTail | undefined;
  readonly #mask: (text: string) => string;
  /** Aborted when the connection is lost, so that no request waits for an answer that cannot come. */
  readonly #lost = new AbortController();
  readonly #timers = new RequestTimers();
  readonly #logLimit = new LogLimit();
  readonly #elicitationsDone = new Map<string, () => void>();
  #endedItself = false;
  #logLevel: LogLevel = 'info';
  #state: ConnectionState = { kind: 'opening' };
  #closing: Promise<void> | undefined;

  constructor(options: ConnectionOptions) {
    const { config, secrets, authorization, guard, maxDroppedBytes } = options;
    this.#options = options;
    this.#mask = createMask(config, secrets);
    this.#channel = createChannel(config, {
      onLost: (reason) => void this.close(reason),
      auth: authorization?.provider,
      guard,
      maxDroppedBytes,
    });
    this.#stderr =
      this.#channel.stderr && new StderrTail(this.#channel.stderr, (line) => this.#log('info', line));
    this.#client = this.#createClient();
    this.subscriptions = new Subscriptions(this.#client, {
      onError: (error) => this.#log('info', String(error)),
      onMissed: (uri) => options.onUpdated?.(uri),
    });
    this.#client.onerror = (error) => this.#hear('warn', oneLine(error.message));
    // The SDK itself rejects what is under way, and it may know a better reason than this one.
    this.#client.onclose = () => {
      this.#endedItself = this.#state.kind !== 'closed';
      this.#setClosed(config.kind === 'stdio' ? this.#explainExit() : 'its connection was closed');
    };
  }

  get state(): ConnectionState {
    return this.#state;
  }

  get era(): 'modern' | 'legacy' {
    return this.#client.getProtocolEra() ?? 'legacy';
  }

  get offers(): ServerOffers {
    return offersOf(this.#client);
  }

  /** Whether calls repeat some of their arguments as headers. */
  get mirrorsHeaders(): boolean {
    return this.era === 'modern' && this.#options.config.kind !== 'stdio';
  }

  /** It was slow, was greeted in the old way for that, and said later that it knows the new one. */
  get isSlowModern(): boolean {
    return this.#channel.lateAnswer?.() === 'supported';
  }

  /**
   * Starts or reaches the server. Rejects with what failed and what to do; then close() still has to be called.
   * With patience, the question about the revision is waited for as long as the server may take at all.
   */
  async open({ timeoutMs, isPatient = false }: OpenOptions): Promise<void> {
    const timer = startTimer(timeoutMs);
    const signal = AbortSignal.any([timer.signal, this.#lost.signal]);
    this.#client.setVersionNegotiation(this.#negotiation(timeoutMs, isPatient));
    try {
      // The SDK minds the signal only once its transport has started, which with events can take for ever.
      await this.#timers.run([timer], undefined, () =>
        unlessAborted(
          this.#client.connect(this.#channel.transport, { timeout: MAX_TIMER_MS, signal }),
          signal,
        ),
      );
      if (this.#state.kind === 'closed') {
        throw new Error('It answered and ended in one breath.');
      }
      const about = aboutServer(this.#client);
      this.#state = { kind: 'ready', about };
      this.#log('info', `connected: ${about.name} ${about.version}, protocol ${about.protocol}`);
      this.subscriptions.listen();
    } catch (error) {
      const { name, config } = this.#options;
      const verb = config.kind === 'stdio' ? 'started' : 'reached';
      const reason = timer.signal.aborted
        ? this.#withLastWords(explainSilence(timeoutMs))
        : await this.#explain(error, timeoutMs);
      const message = `Server ${name} could not be ${verb}: ${reason.replace(/\.$/, '')}.`;
      const cause = timer.signal.aborted ? error : this.#findMismatch(error);
      throw new Error(this.#mask(message), { cause });
    }
  }

  /**
   * Sends one request, once, and resolves to its result as it came: nothing in it is checked, so that one bad
   * block does not lose the others. On abort the server is told, and the promise rejects with the signal's reason.
   */
  async request(
    method: string,
    params: Readonly<Record<string, unknown>>,
    { timeoutMs, signal, onProgress, spills, headers }: RequestOptions,
  ): Promise<unknown> {
    signal?.throwIfAborted();
    const limit = startTimer(Math.max(MAX_REQUEST_MS, timeoutMs), { keepsTime: true });
    const silence = startTimer(timeoutMs);
    const onArrival = (bytes?: number) => {
      silence.restart();
      if (bytes !== undefined) onProgress?.({ bytes });
    };
    const ticket: Ticket = spills === undefined ? {} : { spills, onArrival };
    const signals = [this.#lost.signal, limit.signal, silence.signal, ...(signal ? [signal] : [])];
    const sent = withTicket(this.#withLogLevel(params), ticket);
    const send = () =>
      this.#client.request({ method, params: sent }, ANYTHING, {
        // The SDK does not see the pieces of a long answer, so the time is kept here.
        timeout: MAX_TIMER_MS,
        onprogress: ({ message, progress, total }) => {
          silence.restart();
          onProgress?.({
            done: progress,
            ...(message === undefined ? {} : { message }),
            ...(total === undefined ? {} : { total }),
          });
        },
        signal: AbortSignal.any(signals),
        ...(headers === undefined ? {} : { headers: { ...headers } }),
      });
    try {
      const result = await this.#timers.run([limit, silence], signal, send);
      return 'result' in ticket ? ticket.result : result;
    } catch (error) {
      signal?.throwIfAborted();
      const reason = limit.signal.aborted
        ? 'it ran too long and was cancelled'
        : await this.#explain(error, timeoutMs);
      throw new Error(this.#mask(reason), { cause: error });
    }
  }

  /** Waits for a person, and lets no time pass for the requests under way. */
  pauseTimersWhile<T>(work: Promise<T>): Promise<T> {
    return this.#timers.pauseWhile(work);
  }

  /** Resolves when the server says that what the user did elsewhere is done, or will say nothing more. */
  async elicitationDone(id: string, signal: AbortSignal): Promise<void> {
    const told = new Promise<void>((resolve) => this.#elicitationsDone.set(id, resolve));
    try {
      await unlessAborted(told, AbortSignal.any([signal, this.#lost.signal]));
    } finally {
      this.#elicitationsDone.delete(id);
    }
  }

  async setLogLevel(level: LogLevel, options: RequestOptions): Promise<void> {
    this.#logLevel = level;
    // The newer revision says it with every request.
    if (this.era === 'legacy') await this.request('logging/setLevel', { level }, options);
  }

  /** Servers of the newer revision ask for roots when they need them. */
  async rootsChanged(): Promise<void> {
    if (this.era === 'legacy' && this.#options.requests?.roots) await this.#client.sendRootsListChanged();
  }

  /** Ends the server. Resolves when its process is gone. */
  close(reason = 'it was closed'): Promise<void> {
    this.#setClosed(reason);
    this.#lost.abort(new Error(reason));
    this.#timers.cancelPrompts(new Error(reason));
    this.#closing ??= this.#shutDown();
    return this.#closing;
  }

  #createClient(): Client {
    const { clientInfo, requests = {}, apps = false, name, chats } = this.#options;
    return createClient({
      clientInfo,
      requests,
      apps,
      askedBy: () => ({ server: name, chats: chats?.() ?? [] }),
      timers: this.#timers,
      onLog: (level, message) => this.#hear(LEVELS.get(level) ?? 'info', oneLine(message)),
      onChange: (what) => this.#options.onChange?.(what),
      onUpdated: (uri) => this.#options.onUpdated?.(uri),
      onElicitationDone: (id) => this.#elicitationsDone.get(id)?.(),
    });
  }

  /** The time for an answer over HTTP is kept here, because a sign-in may come before it. */
  #negotiation(timeoutMs: number, isPatient: boolean): VersionNegotiationOptions {
    const { knownProtocol, config } = this.#options;
    if (knownProtocol !== undefined) return { mode: 'legacy' };
    const isShort = config.kind === 'stdio' && !isPatient;
    const probeMs = isShort ? Math.min(MAX_PROBE_MS, timeoutMs / 2) : MAX_TIMER_MS;
    return { mode: 'auto', probe: { timeoutMs: probeMs } };
  }

  /** A process that was slow to start may have been sent `initialize` before it could answer the probe. */
  #findMismatch(error: unknown): unknown {
    const late = this.#channel.lateAnswer?.();
    if (late === 'supported') return new ProtocolMismatch('modern', { cause: error });
    return late === 'pending' && this.#endedItself ? new ProtocolMismatch('legacy', { cause: error }) : error;
  }

  #withLogLevel(params: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
    if (this.era === 'legacy') return params;
    const meta = { [LOG_LEVEL_META_KEY]: this.#logLevel, ...(params['_meta'] as object | undefined) };
    return { ...params, _meta: meta };
  }

  #setClosed(reason: string): void {
    if (this.#state.kind !== 'closed') {
      this.#state = { kind: 'closed', reason };
      this.#log('info', `closed: ${reason}`);
      this.#options.onChange?.('state');
    }
  }

  async #shutDown(): Promise<void> {
    this.subscriptions.close();
    try {
      await atMost(GRACE_MS, this.#channel.endSession?.());
    } catch (error) {
      this.#log('info', oneLine(`the session could not be ended: ${String(error)}`));
    }
    await this.#client.close();
    // While the revision is being found out, the client does not have its transport yet.
    await this.#channel.transport.close();
  }

  async #explain(error: unknown, timeoutMs: number): Promise<string> {
    if (this.#state.kind === 'closed' && this.#lost.signal.aborted && !this.#endedItself) {
      return this.#state.reason;
    }
    // What the abort of a lost connection says is only that.
    const reason = this.#lost.signal.aborted
      ? undefined
      : explainFailure(error, this.#options.config, timeoutMs);
    if (reason === undefined && this.#state.kind === 'closed') {
      await atMost(GRACE_MS, this.#stderr?.ended);
      return this.#withLastWords(this.#state.reason);
    }
    if (isBroken(error)) {
      void this.close(reason);
    }
    return reason ?? oneLine(messageOf(error));
  }

  #explainExit(): string {
    const { code, signal } = this.#channel.exit?.() ?? {};
    if (typeof code === 'number') this.#log('info', `exit code ${code}`);
    return signal ? `its process was ended by ${signal}` : 'its process ended';
  }

  /** The reason, and what the process had to say about it. */
  #withLastWords(reason: string): string {
    if (this.#stderr === undefined) {
      return reason;
    }
    const lines = this.#stderr.lastLines(STDERR_LINES_IN_REASON);
    return lines.length === 0
      ? `${reason}. It wrote nothing to stderr; try its command in a terminal`
      : oneLine(`${reason}. Its last words: ${this.#mask(lines.join(' | '))}`);
  }

  /** A server that talks without an end must not fill the log. */
  #hear(level: 'debug' | 'info' | 'warn' | 'error', message: string): void {
    const decision = this.#logLimit.take(performance.now());
    if (decision === 'log') this.#log(level, message);
    else if (decision === 'last') this.#log('warn', '… (too much to log; the rest is dropped for a while)');
  }

  #log(level: 'debug' | 'info' | 'warn' | 'error', message: string): void {
    this.#options.log[level]?.(this.#mask(message));
  }
}

/** How the protocol's levels are called in a log. */
const LEVELS: ReadonlyMap<string, 'debug' | 'info' | 'warn' | 'error'> = new Map([
  ['debug', 'debug'],
  ['warning', 'warn'],
  ['error', 'error'],
  ['critical', 'error'],
  ['alert', 'error'],
  ['emergency', 'error'],
]);

/** A server that was slow to start failed because it was opened with the wrong protocol era. */
export class ProtocolMismatch extends Error {
  readonly expected: 'modern' | 'legacy';

  constructor(expected: 'modern' | 'legacy', options: ErrorOptions) {
    super(`The server expects the ${expected} protocol.`, options);
    this.expected = expected;
  }
}

export function needsLegacyProtocol(error: unknown, { kind }: ServerConfig): boolean {
  if (error instanceof ProtocolMismatch) return error.expected === 'legacy';
  const isProbe = error instanceof SdkError && error.code === SdkErrorCode.EraNegotiationFailed;
  return isProbe && (kind === 'stdio' || error instanceof SdkHttpError);
}

export function isTimeout(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

/** True for the statuses of addresses that support only the older HTTP+SSE transport. */
export function mayBeSse(error: unknown): boolean {
  return error instanceof SdkHttpError && [400, 404, 405].includes(error.status);
}

/** What a server that was greeted says about itself. */
function aboutServer(client: Client): ServerAbout {
  const { name, version, title, icons } = client.getServerVersion() ?? { name: '', version: '' };
  const instructions = client.getInstructions();
  const icon = pickIcon(icons);
  return {
    name: oneLine(name),
    version: oneLine(version),
    protocol: client.getNegotiatedProtocolVersion() ?? '',
    offers: offersOf(client),
    ...(title === undefined ? {} : { title: oneLine(title) }),
    ...(instructions === undefined ? {} : { instructions }),
    ...(icon === undefined ? {} : { icon }),
  };
}

function offersOf(client: Client): ServerOffers {
  const { tools, resources, prompts, completions, logging } = client.getServerCapabilities() ?? {};
  return {
    tools: tools !== undefined,
    resources: resources !== undefined,
    subscriptions: resources?.subscribe === true,
    prompts: prompts !== undefined,
    completions: completions !== undefined,
    logging: logging !== undefined,
  };
}
