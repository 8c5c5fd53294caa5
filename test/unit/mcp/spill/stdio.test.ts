import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { DiscoverProbe, mergeVariables } from '../../../../src/mcp/spill/stdio.ts';

const request = (id: string | number, method: string): JSONRPCMessage => ({ jsonrpc: '2.0', id, method });
const YES: JSONRPCMessage = { jsonrpc: '2.0', id: 'probe-1', result: {} };
const NO: JSONRPCMessage = { jsonrpc: '2.0', id: 'probe-1', error: { code: -32601, message: 'What?' } };

describe('the discover probe', () => {
  function ask(): DiscoverProbe {
    const probe = new DiscoverProbe();
    probe.sent(request('probe-1', 'server/discover'));
    return probe;
  }

  for (const answer of [YES, NO]) {
    test(`an answer in time with ${'result' in answer ? 'a result' : 'an error'} is not late`, () => {
      const probe = ask();
      assert.equal(probe.isLateAnswer(answer), false);
      probe.sent(request(0, 'initialize'));
      assert.equal(probe.lateAnswer, undefined);
    });
  }

  test('a late answer is recognized and reported', () => {
    for (const [answer, late] of [
      [YES, 'supported'],
      [NO, 'unsupported'],
    ] as const) {
      const probe = ask();
      probe.sent({ jsonrpc: '2.0', method: 'notifications/x' });
      assert.equal(probe.lateAnswer, undefined);
      probe.sent(request(0, 'initialize'));
      assert.equal(probe.lateAnswer, 'pending');
      assert.equal(probe.isLateAnswer({ jsonrpc: '2.0', id: 0, result: {} }), false);
      assert.equal(probe.isLateAnswer(request('probe-1', 'roots/list')), false, 'a request of the server');
      assert.equal(probe.isLateAnswer(answer), true);
      assert.equal(probe.lateAnswer, late);
    }
  });

  test('without a request no answer is late', () => {
    const probe = new DiscoverProbe();
    probe.sent(request(0, 'initialize'));
    assert.deepEqual([probe.isLateAnswer(YES), probe.lateAnswer], [false, undefined]);
  });
});

const BASE = { PATH: 'C:\\Windows', TEMP: 'C:\\Temp' };

it('on Windows, a variable replaces one whose name differs only in case', () => {
  assert.deepEqual(mergeVariables(BASE, { Path: 'C:\\Node', KEY: '1' }, 'win32'), {
    TEMP: 'C:\\Temp',
    Path: 'C:\\Node',
    KEY: '1',
  });
});

it('on other systems, names are case-sensitive', () => {
  assert.deepEqual(mergeVariables(BASE, { Path: '/x', PATH: '/y' }, 'linux'), {
    PATH: '/y',
    TEMP: 'C:\\Temp',
    Path: '/x',
  });
});
