import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { rankPaths } from '../../../../src/chat/completion/paths.ts';

const paths = [
  'src/chat/parse.ts',
  'docs/parser.md',
  'parse/index.ts',
  'README.md',
  'src/sparse.ts',
  'p/a/r/s/e.txt',
];

describe('ranking paths by typed text', () => {
  it('are those whose name begins with it, then those that hold it, then those that hold its letters', () => {
    assert.deepEqual(rankPaths(paths, 'parse', 10), [
      'docs/parser.md',
      'src/chat/parse.ts',
      'src/sparse.ts',
      'parse/index.ts',
      'p/a/r/s/e.txt',
    ]);
  });

  it('are the shortest when nothing was typed, and no more than asked for', () => {
    assert.deepEqual(rankPaths(paths, '', 2), ['README.md', 'p/a/r/s/e.txt']);
  });

  it('match whatever the case, and folders too', () => {
    assert.deepEqual(rankPaths(paths, 'SRC/CH', 10), ['src/chat/parse.ts']);
    assert.deepEqual(rankPaths(paths, 'zz', 10), []);
  });
});
