import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync } from 'node:fs';
import { describe, it } from 'node:test';
import { listFolder } from '../../../src/assets/chatFiles.ts';
import { needsSymlinks } from '../../windows/needs.ts';
import { useTree } from '../catalog/tree.ts';

const tree = useTree();
const list = async (limits?: Parameters<typeof listFolder>[1]) =>
  (await listFolder(tree.at('f'), limits)).split('\n');

describe('the listing of a folder', () => {
  it('has names and sizes, with folders below each other', async () => {
    tree.write('f/b.txt', 'x'.repeat(1200));
    tree.write('f/a/deep/c.txt', 'abc');
    mkdirSync(tree.at('f/a/none'));
    assert.deepEqual(await list(), [
      'a/',
      '  deep/',
      '    c.txt  3 bytes',
      '  none/  (empty)',
      'b.txt  1.2 KB',
    ]);
  });

  it('does not go into node_modules and .git', async () => {
    tree.write('f/.git/config', '');
    tree.write('f/a/node_modules/x/index.js', '');
    tree.write('f/.env', 'x');
    assert.deepEqual(await list(), [
      '.env  1 bytes',
      '.git/  (not listed)',
      'a/',
      '  node_modules/  (not listed)',
    ]);
  });

  it('has a limit of entries, upper levels first, and says how many are missing', async () => {
    for (const name of ['a/1', 'a/2', 'a/3', 'b/1', 'c']) tree.write(`f/${name}`, '');
    assert.deepEqual(await list({ maxEntries: 5, maxDepth: 4 }), [
      'a/',
      '  1  0 bytes',
      '  2  0 bytes',
      '  (and 1 more)',
      'b/  (not listed)',
      'c  0 bytes',
    ]);
    assert.deepEqual(await list({ maxEntries: 2, maxDepth: 4 }), [
      'a/  (not listed)',
      'b/  (not listed)',
      '(and 1 more)',
    ]);
  });

  it('has a limit of depth', async () => {
    tree.write('f/a/b/c/d', '');
    assert.deepEqual(await list({ maxEntries: 100, maxDepth: 2 }), ['a/', '  b/  (not listed)']);
  });

  it('names symbolic links and does not follow them', needsSymlinks, async () => {
    tree.write('f/x', '');
    tree.write('outside/secret.txt', '');
    symlinkSync(tree.at('outside'), tree.at('f/link'));
    assert.deepEqual(await list(), ['link  symbolic link', 'x  0 bytes']);
  });

  it('has one line for each name, whatever is in it', needsSymlinks, async () => {
    tree.write('f/a\nb\u202e', '');
    assert.deepEqual(await list(), ['a b  0 bytes']);
  });
});
