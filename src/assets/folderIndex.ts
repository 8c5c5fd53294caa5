import { createHash } from 'node:crypto';
import { constants, statSync } from 'node:fs';
import { type FileHandle, lstat, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readAssetName } from '../base/assetNames.ts';
import { mapConcurrently } from '../base/async.ts';
import { sizeOf } from '../media/sniff.ts';
import type { AssetBytes, NewAsset } from '../ports/results.ts';
import { fillBuffer, statOf } from './confined.ts';
import { withHandle } from './writeFile.ts';

/** Beyond this many files, duplicates are no longer detected. */
const MAX_KNOWN = 50_000;
/** How many files of the same size one save may open, newest first. */
const MAX_FINGERPRINTS = 1_000;
/** Ten thousand concurrent requests would block all other file operations. */
const MAX_CONCURRENT = 256;

/** The files of one size. */
interface Alike {
  unread: string[];
  readonly byFingerprint: Map<string, string[]>;
}

interface Group {
  /** Files whose sizes are not known yet. */
  unmeasured: string[];
  /** Resolves when `bySize` has the files that were measured before. */
  measured: Promise<unknown>;
  readonly bySize: Map<number, Alike>;
}

/**
 * Finds files of a folder that contain given bytes. The folder is listed again only after it has changed, and only files
 * of the same maker, kind, extension and size are opened. The index is a cache: matches are compared byte by byte, and
 * a missed match only costs disk space.
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
    const group = this.#groups.get(groupKey(asset));
    const size = sizeOf(asset.bytes);
    // An empty file may be a name that another writer has reserved.
    if (!group || size === 0) return undefined;
    await this.#measure(group);
    const alike = group.bySize.get(size);
    if (!alike) return undefined;
    await this.#readFingerprints(alike, size);
    const candidates = alike.byFingerprint.get(await fingerprintOf(asset.bytes)) ?? [];
    for (const name of candidates.toSorted()) {
      if (await fileHolds(join(this.#folder, name), asset.bytes).catch(() => false)) return name;
    }
    return undefined;
  }

  /** Of the newest files: names of one kind sort by time. */
  async #readFingerprints(alike: Alike, size: number): Promise<void> {
    const unread = alike.unread.sort().splice(-MAX_FINGERPRINTS);
    await mapConcurrently(MAX_CONCURRENT, unread, async (name) => {
      // A file that cannot be read never matches.
      const fingerprint = await fileFingerprint(join(this.#folder, name), size).catch(() => '');
      addTo(alike.byFingerprint, fingerprint, name);
    });
  }

  async add(name: string, asset: NewAsset): Promise<void> {
    this.#known.add(name);
    const { bytes } = asset;
    const alike = alikeOf(this.#group(groupKey(asset)), sizeOf(bytes));
    // Spilled bytes have moved, and are read if a file of the same size follows.
    if (bytes instanceof Uint8Array) addTo(alike.byFingerprint, await fingerprintOf(bytes), name);
    else alike.unread.push(name);
    this.#changedAtMs = changeTime(this.#folder);
  }

  /** The file is not found, whatever it contains. */
  skip(name: string): void {
    this.#known.add(name);
  }

  /** Reads names only, which is cheap; sizes are read when they are needed. */
  async #refresh(): Promise<void> {
    const changedAtMs = changeTime(this.#folder);
    if (changedAtMs === this.#changedAtMs) return;
    const names = (await readdir(this.#folder)).filter((name) => !this.#known.has(name));
    for (const name of names) {
      const read = readAssetName(name);
      if (!read) continue;
      if (this.#known.size >= MAX_KNOWN) break;
      this.#known.add(name);
      this.#group(groupKey(read)).unmeasured.push(name);
    }
    this.#changedAtMs = changedAtMs;
  }

  async #measure(group: Group): Promise<void> {
    const names = group.unmeasured;
    group.unmeasured = [];
    const measured = mapConcurrently(MAX_CONCURRENT, names, async (name) => {
      const found = await statOf(join(this.#folder, name));
      if (found?.isFile()) alikeOf(group, found.size).unread.push(name);
    });
    // Another save may be measuring the rest of the group.
    group.measured = Promise.all([group.measured, measured]);
    await group.measured;
  }

  #group(key: string): Group {
    const group = this.#groups.get(key) ?? {
      unmeasured: [],
      measured: Promise.resolve(),
      bySize: new Map<number, Alike>(),
    };
    this.#groups.set(key, group);
    return group;
  }
}

function groupKey({
  maker = 'tool',
  kind,
  extension,
}: Pick<NewAsset, 'maker' | 'kind' | 'extension'>): string {
  return `${maker}.${kind}.${extension}`;
}

function alikeOf({ bySize }: Group, size: number): Alike {
  const alike = bySize.get(size) ?? { unread: [], byFingerprint: new Map<string, string[]>() };
  bySize.set(size, alike);
  return alike;
}

function addTo(byFingerprint: Map<string, string[]>, fingerprint: string, name: string): void {
  const names = byFingerprint.get(fingerprint);
  if (names) names.push(name);
  else byFingerprint.set(fingerprint, [name]);
}

/** Synchronous, because a thread takes longer to ask. */
function changeTime(folder: string): number {
  return statSync(folder).mtimeMs;
}

const SAMPLE_BYTES = 4096;
const CHUNK_BYTES = 256 * 1024;

/** A hash of both ends: different fingerprints mean different bytes, equal ones need a full comparison. */
async function fingerprintOf(bytes: AssetBytes): Promise<string> {
  if (bytes instanceof Uint8Array) {
    return digest(bytes.subarray(0, SAMPLE_BYTES), bytes.subarray(tailStart(bytes.length)));
  }
  return fileFingerprint(bytes.path, bytes.size);
}

async function fileFingerprint(path: string, size: number): Promise<string> {
  return withHandle(openToRead(path), async (file) => {
    const head = await readAt(file, 0, SAMPLE_BYTES);
    return digest(head, await readAt(file, tailStart(size), SAMPLE_BYTES));
  });
}

/** Whether a regular file contains exactly these bytes. Compares in chunks. */
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
  for (let at = 0; at < size; at += CHUNK_BYTES) {
    const length = Math.min(CHUNK_BYTES, size - at);
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

/** The samples do not overlap: short files are covered by the first one. */
function tailStart(size: number): number {
  return Math.max(SAMPLE_BYTES, size - SAMPLE_BYTES);
}

function digest(head: Uint8Array, tail: Uint8Array): string {
  return createHash('sha256').update(head).update(tail).digest('base64');
}
