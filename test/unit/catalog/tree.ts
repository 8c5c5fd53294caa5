import { mkdirSync, mkdtempSync, realpathSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach } from 'node:test';

/** The name of an asset with a number. */
export const assetNumbered = (number: number, extension = 'png', kind = 'image') =>
  `tool-${kind}-20261116-093012-V1StGXR8a0-${number}.${extension}`;

export interface Tree {
  readonly path: string;
  /** Writes a file with the folders that it needs, as if it had been there for an hour. */
  write(name: string, content?: string | Uint8Array): string;
  /** Writes several files that hold an `x`. */
  touch(...names: string[]): void;
  at(...names: string[]): string;
}

/** A fresh folder for each test of the file. */
export function useTree(): Tree {
  let path = '';
  beforeEach(() => {
    path = realpathSync(mkdtempSync(join(tmpdir(), 'filechat-catalog-')));
  });
  afterEach(() => rmSync(path, { recursive: true, force: true }));
  const at = (...names: string[]) => join(path, ...names);
  const write: Tree['write'] = (name, content = 'x') => {
    mkdirSync(dirname(at(name)), { recursive: true });
    writeFileSync(at(name), content);
    const before = new Date(Date.now() - 3_600_000);
    utimesSync(at(name), before, before);
    return at(name);
  };
  return {
    get path() {
      return path;
    },
    at,
    write,
    touch: (...names) => names.forEach((name) => void write(name)),
  };
}

/** A chat in which a tool has returned these assets. */
export function chatWith(assets: readonly string[], tool = 'charts.bar'): string {
  const links = assets.map((asset, index) => `![Tool generated image ${index + 1}](cmdassets/${asset})`);
  return `# %% user\nDraw it\n\n# %% tool ${tool} c1\n${links.map((link) => `${link}\n\n`).join('')}\n`;
}
