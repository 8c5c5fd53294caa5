import assert from 'node:assert/strict';
import { test } from 'node:test';
import { oneLine } from '../../../../src/mcp/connection/explainFailure.ts';

test('untrusted text is one line in which nothing is invisible', () => {
  assert.equal(oneLine(' a\r\n\tb\u0000 '), 'a b');
  assert.equal(oneLine('paid\u202e to\u200b 😀'), 'paid⟦U+202E⟧ to⟦U+200B⟧ 😀');
  assert.equal(oneLine(`${'\u202e'.repeat(3000)}`).length, 2001);
});
