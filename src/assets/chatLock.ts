import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { link, lstat, mkdir, readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { hasCode } from '../base/errors.ts';

export interface ChatLock {
  release(): Promise<void>;
}

/** Who runs the chat, as the end of a sentence: `VS Code (process 42, since 09:30:12)`. */
export interface ChatLocked {
  readonly holder: string;
}

export interface LockOptions {
  /** What this program is called where another one tells that the chat is taken. */
  readonly who?: string;
  /** For tests. */
  readonly folder?: string;
}

/** One run a chat at a time, whichever window or command line it is in. Rejects when there is no place for locks. */
export async function acquireLock(path: string, options: LockOptions = {}): Promise<ChatLock | ChatLocked> {
  return acquireLockOn(await realPath(path), options);
}

/** The same for a chat that is on no disk, by any text that tells it from others. */
export async function acquireLockOn(chat: string, options: LockOptions = {}): Promise<ChatLock | ChatLocked> {
  const { who = 'Filechat', folder = lockFolder() } = options;
  await makePrivate(folder);
  const key = createHash('sha256').update(chat).digest('hex').slice(0, 40);
  const mine: Held = { who, token: randomUUID(), since: Date.now(), ...(await ownMark()) };
  const written = join(folder, `${key}.${mine.pid}-${mine.token}.tmp`);
  await writeFile(written, JSON.stringify(mine), { flag: 'wx', mode: 0o600 });
  try {
    return await takeFirstFree({ folder, key, written, token: mine.token });
  } finally {
    await rm(written, { force: true });
  }
}

interface Held extends ProcessMark {
  readonly who: string;
  /** Never the same twice. */
  readonly token: string;
  readonly since: number;
}

interface Taking {
  readonly folder: string;
  readonly key: string;
  /** A whole file of ours that gets the lock's name. */
  readonly written: string;
  readonly token: string;
}

/**
 * The lock of a chat is the file that its key names. One whose process is dead is followed by one that is named
 * after it: of all who find it dead, only one can create that name. Whoever has done so puts a lock of its own in the
 * place of the first one and removes the others. A process that comes late to one of the removed names finds, when it
 * looks again from the first one, that its lock does not count.
 */
async function takeFirstFree(taking: Taking): Promise<ChatLock | ChatLocked> {
  const { folder, key, written, token } = taking;
  for (;;) {
    const place = await findPlace(folder, key);
    if ('holder' in place) return place;
    const file = fileOf(folder, place.free);
    // A link is made only where there is nothing, and what it leads to is whole already.
    if (!(await createLink(written, file))) continue;
    if (place.free !== key) {
      const found = await findPlace(folder, key);
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

/** Follows the dead locks to the one that counts: that of a living process, or a name that is free. */
async function findPlace(
  folder: string,
  key: string,
): Promise<{ readonly free: string } | (ChatLocked & { readonly token?: string })> {
  let name = key;
  for (;;) {
    const file = fileOf(folder, name);
    const held = await readHeld(file);
    if (held === 'gone') return { free: name };
    if (held === 'unreadable') return { holder: `an unknown program (its lock is ${file})` };
    if (await isRunning(held)) return { holder: describe(held), token: held.token };
    // It may have released its lock before it ended.
    const left = await readHeld(file);
    const same = typeof left === 'object' && left.token === held.token;
    name = same ? `${key}-${held.token}` : key;
  }
}

/** Only whoever has the lock may do this. */
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
  // A process that ends on its own tidies up; of one that is killed, the next one sees that it is dead.
  const removeNow = () => rmSync(file, { force: true });
  process.once('exit', removeNow);
  return {
    async release() {
      process.off('exit', removeNow);
      await rm(file, { force: true });
    },
  };
}

async function readHeld(file: string): Promise<Held | 'gone' | 'unreadable'> {
  try {
    const read: Partial<Held> = JSON.parse(await readFile(file, 'utf8'));
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

function describe({ who, pid, since }: Held): string {
  return `${who} (process ${pid}, since ${new Date(since).toLocaleTimeString('en', { hour12: false })})`;
}

async function ownMark(): Promise<ProcessMark> {
  return { pid: process.pid, start: await processStart(process.pid) };
}

/** As far as it is there: a new chat may be meant for folders that are still to be made. */
async function realPath(path: string): Promise<string> {
  const whole = resolve(path);
  return realpath(whole).catch(async (error: unknown) => {
    if (!hasCode(error, 'ENOENT') || dirname(whole) === whole) throw error;
    return join(await realPath(dirname(whole)), basename(whole));
  });
}

/** One for each user, because the temporary folder may belong to all. */
function lockFolder(): string {
  const user =
    process.getuid?.() ?? createHash('sha256').update(userInfo().username).digest('hex').slice(0, 8);
  return join(tmpdir(), `filechat-locks-${user}`);
}

/** Somebody else could have made it first, to watch or to forge the locks. */
async function makePrivate(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const found = await lstat(folder);
  const own = process.getuid?.();
  const foreign = own !== undefined && (found.uid !== own || (found.mode & 0o077) !== 0);
  if (found.isDirectory() && !foreign) return;
  throw new Error(`The folder of the locks, ${folder}, is not yours alone. Remove it and run again.`);
}

/** A process, told from a later one that got the same number. */
interface ProcessMark {
  readonly pid: number;
  /** When it was started, in the system's own words; empty where the system does not say. */
  readonly start: string;
}

/** Whether that very process is alive. In doubt it is: two runs are worse than a question. */
async function isRunning({ pid, start }: ProcessMark): Promise<boolean> {
  if (!hasPid(pid)) return false;
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

function hasPid(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It is there, and belongs to somebody else.
    return hasCode(error, 'EPERM');
  }
}

/** The 22nd field, in ticks since the system was started; the second is a name that may hold spaces and brackets. */
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
