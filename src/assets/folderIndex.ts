import { constants, lstat as lstatCallback } from 'node:fs';
import { type FileHandle, lstat, open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { mapConcurrently } from '../base/async.ts';
import { readAssetName } from '../base/names.ts';
import { sizeOf } from '../media/sniff.ts';
import type { AssetBytes, NewAsset } from '../ports/results.ts';
import { fillBuffer } from './confined.ts';
import { withHandle } from './writeFile.ts';

/** Beyond this many files, duplicates are no longer detected. */
const MAX_KNOWN = 50_000;
/** How many files of the same size one save may open, newest first: about 50 ms. */
const MAX_COMPARED = 100;
/** Ten thousand concurrent requests would block all other file operations. */
const MAX_CONCURRENT = 256;

interface Group {
  /** Files whose sizes are not known yet. */
  unmeasured: string[];
  readonly bySize: Map<number, string[]>;
}

/**
 * Finds files of a folder that contain given bytes. The folder is listed again only after it has changed, and only files
 * of the same kind, extension and size are opened. A missed match only costs disk space.
 */
export class FolderIndex {
  readonly #folder: string;
  readonly #known = new Set<string>();
  readonly #groups = new Map<string, Group>();
  #changedAtMs: number | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async find(asset: NewAsset): Promise<string | undefined> {
    await this.#refresh();
    const size = sizeOf(asset.bytes);
    // An empty file may be a name that another writer has reserved.
    if (size === 0) return undefined;
    const group = this.#group(asset);
    await this.#measure(group);
    // Names of one kind sort by time. The oldest match is used.
    const names = (group.bySize.get(size) ?? []).sort().slice(-MAX_COMPARED);
    for (const name of names) {
      if (await fileHolds(join(this.#folder, name), asset.bytes).catch(() => false)) return name;
    }
    return undefined;
  }

  async add(name: string, asset: NewAsset): Promise<void> {
    this.#known.add(name);
    addTo(this.#group(asset).bySize, sizeOf(asset.bytes), name);
    this.#changedAtMs = (await stat(this.#folder)).mtimeMs;
  }

  /** Reads names only, which is cheap; sizes are read when they are needed. */
  async #refresh(): Promise<void> {
    const { mtimeMs } = await stat(this.#folder);
    if (mtimeMs === this.#changedAtMs) return;
    for (const name of await readdir(this.#folder)) {
      const read = this.#known.has(name) ? undefined : readAssetName(name);
      if (!read) continue;
      if (this.#known.size >= MAX_KNOWN) break;
      this.#known.add(name);
      this.#group(read).unmeasured.push(name);
    }
    this.#changedAtMs = mtimeMs;
  }

  async #measure(group: Group): Promise<void> {
    const names = group.unmeasured;
    group.unmeasured = [];
    await mapConcurrently(MAX_CONCURRENT, names, async (name) => {
      const size = await sizeOfFile(join(this.#folder, name));
      if (size !== undefined) addTo(group.bySize, size, name);
    });
  }

  #group({ kind, extension }: Pick<NewAsset, 'kind' | 'extension'>): Group {
    const key = `${kind}.${extension}`;
    const group = this.#groups.get(key) ?? { unmeasured: [], bySize: new Map<number, string[]>() };
    this.#groups.set(key, group);
    return group;
  }
}

function addTo(bySize: Map<number, string[]>, size: number, name: string): void {
  const names = bySize.get(size);
  if (names) names.push(name);
  else bySize.set(size, [name]);
}

/** Uses the callback API, which takes less than half the time of the promise API. */
function sizeOfFile(path: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    lstatCallback(path, (error, found) => resolve(!error && found.isFile() ? found.size : undefined));
  });
}

/** Most files of the same size differ near the beginning. */
const FIRST_CHUNK_BYTES = 4096;
const CHUNK_BYTES = 256 * 1024;

export async function fileHolds(path: string, bytes: AssetBytes): Promise<boolean> {
  const size = sizeOf(bytes);
  const found = await lstat(path);
  if (!found.isFile() || found.size !== size) return false;
  return withHandle(openToRead(path), async (file) => {
    const isSame =
      bytes instanceof Uint8Array
        ? await holdsAll(file, size, async (at, length) => bytes.subarray(at, at + length))
        : await withHandle(openToRead(bytes.path), (other) =>
            holdsAll(file, size, (at, length) => readAt(other, at, length)),
          );
    if (!isSame) return false;
    // The file may not have been synced when it was written, and a link to it must survive a power cut.
    await file.sync().catch(() => undefined);
    return (await file.stat()).size === size;
  });
}

async function holdsAll(
  file: FileHandle,
  size: number,
  readExpected: (at: number, length: number) => Promise<Uint8Array>,
): Promise<boolean> {
  for (let at = 0, length = 0; at < size; at += length) {
    length = Math.min(at === 0 ? FIRST_CHUNK_BYTES : CHUNK_BYTES, size - at);
    const [found, expected] = await Promise.all([readAt(file, at, length), readExpected(at, length)]);
    if (found.length !== length || found.compare(expected) !== 0) return false;
  }
  return true;
}

/** Does not follow symbolic links. Windows has no such flag. */
function openToRead(path: string): Promise<FileHandle> {
  return open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  return buffer.subarray(0, await fillBuffer(file, buffer, position));
}
