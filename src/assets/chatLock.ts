import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { link, lstat, readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { hasCode } from '../base/errors.ts';
import { isAlive, makeFolders } from './writeFile.ts';

export interface ChatLock {
  release(): Promise<void>;
}

export interface ChatLocked {
  /** `VS Code (process 42, since 09:30:12)` */
  readonly holder: string;
}

interface LockOptions {
  /** The name of this program, which other programs show to the user. */
  readonly who?: string;
  /** For tests. The first that no other user can use. */
  readonly folders?: readonly string[];
}

/** Allows one run per chat across all windows and command lines. Rejects when locks cannot be stored. */
export async function acquireLock(path: string, options: LockOptions = {}): Promise<ChatLock | ChatLocked> {
  return acquireLockOn(await realPath(path), options);
}

/** For a chat that is not on a disk: `chat` is any unique text. */
export async function acquireLockOn(chat: string, options: LockOptions = {}): Promise<ChatLock | ChatLocked> {
  const { who = 'Filechat', folders = lockFolders() } = options;
  const folder = await firstPrivate(folders);
  const key = createHash('sha256').update(chat).digest('hex').slice(0, 40);
  const start = await processStart(process.pid);
  const mine: LockRecord = { who, token: randomUUID(), since: Date.now(), pid: process.pid, start };
  const written = join(folder, `${key}.${mine.pid}-${mine.token}.tmp`);
  await writeFile(written, JSON.stringify(mine), { flag: 'wx', mode: 0o600 });
  try {
    return await takeLock({ folder, key, written, token: mine.token });
  } finally {
    await rm(written, { force: true });
  }
}

interface LockRecord extends ProcessMark {
  readonly who: string;
  readonly token: string;
  readonly since: number;
}

interface Candidate {
  readonly folder: string;
  readonly key: string;
  readonly written: string;
  readonly token: string;
}

/**
 * The lock of a chat is the file KEY.lock. If its process is dead, the successor is KEY-TOKEN.lock, named after the
 * token in the dead lock: of all processes that see the dead lock, only one can create that file. The winner replaces
 * KEY.lock by its own lock and removes the successors. A process that creates one of the removed names too late notices
 * this when it follows the chain from KEY.lock again.
 */
async function takeLock({ folder, key, written, token }: Candidate): Promise<ChatLock | ChatLocked> {
  for (;;) {
    const place = await followChain(folder, key);
    if ('holder' in place) return place;
    const file = fileOf(folder, place.free);
    // `link` fails if the name exists, and the linked file is complete.
    if (!(await createLink(written, file))) continue;
    if (place.free !== key) {
      const found = await followChain(folder, key);
      if (!('token' in found) || found.token !== token) {
        await rm(file, { force: true });
        continue;
      }
      await rename(written, fileOf(folder, key));
    }
    await removeDeadLocks(folder, key);
    return hold(fileOf(folder, key));
  }
}

/** Follows the chain of dead locks to the lock of a running process or to a free name. */
async function followChain(
  folder: string,
  key: string,
): Promise<{ readonly free: string } | (ChatLocked & { readonly token?: string })> {
  let name = key;
  for (;;) {
    const file = fileOf(folder, name);
    const held = await readLock(file);
    if (held === 'gone') return { free: name };
    if (held === 'unreadable') return { holder: `an unknown program (its lock is ${file})` };
    if (await isRunning(held)) return { holder: describe(held), token: held.token };
    // The process may have released its lock before it ended.
    const left = await readLock(file);
    const same = typeof left === 'object' && left.token === held.token;
    name = same ? `${key}-${held.token}` : key;
  }
}

/** Only the holder of the lock may call this. */
async function removeDeadLocks(folder: string, key: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const pid = /^\.(\d{1,10})-[\w-]+\.tmp$/.exec(name.startsWith(key) ? name.slice(key.length) : '')?.[1];
    const isAbandoned = pid !== undefined && !(await isRunning({ pid: Number(pid), start: '' }));
    if (isAbandoned || (name.startsWith(`${key}-`) && name.endsWith('.lock'))) {
      await rm(join(folder, name), { force: true });
    }
  }
}

function fileOf(folder: string, name: string): string {
  return join(folder, `${name}.lock`);
}

async function createLink(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  }
}

function hold(file: string): ChatLock {
  // A killed process leaves its lock behind; the next process detects that it is dead.
  const removeNow = () => rmSync(file, { force: true });
  process.once('exit', removeNow);
  return {
    async release() {
      process.off('exit', removeNow);
      await rm(file, { force: true });
    },
  };
}

async function readLock(file: string): Promise<LockRecord | 'gone' | 'unreadable'> {
  try {
    const read: Partial<LockRecord> = JSON.parse(await readFile(file, 'utf8'));
    const { pid, start = '', who = 'Filechat', since = 0, token } = read;
    const whole = typeof pid === 'number' && typeof token === 'string' && /^[\w-]{1,64}$/.test(token);
    return whole
      ? { pid, start: String(start), who: String(who), since: Number(since), token }
      : 'unreadable';
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return 'gone';
    if (error instanceof SyntaxError) return 'unreadable';
    throw error;
  }
}

function describe({ who, pid, since }: LockRecord): string {
  return `${who} (process ${pid}, since ${new Date(since).toLocaleTimeString('en', { hour12: false })})`;
}

/** Resolves the existing part of the path: the folders of a new chat may not exist yet. */
async function realPath(path: string): Promise<string> {
  const whole = resolve(path);
  return realpath(whole).catch(async (error: unknown) => {
    if (!hasCode(error, 'ENOENT') || dirname(whole) === whole) throw error;
    return join(await realPath(dirname(whole)), basename(whole));
  });
}

/** One per user, because the temporary folder may be shared. Another user may have taken its name: then at home. */
function lockFolders(): readonly string[] {
  const { username, homedir } = userInfo();
  const user = process.getuid?.() ?? createHash('sha256').update(username).digest('hex').slice(0, 8);
  return [join(tmpdir(), `filechat-locks-${user}`), join(homedir, '.filechat-locks')];
}

async function firstPrivate(folders: readonly string[]): Promise<string> {
  const failures: unknown[] = [];
  for (const folder of folders) {
    try {
      await ensurePrivate(folder);
      return folder;
    } catch (error) {
      failures.push(error);
    }
  }
  throw failures[0];
}

/** Refuses a folder that another user can read or write: that user could forge locks. */
async function ensurePrivate(folder: string): Promise<void> {
  await makeFolders(folder, 0o700);
  const found = await lstat(folder);
  const own = process.getuid?.();
  const foreign = own !== undefined && (found.uid !== own || (found.mode & 0o077) !== 0);
  if (found.isDirectory() && !foreign) return;
  throw new Error(
    `The lock folder ${folder} is a link or accessible to other users. Remove it and run again.`,
  );
}

interface ProcessMark {
  readonly pid: number;
  /** The start time in the system's format, because process ids are reused; empty if it is not known. */
  readonly start: string;
}

/** Returns true when unsure: a needless prompt is better than two concurrent runs. */
async function isRunning({ pid, start }: ProcessMark): Promise<boolean> {
  if (!isAlive(pid)) return false;
  const now = start === '' ? '' : await processStart(pid);
  return start === '' || now === '' || now === start;
}

async function processStart(pid: number): Promise<string> {
  try {
    return process.platform === 'linux' ? await startInProc(pid) : await startByPs(pid);
  } catch {
    return '';
  }
}

/** The 22nd field, in ticks since boot. The second field is a name that may contain spaces and parentheses. */
async function startInProc(pid: number): Promise<string> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[19] ?? '';
}

const PS_TIMEOUT_MS = 2_000;

async function startByPs(pid: number): Promise<string> {
  if (process.platform === 'win32') return '';
  const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC' };
  const args = ['-o', 'lstart=', '-p', String(pid)];
  const { stdout } = await promisify(execFile)('ps', args, { env, timeout: PS_TIMEOUT_MS });
  return stdout.trim();
}
