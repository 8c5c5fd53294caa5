import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, link, open, rename, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Creates a whole file or nothing: the bytes go to a temporary file beside it, reach the disk, and only
 * then get the name. Resolves to false when the name is taken; an existing file is never touched.
 */
export async function createWholeFile(path: string, bytes: Uint8Array): Promise<boolean> {
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  await writeNewFile(temporary, bytes);
  try {
    if (!(await moveToNewName(temporary, path))) return false;
    await syncFolder(dirname(path));
    return true;
  } finally {
    await unlink(temporary).catch(ignoreMissing);
  }
}

/** `O_EXCL` also refuses a symlink that waits under the name. */
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;

async function writeNewFile(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, NEW_FILE, 0o644);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } catch (error) {
    await unlink(path).catch(ignoreMissing);
    throw error;
  } finally {
    await file.close();
  }
}

/** `rename` would replace a file that another writer has just made; `link` refuses. */
async function moveToNewName(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    if (!hasCode(error, 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV')) throw error;
    return await reserveAndRename(from, to);
  }
}

/** For file systems without hard links: whoever creates the empty file owns the name. */
async function reserveAndRename(from: string, to: string): Promise<boolean> {
  let reserved: FileHandle;
  try {
    reserved = await open(to, NEW_FILE, 0o644);
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  }
  await reserved.close();
  await rename(from, to);
  return true;
}

/** Makes the name survive a power cut where the system allows it; Windows does not open folders. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = await open(path, constants.O_RDONLY);
  try {
    await folder.sync();
  } catch (error) {
    // Some network file systems cannot sync a folder; the file itself is safe already.
    if (!hasCode(error, 'EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'EPERM')) throw error;
  } finally {
    await folder.close();
  }
}

function ignoreMissing(error: unknown): void {
  if (!hasCode(error, 'ENOENT')) throw error;
}

export function hasCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}
