/** The provider's reason, from every shape of an error. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readErrorBody } from '../../../../src/model/providers/errorBody.ts';
import { detailOf, toFailure } from '../../../../src/model/providers/modelError.ts';
import type { FailureKind } from '../../../../src/ports/failures.ts';

describe('the reason is read from', () => {
  const cases: readonly (readonly [from: string, body: unknown, reason: string])[] = [
    ['Anthropic', { type: 'error', error: { type: 'x', message: 'Too much.' } }, 'Too much.'],
    ['LM Studio and Ollama', { error: 'model "x" not found' }, 'model "x" not found'],
    ['Ollama /v1', { error: { message: 'no such model', type: 'api_error', code: null } }, 'no such model'],
    ['vLLM', { error: { message: 'Too long.', type: 'BadRequestError', code: 400 } }, 'Too long.'],
    [
      'errors by field',
      { errors: { messages: ['must not be empty at all'], model: ['is not deployed here'] } },
      'messages: must not be empty at all: model: is not deployed here',
    ],
    ['older vLLM', { object: 'error', message: 'Too long.', code: 400 }, 'Too long.'],
    ['llama.cpp', { error: { code: 400, message: 'Too long.', n_ctx: 4096 } }, 'Too long.'],
    [
      'OpenRouter, with the response of the provider behind it',
      {
        error: {
          message: 'Provider returned error',
          metadata: { raw: '{"error":{"message":"No images."}}' },
        },
      },
      'Provider returned error: No images.',
    ],
    [
      'OpenRouter, with plain text behind it',
      { error: { message: 'Provider returned error', metadata: { raw: 'No more tokens today' } } },
      'Provider returned error: No more tokens today',
    ],
    [
      'Azure',
      {
        error: {
          message: 'The response was filtered.',
          innererror: { code: 'ResponsibleAIPolicyViolation', message: 'The prompt triggered a policy.' },
        },
      },
      'The response was filtered: The prompt triggered a policy.',
    ],
    ['Mistral', { object: 'error', message: 'Prompt is too large', type: 'x' }, 'Prompt is too large'],
    [
      'Mistral and FastAPI, with the field',
      { message: { detail: [{ type: 'missing', loc: ['body', 'model'], msg: 'Field required' }] } },
      'body.model: Field required',
    ],
    ['FastAPI', { detail: 'Not authenticated' }, 'Not authenticated'],
    [
      'Gemini, in a list',
      [{ error: { code: 400, message: 'Bad.', details: [{ reason: 'API_KEY_INVALID' }] } }],
      'Bad.',
    ],
    [
      'OAuth',
      { error: 'invalid_token', error_description: 'The token has expired.' },
      'invalid_token: The token has expired.',
    ],
    [
      'NestJS and Spring',
      {
        statusCode: 400,
        error: 'Bad Request',
        message: ['model must be a string', 'n must be positive now'],
      },
      'Bad Request: model must be a string: n must be positive now',
    ],
    ['JSON in JSON', { error: { message: '{"error":{"message":"Deep inside.","code":1}}' } }, 'Deep inside.'],
    ['a page that is cut', '<p the house is closed', '<p the house is closed'],
    ['a page in JSON', { error: { message: '<html><h1>403 Forbidden</h1></html>' } }, '403 Forbidden'],
    ['an event', 'event: error\ndata: {"error":{"message":"In an event."}}\n\n', 'In an event.'],
    ['plain text', ' Blocked by the policy\n', 'Blocked by the policy'],
    ['a page', '<html><head><title>502 &lt;Bad&gt; Gateway</title></head><h1>x</h1>', '502 <Bad> Gateway'],
    ['a page without a title', '<html><body><h1>Sign in first</h1>', 'Sign in first'],
    ['XML', '<?xml version="1.0"?><Error><Message>Access Denied</Message></Error>', 'Access Denied'],
    [
      'a shape that nobody knows: the longest sentence',
      {
        trace: 'aGVsbG8gd29ybGQgaGVsbG8gd29ybGQgaGVsbG8gd29ybGQ',
        kind: 'deployment_paused',
        payload: { hints: ['Ask your team.', 'Deployments are paused until Monday.'] },
      },
      'Deployments are paused until Monday.',
    ],
    [
      'a known field with a name, and a sentence in another',
      { error: 'bad_request', explanation: 'Your account has to be verified first.' },
      'bad_request: Your account has to be verified first.',
    ],
    ['another script', { info: '配额已用完，请稍后再试。' }, '配额已用完，请稍后再试。'],
    ['no sentence', { kind: 'deployment_paused', id: 'a1' }, ''],
    ['broken JSON', '{"error":{"message":"Cut', '{"error":{"message":"Cut'],
    ['nothing', '', ''],
  ];
  for (const [from, body, reason] of cases) {
    it(from, () => {
      assert.equal(readErrorBody(body).reason, reason);
      if (typeof body !== 'string') assert.equal(readErrorBody(JSON.stringify(body)).reason, reason);
    });
  }
});

describe('a model without images', () => {
  const cases: readonly (readonly [from: string, status: number, reason: string])[] = [
    ['LM Studio', 400, 'Model does not support images.'],
    ['vLLM', 400, 'At most 0 image(s) may be provided in one request.'],
    ['llama.cpp', 500, 'image input is not supported - hint: you may need to provide the mmproj'],
    ['OpenRouter', 404, 'No endpoints found that support image input'],
    ['DeepSeek', 400, 'messages[1]: unknown variant `image_url`, expected `text`'],
    ['Groq', 400, 'messages[1].content must be a string'],
    ['Azure', 400, 'Invalid content type. image_url is only supported by certain models.'],
  ];
  const kind: FailureKind = 'refused';
  for (const [from, statusCode, message] of cases) {
    it(`${from} refuses the request once, with its reason`, () => {
      const error = { statusCode, message: 'x', responseBody: JSON.stringify({ error: { message } }) };
      const found = toFailure(error, { host: 'h', model: 'm', secrets: [] });
      assert.deepEqual([found.failure?.kind, found.failure?.reason, found.retryable], [kind, message, false]);
    });
  }
});

describe('secrets in a reason', () => {
  const cases: readonly (readonly [text: string, masked: string])[] = [
    ['own-secret is wrong', '«key» is wrong'],
    ['Incorrect API key provided: sk-proj-abc***xyz.', 'Incorrect API key provided: «key».'],
    ['keys AIzaSyD-1_2, gsk_abc1, hf_abc1 and AKIA1234', 'keys «key», «key», «key» and «key»'],
    ['Authorization: Bearer abc.def-123/4=', 'Authorization: «key»'],
    ['authorization: basic dXNlcjpwYXNz', 'authorization: «key»'],
    ['token eyJhbGciOi.eyJzdWIi.SflKxw expired', 'token «key» expired'],
    ['https://x.example/v1?alt=sse&key=0123456789', 'https://x.example/v1?alt=sse&key=«key»'],
    ['{"x-api-key": "0123456789"}', '{"x-api-key": "«key»"}'],
    ['api_key=0123456789 is not known', 'api_key=«key» is not known'],
    ['The bearer of this key: none. Basic plan', 'The bearer of this key: none. Basic plan'],
    ['max_tokens: 4096 for gpt-5', 'max_tokens: 4096 for gpt-5'],
  ];
  for (const [text, masked] of cases) {
    it(masked, () => assert.equal(detailOf(text, { secrets: ['own-secret'] }), masked));
  }
});

// Each of these took minutes, because of a square of its length.
describe('a hostile error is read once', () => {
  const cases: Readonly<Record<string, unknown>> = {
    'with a long word': { message: `a ${'b'.repeat(150_000)}` },
    'with many reasons': { errors: Array.from({ length: 100_000 }, (_, at) => `x ${at}`) },
    'with many pages': { errors: Array.from({ length: 100_000 }, () => '<p>') },
    'with long reasons': { errors: Array.from({ length: 1000 }, (_, at) => `${'x '.repeat(10_000)}${at}`) },
  };
  for (const [name, error] of Object.entries(cases)) {
    it(name, () => {
      const found = toFailure({ error }, { host: 'h', model: 'm', secrets: [] });
      assert.ok((found.failure?.reason ?? '').length <= 10_001);
    });
  }
});
