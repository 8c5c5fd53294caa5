/**
 * Finds processes and temporary folders that the tests have left behind. A process that is gone has no port, so a
 * port that is left behind belongs to one of these processes or to the runner itself.
 */
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

export interface RunFolder {
  /** One line each. Empty when nothing is left. */
  findLeftovers(): readonly string[];
  dispose(): void;
}

/** Folders that outlive a process on purpose: locks of chats, and what Node, npm and Chromium keep there. */
const KEPT = [/^filechat-locks-/, /^node-compile-cache$/, /^npm-/, /^\.?org\.chromium\./, /^vscode-/];

/**
 * Gives this run a temporary folder of its own and marks its processes. The mark is an entry of the PATH, because
 * that is what even a server with a reduced environment inherits.
 */
export function createRunFolder(): RunFolder {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'fct-')));
  // Tests of permissions act as another user, who must get to their folders.
  chmodSync(folder, 0o755);
  const mark = join(folder, 'bin');
  mkdirSync(mark);
  process.env['TMPDIR'] = process.env['TEMP'] = process.env['TMP'] = folder;
  process.env['PATH'] = [process.env['PATH'], mark].join(delimiter);
  const isLeft = (name: string) => name !== 'bin' && !KEPT.some((pattern) => pattern.test(name));
  return {
    findLeftovers: () => [
      ...markedProcesses(mark).map((line) => `process ${line}`),
      ...readdirSync(folder)
        .filter(isLeft)
        .map((name) => `temporary folder ${name}`),
      ...process
        .getActiveResourcesInfo()
        .filter((kind) => kind === 'TCPServerWrap' || kind === 'TCPSocketWrap')
        .map((kind) => `an open ${kind} of the runner`),
    ],
    dispose: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }),
  };
}

/** Only Linux lets a process see the environment of another. */
function markedProcesses(mark: string): string[] {
  if (process.platform !== 'linux') return [];
  const read = (pid: string, file: string) => {
    try {
      return readFileSync(`/proc/${pid}/${file}`, 'utf8');
    } catch {
      // It has ended meanwhile.
      return '';
    }
  };
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid) && Number(pid) !== process.pid && read(pid, 'environ').includes(mark))
    .map((pid) => `${pid}: ${read(pid, 'cmdline').replaceAll('\0', ' ').slice(0, 200)}`);
}
