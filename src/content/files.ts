import { realpath } from 'node:fs/promises';
import { basename, isAbsolute } from 'node:path';
import {
  FileChanged,
  findBelow,
  inspectFile,
  NotAFile,
  OutsideFolders,
  readWhole,
} from '../assets/confined.ts';
import { hasCode } from '../base/errors.ts';
import { fileFailure } from '../base/fileErrors.ts';
import { mediaByUri } from '../media/sniff.ts';
import { bufferToBase64, checkSize, checkType, detectMimeType, type Limits } from './bytes.ts';

/** The real path of a file in a folder, whether it exists or not. Throws for a path that leads out of the folder. */
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
  const { bytes, name } = await readContentFile(filePath, { ...options, basePath });
  checkType(detectMimeType(bytes, name), options);
  return bufferToBase64(bytes);
}

/** Base64 contains no dot, so a string with a file extension is not base64. */
export function isPathLike(text: string): boolean {
  return text.length <= MAX_PATH_CHARS && !NOT_IN_PATHS.test(text) && mediaByUri(text) !== undefined;
}

const MAX_PATH_CHARS = 4096;
const NOT_IN_PATHS = /^data:|^[a-z][a-z0-9+.-]+:\/\/|[\0-\x1f\x7f]/i;

export async function readContentFile(
  filePath: string,
  { basePath, ...limits }: Limits & { readonly basePath?: string | undefined },
): Promise<{ readonly bytes: Buffer; readonly name: string }> {
  const { path, file } = await whileReading(filePath, async () => {
    const found = await findContentFile(filePath, basePath);
    return { path: found, file: await inspectFile(found) };
  });
  checkSize(file.size, limits);
  const bytes = await whileReading(filePath, () => readWhole(path, file));
  return { bytes, name: basename(path) };
}

/** An absolute path is trusted unless the caller gives a folder to confine it to. */
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

/** Folders of this machine do not appear in error messages. */
function shown(filePath: string): string {
  return isAbsolute(filePath) ? basename(filePath) : filePath;
}

function reasonFor(error: unknown, path: string): string | undefined {
  if (error instanceof FileChanged) return 'It changed while it was read. Call the tool again.';
  if (error instanceof NotAFile) return NOT_REGULAR;
  switch (fileFailure(error)) {
    case 'missing':
      return `File not found: ${path}. Check that the path is correct and the file exists.`;
    case 'denied':
      return 'Permission denied. Check that this process may read it.';
    case 'notAFile':
      return NOT_REGULAR;
    case 'linkLoop':
    case 'pathTooLong':
      return INVALID_PATH;
  }
  if (hasCode(error, 'ERR_INVALID_ARG_VALUE')) return INVALID_PATH;
  // The system's own message would contain the whole path.
  return error instanceof Error && 'code' in error ? `It could not be read (${error.code}).` : undefined;
}

const NOT_REGULAR = 'Not a regular file. Folders, pipes and devices cannot be sent.';
const INVALID_PATH = 'Not a valid path. Check that the path is correct.';
