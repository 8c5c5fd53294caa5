/**
 * Runs files of a queue in one process, each when the one before has ended. Other processes take files of the same
 * queue, so that all of them end at about the same time.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, describe } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { runManyFiles } from '../kit/atEnd.ts';

const LIST = 'files.json';

export interface Queue extends Disposable {
  /** The arguments of each process. */
  readonly argv: readonly string[];
}

export function createQueue(files: readonly string[]): Queue {
  const folder = mkdtempSync(join(tmpdir(), 'filechat-queue-'));
  writeFileSync(join(folder, LIST), JSON.stringify(files));
  return { argv: [folder], [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}

async function runQueue(folder: string): Promise<void> {
  runManyFiles();
  const files = JSON.parse(readFileSync(join(folder, LIST), 'utf8')) as string[];
  for (const [at, file] of files.entries()) if (take(join(folder, `${at}`))) await runFile(file);
}

/** A folder can be made only once. */
function take(claim: string): boolean {
  try {
    mkdirSync(claim);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function runFile(file: string): Promise<void> {
  return new Promise((ended) => {
    describe(file, async () => {
      // A test may wait for a timer that does not keep the process alive.
      const alive = setInterval(() => undefined, 60_000);
      // Before the hooks of the file itself, because after one that fails no other runs.
      after(() => {
        clearInterval(alive);
        ended();
      });
      await import(pathToFileURL(resolve(file)).href);
    });
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await runQueue(process.argv[2] ?? '');
