/** A throw-away copy of the sample workspace. */
import { cpSync, existsSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createTemporaryFolder } from './process.ts';

export const checkout = fileURLToPath(new URL('../..', import.meta.url));

export interface Workspace {
  /** The folder to open in VS Code. */
  readonly folder: string;
  /** The absolute path of a file in it. */
  path(...segments: string[]): string;
  /** What is in the folder and is not a sample as it was copied. */
  changedNames(): string[];
  /** Copies the samples into the folder again. */
  copySamples(): void;
  dispose(): void;
}

/** Copies samples/ beside a link to dist/, so that its mcp.json finds the sample server as in the checkout. */
export function createWorkspace(): Workspace {
  const root = createTemporaryFolder('workspace');
  const folder = join(root.path, 'samples');
  const samples = join(checkout, 'samples');
  const copySamples = () => cpSync(samples, folder, { recursive: true, filter: belongsToWorkspace });
  copySamples();
  const dist = join(checkout, 'dist');
  if (existsSync(dist)) symlinkSync(dist, join(root.path, 'dist'), 'junction');
  return {
    folder,
    path: (...segments) => join(folder, ...segments),
    changedNames: () =>
      readdirSync(folder).filter((name) => !isSameFile(join(samples, name), join(folder, name))),
    copySamples,
    dispose: root.dispose,
  };
}

function isSameFile(one: string, other: string): boolean {
  const isFile = (path: string) => statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  return isFile(one) && isFile(other) && readFileSync(one).equals(readFileSync(other));
}

/** Neither programs nor what earlier runs left. */
function belongsToWorkspace(path: string): boolean {
  return !['server', 'cmdassets'].includes(basename(path)) && !path.endsWith('.ts');
}
