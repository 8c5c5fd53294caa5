import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { messageOf } from '../base/errors.ts';
import { readFailure } from '../base/fileErrors.ts';
import { showInvisible } from '../chat/format/escapeMarkers.ts';
import type { Audit, AuditEntry, AuditedFile } from '../ports/tools.ts';
import { makeFolders, renameOver } from './writeFile.ts';

const MAX_FILE_BYTES = 10 * 1024 * 1024;
const FILE_MODE = 0o600;
const MAX_PENDING = 10_000;
const MAX_NAME_CHARS = 200;
const MAX_FILES = 100;

interface AuditFileOptions {
  readonly path: string;
  /** Called once, for the first write that fails. */
  readonly onFailure: (message: string) => void;
  readonly now?: () => Date;
  readonly maxBytes?: number;
  readonly maxPending?: number;
}

/**
 * Appends one line per entry, in order. `record` never blocks and never throws. Entries that could not be written are
 * counted, and the next successful write includes their number.
 */
export class AuditFile implements Audit {
  readonly #options: AuditFileOptions;
  #pending: string[] = [];
  #writing: Promise<void> = Promise.resolve();
  #lost = 0;
  #hasReported = false;

  constructor(options: AuditFileOptions) {
    this.#options = options;
  }

  record(entry: AuditEntry): void {
    if (this.#pending.length >= (this.#options.maxPending ?? MAX_PENDING)) {
      this.#lost += 1;
      return;
    }
    this.#pending.push(auditLine(entry, this.#now()));
    if (this.#pending.length === 1) this.#writing = this.#writing.then(() => this.#write());
  }

  /** Resolves when every entry so far is written or lost. */
  flush(): Promise<void> {
    return this.#writing;
  }

  async #write(): Promise<void> {
    const { path, maxBytes = MAX_FILE_BYTES, onFailure } = this.#options;
    const lines = this.#pending;
    const lost = this.#lost;
    this.#pending = [];
    this.#lost = 0;
    const gap = lost === 0 ? '' : `${JSON.stringify({ time: this.#now(), kind: 'lost', entries: lost })}\n`;
    try {
      await append(path, lines.join('') + gap, maxBytes);
    } catch (error) {
      this.#lost += lines.length + lost;
      if (!this.#hasReported) onFailure(`The audit log ${path} could not be written: ${reasonOf(error)}.`);
      this.#hasReported = true;
    }
  }

  #now(): Date {
    return this.#options.now?.() ?? new Date();
  }
}

function reasonOf(error: unknown): string {
  return readFailure(error) ?? messageOf(error).replace(/\.$/, '');
}

/** Lists each field, so that no other property of an entry gets into the log. */
export function auditLine(entry: AuditEntry, now: Date): string {
  const { kind, consent, outcome, ms, argumentBytes, resultBytes, assets } = entry;
  const server = shorten(entry.server);
  const client = entry.client && shorten(entry.client);
  const name = entry.name && shorten(kind === 'resource' ? withoutQuery(entry.name) : entry.name);
  const chat = entry.chat && shorten(entry.chat);
  const resource = entry.resource && {
    server: shorten(entry.resource.server),
    uri: shorten(withoutQuery(entry.resource.uri)),
  };
  const about = { time: now.toISOString(), kind, server, client, name, resource, chat, consent, outcome, ms };
  const sizes = { argumentBytes, resultBytes, assets, ...filesOf(entry) };
  return `${JSON.stringify({ ...about, ...sizes })}\n`;
}

function filesOf({ files }: AuditEntry): {
  readonly files?: readonly AuditedFile[];
  readonly moreFiles?: number;
} {
  if (!files) return {};
  const named = files.slice(0, MAX_FILES).map(({ name, bytes }) => ({
    name: shorten(ADDRESS.test(name) ? withoutQuery(name) : name),
    bytes,
  }));
  const more = files.length - named.length;
  return { files: named, ...(more > 0 && { moreFiles: more }) };
}

const ADDRESS = /^[a-z][a-z0-9+.-]*:\/\//i;

/** A query may contain secrets. */
function withoutQuery(address: string): string {
  return address.replace(/[?#].*$/s, '');
}

function shorten(text: string): string {
  const cut = text.length > MAX_NAME_CHARS ? `${text.slice(0, MAX_NAME_CHARS - 1).toWellFormed()}…` : text;
  return showInvisible(cut);
}

/** A file that would grow too long replaces the previous `.1` file. */
async function append(path: string, text: string, maxBytes: number): Promise<void> {
  await makeFolders(dirname(path));
  const bytes = Buffer.from(text);
  let file = await open(path, 'a', FILE_MODE);
  try {
    const { size } = await file.stat();
    if (size > 0 && size + bytes.length > maxBytes) file = await rotate(path, file);
    await file.appendFile(bytes);
  } finally {
    await file.close();
  }
}

/** Closes the file first, because Windows cannot rename an open file. */
async function rotate(path: string, file: FileHandle): Promise<FileHandle> {
  await file.close();
  await renameOver(path, `${path}.1`);
  return open(path, 'a', FILE_MODE);
}
