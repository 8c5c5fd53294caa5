import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AlwaysAllowedServers } from '../../../../src/mcp/requests/requestLimit.ts';

test('“always” applies to servers with a fingerprint, until it is reset', () => {
  const always = new AlwaysAllowedServers();
  always.add('a');
  always.add('');
  assert.deepEqual([always.has('a'), always.has('b'), always.has('')], [true, false, false]);
  always.clear();
  assert.equal(always.has('a'), false);
});
