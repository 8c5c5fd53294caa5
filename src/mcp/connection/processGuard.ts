import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { atMost } from '../../base/async.ts';

const GRACE_MS = 1000;

/** Keeps a list of process groups until its input ends, which means that the host is gone. Then it ends those groups. */
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
 * Ends the servers of a host that was killed: most exit when their input ends, but not all. One shell, started with the
 * first server, guards all of them. Windows has no process groups, so servers are not guarded there.
 */
export class ProcessGuard {
  #shell: ChildProcess | undefined;

  add(group: number): void {
    if (process.platform === 'win32') return;
    this.#shell ??= start();
    this.#send(`+ ${group}`);
  }

  remove(group: number): void {
    this.#send(`- ${group}`);
  }

  async dispose(): Promise<void> {
    const shell = this.#shell;
    this.#shell = undefined;
    if (shell?.pid === undefined || shell.exitCode !== null || shell.signalCode !== null) return;
    const gone = once(shell, 'exit');
    shell.ref();
    shell.stdin?.end();
    await atMost(GRACE_MS, gone);
  }

  #send(line: string): void {
    this.#shell?.stdin?.write(`${line}\n`);
  }
}

function start(): ChildProcess {
  // Detached, so that a signal to the host's process group does not reach it.
  const shell = spawn('/bin/sh', ['-c', SCRIPT], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  // Without the shell everything works unless the host is killed.
  shell.on('error', () => {});
  shell.stdin.on('error', () => {});
  shell.unref();
  (shell.stdin as typeof shell.stdin & { unref?: () => void }).unref?.();
  return shell;
}
