/** Which VS Code there is on this machine: a desktop one that can be shown, or the npm-delivered workbench. */
import { join } from 'node:path';
import { downloadAndUnzipVSCode } from '@vscode/test-electron';
import { say } from './progress.ts';
import { cacheFolder } from './workbench/workbench.ts';

export type VscodeChoice =
  | { readonly kind: 'desktop'; readonly executable: string }
  | { readonly kind: 'workbench' };

/** Downloads the desktop VS Code where it could be shown; FILECHAT_HOST=electron or workbench decides otherwise. */
export async function chooseVscode(): Promise<VscodeChoice> {
  const wanted = process.env['FILECHAT_HOST'];
  // Without a display the download would be of no use, so not even the attempt is made.
  if (wanted === 'workbench' || (wanted !== 'electron' && !hasDisplay())) return { kind: 'workbench' };
  try {
    const cachePath = join(cacheFolder(), 'vscode');
    return { kind: 'desktop', executable: await downloadAndUnzipVSCode({ version: 'stable', cachePath }) };
  } catch (error) {
    say(`VS Code could not be downloaded (${error}); the workbench from npm takes its place.`);
    return { kind: 'workbench' };
  }
}

export function hasDisplay(): boolean {
  if (process.platform === 'darwin' || process.platform === 'win32') return true;
  return Boolean(process.env['DISPLAY'] || process.env['WAYLAND_DISPLAY']);
}
