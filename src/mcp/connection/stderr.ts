import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { stripVTControlCharacters } from 'node:util';
import { field } from '../../base/json.ts';
import type { ServerConfig } from '../config/types.ts';

/** Kept to explain why a server exited. */
const MAX_KEPT_BYTES = 64 * 1024;
/** The limit of logged stderr for one connection. */
const MAX_LOGGED_CHARS = 1024 * 1024;
const MAX_LINE_CHARS = 2000;

const ERROR_LINE = /^[\w.]*Error\b[^:]*: ./;

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

  /** The last lines that are not blank, oldest first; or the error that ended Node, whose stack trace can be longer. */
  lastLines(count: number): string[] {
    const text = Buffer.concat(this.#chunks).toString('utf8');
    const lines = stripVTControlCharacters(text)
      .split(/[\r\n]+/)
      .map((line) => line.trim())
      .filter((line) => line !== '');
    const isUncaught = /^Node\.js v\d/.test(lines.at(-1) ?? '');
    const error = isUncaught ? lines.findLastIndex((line) => ERROR_LINE.test(line)) : -1;
    const isHidden = error !== -1 && error < lines.length - count;
    return (isHidden ? lines.slice(error, error + count) : lines.slice(-count)).map(cutLine);
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

export const MASK = '•••';
/** Shorter values are ordinary words such as `true` or `8080`. */
const MIN_SECRET_CHARS = 6;

/** Known formats of secrets. Each lookbehind ensures linear time on long runs of word characters. */
const SECRET_FORMATS = new RegExp(
  [
    String.raw`(?<=\b(?:Bearer|Basic)[ \t]{1,4})[\w.~+/=-]{6,}`,
    String.raw`(?<![\w-])(?:sk|pk|rk)[-_][\w-]{16,}`,
    String.raw`(?<!\w)(?:gh[pousr]_|github_pat_|glpat-|npm_|hf_)\w{16,}`,
    String.raw`(?<![\w-])xox[a-z]-[\w-]{10,}`,
    String.raw`(?<!\w)(?:AKIA|ASIA)[A-Z0-9]{16}(?!\w)`,
    String.raw`(?<![\w-])AIza[\w-]{30,}`,
    String.raw`(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?`,
  ].join('|'),
  'gi',
);

/** Creates a function that masks a server's secrets in messages and logs. */
export function createMask(config: ServerConfig, extra: readonly string[] = []): (text: string) => string {
  const secrets = [...configuredSecrets(config), ...extra].flatMap(encodedForms);
  const known = [...new Set(secrets)]
    .filter((secret) => secret.length >= MIN_SECRET_CHARS)
    // The longest first, because a secret may be a prefix of another.
    .toSorted((a, b) => b.length - a.length)
    .map((secret) => secret.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'));
  const pattern = known.length > 0 ? new RegExp(known.join('|'), 'g') : undefined;
  return (text) => (pattern ? text.replace(pattern, MASK) : text).replace(SECRET_FORMATS, MASK);
}

function configuredSecrets(config: ServerConfig): readonly string[] {
  const oauth = ['clientSecret', 'client_secret'].map((name) => field(field(config, 'oauth'), name));
  const named = oauth.filter((value) => typeof value === 'string');
  if (config.kind === 'stdio') return [...Object.values(config.env), ...named];
  return [...Object.values(config.headers).flatMap(headerSecrets), ...urlSecrets(config.url), ...named];
}

/** Both `Bearer abc` and `abc`. */
function headerSecrets(value: string): readonly string[] {
  const [, credentials] = /^\s*[A-Za-z]+\s+(\S+)\s*$/.exec(value) ?? [];
  return credentials === undefined ? [value] : [value, credentials];
}

function urlSecrets(address: string): readonly string[] {
  if (!URL.canParse(address)) return [];
  const { username, password, searchParams } = new URL(address);
  return [username, password, ...searchParams.values()];
}

/** As it is, in a URL, and in JSON. */
function encodedForms(secret: string): readonly string[] {
  const trimmed = secret.trim();
  return [trimmed, encodeURIComponent(trimmed.toWellFormed()), JSON.stringify(trimmed).slice(1, -1)];
}
