import { type BigIntStats, constants, lstatSync, realpathSync } from 'node:fs';
import { type FileHandle, lstat, open, realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { hasCode } from '../base/errors.ts';
import { judgeMediaType } from '../media/sniff.ts';
import { ASSET_FOLDER } from './names.ts';

/** Where files may be read, and how they are read so that what was looked at is what is read. */

export interface Confinement {
  /** The folder of the chat, from which relative paths count. */
  readonly folder: string;
  /** The folders out of which no path leads. Without one, nothing is reached. */
  readonly roots: readonly string[];
  /** Asked about the real path of what lies outside; without it nothing there is read. */
  readonly mayRead?: ((path: string) => Promise<boolean>) | undefined;
}

/** The name is one of ours by now; where it leads is looked at here. */
export async function findAsset(chatFolder: string, name: string): Promise<string> {
  const folder = join(await realpath(chatFolder), ASSET_FOLDER);
  if ((await lstat(folder)).isSymbolicLink()) throw new Error(`${ASSET_FOLDER}/ is a symbolic link`);
  const path = await realpath(join(folder, name));
  if (!isInside(folder, path)) throw new Error(`it leads out of ${ASSET_FOLDER}/`);
  return path;
}

/** The real path of a file that may be read. */
export async function findFile({ folder, roots, mayRead }: Confinement, written: string): Promise<string> {
  const problem = writtenPathProblem(written);
  if (problem !== undefined) throw new Error(problem);
  const real = await realFolders(roots);
  // A new chat may be meant for a folder that is still to be made.
  const path = resolve(await realpath(folder).catch(() => folder), written);
  const isBelow = (folders: readonly string[], each: string) => folders.some((root) => isInside(root, each));
  // Before the disk is asked, so that nobody learns from the answer which files there are elsewhere.
  const isKnown = isBelow([...roots.map((root) => resolve(root)), ...real], path);
  if (!isKnown && (!mayRead || isRemotePath(path))) throw new OutsideFolders();
  const found = await realpath(path);
  if (!isBelow(real, found) && !(await mayRead?.(found))) throw new OutsideFolders();
  return found;
}

/**
 * The same for one folder and without waiting, and also for what is still to be written: then the nearest folder
 * that is there says where it would be. Backslashes part names on Windows only, and elsewhere nobody means them.
 */
export function findBelow(folder: string, written: string): string {
  if (writtenPathProblem(written) !== undefined || NEVER_IN_PATHS.test(written)) throw new OutsideFolders();
  const root = nearestReal(resolve(folder));
  const path = resolve(root, written);
  const isBelow = (base: string, each: string) => each === base || isInside(base, each);
  // Before the disk is asked, so that nobody learns from the answer which files there are elsewhere.
  if (!isBelow(root, path) && !isBelow(resolve(folder), path)) throw new OutsideFolders();
  const found = nearestReal(path);
  if (!isBelow(root, found)) throw new OutsideFolders();
  return found;
}

/** The real path of what is there; of what is not, that of its folder with the rest behind it. */
function nearestReal(path: string): string {
  try {
    return realpathSync.native(path);
  } catch (error) {
    // A link that leads nowhere is there all the same: who writes to it writes elsewhere.
    if (isLink(path)) throw new OutsideFolders();
    if (!hasCode(error, 'ENOENT', 'ENOTDIR') || dirname(path) === path) throw error;
    return join(nearestReal(dirname(path)), basename(path));
  }
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}

/** A file that nobody has agreed to. */
export class OutsideFolders extends Error {
  constructor() {
    super(
      'it is outside of the folders that may be read: the chat’s own, those of the workspace, and on the command line that of --root',
    );
  }
}

/** Elsewhere than on Windows, no path is meant to hold a backslash. */
const NEVER_IN_PATHS = process.platform === 'win32' ? /\0/ : /[\0\\]/;

/** A root that is gone holds nothing. */
async function realFolders(folders: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(folders.map((folder) => realpath(folder).catch(() => undefined)));
  return found.filter((folder) => folder !== undefined);
}

export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** Does not follow a link that has just come, nor wait for whoever writes into a pipe. Windows knows neither. */
const READ = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** Opens the file at a real path, if what is opened is what is there. */
export async function withFile<T>(
  path: string,
  use: (file: FileHandle, stats: BigIntStats) => Promise<T>,
): Promise<T> {
  // Asked before it is opened too: to open a device can be to use it.
  const before = await lstat(path);
  if (!before.isFile()) throw before.isSymbolicLink() ? new FileChanged() : new NotAFile();
  const file = await open(path, READ);
  try {
    const stats = await file.stat({ bigint: true });
    if (!stats.isFile()) throw new NotAFile();
    // A folder on the way may have become a link since the real path was asked for.
    if ((await realpath(path)) !== path || !isOneFile(stats, await stat(path, { bigint: true })))
      throw new FileChanged();
    return await use(file, stats);
  } finally {
    await file.close();
  }
}

const NOT_A_FILE = 'it is not an ordinary file';

/** A folder, a pipe, a device. */
export class NotAFile extends Error {
  constructor() {
    super(NOT_A_FILE);
  }
}

/** What is there now is not what was looked at. */
export class FileChanged extends Error {
  constructor() {
    super('it has changed since it was looked at');
  }
}

/** The same file, whatever was written into it meanwhile. */
function isOneFile(a: BigIntStats, b: BigIntStats): boolean {
  return a.dev === b.dev && a.ino === b.ino;
}

function isSame(a: BigIntStats, b: BigIntStats): boolean {
  return isOneFile(a, b) && a.size === b.size && a.mtimeNs === b.mtimeNs;
}

/** A log that has only become longer still has everything that was looked at. */
function isSameOrLonger(before: BigIntStats, now: BigIntStats): boolean {
  return isSame(before, now) || (isOneFile(before, now) && now.size > before.size);
}

/** Enough for the head of every format. */
const HEAD_BYTES = 64 * 1024;

/** What a file is, as far as its first bytes and its name tell. */
export interface LookedAt {
  readonly stats: BigIntStats;
  readonly size: number;
  readonly head: Uint8Array;
  readonly mimeType: string;
}

/** Opens the file once to learn what it is; what is read later must be the same. */
export async function lookAt(path: string): Promise<LookedAt> {
  const { stats, head } = await withFile(path, async (file, found) => {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return { stats: found, head: buffer.subarray(0, bytesRead) };
  });
  const { types } = await judgeMediaType({ bytes: head, uri: basename(path), block: 'file' });
  return { stats, size: Number(stats.size), head, mimeType: types[0] ?? 'application/octet-stream' };
}

/** A multiple of three, so that the pieces of base64 join without padding between them. */
const PIECE_BYTES = 3 * 256 * 1024;

/** Gives the whole file away piece by piece, so that nothing else has to wait. A piece is only lent. */
export async function readPieces(
  path: string,
  { stats, size }: LookedAt,
  take: (piece: Buffer) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  await withFile(path, async (file, now) => {
    if (!isSame(stats, now)) throw new FileChanged();
    const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, size + 1));
    for (let at = 0; ; ) {
      signal?.throwIfAborted();
      const bytesRead = await fillPiece(file, piece, at);
      take(piece.subarray(0, bytesRead));
      at += bytesRead;
      if (at > size || (bytesRead < piece.length && at < size)) throw new FileChanged();
      if (bytesRead < piece.length) return;
    }
  });
}

/**
 * Some bytes of a file that was looked at, and nothing else of it. What was added behind its end since then is not
 * there yet; a file that is shorter or was written again is another one.
 */
export async function readRange(
  path: string,
  { stats, size }: LookedAt,
  start: number,
  length: number,
): Promise<Uint8Array> {
  return await withFile(path, async (file, now) => {
    if (!isSameOrLonger(stats, now)) throw new FileChanged();
    const from = Math.min(start, size);
    const piece = Buffer.alloc(Math.min(length, size - from));
    if ((await fillPiece(file, piece, from)) < piece.length) throw new FileChanged();
    return piece;
  });
}

/** The whole file in memory. */
export async function readWhole(path: string, file: LookedAt, signal?: AbortSignal): Promise<Buffer> {
  const bytes = Buffer.alloc(file.size);
  let at = 0;
  const take = (piece: Buffer) => {
    at += piece.copy(bytes, at);
  };
  await readPieces(path, file, take, signal);
  return bytes;
}

/** A read may bring less than was asked for before the file ends. */
async function fillPiece(file: FileHandle, piece: Buffer, from: number): Promise<number> {
  let filled = 0;
  while (filled < piece.length) {
    const { bytesRead } = await file.read(piece, filled, piece.length - filled, from + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return filled;
}

const REASONS: readonly (readonly [codes: readonly string[], reason: string])[] = [
  [['ENOENT', 'ENOTDIR'], 'there is no such file'],
  [['EACCES', 'EPERM'], 'it may not be read'],
  [['ELOOP'], 'it is a symbolic link that leads nowhere'],
  [['ENAMETOOLONG'], 'its path is too long'],
  [['EISDIR', 'ENXIO', 'ENODEV'], NOT_A_FILE],
];

/** What the system says holds paths and codes; what the document shows is a sentence. */
export function explained(error: unknown): unknown {
  const reason = REASONS.find(([codes]) => hasCode(error, ...codes))?.[1];
  return reason === undefined ? error : new Error(reason, { cause: error });
}

interface Form {
  readonly pattern: RegExp;
  readonly reason: string;
}

const WINDOWS_FORMS: readonly Form[] = [
  { pattern: /^[A-Za-z]:(?![\\/])/, reason: 'it has a drive without a folder' },
  { pattern: /(?<!^[A-Za-z]):/, reason: 'it holds a colon' },
  {
    pattern: /(?:[^.\\/ ][. ]+|\.{3,}| )(?=[\\/]|$)/,
    reason: 'a name in it ends with a dot or a space',
  },
  {
    pattern: /(?:^|[\\/])(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[\d¹²³])(?:\.[^\\/]*)?(?=[\\/]|$)/i,
    reason: 'it names a device',
  },
];
const OTHER_FORMS: readonly Form[] = [{ pattern: /^[A-Za-z]:/, reason: 'it is a path of Windows' }];

/** Why a path that somebody wrote is not followed: this system would read it as something else, or not at all. */
export function writtenPathProblem(
  written: string,
  platform: NodeJS.Platform = process.platform,
): string | undefined {
  const forms = platform === 'win32' ? WINDOWS_FORMS : OTHER_FORMS;
  return forms.find(({ pattern }) => pattern.test(written))?.reason;
}

/** A share or a device of Windows. Even a question about a share can send the user's credentials to its server. */
export function isRemotePath(path: string, platform: NodeJS.Platform = process.platform): boolean {
  return platform === 'win32' && /^[\\/]{2}/.test(path);
}
