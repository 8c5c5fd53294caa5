/**
 * A profile of its own for each browser, which starts with the compiled scripts of earlier ones.
 * Compiling the workbench is a third of what its start costs; nothing but those caches is handed on.
 */
import { createHash } from 'node:crypto';
import { cpSync, existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { createTemporaryFolder } from '../process.ts';
import { cacheFolder, type Workbench } from './workbench.ts';

export interface BrowserProfile {
  readonly path: string;
  /** Call it when the browser has closed: what it compiled may serve later ones. */
  keepCaches(): void;
  dispose(): void;
}

/** A script is compiled when it is first met, and its code is whole when it has been met again. */
const generations = ['first', 'second', 'third'] as const;
const handedOn = ['Cache', 'Code Cache'];

export function createBrowserProfile(browser: string, workbench: Workbench): BrowserProfile {
  const profile = createTemporaryFolder('browser');
  const store = join(cacheFolder(), `compiled-${fingerprint(browser, workbench)}`);
  const have = generations.findLastIndex((name) => existsSync(join(store, name)));
  const latest = generations[have];
  if (latest) copyCaches(join(store, latest), join(profile.path, 'Default'));
  return {
    path: profile.path,
    keepCaches() {
      const next = generations[have + 1];
      if (!next || existsSync(join(store, next))) return;
      save(join(profile.path, 'Default'), join(store, next));
      if (latest) rmSync(join(store, latest), { recursive: true, force: true });
    },
    dispose: profile.dispose,
  };
}

/** Another browser or workbench compiles again. */
function fingerprint(browser: string, { serverMain }: Workbench): string {
  const parts = [browser, serverMain].map((file) => {
    const { mtimeMs, size } = statSync(file);
    return [file, mtimeMs, size];
  });
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 12);
}

function copyCaches(from: string, to: string): void {
  try {
    for (const name of handedOn) cpSync(join(from, name), join(to, name), { recursive: true });
  } catch {
    // Another run has replaced them meanwhile. A browser copes with half a cache or none.
    rmSync(to, { recursive: true, force: true });
  }
}

/** Whole or not at all, as several runs may do this at once. */
function save(from: string, to: string): void {
  const unfinished = join(dirname(to), `${basename(to)}.tmp-${process.pid}`);
  try {
    for (const name of handedOn) cpSync(join(from, name), join(unfinished, name), { recursive: true });
    renameSync(unfinished, to);
  } catch {
    // Another run was quicker, or the disk is full: then the next start is slower, and that is all.
    rmSync(unfinished, { recursive: true, force: true });
  }
}
