import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'node:test';

export interface ChatFolder {
  /** The folder of the chat. */
  readonly path: string;
  /** A path in its `cmdassets/`. */
  asset(name: string): string;
  /** All that is in `cmdassets/`. */
  files(): string[];
}

/** A fresh folder for each test of the file, with an empty `cmdassets/` in it. */
export function useChatFolder(): ChatFolder {
  let path = '';
  beforeEach(() => {
    path = realpathSync(mkdtempSync(join(tmpdir(), 'filechat-assets-')));
    mkdirSync(join(path, 'cmdassets'));
  });
  afterEach(() => rmSync(path, { recursive: true, force: true }));
  return {
    get path() {
      return path;
    },
    asset: (name) => join(path, 'cmdassets', name),
    files: () => readdirSync(join(path, 'cmdassets')).sort(),
  };
}
