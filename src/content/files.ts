import { realpath } from 'node:fs/promises';
import { basename, isAbsolute } from 'node:path';
import { FileChanged, findBelow, lookAt, NotAFile, OutsideFolders, readWhole } from '../assets/confined.ts';
import { hasCode } from '../base/errors.ts';

import { byUri } from '../media/sniff.ts';
import { bufferToBase64, checkSize, type Limits } from './base64.ts';

/** The real path of a file in a folder, whether it is there already or not. What leads out of the folder throws. */
export function sanitizeFilePath(filePath: string, basePath: string): string {
  try {
    return findBelow(basePath, filePath);
  } catch (error) {
    throw error instanceof OutsideFolders ? new Error(`Path traversal detected: ${filePath}`) : error;
  }
}

export async function fileToBase64(
  filePath: string,
  basePath?: string,
  options: Limits = {},
): Promise<string> {
  return bufferToBase64((await readContentFile(filePath, { ...options, basePath })).bytes);
}

/** Base64 has no dot, so a string that ends like the name of a file is no base64. */
export function isPathLike(text: string): boolean {
  return text.length <= MAX_PATH_CHARS && !NOT_IN_PATHS.test(text) && byUri(text) !== undefined;
}

const MAX_PATH_CHARS = 4096;
const NOT_IN_PATHS = /^data:|^[a-z][a-z0-9+.-]+:\/\/|[\0-\x1f\x7f]/i;

export interface ContentFile {
  readonly bytes: Buffer;
  readonly name: string;
}

/** Looks first, so that a file that is too large is never read. */
export async function readContentFile(
  filePath: string,
  { basePath, ...limits }: Limits & { readonly basePath?: string | undefined },
): Promise<ContentFile> {
  const { path, file } = await whileReading(filePath, async () => {
    const found = await findContentFile(filePath, basePath);
    return { path: found, file: await lookAt(found) };
  });
  checkSize(file.size, limits);
  const bytes = await whileReading(filePath, () => readWhole(path, file));
  return { bytes, name: basename(path) };
}

/** An absolute path is its author's word, unless a folder was named that it must be in. */
async function findContentFile(filePath: string, basePath: string | undefined): Promise<string> {
  if (basePath === undefined && isAbsolute(filePath)) return await realpath(filePath);
  return sanitizeFilePath(filePath, basePath ?? process.cwd());
}

async function whileReading<T>(filePath: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    const reason = reasonFor(error, shown(filePath));
    throw reason === undefined
      ? error
      : new Error(`Failed to read file '${shown(filePath)}': ${reason}`, { cause: error });
  }
}

/** A path of this machine is nobody's business but its own: of an absolute one only the name is told. */
function shown(filePath: string): string {
  return isAbsolute(filePath) ? basename(filePath) : filePath;
}

function reasonFor(error: unknown, path: string): string | undefined {
  if (hasCode(error, 'ENOENT', 'ENOTDIR'))
    return `File not found: ${path}. Check that the path is correct and the file exists.`;
  if (hasCode(error, 'EACCES', 'EPERM')) return 'Permission denied. Check that this process may read it.';
  if (error instanceof NotAFile || hasCode(error, 'EISDIR', 'ENXIO', 'ENODEV'))
    return 'Not a regular file. Folders, pipes and devices cannot be sent.';
  if (error instanceof FileChanged) return 'It changed while it was read. Call the tool again.';
  if (hasCode(error, 'ELOOP', 'ENAMETOOLONG', 'ERR_INVALID_ARG_VALUE'))
    return 'The path leads nowhere. Check that the path is correct.';
  // What the system says holds the whole path.
  return error instanceof Error && 'code' in error ? `It could not be read (${error.code}).` : undefined;
}
