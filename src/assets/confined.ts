import {
  type BigIntStats,
  constants,
  lstat as lstatCallback,
  lstatSync,
  realpathSync,
  type Stats,
} from 'node:fs';
import { type FileHandle, lstat, open, realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { ASSET_FOLDER, DEVICE_NAME } from '../base/assetNames.ts';
import { hasCode } from '../base/errors.ts';
import { NOT_A_FILE, readFailure } from '../base/fileErrors.ts';
import { durationSeconds, type ImageSize, imageSize } from '../media/measure.ts';
import { detectMediaType } from '../media/sniff.ts';
import { withHandle } from './writeFile.ts';

/** An abort withdraws the question to the user. */
export type MayRead = (path: string, signal?: AbortSignal) => Promise<boolean>;

export interface Confinement {
  /** The folder of the chat; relative paths start here. */
  readonly folder: string;
  /** Files outside of these folders need permission. */
  readonly roots: readonly string[];
  /** Called with the real path of a file outside of the roots. Without it, such files are refused. */
  readonly mayRead?: MayRead | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The caller has checked the name; this checks that its real path stays in `cmdassets/`. */
export async function findAsset(chatFolder: string, name: string): Promise<string> {
  const folder = join(await realpath(chatFolder), ASSET_FOLDER);
  if ((await lstat(folder)).isSymbolicLink()) throw new Error(`${ASSET_FOLDER}/ is a symbolic link`);
  const path = await realpath(join(folder, name));
  if (!isInside(folder, path)) throw new Error(`it points outside ${ASSET_FOLDER}/`);
  return path;
}

/** Resolves to the real path of a file or folder that may be read; rejects for every other path. */
export async function findFile(confinement: Confinement, written: string): Promise<string> {
  const { folder, roots, mayRead, signal } = confinement;
  const problem = writtenPathProblem(written);
  if (problem !== undefined) throw new Error(problem);
  const real = await realFolders(roots);
  // The folder of a new chat may not exist yet.
  const path = resolve(await realpath(folder).catch(() => folder), written);
  const isBelow = (folders: readonly string[], each: string) =>
    folders.some((root) => root === each || isInside(root, each));
  // Checked before the disk is read, so that the error does not reveal which files exist elsewhere.
  const isKnown = isBelow([...roots.map((root) => resolve(root)), ...real], path);
  if (!isKnown && (!mayRead || isRemotePath(path))) throw new OutsideFolders();
  const found = await realpath(path);
  if (!isBelow(real, found) && !(await mayRead?.(found, signal))) throw new OutsideFolders();
  return found;
}

/**
 * A synchronous `findFile` for one folder. The file need not exist: then its nearest existing ancestor is resolved.
 * Backslashes are refused except on Windows, where they separate names.
 */
export function findBelow(folder: string, written: string): string {
  if (writtenPathProblem(written) !== undefined || NEVER_IN_PATHS.test(written)) throw new OutsideFolders();
  const root = nearestReal(resolve(folder));
  const path = resolve(root, written);
  const isBelow = (base: string, each: string) => each === base || isInside(base, each);
  // Checked before the disk is read, as in `findFile`.
  if (!isBelow(root, path) && !isBelow(resolve(folder), path)) throw new OutsideFolders();
  const found = nearestReal(path);
  if (!isBelow(root, found)) throw new OutsideFolders();
  return found;
}

/** The real path of the nearest existing ancestor, followed by the part that does not exist. */
function nearestReal(path: string): string {
  try {
    return realpathSync.native(path);
  } catch (error) {
    // A write through a dangling link would create a file elsewhere.
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) throw new OutsideFolders();
    if (!hasCode(error, 'ENOENT', 'ENOTDIR') || dirname(path) === path) throw error;
    return join(nearestReal(dirname(path)), basename(path));
  }
}

export class OutsideFolders extends Error {
  constructor() {
    super(
      'it is outside the folders that can be read: the folder of the chat, the workspace, and on the command line --root',
    );
  }
}

const NEVER_IN_PATHS = process.platform === 'win32' ? /\0/ : /[\0\\]/;

async function realFolders(folders: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(folders.map((folder) => realpath(folder).catch(() => undefined)));
  return found.filter((folder) => folder !== undefined);
}

export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** Does not follow a link and does not wait for the writer of a pipe. Windows has neither flag. */
const READ = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** Opens the file at a real path and checks that it was not replaced in the meantime. */
export async function withFile<T>(
  path: string,
  use: (file: FileHandle, stats: BigIntStats) => Promise<T>,
): Promise<T> {
  // Checked before opening too, because opening a device can have effects.
  const before = await lstat(path);
  if (!before.isFile()) throw before.isSymbolicLink() ? new FileChanged() : new NotAFile();
  return withHandle(open(path, READ), async (file) => {
    const stats = await file.stat({ bigint: true });
    if (!stats.isFile()) throw new NotAFile();
    // A folder in the path may have been replaced by a link.
    if ((await realpath(path)) !== path || !isOneFile(stats, await stat(path, { bigint: true })))
      throw new FileChanged();
    return use(file, stats);
  });
}

export class NotAFile extends Error {
  constructor() {
    super(NOT_A_FILE);
  }
}

export class FileChanged extends Error {
  constructor() {
    super('it changed while it was being read');
  }
}

function isOneFile(a: BigIntStats, b: BigIntStats): boolean {
  return a.dev === b.dev && a.ino === b.ino;
}

function isSame(a: BigIntStats, b: BigIntStats): boolean {
  return isOneFile(a, b) && a.size === b.size && a.mtimeNs === b.mtimeNs;
}

/** A log that grew still has the bytes that were there before. */
function isSameOrLonger(before: BigIntStats, now: BigIntStats): boolean {
  return isSame(before, now) || (isOneFile(before, now) && now.size > before.size);
}

/** Enough for the head of every format. */
const HEAD_BYTES = 64 * 1024;

export interface InspectedFile {
  readonly stats: BigIntStats;
  readonly size: number;
  readonly head: Uint8Array;
  readonly mimeType: string;
}

/** Reads the head of a file. Later reads fail if the file has changed since. */
export async function inspectFile(path: string): Promise<InspectedFile> {
  const { stats, head } = await withFile(path, async (file, found) => {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return { stats: found, head: buffer.subarray(0, bytesRead) };
  });
  const { types } = await detectMediaType({ bytes: head, uri: basename(path), block: 'file' });
  return { stats, size: Number(stats.size), head, mimeType: types[0] };
}

/** A multiple of three, so that pieces can be encoded as base64 without padding between them. */
const PIECE_BYTES = 3 * 256 * 1024;

/** Reads the whole file in pieces. The buffer is reused: `take` must copy what it keeps. */
export async function readPieces(
  path: string,
  { stats, size }: InspectedFile,
  take: (piece: Buffer) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  await withFile(path, async (file, now) => {
    if (!isSame(stats, now)) throw new FileChanged();
    const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, size + 1));
    for (let at = 0; ; ) {
      signal?.throwIfAborted();
      const bytesRead = await fillBuffer(file, piece, at);
      take(piece.subarray(0, bytesRead));
      at += bytesRead;
      if (at > size || (bytesRead < piece.length && at < size)) throw new FileChanged();
      if (bytesRead < piece.length) return;
    }
  });
}

/** Reads a range. Bytes that were appended since `inspectFile` are not visible; any other change is an error. */
export async function readRange(
  path: string,
  { stats, size }: InspectedFile,
  start: number,
  length: number,
): Promise<Uint8Array> {
  return await withFile(path, async (file, now) => {
    if (!isSameOrLonger(stats, now)) throw new FileChanged();
    const from = Math.min(start, size);
    const piece = Buffer.alloc(Math.min(length, size - from));
    if ((await fillBuffer(file, piece, from)) < piece.length) throw new FileChanged();
    return piece;
  });
}

export async function readWhole(path: string, file: InspectedFile, signal?: AbortSignal): Promise<Buffer> {
  const bytes = Buffer.alloc(file.size);
  let at = 0;
  const take = (piece: Buffer) => {
    at += piece.copy(bytes, at);
  };
  await readPieces(path, file, take, signal);
  return bytes;
}

/** Reads until the buffer is full or the file ends; a single read may return less. */
export async function fillBuffer(file: FileHandle, buffer: Buffer, from: number): Promise<number> {
  let filled = 0;
  while (filled < buffer.length) {
    const { bytesRead } = await file.read(buffer, filled, buffer.length - filled, from + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return filled;
}

/** Replaces an error of the system, whose message contains paths and codes, by a sentence for the document. */
export function toReadError(error: unknown): unknown {
  const reason = readFailure(error);
  return reason === undefined ? error : new Error(reason, { cause: error });
}

/** Paths that Windows would resolve to something else. */
const WINDOWS_PROBLEMS: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [/^[A-Za-z]:(?![\\/])/, 'it has a drive without a folder'],
  [/(?<!^[A-Za-z]):/, 'it contains a colon'],
  [/(?:[^.\\/ ][. ]+|\.{3,}| )(?=[\\/]|$)/, 'a name in it ends with a dot or a space'],
];

/** Why a path in a chat or a call is not followed. */
export function writtenPathProblem(
  written: string,
  platform: NodeJS.Platform = process.platform,
): string | undefined {
  if (platform !== 'win32') return /^[A-Za-z]:/.test(written) ? 'it is a Windows path' : undefined;
  const problem = WINDOWS_PROBLEMS.find(([pattern]) => pattern.test(written));
  if (problem) return problem[1];
  return written.split(/[\\/]/).some((name) => DEVICE_NAME.test(name)) ? 'it names a device' : undefined;
}

/** A network share or a device path. Even a stat of a share can send the user's credentials to its server. */
export function isRemotePath(path: string, platform: NodeJS.Platform = process.platform): boolean {
  return platform === 'win32' && /^[\\/]{2}/.test(path);
}

export interface FileFacts {
  readonly mimeType: string;
  readonly size: number;
  readonly changed: Date;
  readonly pixels?: ImageSize | undefined;
  readonly seconds?: number | undefined;
}

const TAIL_BYTES = 64 * 1024;

/** Reads only the head and the tail. `path` is a real path that may be read. */
export async function readFacts(path: string): Promise<FileFacts> {
  const { stats, size, head, mimeType } = await inspectFile(path);
  const changed = new Date(Number(stats.mtimeMs));
  const facts = { mimeType, size, changed };
  if (mimeType.startsWith('image/')) return { ...facts, pixels: imageSize(head) };
  if (!/^(?:audio|video)\//.test(mimeType)) return facts;
  const tail = size <= head.length ? head : await readTail(path, size, TAIL_BYTES);
  return { ...facts, seconds: durationSeconds({ head, tail, size }) };
}

export async function readTail(path: string, size: number, maxBytes: number): Promise<Uint8Array> {
  const tail = Buffer.alloc(maxBytes);
  const bytesRead = await withHandle(open(path, 'r'), (file) =>
    fillBuffer(file, tail, Math.max(0, size - maxBytes)),
  );
  return tail.subarray(0, bytesRead);
}

/** Does not follow links. Uses the callback API, which takes less than half the time of the promise API. */
export function statOf(path: string): Promise<Stats | undefined> {
  return new Promise((resolve) => {
    lstatCallback(path, (error, found) => resolve(error ? undefined : found));
  });
}
