import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { stripVTControlCharacters } from 'node:util';
import { field } from '../../base/json.ts';
import type { ServerConfig } from '../config/types.ts';

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

const MAX_LINES = 1000;
const WINDOW_MS = 60_000;

/** How much of what a server says is logged: a thousand lines a minute, so that a flood cannot fill the log. */
export class LogLimit {
  #startedAtMs = Number.NEGATIVE_INFINITY;
  #lines = 0;

  /** Whether a line is logged; `last` says that the following ones are not, for a while. */
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
/** Shorter values are words such as `true` or `8080`, which would tear holes into every line. */
const MIN_SECRET_CHARS = 6;

/**
 * What is a secret wherever it stands. Each begins where no such sign comes before it, so that a long run is
 * looked at once.
 */
const LIKE_A_SECRET = new RegExp(
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

/** Makes a function that hides a server's secrets in text about it, such as a line of its log. */
export function createMask(config: ServerConfig, extra: readonly string[] = []): (text: string) => string {
  const secrets = [...configuredSecrets(config), ...extra].flatMap(writtenForms);
  const known = [...new Set(secrets)]
    .filter((secret) => secret.length >= MIN_SECRET_CHARS)
    // The longest first: a secret may be the beginning of another.
    .toSorted((a, b) => b.length - a.length)
    .map((secret) => secret.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'));
  const pattern = known.length > 0 ? new RegExp(known.join('|'), 'g') : undefined;
  return (text) => (pattern ? text.replace(pattern, MASK) : text).replace(LIKE_A_SECRET, MASK);
}

function configuredSecrets(config: ServerConfig): readonly string[] {
  const oauth = ['clientSecret', 'client_secret'].map((name) => field(field(config, 'oauth'), name));
  const named = oauth.filter((value) => typeof value === 'string');
  if (config.kind === 'stdio') return [...Object.values(config.env), ...named];
  return [...Object.values(config.headers).flatMap(headerSecrets), ...urlSecrets(config.url), ...named];
}

/** `Bearer abc` is a secret, and so is `abc` alone. */
function headerSecrets(value: string): readonly string[] {
  const [, credentials] = /^\s*[A-Za-z]+\s+(\S+)\s*$/.exec(value) ?? [];
  return credentials === undefined ? [value] : [value, credentials];
}

function urlSecrets(address: string): readonly string[] {
  if (!URL.canParse(address)) return [];
  const { username, password, searchParams } = new URL(address);
  return [username, password, ...searchParams.values()];
}

/** A secret as it is, and as it stands in an address or in JSON. */
function writtenForms(secret: string): readonly string[] {
  const trimmed = secret.trim();
  return [trimmed, encodeURIComponent(trimmed.toWellFormed()), JSON.stringify(trimmed).slice(1, -1)];
}
