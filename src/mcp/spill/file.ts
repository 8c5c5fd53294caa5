import { randomBytes } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** How much is written at once. Two such buffers take turns: one fills while the other is written. */
const BATCH_BYTES = 256 * 1024;
/** How much may wait in the system's memory before the disk gets it: what is there already need not be waited for at the end. */
const SYNC_BYTES = 16 * 1024 * 1024;
/** Read again in pieces that divide by three, so that each is whole base64. */
const READ_BYTES = 48 * 1024;
/** Enough for everyone who tells types by their first bytes. */
const HEAD_BYTES = 8 * 1024;

/** The first `size` bytes of a finished file, in pieces whose lengths divide by three, but for the last. */
export async function* readSpilled(path: string, size: number): AsyncGenerator<Buffer> {
  const handle = await open(path, 'r');
  try {
    yield* readPieces(handle, size);
  } finally {
    await handle.close();
  }
}

/** Bytes on their way to a file of ours, which is made when they no longer fit into one batch, or at the end. */
export class SpillFile {
  readonly #folder: () => Promise<string>;
  #batch: Buffer = Buffer.allocUnsafeSlow(BATCH_BYTES);
  #spare: Buffer | undefined;
  #used = 0;
  #size = 0;
  #written = 0;
  #head: Buffer | undefined;
  #handle: FileHandle | undefined;
  #path: string | undefined;
  /** The write under way. It never rejects: its error is kept for whoever comes next. */
  #writing: Promise<void> = Promise.resolve();
  #error: Error | undefined;
  /** The sync under way, if any; it never rejects either. */
  #syncing: Promise<void> | undefined;
  #unsynced = 0;
  #discarded = false;

  constructor(folder: () => Promise<string>) {
    this.#folder = folder;
  }

  get size(): number {
    return this.#size;
  }

  /** Adds decoded digits; false, and adds nothing, when not all of them were digits. */
  addBase64(digits: string): boolean {
    const bytes = Math.floor((digits.length * 3) / 4);
    if (this.#batch.write(digits, this.#used, bytes, 'base64') !== bytes) return false;
    this.#used += bytes;
    this.#size += bytes;
    return true;
  }

  /** Sees to it that the next `bytes` have room. Rejects when the disk has refused an earlier write. */
  reserve(bytes: number): Promise<void> | undefined {
    return this.#used + bytes > this.#batch.length ? this.#flush() : undefined;
  }

  /** Resolves to the whole file. Who gets it has to see to its removal. */
  async finish(): Promise<{ readonly path: string; readonly size: number; readonly head: Uint8Array }> {
    await this.#flush();
    await this.#settle();
    await this.#syncing;
    await this.#handle?.close();
    this.#handle = undefined;
    return { path: this.#path ?? '', size: this.#size, head: this.#head ?? Buffer.alloc(0) };
  }

  /** What was added so far, in order. */
  async *read(): AsyncGenerator<Buffer> {
    await this.#settle();
    if (this.#handle !== undefined) yield* readPieces(this.#handle, this.#written);
    yield this.#batch.subarray(0, this.#used);
  }

  /** Removes the file. What is added later goes nowhere. */
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
    [this.#batch, this.#spare] = [this.#spare ?? Buffer.allocUnsafeSlow(BATCH_BYTES), this.#batch];
    this.#written += full.length;
    this.#used = 0;
  }

  async #settle(): Promise<void> {
    await this.#writing;
    if (this.#error !== undefined && !this.#discarded) throw this.#error;
  }

  async #write(bytes: Buffer, position: number): Promise<void> {
    try {
      this.#handle ??= await this.#create();
      for (let at = 0; at < bytes.length; ) {
        at += (await this.#handle.write(bytes, at, bytes.length - at, position + at)).bytesWritten;
      }
      this.#unsynced += bytes.length;
      if (this.#unsynced >= SYNC_BYTES && !this.#syncing) this.#syncing = this.#sync(this.#handle);
    } catch (error) {
      this.#error = error instanceof Error ? error : new Error(String(error));
    }
  }

  /** Beside the writing. Whoever saves the file syncs it again, and learns then what the disk has against it. */
  async #sync(handle: FileHandle): Promise<void> {
    this.#unsynced = 0;
    await handle.datasync().catch(() => undefined);
    this.#syncing = undefined;
  }

  async #create(): Promise<FileHandle> {
    // By this name, with our process in it, assets/leftovers.ts knows what a crash has left behind.
    const name = `.filechat-spill-${process.pid}-${randomBytes(12).toString('hex')}.tmp`;
    const path = join(await this.#folder(), name);
    const handle = await open(path, 'wx+', 0o600);
    this.#path = path;
    return handle;
  }
}

async function* readPieces(handle: FileHandle, size: number): AsyncGenerator<Buffer> {
  const piece = Buffer.allocUnsafe(READ_BYTES);
  for (let at = 0; at < size; ) {
    const wanted = Math.min(READ_BYTES, size - at);
    const { bytesRead } = await handle.read(piece, 0, wanted, at);
    if (bytesRead < wanted) throw new Error('the temporary file was cut short');
    yield piece.subarray(0, bytesRead);
    at += bytesRead;
  }
}
