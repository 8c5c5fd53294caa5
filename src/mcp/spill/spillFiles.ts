import { randomBytes } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { BUDGET } from '../../base/budget.ts';
import type { Spill, SpilledBytes, Spills } from '../../ports/results.ts';
import { renderPlaceholder } from '../../result/findBytes.ts';

/** Most strings fit into the first buffer. */
const FIRST_BATCH_BYTES = 256 * 1024;
/** Then two of this size alternate: one fills while the other is written. Each write wakes threads, which takes time. */
const BATCH_BYTES = 1024 * 1024;
/** Data is synced in the background after this much, so that the final sync is short. */
const SYNC_BYTES = 16 * 1024 * 1024;
/** A multiple of three, so that each piece is complete base64. */
const READ_BYTES = 48 * 1024;
/** Enough to detect any media type. */
const HEAD_BYTES = 8 * 1024;

/** Reads the first `size` bytes of a finished file in pieces; all but the last have a length divisible by three. */
export async function* readSpilled(path: string, size: number): AsyncGenerator<Buffer> {
  const handle = await open(path, 'r');
  try {
    yield* readPieces(handle, size);
  } finally {
    await handle.close();
  }
}

/** A temporary file. It is created when the bytes no longer fit into one batch, or at the end. */
export class SpillFile {
  readonly #folder: SpillTableOptions['folder'];
  #batch: Buffer = Buffer.allocUnsafeSlow(FIRST_BATCH_BYTES);
  #spare: Buffer | undefined;
  #used = 0;
  #size = 0;
  #written = 0;
  #head: Buffer | undefined;
  #handle: FileHandle | undefined;
  #path: string | undefined;
  /** The current write. Never rejects: its error is kept for the next caller. */
  #writing: Promise<void> = Promise.resolve();
  #error: Error | undefined;
  /** The current sync. Never rejects. */
  #syncing: Promise<void> | undefined;
  #unsynced = 0;
  #discarded = false;
  #hasMoved = false;

  constructor(folder: SpillTableOptions['folder']) {
    this.#folder = folder;
  }

  get size(): number {
    return this.#size;
  }

  /** Decodes and adds base64 digits. Returns false and adds nothing if one of them is not a digit. */
  addBase64(digits: string): boolean {
    const bytes = Math.floor((digits.length * 3) / 4);
    if (this.#batch.write(digits, this.#used, bytes, 'base64') !== bytes) return false;
    this.#used += bytes;
    this.#size += bytes;
    return true;
  }

  /** Adds bytes that fit into the first batch. Rejects if they or earlier ones cannot be written. */
  async add(bytes: Uint8Array): Promise<void> {
    await this.reserve(bytes.length);
    this.#batch.set(bytes, this.#used);
    this.#used += bytes.length;
    this.#size += bytes.length;
  }

  /** Makes room for the next `bytes`. Rejects if an earlier write failed. */
  reserve(bytes: number): Promise<void> | undefined {
    return this.#used + bytes > this.#batch.length ? this.#flush() : undefined;
  }

  /** Resolves to the complete file, which the caller has to remove. */
  async finish(): Promise<{ readonly path: string; readonly size: number; readonly head: Uint8Array }> {
    await this.#flush();
    await this.#settle();
    await this.#syncing;
    await this.#handle?.close();
    this.#handle = undefined;
    return { path: this.#path ?? '', size: this.#size, head: this.#head ?? Buffer.alloc(0) };
  }

  async *read(): AsyncGenerator<Buffer> {
    await this.#settle();
    if (this.#handle !== undefined) yield* readPieces(this.#handle, this.#written);
    yield this.#batch.subarray(0, this.#used);
  }

  /** Removes the file. Bytes added later are dropped. */
  async discard(): Promise<void> {
    this.#discarded = true;
    await this.#writing;
    await this.#syncing;
    await this.#handle?.close().catch(() => undefined);
    this.#handle = undefined;
    if (this.#path !== undefined) await rm(this.#path, { force: true });
  }

  async #flush(): Promise<void> {
    const full = this.#batch.subarray(0, this.#used);
    this.#head ??= Buffer.from(full.subarray(0, HEAD_BYTES));
    await this.#settle();
    if (!this.#discarded) this.#writing = this.#write(full, this.#written);
    const spare = this.#batch.length === BATCH_BYTES ? this.#batch : undefined;
    [this.#batch, this.#spare] = [this.#spare ?? Buffer.allocUnsafeSlow(BATCH_BYTES), spare];
    this.#written += full.length;
    this.#used = 0;
  }

  async #settle(): Promise<void> {
    await this.#writing;
    if (this.#error !== undefined && !this.#discarded) throw this.#error;
  }

  async #write(bytes: Buffer, position: number): Promise<void> {
    try {
      await this.#writeAt(bytes, position).catch(async (error: unknown) => {
        await this.#move(error, position);
        await this.#writeAt(bytes, position);
      });
      this.#unsynced += bytes.length;
      if (this.#unsynced >= SYNC_BYTES && !this.#syncing && this.#handle)
        this.#syncing = this.#sync(this.#handle);
    } catch (error) {
      this.#error = error instanceof Error ? error : new Error(String(error));
    }
  }

  async #writeAt(bytes: Buffer, position: number): Promise<void> {
    this.#handle ??= await this.#create();
    await writeAll(this.#handle, bytes, position);
  }

  /** Continues in another folder, for example when the disk is full. Rejects with `failure` if there is none. */
  async #move(failure: unknown, written: number): Promise<void> {
    if (this.#hasMoved || this.#discarded) throw failure;
    this.#hasMoved = true;
    const [from, fromPath] = [this.#handle, this.#path];
    const to = await this.#create(failure).catch(() => Promise.reject(failure));
    this.#handle = to;
    if (from === undefined || fromPath === undefined) return;
    try {
      let at = 0;
      for await (const piece of readPieces(from, written)) {
        await writeAll(to, piece, at);
        at += piece.length;
      }
    } finally {
      await this.#syncing;
      await from.close().catch(() => undefined);
      await rm(fromPath, { force: true });
    }
  }

  /** Ignores errors: saving the file syncs it again. */
  async #sync(handle: FileHandle): Promise<void> {
    this.#unsynced = 0;
    await handle.datasync().catch(() => {});
    this.#syncing = undefined;
  }

  async #create(failure?: unknown): Promise<FileHandle> {
    // `sweepLeftovers` in assets/writeFile.ts recognizes files left by a crash by this name and pid.
    const name = `.filechat-spill-${process.pid}-${randomBytes(12).toString('hex')}.tmp`;
    const path = join(await this.#folder(failure), name);
    const handle = await open(path, 'wx+', 0o600);
    this.#path = path;
    return handle;
  }
}

async function writeAll(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    at += (await handle.write(bytes, at, bytes.length - at, position + at)).bytesWritten;
  }
}

async function* readPieces(handle: FileHandle, size: number): AsyncGenerator<Buffer> {
  const piece = Buffer.allocUnsafe(READ_BYTES);
  for (let at = 0; at < size; ) {
    const wanted = Math.min(READ_BYTES, size - at);
    const { bytesRead } = await handle.read(piece, 0, wanted, at);
    if (bytesRead < wanted) throw new Error('the temporary file was truncated');
    yield piece.subarray(0, bytesRead);
    at += bytesRead;
  }
}

interface SpillTableOptions {
  /** Called when a file is created, and again with the failure if its folder cannot be written. */
  readonly folder: (failure?: unknown) => Promise<string>;
  /** The limit for one decoded string. */
  readonly maxBytes: number;
  /** The limit for all of them. */
  readonly maxTotalBytes?: number;
}

/** The long strings of one result. The creator of a table disposes it, however the request ends. */
export class SpillTable implements Spills {
  readonly #options: SpillTableOptions;
  /** Never sent, so no server can forge a placeholder. */
  readonly #secret = randomBytes(16).toString('hex');
  readonly #spills = new Map<string, Spill>();
  readonly #open = new Set<SpillFile>();
  /** The placeholders of texts, by hash: servers send a text as a block and in the structured content. */
  readonly #texts = new Map<string, string>();
  #keptBytes = 0;
  #disposed = false;

  constructor(options: SpillTableOptions) {
    this.#options = options;
  }

  /** The limit for the next string. */
  get maxBytes(): number {
    const { maxBytes, maxTotalBytes = BUDGET.resultBytes } = this.#options;
    return Math.min(maxBytes, maxTotalBytes - this.#keptBytes);
  }

  get disposed(): boolean {
    return this.#disposed;
  }

  find(text: string): Spill | undefined {
    return this.#spills.get(text);
  }

  begin(): SpillFile {
    const file = new SpillFile(this.#options.folder);
    this.#open.add(file);
    return file;
  }

  /** Records the outcome of a file and resolves to its placeholder. */
  async keep(file: SpillFile, spill: Spill): Promise<string> {
    const known = spill.kind === 'bytes' && spill.textHash ? this.#texts.get(spill.textHash) : undefined;
    if (known !== undefined) {
      await this.drop(file);
      return known;
    }
    this.#open.delete(file);
    const placeholder = renderPlaceholder(this.#secret, this.#spills.size);
    if (spill.kind === 'bytes' && spill.textHash) this.#texts.set(spill.textHash, placeholder);
    this.#spills.set(placeholder, spill);
    if (spill.kind === 'bytes') this.#keptBytes += spill.size;
    if (this.#disposed && spill.kind === 'bytes') await rm(spill.path, { force: true });
    return placeholder;
  }

  async write(text: AsyncIterable<string>): Promise<SpilledBytes> {
    const file = this.begin();
    try {
      for await (const each of text) {
        const bytes = Buffer.from(each);
        for (let at = 0; at < bytes.length; at += READ_BYTES)
          await file.add(bytes.subarray(at, at + READ_BYTES));
      }
      const written = await file.finish();
      await this.keep(file, { kind: 'bytes', ...written });
      return written;
    } catch (error) {
      await this.drop(file);
      throw error;
    }
  }

  async drop(file: SpillFile): Promise<void> {
    await file.discard();
    // Only now, so that a concurrent dispose() waits for the file too.
    this.#open.delete(file);
  }

  /** An empty table with the same limits, for a result whose request is not known yet. */
  createSibling(): SpillTable {
    return new SpillTable(this.#options);
  }

  /** Takes over the strings of a sibling. */
  async adopt(other: SpillTable): Promise<void> {
    if (this.#disposed) return other.dispose();
    for (const [placeholder, spill] of other.#spills) this.#spills.set(placeholder, spill);
    other.#spills.clear();
  }

  async dispose(): Promise<void> {
    this.#disposed = true;
    const kept = [...this.#spills.values()].flatMap((spill) => (spill.kind === 'bytes' ? [spill.path] : []));
    this.#spills.clear();
    await Promise.all([
      ...[...this.#open].map((file) => this.drop(file)),
      ...kept.map((path) => rm(path, { force: true })),
    ]);
  }
}
