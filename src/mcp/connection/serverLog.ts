import type { Log } from '../../ports/document.ts';
import type { Level } from './clientSetup.ts';

/** The log of one connection, with secrets masked. */
export class ServerLog {
  readonly #log: Log;
  readonly #mask: (text: string) => string;
  readonly #messages = new LogLimit();
  readonly #lines = new LogLimit();

  constructor(log: Log, mask: (text: string) => string) {
    this.#log = log;
    this.#mask = mask;
  }

  write(level: Level, message: string): void {
    this.#log[level]?.(this.#mask(message));
  }

  /** Limits the messages of a server that logs without end. */
  limited(level: Level, message: string): void {
    this.#take(this.#messages, level, message);
  }

  /** Lines of stderr have a limit of their own. */
  stderr(line: string): void {
    this.#take(this.#lines, 'info', line);
  }

  #take(limit: LogLimit, level: Level, message: string): void {
    const decision = limit.take(performance.now());
    if (decision === 'log') this.write(level, message);
    else if (decision === 'last') this.write('warn', '… (too much to log; the rest is dropped for a while)');
  }
}

const MAX_LINES = 1000;
const WINDOW_MS = 60_000;

/** Limits the log of a server to a thousand lines a minute. */
export class LogLimit {
  #startedAtMs = Number.NEGATIVE_INFINITY;
  #lines = 0;

  /** `last` for the first line of a minute that is dropped. */
  take(nowMs: number): 'log' | 'last' | 'drop' {
    if (nowMs - this.#startedAtMs >= WINDOW_MS) {
      this.#startedAtMs = nowMs;
      this.#lines = 0;
    }
    this.#lines += 1;
    if (this.#lines <= MAX_LINES) return 'log';
    return this.#lines === MAX_LINES + 1 ? 'last' : 'drop';
  }
}
