import { createHash } from 'node:crypto';
import { constants, lstat as lstatCallback } from 'node:fs';
import { type FileHandle, lstat, open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { mapConcurrently } from '../base/async.ts';
import type { AssetBytes, NewAsset } from '../ports/results.ts';

import { readAssetName } from './names.ts';

/** Beyond this many files some bytes may be stored twice rather than looked for. */
const MAX_KNOWN = 50_000;
/** Files of one size that a single save may open; the next one goes on. The newest are the likeliest. */
const MAX_PRINTS = 1_000;
/** Ten thousand requests at a time would block every other file operation. */
const AT_ONCE = 256;

interface Entry {
  readonly name: string;
  print?: string;
}

/** The files of one kind and extension. */
interface Group {
  /** Names whose sizes nobody has needed yet. */
  unmeasured: string[];
  readonly bySize: Map<number, Entry[]>;
}

/**
 * Which files of a folder may hold the bytes that are to be saved. The folder is read once, and again only
 * when someone else changed it; only files of the same kind, extension and size are ever opened. It is a
 * memory of hints: what it finds is compared byte by byte, and what it misses is stored again.
 */
export class FolderIndex {
  readonly #folder: string;
  readonly #known = new Set<string>();
  readonly #groups = new Map<string, Group>();
  #changedAtMs: number | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The name of a file that holds the same bytes, if there is one. */
  async find(asset: NewAsset): Promise<string | undefined> {
    await this.#refresh();
    const group = this.#groups.get(groupKey(asset));
    const size = sizeOf(asset.bytes);
    // An empty file may be the place that another writer has reserved.
    if (!group || size === 0) return undefined;
    await this.#measure(group);
    const entries = group.bySize.get(size);
    if (!entries || entries.length === 0) return undefined;
    const print = await printOf(asset.bytes);
    const unprinted = entries.filter((entry) => entry.print === undefined).sort(byName);
    await mapConcurrently(AT_ONCE, unprinted.slice(-MAX_PRINTS), (entry) => this.#takePrint(entry, size));
    const candidates = entries.filter((entry) => entry.print === print);
    for (const { name } of candidates.sort(byName)) {
      if (await fileHolds(join(this.#folder, name), asset.bytes).catch(() => false)) return name;
    }
    return undefined;
  }

  /** Remembers a file that was just saved. */
  async add(name: string, asset: NewAsset): Promise<void> {
    this.#known.add(name);
    const { bySize } = this.#group(groupKey(asset));
    addTo(bySize, sizeOf(asset.bytes), { name });
    this.#changedAtMs = await changeTime(this.#folder);
  }

  /** Names alone: they cost a thousandth of a millisecond each. */
  async #refresh(): Promise<void> {
    const changedAtMs = await changeTime(this.#folder);
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
    if (group.unmeasured.length === 0) return;
    const names = group.unmeasured;
    group.unmeasured = [];
    await mapConcurrently(AT_ONCE, names, async (name) => {
      const size = await sizeOfFile(join(this.#folder, name));
      if (size !== undefined) addTo(group.bySize, size, { name });
    });
  }

  /** A file that cannot be read gets a print that equals no other. */
  async #takePrint(entry: Entry, size: number): Promise<void> {
    entry.print = await printOfFile(join(this.#folder, entry.name), size).catch(() => '');
  }

  #group(key: string): Group {
    const group = this.#groups.get(key) ?? { unmeasured: [], bySize: new Map<number, Entry[]>() };
    this.#groups.set(key, group);
    return group;
  }
}

function groupKey({ kind, extension }: Pick<NewAsset, 'kind' | 'extension'>): string {
  return `${kind}.${extension}`;
}

function addTo(bySize: Map<number, Entry[]>, size: number, entry: Entry): void {
  const entries = bySize.get(size);
  if (entries) entries.push(entry);
  else bySize.set(size, [entry]);
}

/** Within one kind, names sort by their time: the older file comes first. */
function byName(a: Entry, b: Entry): number {
  return a.name < b.name ? -1 : 1;
}

async function changeTime(folder: string): Promise<number> {
  return (await stat(folder)).mtimeMs;
}

/** The size of a regular file. Through the callback, which costs less than half of the promise's own form. */
function sizeOfFile(path: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    lstatCallback(path, (error, found) => resolve(!error && found.isFile() ? found.size : undefined));
  });
}

const SAMPLE_BYTES = 4096;
const CHUNK_BYTES = 256 * 1024;

function sizeOf(bytes: AssetBytes): number {
  return bytes instanceof Uint8Array ? bytes.length : bytes.size;
}

/** A print of both ends. Bytes of one size with different prints differ; with equal ones they may be equal. */
async function printOf(bytes: AssetBytes): Promise<string> {
  if (bytes instanceof Uint8Array) {
    return digest(bytes.subarray(0, SAMPLE_BYTES), bytes.subarray(tailStart(bytes.length)));
  }
  return printOfFile(bytes.path, bytes.size);
}

async function printOfFile(path: string, size: number): Promise<string> {
  const file = await openToRead(path);
  try {
    const head = await readAt(file, 0, SAMPLE_BYTES);
    return digest(head, await readAt(file, tailStart(size), SAMPLE_BYTES));
  } finally {
    await file.close();
  }
}

/** Whether a file is a regular one and holds exactly these bytes. Neither is ever whole in memory. */
export async function fileHolds(path: string, bytes: AssetBytes): Promise<boolean> {
  const size = sizeOf(bytes);
  const found = await lstat(path);
  if (!found.isFile() || found.size !== size) return false;
  const file = await openToRead(path);
  try {
    if (!(await holdsAll(file, bytes))) return false;
    // Whoever put it there may not have waited for the disk; a link must outlive a power cut.
    await file.sync().catch(() => undefined);
    return (await file.stat()).size === size;
  } finally {
    await file.close();
  }
}

async function holdsAll(file: FileHandle, bytes: AssetBytes): Promise<boolean> {
  const size = sizeOf(bytes);
  const expected = await openBytes(bytes);
  try {
    for (let at = 0; at < size; at += CHUNK_BYTES) {
      const length = Math.min(CHUNK_BYTES, size - at);
      const [found, wanted] = await Promise.all([readAt(file, at, length), expected.read(at, length)]);
      if (found.length !== length || found.compare(wanted) !== 0) return false;
    }
    return true;
  } finally {
    await expected.close();
  }
}

interface ByteReader {
  read(position: number, length: number): Promise<Uint8Array>;
  close(): Promise<void>;
}

async function openBytes(bytes: AssetBytes): Promise<ByteReader> {
  if (bytes instanceof Uint8Array) {
    return { read: async (at, length) => bytes.subarray(at, at + length), close: async () => undefined };
  }
  const file = await openToRead(bytes.path);
  return { read: (at, length) => readAt(file, at, length), close: () => file.close() };
}

/** Not through a symlink, should one have taken the place of the file. Windows has no such flag. */
function openToRead(path: string): Promise<FileHandle> {
  return open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(buffer, filled, length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

/** Where the second sample begins; short bytes are all in the first one. */
function tailStart(size: number): number {
  return Math.max(SAMPLE_BYTES, size - SAMPLE_BYTES);
}

function digest(head: Uint8Array, tail: Uint8Array): string {
  return createHash('sha256').update(head).update(tail).digest('base64');
}
