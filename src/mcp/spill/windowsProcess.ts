import { type ChildProcess, execFile } from 'node:child_process';
import { win32 } from 'node:path';

type Variables = Readonly<Record<string, string>>;

/** Replaces variables by those of the same name. Windows compares names without case and would keep `PATH`, not `Path`. */
export function mergeVariables(
  base: Variables,
  own: Variables,
  platform: NodeJS.Platform = process.platform,
): Variables {
  if (platform !== 'win32') return { ...base, ...own };
  const replaced = new Set(Object.keys(own).map((name) => name.toUpperCase()));
  const kept = Object.entries(base).filter(([name]) => !replaced.has(name.toUpperCase()));
  return { ...Object.fromEntries(kept), ...own };
}

/**
 * Ends a process on Windows with everything that it has started. `npx` is a script there, so that `kill` would end its
 * shell and leave the server running.
 */
export function endTree(child: ChildProcess): void {
  // The number of a process that has ended may belong to another one.
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  // By its whole path: Windows would look into the working directory first.
  const taskkill = win32.join(process.env['SystemRoot'] ?? 'C:\\Windows', 'System32', 'taskkill.exe');
  const args = ['/pid', String(child.pid), '/T', '/F'];
  execFile(taskkill, args, { windowsHide: true }, (error) => {
    if (error) child.kill();
  });
}
