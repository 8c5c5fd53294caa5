/** The host suite in a downloaded desktop VS Code. */
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { resolveCliPathFromVSCodeExecutablePath, runTests } from '@vscode/test-electron';
import { bridgeExtension } from './bridge.ts';
import { createTemporaryFolder, runProcess } from './process.ts';
import type { SuiteRun } from './runSuite.ts';
import { quietSettings, writeSettings } from './workbench/server.ts';

/** Resolves to what VS Code printed, whether the tests passed or not. */
export async function runInDesktop(executable: string, run: SuiteRun): Promise<string> {
  using cleanup = new DisposableStack();
  const profile = cleanup.adopt(createTemporaryFolder('profile'), (folder) => folder.dispose());
  const profileArguments = desktopProfileArguments(profile.path);
  writeSettings(join(profile.path, 'user'), quietSettings);
  const cli = resolveCliPathFromVSCodeExecutablePath(executable);
  await runProcess(cli, [...profileArguments, '--install-extension', run.vsix, '--force'], {
    timeoutMs: 60_000,
  });

  let log = '';
  const collect = new Writable({
    write(chunk, _encoding, done) {
      log += chunk;
      done();
    },
  });
  await runTests({
    vscodeExecutablePath: executable,
    // The installed package is what is tested; something has to be under development all the same.
    extensionDevelopmentPath: bridgeExtension,
    extensionTestsPath: run.entry,
    extensionTestsEnv: run.env,
    launchArgs: [run.folder, ...profileArguments],
    stdout: collect,
    stderr: collect,
  }).catch((error: unknown) => {
    log += String(error);
  });
  return log;
}

/** A profile that shares nothing with the user's own. Root needs the sandbox off. */
export function desktopProfileArguments(folder: string): string[] {
  const sandbox = process.platform === 'linux' && process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return [
    '--user-data-dir',
    join(folder, 'user'),
    '--extensions-dir',
    join(folder, 'extensions'),
    ...sandbox,
  ];
}
