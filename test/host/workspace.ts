/** A throw-away copy of the sample workspace. */
import { cpSync, existsSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createTemporaryFolder } from './process.ts';

export const checkout = fileURLToPath(new URL('../..', import.meta.url));

export interface Workspace {
  /** The folder to open in VS Code. */
  readonly folder: string;
  /** The absolute path of a file in it. */
  path(...segments: string[]): string;
  /** Copies the samples into the folder again. */
  copySamples(): void;
  dispose(): void;
}

/** Copies samples/ beside a link to dist/, so that its mcp.json finds the sample server as in the checkout. */
export function createWorkspace(): Workspace {
  const root = createTemporaryFolder('workspace');
  const folder = join(root.path, 'samples');
  const copySamples = () =>
    cpSync(join(checkout, 'samples'), folder, { recursive: true, filter: belongsToWorkspace });
  copySamples();
  const dist = join(checkout, 'dist');
  if (existsSync(dist)) symlinkSync(dist, join(root.path, 'dist'), 'junction');
  return { folder, path: (...segments) => join(folder, ...segments), copySamples, dispose: root.dispose };
}

/** Neither programs nor what earlier runs left. */
function belongsToWorkspace(path: string): boolean {
  return !['server', 'cmdassets'].includes(basename(path)) && !path.endsWith('.ts');
}
