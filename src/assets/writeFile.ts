import { randomBytes } from 'node:crypto';
import { constants, linkSync, rmSync, writeFileSync } from 'node:fs';
import {
  copyFile,
  type FileHandle,
  link,
  lstat,
  mkdir,
  open,
  readdir,
  rename,
  stat,
  unlink,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { hasCode } from '../base/errors.ts';
import type { AssetBytes, SpilledBytes } from '../ports/results.ts';

/**
 * Creates the whole file or nothing: writes to a temporary file, syncs it, then renames it. Resolves to false when the
 * name is taken; an existing file is never changed. A spilled file is moved.
 */
export async function createWholeFile(path: string, bytes: AssetBytes): Promise<boolean> {
  if (bytes instanceof Uint8Array) {
    return createThroughTemporary(path, (temporary) => writeNewFile(temporary, bytes));
  }
  await syncSpilled(bytes);
  try {
    if (!(await nameDurably(bytes.path, path))) return false;
  } catch (error) {
    if (!hasCode(error, 'EXDEV')) throw error;
    if (!(await createThroughTemporary(path, (temporary) => copyNewFile(bytes.path, temporary))))
      return false;
  }
  await removeIfPossible(bytes.path);
  return true;
}

async function createThroughTemporary(
  path: string,
  write: (temporary: string) => Promise<void>,
): Promise<boolean> {
  const temporary = join(dirname(path), temporaryName());
  try {
    await write(temporary);
    return await nameDurably(temporary, path);
  } finally {
    await removeIfPossible(temporary);
  }
}

/**
 * Like `createWholeFile`, but synchronous where it can be, and without syncing: for many small files, whose folder is
 * synced before there are links to them.
 */
export async function createSmallFile(path: string, bytes: Uint8Array): Promise<boolean> {
  const temporary = join(dirname(path), temporaryName());
  try {
    writeFileSync(temporary, bytes, { flag: 'wx', mode: ASSET_MODE });
    linkSync(temporary, path);
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    if (!hasCode(error, ...NO_LINKS)) throw error;
    return await reserveAndRename(temporary, path);
  } finally {
    rmSync(temporary, { force: true });
  }
}

const ASSET_MODE = 0o644;
/** `O_EXCL` also refuses a symbolic link of that name. */
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;

async function writeNewFile(path: string, bytes: Uint8Array): Promise<void> {
  await withHandle(open(path, NEW_FILE, ASSET_MODE), async (file) => {
    await file.writeFile(bytes);
    await file.sync();
  });
}

async function copyNewFile(from: string, to: string): Promise<void> {
  await copyFile(from, to, constants.COPYFILE_EXCL);
  await withHandle(open(to, SYNCABLE), (file) => file.sync());
}

async function syncSpilled({ path, size }: SpilledBytes): Promise<void> {
  const opened = open(path, SYNCABLE).catch((error: unknown) => {
    // The text for ENOENT would say that the folder of the chat is missing.
    throw hasCode(error, 'ENOENT') ? new Error('its temporary file is gone. Call the tool again.') : error;
  });
  await withHandle(opened, async (file) => {
    if ((await file.stat()).size !== size) {
      throw new Error('its temporary file is incomplete. Call the tool again.');
    }
    // Temporary files are private; assets get the usual permissions.
    await file.chmod(ASSET_MODE & ~process.umask()).catch(() => undefined);
    await file.sync();
  });
}

/** On Windows, only files that are open for writing can be synced. */
const SYNCABLE = 'r+';

export async function withHandle<T>(
  opened: Promise<FileHandle>,
  use: (file: FileHandle) => Promise<T>,
): Promise<T> {
  const file = await opened;
  try {
    return await use(file);
  } finally {
    await file.close();
  }
}

async function nameDurably(from: string, to: string): Promise<boolean> {
  if (!(await moveToNewName(from, to))) return false;
  try {
    await syncFolder(dirname(to));
    return true;
  } catch (error) {
    // No link will point to this file.
    await removeIfPossible(to);
    throw error;
  }
}

/** Error codes where hard links are not supported. On Windows, FAT and exFAT report EISDIR. */
const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV', 'EISDIR'];

/** Links rather than renames: `rename` would replace a file that another process has just created. */
export async function moveToNewName(from: string, to: string, linkFile = link): Promise<boolean> {
  try {
    await linkFile(from, to);
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    if (!hasCode(error, ...NO_LINKS)) throw error;
    return await reserveAndRename(from, to);
  }
}

/** For file systems without hard links: the process that creates the empty file owns the name. */
async function reserveAndRename(from: string, to: string): Promise<boolean> {
  let reserved: FileHandle;
  try {
    reserved = await open(to, NEW_FILE, ASSET_MODE);
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  }
  try {
    await reserved.close();
    await renameOver(from, to);
    return true;
  } catch (error) {
    await removeIfPossible(to);
    throw error;
  }
}

interface RenameOptions {
  readonly platform?: NodeJS.Platform;
  readonly rename?: (from: string, to: string) => Promise<void>;
  readonly pause?: (ms: number) => Promise<unknown>;
}

const FIRST_PAUSE_MS = 10;
const MAX_PAUSE_MS = 640;

/**
 * Renames and replaces. On Windows this fails while another program, such as a virus scanner, has the target open;
 * there it is retried for about a second.
 */
export async function renameOver(from: string, to: string, options: RenameOptions = {}): Promise<void> {
  const { platform = process.platform, rename: move = rename, pause = delay } = options;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs *= 2) {
    try {
      return await move(from, to);
    } catch (error) {
      const isTransient = platform === 'win32' && hasCode(error, 'EPERM', 'EACCES', 'EBUSY');
      if (!isTransient || pauseMs > MAX_PAUSE_MS) throw error;
    }
    await pause(pauseMs);
  }
}

/** Makes a new name survive a power cut. Windows cannot open folders. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  await withHandle(open(path, constants.O_RDONLY), (folder) =>
    folder.sync().catch((error: unknown) => {
      // Some network file systems cannot sync a folder.
      if (!hasCode(error, 'EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'EPERM')) throw error;
    }),
  );
}

/** Like the recursive `mkdir` of Node, which never settles where no folder can be created, as in /proc. */
export async function makeFolders(path: string, mode = 0o777): Promise<void> {
  const found = await stat(path).catch((error: unknown) => {
    if (!hasCode(error, 'ENOENT')) throw error;
  });
  if (found?.isDirectory()) return;
  if (!found && dirname(path) !== path) await makeFolders(dirname(path), mode);
  await mkdir(path, { mode }).catch(async (error: unknown) => {
    // Another process may have been faster.
    if (!hasCode(error, 'EEXIST') || !(await stat(path)).isDirectory()) throw error;
  });
}

/** Never rejects, so that it does not replace the original error; leftovers are swept at the next start. */
async function removeIfPossible(path: string): Promise<void> {
  await unlink(path).catch(() => undefined);
}

/** Contains the process id, so that other processes do not sweep the file while it is written. */
export function temporaryName(): string {
  return `.filechat-save-${process.pid}-${randomBytes(6).toString('hex')}.tmp`;
}

const TEMPORARY = /^\.filechat-(?:save|spill)-(\d{1,10})-[A-Za-z0-9_-]+\.tmp$/;

const DAY_MS = 24 * 60 * 60 * 1000;

/** Removes temporary files whose process is gone or that are older than a day. */
export async function sweepLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const match = TEMPORARY.exec(name);
    if (match) await sweep(join(folder, name), Number(match[1]));
  }
}

async function sweep(path: string, pid: number): Promise<void> {
  try {
    const found = await lstat(path);
    if (!found.isFile()) return;
    if (!isAlive(pid) || Date.now() - found.mtimeMs > DAY_MS) await unlink(path);
  } catch {
    // Another process may have removed it; otherwise it is swept at the next start.
  }
}

export function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // The process exists and belongs to another user.
    return hasCode(error, 'EPERM');
  }
}
