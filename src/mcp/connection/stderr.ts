import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { withoutTerminalSequences } from '../../base/lines.ts';

/** Kept to explain why a server exited. */
const MAX_KEPT_BYTES = 64 * 1024;
/** The limit of logged stderr for one connection. */
const MAX_LOGGED_CHARS = 1024 * 1024;
const MAX_LINE_CHARS = 2000;

/** Logs a stream, keeps its last bytes, and always reads to the end. */
export class StderrTail {
  readonly #chunks: Buffer[] = [];
  readonly #logLine: (line: string) => void;
  readonly #decoder = new StringDecoder('utf8');
  #keptBytes = 0;
  #line = '';
  #loggedChars = 0;
  readonly ended: Promise<void>;

  constructor(stream: Readable, logLine: (line: string) => void) {
    this.#logLine = logLine;
    stream.on('data', (chunk: Buffer) => this.#take(chunk));
    this.ended = new Promise((resolve) => {
      stream.on('end', resolve).on('close', resolve).on('error', resolve);
    });
  }

  /** Why the server exited, as it wrote itself; undefined if it wrote nothing. */
  explanation(): string | undefined {
    const text = Buffer.concat(this.#chunks).toString('utf8');
    return explainStderr(withoutTerminalSequences(text));
  }

  #take(chunk: Buffer): void {
    this.#chunks.push(chunk.subarray(-MAX_KEPT_BYTES));
    this.#keptBytes += Math.min(chunk.length, MAX_KEPT_BYTES);
    while (this.#keptBytes - (this.#chunks[0]?.length ?? 0) >= MAX_KEPT_BYTES) {
      this.#keptBytes -= this.#chunks.shift()?.length ?? 0;
    }
    this.#log(chunk);
  }

  #log(chunk: Buffer): void {
    if (this.#loggedChars > MAX_LOGGED_CHARS) return;
    const lines = (this.#line + this.#decoder.write(chunk)).split(/\r?\n/);
    this.#line = (lines.pop() ?? '').slice(-MAX_LINE_CHARS);
    for (const line of lines) {
      this.#loggedChars += line.length + 1;
      this.#logLine(cutLine(withoutTerminalSequences(line)));
    }
    if (this.#loggedChars > MAX_LOGGED_CHARS) {
      this.#logLine('… (too much to log; the rest is dropped)');
    }
  }
}

const MAX_LAST_LINES = 5;
/** `Error: …`, `TypeError [CODE]: …`, `ValueError: …`, `java.io.IOException: …`, `panic: …`, `error[E1]: …` */
const ERROR_LINE =
  /^(?:Uncaught |\[?(?:fatal|error)\]?:? )?(?:[\w.$]*(?:Error|Exception)|error|fatal|panic)(?: ?\[[\w-]+\])?: *\S/i;
/** Lines that belong to an error or follow every one: the stack, its properties, and the version of Node. */
const AFTER_ERROR = /^(?:\s|[{}\]]|at |Node\.js v|Traceback )/;

/** The last line that names an error, and the last line if it is about something else; else the last few lines. */
export function explainStderr(text: string): string | undefined {
  const lines = text.split(/[\r\n]+/).filter((line) => line.trim() !== '');
  const at = lines.findLastIndex((line) => ERROR_LINE.test(line));
  const found = lines.slice(at, at + 1);
  const later = lines.slice(at + 1).filter((line) => !AFTER_ERROR.test(line));
  const shown = at < 0 ? lines.slice(-MAX_LAST_LINES) : [...found, ...later.slice(-1)];
  const joined = shown.map((line) => cutLine(line.trim())).join(' | ');
  if (at < 0) return shown.length === 0 ? undefined : `Last lines of stderr: ${joined}`;
  return joined;
}

function cutLine(line: string): string {
  return line.length <= MAX_LINE_CHARS ? line : `${line.slice(0, MAX_LINE_CHARS)}…`;
}
