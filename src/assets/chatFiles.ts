import { lstat, readdir, readFile, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { ASSET_FOLDER } from '../base/assetNames.ts';
import { BUDGET } from '../base/budget.ts';
import { decodeOtherText } from '../base/encodings.ts';
import { hasCode } from '../base/errors.ts';
import { decodeUtf8, visibleLine } from '../base/lines.ts';
import { describeSize } from '../base/size.ts';
import { isAllowedType, isTextType, listTypes } from '../media/table.ts';
import type { AttachedFile, AttachmentSource, FileSource, FoundFile } from '../ports/document.ts';
import {
  type Confinement,
  FileChanged,
  findAsset,
  findFile,
  type InspectedFile,
  inspectFile,
  isInside,
  type MayRead,
  readPieces,
  readWhole,
  toReadError,
} from './confined.ts';

interface ChatFolders {
  /** The folder of the chat; relative paths start here. */
  readonly folder: string;
  /** The folder that contains the chat's `cmdassets/`, if it is not the chat's own. */
  readonly assetsIn?: string;
  readonly roots: readonly string[];
}

export interface ChatAttachmentsOptions extends ChatFolders {
  /** Called once per file outside of the roots, with its real path. Without it, such files are refused. */
  readonly mayRead?: MayRead;
  readonly maxBytes?: number;
}

const MAX_ATTACHMENT_BYTES = 50 * 1024 * 1024;

/** The files and folders that a chat links to. Its own assets may always be read, wherever they are stored. */
export function chatAttachments(options: ChatAttachmentsOptions): AttachmentSource {
  const { folder, assetsIn = folder, roots, mayRead, maxBytes = MAX_ATTACHMENT_BYTES } = options;
  const confinement = { folder, roots, mayRead: mayRead && once(mayRead) };
  const find = async (target: string, signal: AbortSignal | undefined): Promise<AttachedFile> => {
    const path = await findLinked(target, assetsIn, { ...confinement, signal });
    if ((await lstat(path)).isDirectory()) return describeFolder(path, signal);
    const file = await inspectFile(path);
    const { size } = file;
    if (size > maxBytes)
      throw new Error(`it has ${describeSize(size)}, and at most ${describeSize(maxBytes)} are sent`);
    const read = (signal?: AbortSignal) => explaining('Run again', () => readWhole(path, file, signal));
    return { name: basename(path), size, ...detectText(file), read };
  };
  return { find: (target, signal) => explaining('Run again', () => find(target, signal)) };
}

async function describeFolder(path: string, signal: AbortSignal | undefined): Promise<AttachedFile> {
  const bytes = new TextEncoder().encode((await listFolder(path, undefined, signal)) || '(empty)');
  const read = async () => bytes;
  return {
    name: basename(path),
    size: bytes.length,
    mimeType: 'text/plain',
    isText: true,
    isFolder: true,
    read,
  };
}

async function findLinked(written: string, assetsIn: string, confinement: Confinement): Promise<string> {
  if (written.includes('\0')) throw new Error('it contains a NUL character');
  // Links to assets outside of the chat's folder begin with a slash, also before a drive letter.
  const target = process.platform === 'win32' ? written.replace(/^\/(?=[A-Za-z]:)/, '') : written;
  const assets = join(resolve(assetsIn), ASSET_FOLDER);
  const path = resolve(confinement.folder, target);
  if (dirname(path) === assets && isInside(assets, path)) return findAsset(assetsIn, basename(path));
  return findFile(confinement, target);
}

function once(ask: MayRead): MayRead {
  const answers = new Map<string, Promise<boolean>>();
  return (path, signal) => {
    const answer = answers.get(path) ?? ask(path, signal);
    answers.set(path, answer);
    return answer;
  };
}

export interface ChatFilesOptions extends ChatFolders {
  /** Called for each file, so that a changed setting applies at once. */
  readonly limits: () => FileLimits;
}

export interface FileLimits {
  /** Applies to files whose bytes are sent, not to files whose path is sent. */
  readonly maxAssetBytes: number;
  /** `image/*`, `application/pdf`; all types by default. */
  readonly allowedMimeTypes?: readonly string[];
}

/** The files that arguments of tool calls may name: the chat's assets, and files below the roots. */
export function chatFiles({ folder, assetsIn = folder, roots, limits }: ChatFilesOptions): FileSource {
  return {
    find: (reference, wanted) =>
      explaining('Call the tool again', async () => {
        const path = await (reference.kind === 'asset'
          ? findAsset(assetsIn, reference.name)
          : findFile({ folder, roots }, reference.path));
        return describeFile(path, wanted, limits());
      }),
  };
}

async function describeFile(path: string, wanted: 'bytes' | 'path', limits: FileLimits): Promise<FoundFile> {
  const { maxAssetBytes, allowedMimeTypes = ['*/*'] } = limits;
  const file = await inspectFile(path);
  const { size, mimeType } = file;
  if (!isAllowedType(mimeType, allowedMimeTypes)) {
    const allowed = listTypes(allowedMimeTypes);
    throw new Error(`it is ${mimeType}, and filechat.results.allowedMimeTypes allows ${allowed}`);
  }
  if (wanted === 'bytes' && size > maxAssetBytes) {
    const bytes = (each: number) => `${describeSize(each)} (${each} bytes)`;
    throw new Error(
      `it has ${bytes(size)}, and filechat.results.maxAssetBytes allows ${bytes(maxAssetBytes)}`,
    );
  }
  const read = (signal?: AbortSignal) =>
    explaining('Call the tool again', () => readBase64(path, file, signal));
  return { name: basename(path), path, size, mimeType, read };
}

/** Encodes piece by piece, so that the bytes are never in memory beside their base64. */
async function readBase64(
  path: string,
  file: InspectedFile,
  signal: AbortSignal | undefined,
): Promise<string> {
  let base64 = '';
  const add = (piece: Buffer) => {
    base64 += piece.toString('base64');
  };
  await readPieces(path, file, add, signal);
  return base64;
}

async function explaining<T>(advice: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof FileChanged ? new Error(`${error.message}. ${advice}`) : toReadError(error);
  }
}

const UNKNOWN_TYPE = 'application/octet-stream';

/** A file of unknown type is text if its head is: a Makefile, a `.rs`, a `.toml`. `isText` is only for UTF-8. */
export function detectText({ head, size, mimeType }: InspectedFile): {
  readonly mimeType: string;
  readonly isText: boolean;
} {
  const claimsText = isTextType(mimeType);
  if (!claimsText && mimeType !== UNKNOWN_TYPE) return { mimeType, isText: false };
  const isText = decodeText(head, { isCut: size > head.length }) !== undefined;
  const isOther = !isText && (claimsText || !head.includes(0)) && decodeOtherText(head) !== undefined;
  if (!isText && !isOther) return { mimeType: UNKNOWN_TYPE, isText };
  return { mimeType: claimsText ? mimeType : 'text/plain', isText };
}

/** UTF-8 without NUL characters. */
export function decodeText(bytes: Uint8Array, { isCut = false } = {}): string | undefined {
  const text = decodeUtf8(bytes, { isCut });
  return text?.includes('\0') ? undefined : text;
}

/** The text of `.filechat/NAME.md` in the first folder that has one. Links that lead out of the folder are refused. */
export async function readAgentFile(name: string, folders: readonly string[]): Promise<string | undefined> {
  for (const folder of folders) {
    try {
      const path = await findFile({ folder, roots: [folder] }, `.filechat/${name}.md`);
      const { size } = await stat(path);
      if (size > BUDGET.configChars) {
        throw new Error(`.filechat/${name}.md is larger than ${describeSize(BUDGET.configChars)}.`);
      }
      return await readFile(path, 'utf8');
    } catch (error) {
      if (!hasCode(error, 'ENOENT', 'ENOTDIR')) throw error;
    }
  }
  return undefined;
}

interface ListingLimits {
  readonly maxEntries: number;
  readonly maxDepth: number;
}

const LISTING_LIMITS: ListingLimits = { maxEntries: 300, maxDepth: 4 };
/** Their content is large, and rarely what a listing is for. */
const SKIPPED_FOLDERS: ReadonlySet<string> = new Set(['.git', 'node_modules']);

interface ListedFolder {
  /** Undefined if the folder is skipped, too deep, or cannot be read. */
  entries?: readonly ListedEntry[];
  /** The number of entries beyond the limit. */
  more: number;
}

interface ListedEntry {
  readonly name: string;
  /** The size of a file, or what else it is. */
  readonly about: string;
  readonly folder?: ListedFolder;
}

/**
 * The names of files and folders below a real path, with the sizes of files, indented. The upper levels are listed
 * first, so that one deep folder does not use up the limit. Symbolic links are named and not followed.
 */
export async function listFolder(
  path: string,
  { maxEntries, maxDepth }: ListingLimits = LISTING_LIMITS,
  signal?: AbortSignal,
): Promise<string> {
  const root: ListedFolder = { more: 0 };
  let left = maxEntries;
  let level = [{ path, folder: root }];
  for (let depth = 0; depth < maxDepth; depth += 1) {
    const next: typeof level = [];
    for (const { path: each, folder } of level) {
      signal?.throwIfAborted();
      if (left === 0) break;
      const names = await readNames(each, { mustRead: folder === root });
      if (!names) continue;
      const shown = names.slice(0, left);
      left -= shown.length;
      folder.more = names.length - shown.length;
      folder.entries = await Promise.all(shown.map((name) => describeEntry(each, name)));
      for (const { name, folder: below } of folder.entries)
        if (below && !SKIPPED_FOLDERS.has(name.toLowerCase()))
          next.push({ path: join(each, name), folder: below });
    }
    level = next;
  }
  return renderFolder(root, '').join('\n');
}

async function readNames(path: string, { mustRead }: { readonly mustRead: boolean }) {
  try {
    // A folder that has become a link would lead elsewhere.
    if ((await realpath(path)) !== path) return undefined;
    return (await readdir(path)).sort();
  } catch (error) {
    if (mustRead) throw error;
    return undefined;
  }
}

async function describeEntry(folder: string, name: string): Promise<ListedEntry> {
  const stats = await lstat(join(folder, name)).catch(() => undefined);
  if (stats?.isDirectory()) return { name, about: '', folder: { more: 0 } };
  if (stats?.isSymbolicLink()) return { name, about: 'symbolic link' };
  return { name, about: stats?.isFile() ? describeSize(stats.size) : 'not a regular file' };
}

function renderFolder({ entries = [], more }: ListedFolder, indent: string): readonly string[] {
  const lines = entries.flatMap(({ name, about, folder }) => {
    const shown = `${indent}${visibleLine(name)}`;
    if (!folder) return [`${shown}  ${about}`];
    if (!folder.entries) return [`${shown}/  (not listed)`];
    if (folder.entries.length === 0 && folder.more === 0) return [`${shown}/  (empty)`];
    return [`${shown}/`, ...renderFolder(folder, `${indent}  `)];
  });
  return more > 0 ? [...lines, `${indent}(and ${more} more)`] : lines;
}
