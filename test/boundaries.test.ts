import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';

const root = join(import.meta.dirname, '..');
const editorOnly = (file: string) =>
  file.startsWith(join('src', 'vscode')) || file === join('src', 'extension.ts');
/** They run at import. */
const ENTRIES = new Set([join('src', 'cli.ts'), join('src', 'assets-server.ts')]);
const files = globSync('src/**/*.ts', { cwd: root });

describe('the core runs without an editor', () => {
  for (const file of files.filter((each) => !editorOnly(each) && !ENTRIES.has(each))) {
    it(`${file} loads in plain Node`, async () => {
      await assert.doesNotReject(import(pathToFileURL(join(root, file)).href));
    });
  }
});

it('activation loads next to nothing', () => {
  const size = readFileSync(join(root, 'dist/extension.js')).length;
  assert.ok(size < 60_000, `dist/extension.js has ${size} bytes`);
  const { activationEvents } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  assert.deepEqual(activationEvents, [
    'onLanguage:markdown',
    'onFileSystem:filechat-resource',
    'onWebviewPanel:filechat.gallery',
  ]);
});

it('what VS Code’s own chat asks for when it looks for servers is small too', () => {
  const offer = globSync('dist/chunks/offer-*.js', { cwd: root });
  assert.equal(offer.length, 1);
  const files = new Set(offer);
  for (const file of files) {
    const code = readFileSync(join(root, file), 'utf8');
    for (const [, chunk] of code.matchAll(/(?:from|import)"\.\/([^"]+)"/g)) files.add(`dist/chunks/${chunk}`);
  }
  const bytes = [...files].reduce((sum, file) => sum + readFileSync(join(root, file)).length, 0);
  assert.ok(bytes < 4_000, `${bytes} bytes: ${[...files].join(', ')}`);
});
