import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { finished } from 'node:stream/promises';
import { Zip, ZipDeflate, ZipPassThrough } from 'fflate';
import { renameOver } from './writeFile.ts';

export interface ZipEntry {
  readonly name: string;
  readonly time: Date;
  readonly bytes: number;
  readonly read: () => AsyncIterable<Uint8Array>;
}

export interface ZipOptions {
  readonly signal: AbortSignal;
  /** Called with the number of bytes read since the last call. */
  readonly onProgress?: (bytes: number) => void;
}

/** The limits of ZIP without Zip64, which fflate does not write. */
const MAX_ZIP_BYTES = 4_000_000_000;
const MAX_ENTRIES = 65_000;

/** Streams files into a zip. The target appears when it is complete; a failed or canceled zip leaves no file. */
export async function zipFiles(
  target: string,
  entries: readonly ZipEntry[],
  options: ZipOptions,
): Promise<void> {
  const total = entries.reduce((sum, { bytes }) => sum + bytes, 0);
  if (total > MAX_ZIP_BYTES || entries.length > MAX_ENTRIES) {
    throw new Error('A ZIP file can contain at most 4 GB and 65,000 files. Select fewer files.');
  }
  // The name cannot be guessed, so that no link to another file can be put there first.
  const partial = `${target}.${randomBytes(12).toString('hex')}.partial`;
  try {
    await writeZip(partial, entries, options);
    options.signal.throwIfAborted();
    await renameOver(partial, target);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

async function writeZip(path: string, entries: readonly ZipEntry[], options: ZipOptions): Promise<void> {
  const { signal, onProgress } = options;
  const file = createWriteStream(path, { flags: 'wx' });
  const written = finished(file);
  // Awaited below; this prevents an unhandled rejection before that.
  written.catch(() => undefined);
  const zip = new Zip((error, chunk, final) => {
    if (error) return void file.destroy(error);
    file.write(chunk);
    if (final) file.end();
  });
  const used = new Map<string, number>();
  try {
    for (const entry of entries) {
      signal.throwIfAborted();
      const part = openEntry(freeName(zipName(entry.name), used), entry.time);
      zip.add(part);
      for await (const bytes of entry.read()) {
        signal.throwIfAborted();
        part.push(bytes);
        onProgress?.(bytes.length);
        if (file.errored) throw file.errored;
        if (file.writableNeedDrain) await once(file, 'drain', { signal });
      }
      part.push(new Uint8Array(), true);
    }
    zip.end();
    await written;
  } catch (error) {
    zip.terminate();
    file.destroy();
    await written.catch(() => undefined);
    throw error;
  }
}

const COMPRESSED =
  /\.(?:png|jpe?g|gif|webp|avif|apng|mp3|ogg|oga|opus|flac|m4a|aac|weba|mp4|webm|mov|mkv|avi|ogv|mpg|3gp|docx|xlsx|pptx|odt|ods|odp|epub|zip|gz|7z|bz2|xz|zst|rar|woff2?|parquet|heic|jxl)$/i;

function openEntry(name: string, time: Date): ZipDeflate | ZipPassThrough {
  const part = COMPRESSED.test(name) ? new ZipPassThrough(name) : new ZipDeflate(name, { level: 6 });
  const year = time.getFullYear();
  if (year >= 1980 && year <= 2099) part.mtime = time;
  return part;
}

/** A name that stays inside the folder that the zip is extracted to, on every system. */
export function zipName(name: string): string {
  const segments = name
    .replace(/[\\:*?"<>|\u0000-\u001f\u007f]/g, '_')
    .split('/')
    .filter((segment) => segment !== '' && !/^\.+$/.test(segment));
  return segments.join('/') || 'file';
}

/** Counts on from the last number of each name, so that thousands of equal names take no longer. */
function freeName(name: string, used: Map<string, number>): string {
  let free = name;
  let number = used.get(name.toLowerCase()) ?? 1;
  while (used.has(free.toLowerCase())) {
    number += 1;
    free = name.replace(/(\.[^./]*)?$/, (extension) => ` (${number})${extension}`);
  }
  used.set(name.toLowerCase(), number);
  used.set(free.toLowerCase(), used.get(free.toLowerCase()) ?? 1);
  return free;
}
