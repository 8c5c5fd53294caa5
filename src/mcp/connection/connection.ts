import {
  type Client,
  LOG_LEVEL_META_KEY,
  type StandardSchemaV1,
  type VersionNegotiationOptions,
} from '@modelcontextprotocol/client';
import { atMost, startTimer, Throttle, unlessAborted } from '../../base/async.ts';
import { messageOf } from '../../base/errors.ts';
import { defined, field } from '../../base/json.ts';
import type { LogLevel, ServerOffers } from '../../ports/servers.ts';
import type { ToolInfo } from '../../ports/tools.ts';
import { createMask } from '../config/secrets.ts';
import { PendingRequests, type Ticket } from '../spill/pendingRequests.ts';
import { type Answers, aboutServer, createAnswers, createClient, offersOf } from './clientSetup.ts';
import {
  explainFailure,
  explainTimeout,
  isBroken,
  isExpiredSession,
  oneLine,
  ProtocolMismatch,
  SESSION_EXPIRED,
} from './explainFailure.ts';
import { MAX_TIMER_MS, RequestTimers } from './requestTimers.ts';
import { ServerLog } from './serverLog.ts';
import { StderrTail } from './stderr.ts';
import { Subscriptions } from './subscriptions.ts';
import { createTransport, type ServerTransport } from './transport.ts';
import type { ConnectionOptions, ConnectionState, RequestOptions } from './types.ts';

/** The limit for a request that reports progress. */
const MAX_REQUEST_MS = 60 * 60 * 1000;
/** The shortest time between two reports of progress. Those in between are left out, except for the last. */
const PROGRESS_MS = 100;
/** Time to wait for the stderr of an exiting server, and for the end of a session. */
const GRACE_MS = 1000;
/** A process that does not know `server/discover` may ignore it, so `initialize` follows after this time. */
const MAX_PROBE_MS = 2000;

/** Accepts any value unchanged. */
const ANYTHING: StandardSchemaV1<unknown, unknown> = {
  '~standard': { version: 1, vendor: 'filechat', validate: (value) => ({ value }) },
};

/** One connection to a server. It is opened once, and stays closed once closed. */
export class Connection {
  readonly subscriptions: Subscriptions;
  readonly #options: ConnectionOptions;
  readonly #pending: PendingRequests;
  readonly #transport: ServerTransport;
  readonly #client: Client;
  readonly #stderr: StderrTail | undefined;
  readonly #mask: (text: string) => string;
  /** Aborted when the connection is lost, so that no request waits for a response. */
  readonly #lost = new AbortController();
  readonly #timers = new RequestTimers();
  readonly #answers: Answers;
  readonly #log: ServerLog;
  readonly #elicitationsDone = new Map<string, () => void>();
  #closedByServer = false;
  #toolChanges = 0;
  #logLevel: LogLevel = 'info';
  #state: ConnectionState = { kind: 'opening' };
  #closing: Promise<void> | undefined;

  constructor(options: ConnectionOptions) {
    const { config, secrets, authorization, guard, maxDroppedBytes } = options;
    this.#options = options;
    this.#pending = new PendingRequests(maxDroppedBytes);
    this.#mask = createMask(config, secrets);
    this.#log = new ServerLog(options.log, this.#mask);
    this.#transport = createTransport(config, {
      requests: this.#pending,
      onLost: (reason) => void this.close(reason),
      auth: authorization?.provider,
      guard,
    });
    this.#stderr =
      this.#transport.stderr && new StderrTail(this.#transport.stderr, (line) => this.#log.stderr(line));
    this.#answers = createAnswers({ ...options, timers: this.#timers });
    this.#client = createClient({
      ...options,
      answers: this.#answers,
      timers: this.#timers,
      onLog: (level, message) => this.#log.limited(level, message),
      onElicitationDone: (id) => this.#elicitationsDone.get(id)?.(),
      onChange: (what) => {
        if (what === 'tools') this.#toolChanges += 1;
        options.onChange(what);
      },
    });
    this.subscriptions = new Subscriptions(this.#client, {
      onError: (error) => this.#log.write('info', String(error)),
      onGap: options.onUpdated,
    });
    // A failed attempt to connect is explained when no other protocol works either, and closing ends requests.
    this.#client.onerror = (error) =>
      this.#log.limited(this.#state.kind === 'ready' ? 'warn' : 'info', oneLine(error.message));
    // The SDK rejects the pending requests, possibly with a better reason.
    this.#client.onclose = () => {
      this.#closedByServer = this.#state.kind !== 'closed';
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

  /** Differs once the tools may have changed. Undefined if the server would not report it. */
  get toolsVersion(): string | undefined {
    if (this.#client.getServerCapabilities()?.tools?.listChanged !== true) return undefined;
    const breaks = this.era === 'modern' ? this.subscriptions.toolBreaks : this.#transport.breaks;
    return breaks === undefined ? undefined : `${breaks} ${this.#toolChanges}`;
  }

  /** True when calls send some of their arguments as headers, too. */
  get mirrorsHeaders(): boolean {
    return this.era === 'modern' && this.#options.config.kind !== 'stdio';
  }

  /** The server was slow to start, got the older handshake, and then reported that it supports the newer one. */
  get isSlowModern(): boolean {
    return this.#transport.lateAnswer === 'supported';
  }

  /**
   * Starts or reaches the server. If this rejects, close() still has to be called. `isPatient` extends the timeout of
   * the protocol probe to `timeoutMs`.
   */
  async open({ timeoutMs, isPatient }: { timeoutMs: number; isPatient: boolean }): Promise<void> {
    const timer = startTimer(timeoutMs);
    const signal = AbortSignal.any([timer.signal, this.#lost.signal]);
    this.#client.setVersionNegotiation(this.#negotiation(timeoutMs, isPatient));
    try {
      // The SDK ignores the signal until its transport has started, which can hang with SSE.
      await this.#timers.run([timer], undefined, () =>
        unlessAborted(this.#client.connect(this.#transport, { timeout: MAX_TIMER_MS, signal }), signal),
      );
      if (this.#state.kind === 'closed') throw new Error('it exited right after connecting');
      const about = aboutServer(this.#client);
      this.#state = { kind: 'ready', about };
      this.#log.write('info', `connected: ${about.name} ${about.version}, protocol ${about.protocol}`);
      this.subscriptions.listen();
    } catch (error) {
      const { name, config } = this.#options;
      const verb = config.kind === 'stdio' ? 'started' : 'reached';
      const reason = timer.signal.aborted
        ? this.#withStderr(this.#explainTimeout(timeoutMs))
        : await this.#explain(error, timeoutMs);
      const message = `Server ${name} could not be ${verb}: ${reason.replace(/\.$/, '')}.`;
      const cause = timer.signal.aborted ? error : this.#findMismatch(error);
      throw new Error(this.#mask(message), { cause });
    }
  }

  /**
   * Sends one request, once, and resolves to its unvalidated result, so that one invalid block does not lose the others.
   * On abort it notifies the server and rejects with the signal's reason.
   */
  async request(
    method: string,
    params: Readonly<Record<string, unknown>>,
    { timeoutMs, signal, onProgress, spills, headers }: RequestOptions,
  ): Promise<unknown> {
    signal?.throwIfAborted();
    const limit = startTimer(Math.max(MAX_REQUEST_MS, timeoutMs), { keepsTime: true });
    const silence = startTimer(timeoutMs);
    const progress = new Throttle(PROGRESS_MS);
    const onArrival = (bytes: number) => {
      silence.restart();
      if (bytes > 0) progress.run('bytes', () => onProgress?.({ bytes }));
    };
    const ticket: Ticket = { method, spills, onArrival };
    const signals = [this.#lost.signal, limit.signal, silence.signal, ...(signal ? [signal] : [])];
    const send = () =>
      this.#client.request({ method, params: this.#withLogLevel(params) }, ANYTHING, {
        // The SDK does not see the pieces of a long response, so its own timer is not used.
        timeout: MAX_TIMER_MS,
        onprogress: ({ message, progress: done, total }) => {
          silence.restart();
          progress.run('steps', () => onProgress?.({ done, ...defined({ message, total }) }));
        },
        signal: AbortSignal.any(signals),
        ...(headers && { headers: { ...headers } }),
      });
    try {
      const result = await this.#timers.run([limit, silence], signal, () => this.#pending.run(ticket, send));
      progress.flush();
      return 'result' in ticket ? ticket.result : result;
    } catch (error) {
      signal?.throwIfAborted();
      const reason = limit.signal.aborted
        ? 'it ran too long and was cancelled'
        : await this.#explain(error, timeoutMs);
      throw new Error(this.#mask(reason), { cause: error });
    } finally {
      progress.dispose();
    }
  }

  /** Whether a call must or may ask for a task, in revisions in which the client asks. */
  takesTask(support: ToolInfo['task']): boolean {
    if (this.era !== 'legacy' || support === undefined) return false;
    const tasks = field(this.#client.getServerCapabilities(), 'tasks');
    return support === 'required' || field(field(field(tasks, 'requests'), 'tools'), 'call') !== undefined;
  }

  /** Answers a request that the server did not send by itself, but in the state of a task. */
  async answer(method: unknown, params: unknown, signal: AbortSignal | undefined): Promise<unknown> {
    const known = Object.entries(this.#answers).find(([each]) => each === method)?.[1];
    if (known === undefined)
      throw new Error(`its task requires ${oneLine(String(method))}, which is not supported`);
    return known(params, AbortSignal.any([this.#lost.signal, ...(signal ? [signal] : [])]));
  }

  /** Pauses the timers of pending requests while the user answers a prompt. */
  pauseTimersWhile<T>(prompt: Promise<T>): Promise<T> {
    return this.#timers.pauseWhile(prompt);
  }

  /** Resolves when the server reports that a URL elicitation is complete. */
  async elicitationDone(id: string, signal: AbortSignal): Promise<void> {
    const completed = new Promise<void>((resolve) => this.#elicitationsDone.set(id, resolve));
    try {
      await unlessAborted(completed, AbortSignal.any([signal, this.#lost.signal]));
    } finally {
      this.#elicitationsDone.delete(id);
    }
  }

  async setLogLevel(level: LogLevel, options: RequestOptions): Promise<void> {
    this.#logLevel = level;
    // In the newer revision every request carries the level.
    if (this.era === 'legacy') await this.request('logging/setLevel', { level }, options);
  }

  /** Servers of the newer revision request roots when they need them. */
  async rootsChanged(): Promise<void> {
    if (this.era === 'legacy' && this.#options.requests.roots) await this.#client.sendRootsListChanged();
  }

  /** Resolves when the server process is gone. */
  close(reason = 'it was closed', { isExpired = false } = {}): Promise<void> {
    this.#setClosed(reason, isExpired);
    this.#lost.abort(new Error(reason));
    this.#timers.cancelPrompts(new Error(reason));
    this.#closing ??= this.#shutDown();
    return this.#closing;
  }

  /** Over HTTP the probe has no timeout of its own, because a sign-in may precede the response. */
  #negotiation(timeoutMs: number, isPatient: boolean): VersionNegotiationOptions {
    const { knownProtocol, config } = this.#options;
    if (knownProtocol !== undefined) return { mode: 'legacy' };
    const isShort = config.kind === 'stdio' && !isPatient;
    const probeMs = isShort ? Math.min(MAX_PROBE_MS, timeoutMs / 2) : MAX_TIMER_MS;
    return { mode: 'auto', probe: { timeoutMs: probeMs } };
  }

  /** A process that was slow to start may have been sent `initialize` before it could answer the probe. */
  #findMismatch(error: unknown): unknown {
    const late = this.#transport.lateAnswer;
    if (late === 'supported') return new ProtocolMismatch('modern', { cause: error });
    return late === 'pending' && this.#closedByServer
      ? new ProtocolMismatch('legacy', { cause: error })
      : error;
  }

  #withLogLevel(params: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
    if (this.era === 'legacy') return params;
    const meta = { [LOG_LEVEL_META_KEY]: this.#logLevel, ...(params['_meta'] as object | undefined) };
    return { ...params, _meta: meta };
  }

  #setClosed(reason: string, isExpired = false): void {
    if (this.#state.kind === 'closed') return;
    this.#state = { kind: 'closed', reason, isExpired };
    this.#log.write('info', `closed: ${reason}`);
    this.#options.onChange('state');
  }

  async #shutDown(): Promise<void> {
    this.subscriptions.close();
    try {
      await atMost(GRACE_MS, this.#transport.terminateSession?.());
    } catch (error) {
      this.#log.write('info', oneLine(`the session could not be ended: ${String(error)}`));
    }
    await this.#client.close();
    // The client does not own the transport until the protocol is negotiated.
    await this.#transport.close();
  }

  async #explain(error: unknown, timeoutMs: number): Promise<string> {
    if (this.#transport.sessionId !== undefined && isExpiredSession(error)) {
      // Other requests may have been accepted before.
      void this.close('the server ended the session before the response arrived', { isExpired: true });
      return SESSION_EXPIRED;
    }
    if (this.#state.kind === 'closed' && this.#lost.signal.aborted && !this.#closedByServer) {
      return this.#state.reason;
    }
    // The abort error of a lost connection has no details.
    const reason = this.#lost.signal.aborted
      ? undefined
      : explainFailure(error, this.#options.config, this.#explainTimeout(timeoutMs));
    if (reason === undefined && this.#state.kind === 'closed') {
      await atMost(GRACE_MS, this.#stderr?.ended);
      return this.#withStderr(this.#state.reason);
    }
    if (isBroken(error)) void this.close(reason);
    return reason ?? oneLine(messageOf(error));
  }

  #explainTimeout(timeoutMs: number): string {
    return explainTimeout(timeoutMs, this.#options.timeoutSetting);
  }

  #explainExit(): string {
    const { code, signal } = this.#transport.exit ?? {};
    if (typeof code === 'number') this.#log.write('info', `exit code ${code}`);
    return signal ? `its process was ended by ${signal}` : 'its process ended';
  }

  #withStderr(reason: string): string {
    if (this.#stderr === undefined) return reason;
    const said = this.#stderr.explanation();
    return said === undefined
      ? `${reason}. It wrote nothing to stderr; run its command in a terminal`
      : oneLine(`${reason}. ${this.#mask(said)}`);
  }
}
