import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { atMost } from '../../base/async.ts';

const PATIENCE_MS = 1000;

/**
 * Keeps a list of process groups, in the words of any POSIX shell, until its input ends: then the host is gone,
 * however it went, and what is left on the list is ended, first gently.
 */
const SCRIPT = `trap '' HUP INT TERM
all=' '
while read -r sign group; do
  case $sign in
    +) all="$all$group " ;;
    -) all="\${all%% $group *} \${all#* $group }" ;;
  esac
done
[ "$all" = ' ' ] && exit
for group in $all; do kill -TERM -$group 2>/dev/null; done
sleep 2
for group in $all; do kill -KILL -$group 2>/dev/null; done`;

/**
 * Sees to it that no server outlives a host that was killed: most end when their input ends, but not all. One small
 * shell for all servers, started with the first. Windows has no groups, and there a server is on its own.
 */
export class ProcessGuard {
  #shell: ChildProcess | undefined;

  add(group: number): void {
    if (process.platform === 'win32') return;
    this.#shell ??= start();
    this.#tell(`+ ${group}`);
  }

  remove(group: number): void {
    this.#tell(`- ${group}`);
  }

  /** Resolves when it is gone; with nothing left on its list it goes at once. */
  async dispose(): Promise<void> {
    const shell = this.#shell;
    this.#shell = undefined;
    if (shell?.pid === undefined || shell.exitCode !== null || shell.signalCode !== null) return;
    const gone = once(shell, 'exit');
    shell.ref();
    shell.stdin?.end();
    await atMost(PATIENCE_MS, gone);
  }

  #tell(line: string): void {
    this.#shell?.stdin?.write(`${line}\n`);
  }
}

function start(): ChildProcess {
  // A group of its own, so that what ends the host's group does not end it.
  const shell = spawn('/bin/sh', ['-c', SCRIPT], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  // Without it everything works as long as the host is not killed.
  shell.on('error', () => {});
  shell.stdin.on('error', () => {});
  shell.unref();
  (shell.stdin as typeof shell.stdin & { unref?: () => void }).unref?.();
  return shell;
}
