import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AlwaysServers } from '../../../../src/mcp/requests/askLimit.ts';

test('“always” is valid for a fingerprint until it is cleared', () => {
  const always = new AlwaysServers();
  always.add('a');
  always.add('');
  assert.deepEqual([always.has('a'), always.has('b'), always.has('')], [true, false, false]);
  always.clear();
  assert.equal(always.has('a'), false);
});
