import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BodyTooLargeError } from '../../../../src/base/httpBody.ts';
import {
  ENDINGS,
  endingOf,
  StreamEnd,
  type StreamFacts,
  type StreamOutcome,
  type StreamProblem,
} from '../../../../src/model/providers/endings.ts';
import { type SdkProvider, wireOf } from '../../../../src/model/providers/wire.ts';

describe('the table of endings', () => {
  const begun = { hasEnded: false, hasOutput: true } as const;
  const silent = { hasEnded: false, hasOutput: false } as const;
  const ended = { hasEnded: true, hasOutput: true } as const;
  const cases: readonly (readonly [rule: string, facts: StreamFacts, verdict: StreamOutcome])[] = [
    ['closed after an end', { ...ended, problem: 'cut' }, 'ended'],
    ['an error after an end', { ...ended, problem: 'reported' }, 'ended'],
    ['nonsense after an end', { ...ended, problem: 'unreadable' }, 'ended'],
    ['an error as the stop reason', { ...ended, problem: 'brokenOff' }, 'again'],
    ['closed after text', { ...begun, problem: 'cut' }, 'again'],
    ['closed before text', { ...silent, problem: 'cut' }, 'again'],
    ['only keep-alives for too long', { ...silent, problem: 'silent' }, 'again'],
    ['an error after text', { ...begun, problem: 'reported' }, 'again'],
    ['an error before text', { ...silent, problem: 'reported' }, 'again'],
    ['a request that is not accepted', { ...silent, problem: 'refused' }, 'failed'],
    ['an error after text that would recur', { ...begun, problem: 'refused' }, 'failed'],
    ['a first event that is not JSON', { ...silent, problem: 'unreadable' }, 'failed'],
    ['a later event that is not JSON', { ...begun, problem: 'unreadable' }, 'again'],
    ['events of another provider', { ...silent, problem: 'wrongFormat' }, 'failed'],
    ['events of another provider after text', { ...begun, problem: 'wrongFormat' }, 'failed'],
  ];
  for (const [rule, facts, verdict] of cases) {
    it(`${rule}: ${verdict}`, () => assert.equal(endingOf(facts).outcome, verdict));
  }

  it('has one row for all facts, and no row that none needs', () => {
    const both = [true, false];
    const problems: readonly StreamProblem[] = [
      ...(['cut', 'silent', 'brokenOff', 'reported', 'refused', 'unreadable', 'wrongFormat'] as const),
    ];
    const all = problems.flatMap((problem) =>
      both.flatMap((hasEnded) => both.map((hasOutput) => endingOf({ problem, hasEnded, hasOutput }))),
    );
    assert.deepEqual(new Set(all), new Set(ENDINGS));
  });
});

interface Seen {
  readonly said: boolean;
  readonly isForeign?: boolean;
  readonly error?: boolean;
  readonly closing?: string;
}

describe('StreamEnd', () => {
  const chat = (finish_reason: unknown) => `data: ${JSON.stringify({ choices: [{ finish_reason }] })}\n\n`;
  const stop = 'data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}\n\n';
  const closing = 'data: {"type":"message_stop"}';
  const cases: readonly (readonly [rule: string, SdkProvider, stream: string, Seen])[] = [
    ['nothing', 'openai-chat', '', { said: false }],
    ['comments', 'openai-chat', ': alive\n\n: alive\n\n', { said: false }],
    ['a chunk', 'openai-chat', chat(null), { said: false }],
    ['an empty stop reason', 'openai-compatible', chat(''), { said: false }],
    ['a stop reason', 'openai-chat', chat('stop'), { said: true }],
    ['[DONE]', 'openai-chat', `${chat(null)}data: [DONE]\n\n`, { said: true }],
    ['[DONE] without a space or a line end', 'openai-compatible', `${chat(null)}data:[DONE]`, { said: true }],
    [
      '[DONE] after events of another provider',
      'google',
      `${chat(null)}data: [DONE]\n\n`,
      { said: false, isForeign: true },
    ],
    [
      '[DONE] after an error',
      'openai-chat',
      'data: {"error":{"message":"No"}}\n\ndata: [DONE]\n\n',
      { said: false, error: true },
    ],
    [
      'an error after a stop reason',
      'openai-chat',
      `${chat('stop')}data: {"error":{"message":"No"}}\n\n`,
      { said: true },
    ],
    ['an error as the stop reason', 'openai-chat', chat('error'), { said: false }],
    [
      'an error without data:',
      'openai-compatible',
      `${chat(null)}{"error":"No"}\n`,
      { said: false, error: true },
    ],
    ['no error', 'openai-compatible', 'data: {"choices":[],"error":null}\n\n', { said: false }],
    ['a field that is cut off', 'openai-chat', 'dat', { said: false }],
    ['a first event that is cut off', 'openai-chat', 'event: x\ndata: {"a":', { said: false }],
    ['[DONE] with CRLF', 'google', 'data: [DONE]\r\n\r\n', { said: true }],
    [
      '[DONE] in a text',
      'openai-chat',
      'data: {"choices":[{"delta":{"content":"data: [DONE]"}}]}\n\n',
      { said: false },
    ],
    ['a stop reason', 'anthropic', stop, { said: true, closing }],
    ['a stop reason and its end', 'anthropic', `${stop}data: {"type":"message_stop"}\n\n`, { said: true }],
    [
      'a call with an argument of that name',
      'anthropic',
      'data: {"type":"content_block_start","content_block":{"input":{"type":"message_delta","delta":{"stop_reason":"x"}}}}\n\n',
      { said: false },
    ],
    ['the last event', 'openai', 'data: {"type":"response.completed","response":{}}\n\n', { said: true }],
    ['an event', 'openai', 'data: {"type":"response.created","response":{}}\n\n', { said: false }],
    ['a stop reason', 'google', 'data: {"candidates":[{"finishReason":"STOP"}]}\n\n', { said: true }],
    [
      'a call with an argument of that name',
      'google',
      'data: {"candidates":[{"content":{"parts":[{"functionCall":{"args":{"finishReason":"STOP"}}}]}}]}\n\n',
      { said: false },
    ],
    ['events of another provider', 'google', chat(null), { said: false, isForeign: true }],
    ['events of another provider', 'openai', chat('stop'), { said: false, isForeign: true }],
    ['a page', 'openai-chat', '<!doctype html>\n<html></html>', { said: false, isForeign: true }],
    [
      'lines of JSON',
      'openai-compatible',
      '{"message":{"content":"Hi"}}\n{"done":true}\n',
      { said: false, isForeign: true },
    ],
  ];
  for (const [rule, provider, stream, expected] of cases) {
    it(`${provider}: ${rule}`, () => {
      const bytes = new TextEncoder().encode(stream);
      for (const size of [1, 7, bytes.length]) {
        const end = new StreamEnd(wireOf({ provider }).signs);
        for (let at = 0; at < bytes.length; at += size) end.push(bytes.subarray(at, at + size));
        // Without the last line, which may have no end.
        const last = end.end().split('\n\n').slice(1).join('').trim();
        assert.deepEqual(
          { said: end.hasEnded, isForeign: end.isForeign, closing: last, error: end.error !== undefined },
          { isForeign: false, closing: '', error: false, ...expected },
        );
      }
    });
  }

  const floods: Readonly<Record<string, string>> = {
    'an event with too many values': `data: [${'{},'.repeat(200_000)}`,
    'lines that are not JSON': 'data: {\n'.repeat(2000),
    'lines of no event': '\r`'.repeat(2000),
    'a line without an end': `data: "${'x'.repeat(40 * 1024 * 1024)}`,
    'nothing but comments': ': alive\n'.repeat(5 * 1024 * 1024),
  };
  for (const [name, text] of Object.entries(floods)) {
    it(`refuses ${name} before the SDK reads it`, () => {
      const end = new StreamEnd(wireOf({ provider: 'openai-chat' }).signs);
      assert.throws(() => end.push(Buffer.from(text)), BodyTooLargeError);
    });
  }
});
