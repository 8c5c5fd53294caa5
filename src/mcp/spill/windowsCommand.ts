import { existsSync } from 'node:fs';
import { win32 } from 'node:path';

/**
 * The program that a command on Windows means, from the PATH alone. Windows would look into the current folder first,
 * where a workspace may have an `npx.cmd` of its own. Throws like `spawn` if there is none.
 */
export function findWindowsCommand(
  command: string,
  env: Readonly<Record<string, string | undefined>>,
  exists: (path: string) => boolean = existsSync,
): string {
  if (/[\\/:]/.test(command)) return command;
  const variable = (name: string) =>
    Object.entries(env).find(([key]) => key.toUpperCase() === name)?.[1] ?? '';
  const endings = (variable('PATHEXT') || '.COM;.EXE;.BAT;.CMD').split(';');
  const isProgram = endings.some((each) => each !== '' && command.toUpperCase().endsWith(each.toUpperCase()));
  const names = isProgram ? [command] : endings.map((each) => `${command}${each}`);
  const folders = variable('PATH')
    .split(';')
    .filter((folder) => win32.isAbsolute(folder));
  const found = folders.flatMap((folder) => names.map((name) => win32.join(folder, name))).find(exists);
  if (found !== undefined) return found;
  throw Object.assign(new Error(`spawn ${command} ENOENT`), {
    code: 'ENOENT',
    syscall: `spawn ${command}`,
    path: command,
  });
}
