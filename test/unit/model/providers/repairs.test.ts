import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StreamEnd } from '../../../../src/model/providers/endings.ts';
import { wireOf } from '../../../../src/model/providers/wire.ts';

const encode = (text: string) => new TextEncoder().encode(text);

describe('what the SDK gets of a stream', () => {
  const cases: readonly (readonly [rule: string, sent: string, got: string])[] = [
    ['is what was sent', 'data: {"choices":[]}\r\n\r\n: é\n', 'data: {"choices":[]}\r\n\r\n: é\n'],
    ['has no error that is null', 'data: {"choices":[],"error":null}\n\n', 'data: {"choices":[]}\n\n'],
    ['keeps an error', 'data: {"error":{"message":"a"}}\n\n', 'data: {"error":{"message":"a"}}\n\n'],
    [
      'has only the first choice',
      'data: {"choices":[{"index":1,"delta":{"content":"b"}}]}\n\n',
      'data: {"choices":[]}\n\n',
    ],
    ['ends with [DONE]', 'data: [DONE]\n\ndata: {"choices":[]}\n\n', 'data: [DONE]\n\n'],
    ['keeps a last line without an end', 'data: {"choices":[]}', 'data: {"choices":[]}'],
    [
      'keeps an event in several lines',
      'data: {"choices":\ndata: []}\n\n',
      'data: {"choices":\ndata: []}\n\n',
    ],
  ];
  for (const [rule, sent, got] of cases) {
    it(rule, () => {
      const bytes = encode(sent);
      for (const size of [1, 3, bytes.length]) {
        const end = new StreamEnd(wireOf({ provider: 'openai-compatible' }).signs);
        let passed = '';
        for (let at = 0; at < bytes.length && !end.isDone; at += size) {
          passed += end.push(bytes.subarray(at, at + size));
        }
        assert.equal((passed + end.end()).trimEnd(), got.trimEnd());
      }
    });
  }
});
