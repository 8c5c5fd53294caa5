import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { hasCode } from './writeFile.ts';

/** A process, told from a later one that got the same number. */
export interface ProcessMark {
  readonly pid: number;
  /** When it was started, in the system's own words; empty where the system does not say. */
  readonly start: string;
}

/** Whether that very process is alive. In doubt it is: two runs are worse than a question. */
export async function isRunning({ pid, start }: ProcessMark): Promise<boolean> {
  if (!hasPid(pid)) return false;
  const now = start === '' ? '' : await processStart(pid);
  return start === '' || now === '' || now === start;
}

export async function processStart(pid: number): Promise<string> {
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
