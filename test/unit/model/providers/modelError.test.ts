import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readRetryAfter, toFailure } from '../../../../src/model/providers/modelError.ts';

const NOW = Date.parse('2026-11-16T10:00:00Z');
const about = { host: 'api.example', model: 'big-1', secrets: ['sk-secret', 'team-token'] };

describe('readRetryAfter', () => {
  const cases: readonly [string, Record<string, string>, number | undefined][] = [
    ['seconds', { 'retry-after': '7' }, 7000],
    ['parts of seconds', { 'retry-after': '0.5' }, 500],
    ['milliseconds come first', { 'retry-after-ms': '250', 'retry-after': '7' }, 250],
    ['a date', { 'retry-after': 'Mon, 16 Nov 2026 10:00:30 GMT' }, 30_000],
    ['a date that has passed', { 'retry-after': 'Mon, 16 Nov 2026 09:00:00 GMT' }, 0],
    ['nonsense', { 'retry-after': 'soon' }, undefined],
    ['a negative number', { 'retry-after': '-5' }, undefined],
    ['nothing', {}, undefined],
  ];
  for (const [rule, headers, expected] of cases) {
    it(rule, () => assert.equal(readRetryAfter(headers, NOW), expected));
  }
  it('the body of Gemini', () => {
    assert.equal(readRetryAfter({}, NOW, '{"details":[{"retryDelay": "34.5s"}]}'), 34_500);
  });
});

describe('toFailure', () => {
  const status = (statusCode: number, message = 'Why.', more: object = {}) => ({
    name: 'AI_APICallError',
    statusCode,
    message,
    ...more,
  });
  const KEY = 'The key was not accepted for api.example';
  const LOST = 'The connection to api.example was lost before the reply ended.';
  const LONG = 'prompt is too long: 205000 tokens > 200000 maximum';
  const code = (name: string) => ({ data: { error: { code: name, message: 'Too much' } } });
  const permanent: readonly [unknown, string][] = [
    [status(401), `${KEY}: Why.`],
    [status(403, 'Not for you'), 'api.example denied access to the model big-1: Not for you.'],
    [status(404, ''), 'api.example has no model big-1.'],
    [
      status(404, '404 page not found'),
      'Nothing was found at api.example: 404 page not found. Check the model’s provider and baseUrl.',
    ],
    [status(400, 'n: must be positive'), 'api.example refused the request: n: must be positive.'],
    [status(400, LONG), `The chat is too long for big-1: ${LONG}.`],
    [status(400, 'Too much', code('context_length_exceeded')), `The chat is too long for big-1: Too much.`],
    [
      status(429, 'Pay', code('insufficient_quota')),
      'The account at api.example has no credit left: Too much.',
    ],
    [{ type: 'invalid_request_error', message: 'No' }, 'api.example refused the request: No.'],
    [fetchFailed('SELF_SIGNED_CERT'), 'The certificate of api.example is not trusted (SELF_SIGNED_CERT).'],
    [
      status(400, 'sk-secret and team-token and sk-proj-abc*** are wrong'),
      'api.example refused the request: «key» and «key» and «key» are wrong.',
    ],
  ];
  const transient: readonly [unknown, string][] = [
    [status(429, 'Slow down'), 'api.example is limiting the rate of requests: Slow down.'],
    [status(500), 'api.example failed with status 500: Why.'],
    [status(502, 'Bad Gateway'), 'api.example failed with status 502: Bad Gateway.'],
    [status(503), 'api.example is overloaded: Why.'],
    [status(504, ''), 'api.example failed with status 504.'],
    [status(529, 'Overloaded'), 'api.example is overloaded: Overloaded.'],
    [{ type: 'overloaded_error', message: 'Overloaded' }, 'api.example is overloaded: Overloaded.'],
    [{ code: 502, message: 'Upstream' }, 'api.example failed with status 502: Upstream.'],
    [{ message: 'Hm' }, 'api.example reported an error: Hm.'],
    ['Hm', 'api.example reported an error: Hm.'],
    [
      fetchFailed('ENOTFOUND'),
      'Could not connect to api.example: the host was not found. Check the address and the network.',
    ],
    [fetchFailed('ECONNRESET'), LOST],
    [new TypeError('terminated'), LOST],
    [status(200), LOST],
  ];
  for (const [cases, retryable] of [
    [permanent, false],
    [transient, true],
  ] as const) {
    for (const [error, message] of cases) {
      it(`${retryable ? 'transient' : 'permanent'}: ${message}`, () => {
        const failure = toFailure(error, about);
        assert.deepEqual(
          [failure.message, failure.retryable, failure.kind],
          [message, retryable, 'modelFailure'],
        );
      });
    }
  }

  it('a ModelError is returned unchanged', () => {
    const failure = toFailure(status(500), about);
    assert.equal(toFailure(failure, about), failure);
  });

  it("a provider's message is one line, and an endless one is cut", () => {
    const { message } = toFailure(status(400, `a\n\u0007b ${'x'.repeat(50_000)}`), about);
    assert.match(message, /^api\.example refused the request: a b x+…$/);
    assert.ok(message.length < 10_100);
  });
});

function fetchFailed(code: string): Error {
  return new TypeError('fetch failed', { cause: Object.assign(new Error('why'), { code }) });
}
