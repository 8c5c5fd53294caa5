import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { RevisionQuestion } from '../../../../src/mcp/connection/clientSetup.ts';

const request = (id: string | number, method: string): JSONRPCMessage => ({ jsonrpc: '2.0', id, method });
const YES: JSONRPCMessage = { jsonrpc: '2.0', id: 'probe-1', result: {} };
const NO: JSONRPCMessage = { jsonrpc: '2.0', id: 'probe-1', error: { code: -32601, message: 'What?' } };

describe('the question about the revision', () => {
  function ask(): RevisionQuestion {
    const question = new RevisionQuestion();
    question.sent(request('probe-1', 'server/discover'));
    return question;
  }

  for (const answer of [YES, NO]) {
    test(`that is answered in time with ${'result' in answer ? 'yes' : 'no'} is not minded`, () => {
      const question = ask();
      assert.equal(question.takes(answer), false);
      question.sent(request(0, 'initialize'));
      assert.equal(question.late, undefined);
    });
  }

  test('that is answered after the old greeting is taken from the others, and known', () => {
    for (const [answer, late] of [
      [YES, 'yes'],
      [NO, 'no'],
    ] as const) {
      const question = ask();
      question.sent({ jsonrpc: '2.0', method: 'notifications/x' });
      assert.equal(question.late, undefined);
      question.sent(request(0, 'initialize'));
      assert.equal(question.late, 'nothing');
      assert.equal(question.takes({ jsonrpc: '2.0', id: 0, result: {} }), false);
      assert.equal(
        question.takes(request('probe-1', 'roots/list')),
        false,
        'this is a request of the server',
      );
      assert.equal(question.takes(answer), true);
      assert.equal(question.late, late);
    }
  });

  test('that was never asked takes nothing', () => {
    const question = new RevisionQuestion();
    question.sent(request(0, 'initialize'));
    assert.deepEqual([question.takes(YES), question.late], [false, undefined]);
  });
});
