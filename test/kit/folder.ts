import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A test, or `{ after }` of `node:test` for all tests of a file. */
export interface Cleanup {
  after(work: () => void | Promise<void>): void;
}

/** A new folder that is removed afterwards. Its path is the real one, because some systems link their temporary folder. */
export function temporaryFolder(cleanup: Cleanup): string {
  const path = mkdtempSync(join(realpathSync(tmpdir()), 'filechat-test-'));
  cleanup.after(() => rmSync(path, { recursive: true, force: true, maxRetries: 3 }));
  return path;
}

export interface TemporaryFolder extends Disposable {
  readonly path: string;
}

/** A new folder by its real path: some systems reach their temporary files through a link. */
export function createTemporaryFolder(): TemporaryFolder {
  const path = mkdtempSync(join(realpathSync(tmpdir()), 'filechat-integration-'));
  return {
    path,
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true, maxRetries: 3 }),
  };
}
