import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runProcess } from '../../host/process.ts';
import { cacheFolder, installOnce, nodeIn, nodePackageName } from '../../host/workbench/workbench.ts';

/** The oldest Node that package.json promises. */
const VERSION = '20.3.0';
const INSTALL = ['install', '--ignore-scripts', '--no-audit', '--no-fund'];
const npmTimeoutMs = 5 * 60_000;

/** Resolves to the program in the cache, which it fills first when it has to. */
export async function installNode20(): Promise<string> {
  const folder = join(cacheFolder(), `node-${VERSION}`);
  await installOnce(folder, `Node ${VERSION}`, async (unfinished) => {
    await writeFile(join(unfinished, 'package.json'), '{ "private": true }\n');
    const args = [...INSTALL, `${nodePackageName()}@${VERSION}`];
    await runProcess('npm', args, { cwd: unfinished, timeoutMs: npmTimeoutMs });
  });
  return nodeIn(folder);
}
