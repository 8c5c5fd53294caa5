import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, lstat, open, realpath, stat } from 'node:fs/promises';
import { basename, isAbsolute, join, relative, resolve, sep } from 'node:path';
import type { FileReference, FileSource, FoundFile } from '../ports.ts';
import { judgeMediaType } from '../result/mediaType.ts';
import { ASSET_FOLDER } from './names.ts';
import { hasCode } from './writeFile.ts';

export interface FolderFilesOptions {
  /** The folder of the chat, from which relative paths count. */
  readonly folder: string;
  /** The folder that holds this chat's `cmdassets/`; the chat's own unless it is not saved. */
  readonly assetsIn?: string;
  /** The folders out of which no `file:` leads. Without one, `file:` reaches nothing. */
  readonly roots: readonly string[];
  /** Asked at every use, so that a change of the settings counts at once. */
  readonly limits: () => FileLimits;
}

export interface FileLimits {
  /** The most that is sent of one file; a path alone may lead to more. */
  readonly maxAssetBytes: number;
  /** `image/*`, `application/pdf`; all when it is left out. */
  readonly allowedMimeTypes?: readonly string[];
}

/** The files that arguments may name: this chat's assets, and what really lies in the folders given. */
export class FolderFiles implements FileSource {
  readonly #options: FolderFilesOptions;

  constructor(options: FolderFilesOptions) {
    this.#options = options;
  }

  async find(reference: FileReference, wanted: 'bytes' | 'path'): Promise<FoundFile> {
    try {
      const path = await (reference.kind === 'asset'
        ? findAsset(this.#options.assetsIn ?? this.#options.folder, reference.name)
        : findFile(this.#options, reference.path));
      return await this.#look(path, wanted);
    } catch (error) {
      throw explained(error);
    }
  }

  /** Opens the file once to learn what it is; what is read later must be the same. */
  async #look(path: string, wanted: 'bytes' | 'path'): Promise<FoundFile> {
    const { maxAssetBytes, allowedMimeTypes = ['*/*'] } = this.#options.limits();
    const { stats, head } = await withFile(path, async (file, found) => ({
      stats: found,
      head: await readHead(file),
    }));
    const name = basename(path);
    const mimeType = await judgeType(head, name);
    if (!isAllowedType(mimeType, allowedMimeTypes)) {
      throw new Error(
        `it is ${mimeType}, and filechat.results.allowedMimeTypes allows ${allowedMimeTypes.join(', ') || 'nothing'}`,
      );
    }
    const size = Number(stats.size);
    if (wanted === 'bytes' && size > maxAssetBytes) throw new Error(tooLarge(size, maxAssetBytes));
    return { name, path, size, mimeType, read: (signal) => readWhole(path, stats, signal) };
  }
}

/** Whether one of the patterns, such as `image/*` or `text/csv`, is about the type. */
export function isAllowedType(type: string, patterns: readonly string[]): boolean {
  const [group = ''] = type.toLowerCase().split('/');
  return patterns
    .map((pattern) => pattern.trim().toLowerCase())
    .some((each) => each === '*/*' || each === '*' || each === `${group}/*` || each === type.toLowerCase());
}

/** The name is one of ours by now; where it leads is looked at here. */
async function findAsset(chatFolder: string, name: string): Promise<string> {
  const folder = join(await realpath(chatFolder), ASSET_FOLDER);
  if ((await lstat(folder)).isSymbolicLink()) throw new Error(`${ASSET_FOLDER}/ is a symbolic link`);
  const path = await realpath(join(folder, name));
  if (!isInside(folder, path)) throw new Error(`it leads out of ${ASSET_FOLDER}/`);
  return path;
}

async function findFile({ folder, roots }: FolderFilesOptions, written: string): Promise<string> {
  const problem = FOREIGN_FORMS.find(({ pattern }) => pattern.test(written))?.reason;
  if (problem !== undefined) throw new Error(problem);
  const real = await realFolders(roots);
  // A new chat may be meant for a folder that is still to be made.
  const path = resolve(await realpath(folder).catch(() => folder), written);
  const isBelow = (folders: readonly string[], each: string) => folders.some((root) => isInside(root, each));
  // Before the disk is asked, so that nobody learns from the answer which files there are elsewhere.
  if (!isBelow([...roots.map((root) => resolve(root)), ...real], path)) throw new Error(OUTSIDE);
  const found = await realpath(path);
  if (!isBelow(real, found)) throw new Error(OUTSIDE);
  return found;
}

const OUTSIDE =
  'it is outside of the folders that may be read: those of the workspace, or the chat’s own and --root';

/** What only another system would understand, or understand in its own way. */
const FOREIGN_FORMS: readonly { readonly pattern: RegExp; readonly reason: string }[] =
  process.platform === 'win32'
    ? [
        { pattern: /(?<!^[A-Za-z]):/, reason: 'it holds a colon' },
        { pattern: /(?:[^./ ][. ]+|\.{3,}| )(?=\/|$)/, reason: 'a name in it ends with a dot or a space' },
        {
          pattern: /(?:^|\/)(?:con|prn|aux|nul|com\d|lpt\d)(?:\.[^/]*)?(?:\/|$)/i,
          reason: 'it names a device',
        },
      ]
    : [{ pattern: /^[A-Za-z]:/, reason: 'it is a path of Windows' }];

/** A root that is gone holds nothing. */
async function realFolders(folders: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(folders.map((folder) => realpath(folder).catch(() => undefined)));
  return found.filter((folder) => folder !== undefined);
}

function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** Does not follow a link that has just come, nor wait for whoever writes into a pipe. Windows knows neither. */
const READ = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

async function withFile<T>(
  path: string,
  use: (file: FileHandle, stats: BigIntStats) => Promise<T>,
): Promise<T> {
  // Asked before it is opened too: to open a device can be to use it.
  const before = await lstat(path);
  if (!before.isFile()) throw new Error(before.isSymbolicLink() ? CHANGED : NOT_A_FILE);
  const file = await open(path, READ);
  try {
    const stats = await file.stat({ bigint: true });
    if (!stats.isFile()) throw new Error(NOT_A_FILE);
    // A folder on the way may have become a link since the real path was asked for.
    if ((await realpath(path)) !== path || !isSame(stats, await stat(path, { bigint: true })))
      throw new Error(CHANGED);
    return await use(file, stats);
  } finally {
    await file.close();
  }
}

const NOT_A_FILE = 'it is not an ordinary file';
const CHANGED = 'it has changed since it was looked at. Call the tool again';

function isSame(a: BigIntStats, b: BigIntStats): boolean {
  return a.dev === b.dev && a.ino === b.ino && a.size === b.size && a.mtimeNs === b.mtimeNs;
}

/** Enough for the head of every format. */
const HEAD_BYTES = 64 * 1024;

async function readHead(file: FileHandle): Promise<Uint8Array> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
  return buffer.subarray(0, bytesRead);
}

async function judgeType(head: Uint8Array, name: string): Promise<string> {
  const { types } = await judgeMediaType({ bytes: head, uri: name, block: 'file' });
  return types[0] ?? 'application/octet-stream';
}

/** A multiple of three, so that the pieces of base64 join without padding between them. */
const PIECE_BYTES = 3 * 256 * 1024;

/** Piece by piece, so that nothing else has to wait and the bytes are never in memory beside their base64. */
async function readWhole(path: string, stats: BigIntStats, signal: AbortSignal | undefined): Promise<string> {
  const size = Number(stats.size);
  try {
    return await withFile(path, async (file, now) => {
      if (!isSame(stats, now)) throw new Error(CHANGED);
      const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, size + 1));
      let base64 = '';
      for (let at = 0; ; ) {
        signal?.throwIfAborted();
        const bytesRead = await fillPiece(file, piece, at);
        base64 += piece.toString('base64', 0, bytesRead);
        at += bytesRead;
        if (at > size || (bytesRead < piece.length && at < size)) throw new Error(CHANGED);
        if (bytesRead < piece.length) return base64;
      }
    });
  } catch (error) {
    throw explained(error);
  }
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

function tooLarge(bytes: number, maxBytes: number): string {
  const size = (each: number) => `${(each / 1024 / 1024).toFixed(1)} MiB (${each} bytes)`;
  return `it has ${size(bytes)}, and filechat.results.maxAssetBytes allows ${size(maxBytes)}`;
}

const REASONS: readonly (readonly [codes: readonly string[], reason: string])[] = [
  [['ENOENT', 'ENOTDIR'], 'there is no such file'],
  [['EACCES', 'EPERM'], 'it may not be read'],
  [['ELOOP'], 'it is a symbolic link that leads nowhere'],
  [['ENAMETOOLONG'], 'its path is too long'],
  [['EISDIR', 'ENXIO', 'ENODEV'], NOT_A_FILE],
];

/** What the system says holds paths and codes; what the document shows is a sentence. */
function explained(error: unknown): unknown {
  const reason = REASONS.find(([codes]) => hasCode(error, ...codes))?.[1];
  return reason === undefined ? error : new Error(reason, { cause: error });
}
