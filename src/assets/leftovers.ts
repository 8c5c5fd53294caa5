import { randomBytes } from 'node:crypto';
import { lstat, readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';

/** A name for a file that is not whole yet. It says whose it is, so that nobody removes it under its writer. */
export function temporaryName(): string {
  return `.filechat-save-${process.pid}-${randomBytes(6).toString('hex')}.tmp`;
}

/** Of a save or a spilling transport; the second form is that of versions before this one, without a process. */
const TEMPORARY =
  /^\.filechat-(?:save|spill)-(\d{1,10})-[A-Za-z0-9_-]+\.tmp$|^tool-(?:image|audio|file)-.+\.[0-9a-f]{12}\.tmp$/;

const DAY_MS = 24 * 60 * 60 * 1000;

/** Removes what a crash left: temporary files of ours whose process is gone, or that are older than a day. */
export async function sweepLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const match = TEMPORARY.exec(name);
    if (match) await sweep(join(folder, name), match[1]);
  }
}

async function sweep(path: string, pid: string | undefined): Promise<void> {
  try {
    const found = await lstat(path);
    if (!found.isFile()) return;
    const abandoned = pid !== undefined && !isAlive(Number(pid));
    if (abandoned || Date.now() - found.mtimeMs > DAY_MS) await unlink(path);
  } catch {
    // Another process may have swept it first, and what cannot be removed now can be at the next start.
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM: it lives, and belongs to another user.
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}
