import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { messageOf } from '../base/errors.ts';
import { showInvisible } from '../chat/format/escape.ts';
import type { Audit, AuditEntry } from '../ports/tools.ts';

import { renameOver } from './writeFile.ts';

const MAX_FILE_BYTES = 10 * 1024 * 1024;
/** Nobody else on the machine needs to know what was called. */
const FILE_MODE = 0o600;
/** More than a disk that answers ever lets wait. */
const MAX_WAITING = 10_000;
const MAX_NAME_CHARS = 200;

export interface AuditFileOptions {
  readonly path: string;
  /** Told once, when entries could not be kept. */
  readonly onFailure: (message: string) => void;
  readonly now?: () => Date;
  readonly maxBytes?: number;
  readonly maxWaiting?: number;
}

/**
 * Appends a line for each entry, in their order. Whoever records never waits and never fails; what was lost on the
 * way is counted, and the count is the next line that the disk takes.
 */
export class AuditFile implements Audit {
  readonly #options: AuditFileOptions;
  #waiting: string[] = [];
  #writing: Promise<void> = Promise.resolve();
  #lost = 0;
  #isTold = false;

  constructor(options: AuditFileOptions) {
    this.#options = options;
  }

  record(entry: AuditEntry): void {
    if (this.#waiting.length >= (this.#options.maxWaiting ?? MAX_WAITING)) {
      this.#lost += 1;
      return;
    }
    this.#waiting.push(auditLine(entry, this.#now()));
    if (this.#waiting.length === 1) this.#writing = this.#writing.then(() => this.#write());
  }

  /** Resolves when everything that was recorded so far is in the file, or lost. */
  flush(): Promise<void> {
    return this.#writing;
  }

  async #write(): Promise<void> {
    const lines = this.#waiting;
    const lost = this.#lost;
    this.#waiting = [];
    this.#lost = 0;
    const gap = lost === 0 ? '' : `${JSON.stringify({ time: this.#now(), kind: 'lost', entries: lost })}\n`;
    try {
      await append(this.#options.path, lines.join('') + gap, this.#options.maxBytes ?? MAX_FILE_BYTES);
    } catch (error) {
      this.#lost += lines.length + lost;
      if (!this.#isTold) this.#tell(error);
      this.#isTold = true;
    }
  }

  #tell(error: unknown): void {
    const reason = messageOf(error);
    this.#options.onFailure(`The audit log ${this.#options.path} could not be written: ${reason}`);
  }

  #now(): Date {
    return this.#options.now?.() ?? new Date();
  }
}

/** One line of JSON. Fields are taken one by one, so that nothing else can slip into the log. */
export function auditLine(entry: AuditEntry, now: Date): string {
  const { kind, server, name, chat, consent, outcome, ms, argumentBytes, resultBytes, assets } = entry;
  const fields = {
    time: now.toISOString(),
    kind,
    server: shorten(server),
    name: name === undefined ? undefined : shorten(kind === 'resource' ? withoutQuery(name) : name),
    chat: chat === undefined ? undefined : shorten(chat),
    consent,
    outcome,
    ms,
    argumentBytes,
    resultBytes,
    assets,
  };
  return `${JSON.stringify(fields)}\n`;
}

/** What is asked for in an address is an argument, and may be a secret. */
function withoutQuery(uri: string): string {
  return uri.replace(/[?#].*$/s, '');
}

function shorten(text: string): string {
  const cut = text.length > MAX_NAME_CHARS ? `${text.slice(0, MAX_NAME_CHARS - 1).toWellFormed()}…` : text;
  return showInvisible(cut);
}

/** A file that would grow too long becomes the old one; the one before it is gone. */
async function append(path: string, text: string, maxBytes: number): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const bytes = Buffer.from(text);
  let file = await open(path, 'a', FILE_MODE);
  try {
    const { size } = await file.stat();
    if (size > 0 && size + bytes.length > maxBytes) file = await startAnew(path, file);
    await file.appendFile(bytes);
  } finally {
    await file.close();
  }
}

/** Closed first: Windows renames nothing that is open. */
async function startAnew(path: string, file: FileHandle): Promise<FileHandle> {
  await file.close();
  await renameOver(path, `${path}.1`);
  return open(path, 'a', FILE_MODE);
}
