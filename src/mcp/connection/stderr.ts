import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { stripVTControlCharacters } from 'node:util';

/** What is kept of a server's stderr, for the message that says why it ended. */
const MAX_KEPT_BYTES = 64 * 1024;
/** What is logged of one connection's stderr, so that a flood cannot fill the log. */
const MAX_LOGGED_CHARS = 1024 * 1024;
const MAX_LINE_CHARS = 2000;

/** Reads a stream to its end, always, and keeps only its last bytes. */
export class StderrTail {
  readonly #chunks: Buffer[] = [];
  readonly #logLine: (line: string) => void;
  readonly #decoder = new StringDecoder('utf8');
  #keptBytes = 0;
  #line = '';
  #loggedChars = 0;
  /** Resolves when nothing more will come. */
  readonly ended: Promise<void>;

  constructor(stream: Readable, logLine: (line: string) => void) {
    this.#logLine = logLine;
    stream.on('data', (chunk: Buffer) => this.#take(chunk));
    this.ended = new Promise((resolve) => {
      stream.on('end', resolve).on('close', resolve).on('error', resolve);
    });
  }

  /** The last lines that say something, oldest first. */
  lastLines(count: number): string[] {
    const text = Buffer.concat(this.#chunks).toString('utf8');
    const lines = stripVTControlCharacters(text)
      .split(/[\r\n]+/)
      .map((line) => line.trim())
      .filter((line) => line !== '');
    return lines.slice(-count).map(cutLine);
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
    if (this.#loggedChars > MAX_LOGGED_CHARS) {
      return;
    }
    const lines = (this.#line + this.#decoder.write(chunk)).split(/\r?\n/);
    this.#line = (lines.pop() ?? '').slice(-MAX_LINE_CHARS);
    for (const line of lines) {
      this.#loggedChars += line.length + 1;
      this.#logLine(cutLine(stripVTControlCharacters(line)));
    }
    if (this.#loggedChars > MAX_LOGGED_CHARS) {
      this.#logLine('… (too much to log; the rest is dropped)');
    }
  }
}

function cutLine(line: string): string {
  return line.length <= MAX_LINE_CHARS ? line : `${line.slice(0, MAX_LINE_CHARS)}…`;
}
