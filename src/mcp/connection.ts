import { Client, type Implementation, type StandardSchemaV1 } from '@modelcontextprotocol/client';
import type { Log, ToolProgress } from '../ports.ts';
import type { ServerConfig } from './config.ts';
import { explainFailure, explainSilence, isBroken, oneLine } from './failure.ts';
import { withSpills } from './spill/pendingCalls.ts';
import type { SpillTable } from './spill/spillTable.ts';
import { StderrTail } from './stderrTail.ts';
import { type Channel, createChannel } from './transport.ts';
import { atMost, startTimer, unlessAborted } from './waiting.ts';

export interface ConnectionOptions {
  readonly name: string;
  readonly config: ServerConfig;
  readonly clientInfo: Implementation;
  readonly log: Log;
}

export interface RequestOptions {
  /** How long the server may be silent; progress, and each piece of a long answer, start the time anew. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: ToolProgress) => void) | undefined;
  /** Where the long strings of the answer go. The caller disposes it, whatever becomes of the request. */
  readonly spills?: SpillTable | undefined;
}

export type ConnectionState =
  | { readonly kind: 'opening' }
  | { readonly kind: 'ready' }
  | { readonly kind: 'closed'; readonly reason: string };

/** However often progress is reported, a request ends after this time. */
const MAX_REQUEST_MS = 60 * 60 * 1000;
/** How long a closing server is waited for: for its last words, and for its goodbye. */
const GRACE_MS = 1000;
const MAX_TIMER_MS = 2 ** 31 - 1;
const STDERR_LINES_IN_REASON = 5;

/** A schema that lets everything through as it is. */
const ANYTHING: StandardSchemaV1<unknown, unknown> = {
  '~standard': { version: 1, vendor: 'filechat', validate: (value) => ({ value }) },
};

/** One life of one server: it is opened once, and once closed it stays closed. */
export class Connection {
  readonly #options: ConnectionOptions;
  readonly #channel: Channel;
  readonly #client: Client;
  readonly #stderr: StderrTail | undefined;
  /** Aborted when the connection is lost, so that no request waits for an answer that cannot come. */
  readonly #lost = new AbortController();
  #state: ConnectionState = { kind: 'opening' };
  #closing: Promise<void> | undefined;

  constructor(options: ConnectionOptions) {
    const { config, clientInfo } = options;
    this.#options = options;
    this.#channel = createChannel(config, (reason) => void this.close(reason));
    this.#stderr =
      this.#channel.stderr && new StderrTail(this.#channel.stderr, (line) => this.#log('info', line));
    this.#client = new Client(clientInfo, { capabilities: {} });
    this.#client.onerror = (error) => this.#log('warn', oneLine(error.message));
    this.#client.setNotificationHandler('notifications/message', ({ params }) =>
      this.#log('info', oneLine(`${params.level}: ${JSON.stringify(params.data)}`)),
    );
    // The SDK itself rejects what is under way, and it may know a better reason than this one.
    this.#client.onclose = () =>
      this.#setClosed(config.kind === 'stdio' ? this.#explainExit() : 'its connection was closed');
  }

  get state(): ConnectionState {
    return this.#state;
  }

  /** Starts or reaches the server. Rejects with what failed and what to do; then close() still has to be called. */
  async open({ timeoutMs }: { readonly timeoutMs: number }): Promise<void> {
    const deadline = AbortSignal.timeout(timeoutMs);
    const signal = AbortSignal.any([deadline, this.#lost.signal]);
    try {
      // The SDK minds the signal only once its transport has started, which with events can take for ever.
      await unlessAborted(
        this.#client.connect(this.#channel.transport, { timeout: timeoutMs, signal }),
        signal,
      );
      if (this.#state.kind === 'closed') {
        throw new Error('It answered and ended in one breath.');
      }
      this.#state = { kind: 'ready' };
      this.#log('info', 'connected');
    } catch (error) {
      const { name, config } = this.#options;
      const verb = config.kind === 'stdio' ? 'started' : 'reached';
      const reason = deadline.aborted
        ? this.#withLastWords(explainSilence(timeoutMs))
        : await this.#explain(error, timeoutMs);
      throw new Error(`Server ${name} could not be ${verb}: ${reason.replace(/\.$/, '')}.`, { cause: error });
    }
  }

  /**
   * Sends one request, once, and resolves to its result as it came: nothing in it is checked, so that one bad
   * block does not lose the others. On abort the server is told, and the promise rejects with the signal's reason.
   */
  async request(
    method: string,
    params: Readonly<Record<string, unknown>>,
    { timeoutMs, signal, onProgress, spills }: RequestOptions,
  ): Promise<unknown> {
    signal?.throwIfAborted();
    const limit = startTimer(Math.max(MAX_REQUEST_MS, timeoutMs));
    const silence = startTimer(timeoutMs);
    if (spills !== undefined) spills.onArrival = silence.restart;
    const signals = [this.#lost.signal, limit.signal, silence.signal, ...(signal ? [signal] : [])];
    try {
      return await this.#client.request({ method, params: withSpills(params, spills) }, ANYTHING, {
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
      });
    } catch (error) {
      signal?.throwIfAborted();
      const reason = limit.signal.aborted
        ? 'it ran too long and was cancelled'
        : await this.#explain(error, timeoutMs);
      throw new Error(reason, { cause: error });
    } finally {
      limit.stop();
      silence.stop();
    }
  }

  /** Ends the server. Resolves when its process is gone. */
  close(reason = 'it was closed'): Promise<void> {
    this.#setClosed(reason);
    this.#lost.abort();
    this.#closing ??= this.#shutDown();
    return this.#closing;
  }

  #setClosed(reason: string): void {
    if (this.#state.kind !== 'closed') {
      this.#state = { kind: 'closed', reason };
      this.#log('info', `closed: ${reason}`);
    }
  }

  async #shutDown(): Promise<void> {
    try {
      await atMost(GRACE_MS, this.#channel.endSession?.());
    } catch (error) {
      this.#log('info', oneLine(`the session could not be ended: ${String(error)}`));
    }
    await this.#client.close();
  }

  async #explain(error: unknown, timeoutMs: number): Promise<string> {
    if (this.#state.kind === 'closed' && this.#lost.signal.aborted) {
      return this.#state.reason;
    }
    const reason = explainFailure(error, this.#options.config, timeoutMs);
    if (reason === undefined && this.#state.kind === 'closed') {
      await atMost(GRACE_MS, this.#stderr?.ended);
      return this.#withLastWords(this.#state.reason);
    }
    if (isBroken(error)) {
      void this.close(reason);
    }
    return reason ?? oneLine(error instanceof Error ? error.message : String(error));
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
      : oneLine(`${reason}. Its last words: ${lines.join(' | ')}`);
  }

  #log(level: 'info' | 'warn', message: string): void {
    this.#options.log[level](`[${this.#options.name}] ${message}`);
  }
}
