import assert from 'node:assert/strict';
import { it } from 'node:test';
import { withContinuation } from '../../../../src/model/request/replyMessages.ts';
import type { ModelMessage } from '../../../../src/ports/models.ts';

const USER: ModelMessage = { role: 'user', parts: [{ kind: 'text', text: 'Hello' }] };
const TOOL: ModelMessage = { role: 'tool', results: [] };
const partial = { text: 'Once upon a ti', endsInCode: false, calls: [] };
const wordsOf = (message: ModelMessage | undefined) =>
  message?.role === 'user' ? message.parts.map((part) => (part.kind === 'text' ? part.text : '')) : [];

it('the partial reply is in the user’s last message, once and exactly', () => {
  const messages = withContinuation([USER], partial);
  assert.equal(messages.length, 1);
  const [hello, more = ''] = wordsOf(messages[0]);
  assert.equal(hello, 'Hello');
  assert.equal(more.split('<partial_reply>Once upon a ti</partial_reply>').length, 2);
  assert.match(more, /exactly where it ends/);
  assert.match(more, /Do not repeat/);
});

it('after a result it is a separate message', () => {
  const messages = withContinuation([USER, TOOL], partial);
  assert.deepEqual(messages.slice(0, 2), [USER, TOOL]);
  assert.equal(messages[2]?.role, 'user');
});

it('an open code block is mentioned only if there is one', () => {
  const words = (endsInCode: boolean) =>
    wordsOf(withContinuation([], { text: 'x', endsInCode, calls: [] })[0]).join();
  assert.match(words(true), /code block/);
  assert.doesNotMatch(words(false), /code block/);
});

it('a reply that was interrupted before its first word is requested again', () => {
  assert.deepEqual(withContinuation([USER], { text: ' ', endsInCode: false, calls: [] }), [USER]);
});
