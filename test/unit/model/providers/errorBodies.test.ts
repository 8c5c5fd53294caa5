/** The responses of providers and local servers to requests that fail, as they come over the wire. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { actionsFor, billingPage, type FailureAction } from '../../../../src/model/describeFailure.ts';
import { toFailure } from '../../../../src/model/providers/modelError.ts';
import type { FailureKind } from '../../../../src/ports/failures.ts';

interface Case {
  readonly from: string;
  readonly status: number;
  readonly body: unknown;
  readonly kind: FailureKind;
  /** The provider's own words in the message. */
  readonly quotes: string;
  readonly retries?: true;
}

const openAi = (message: string, type: string, code: string | null = null) => ({
  error: { message, type, param: null, code },
});
const anthropic = (type: string, message: string) => ({
  type: 'error',
  error: { type, message },
  request_id: 'req_011CS',
});
const google = (code: number, status: string, message: string, details: readonly object[] = []) => ({
  error: { code, message, status, details },
});

const QUOTA =
  'You exceeded your current quota, please check your plan and billing details. For more information on this error, read the docs: https://platform.openai.com/docs/guides/error-codes/api-errors.';
const CREDIT =
  'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.';
const XAI_CREDIT =
  "Your newly created team doesn't have any credits yet. You can purchase credits on https://console.x.ai/team/1.";
const GROQ_RATE =
  'Rate limit reached for model `llama-3.3-70b-versatile` on tokens per minute (TPM): Limit 6000, Used 5900. Please try again in 7.66s.';
const LM_STUDIO =
  'Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.';
const VLLM =
  "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens. Please reduce the length of the messages.";
const DETAIL = { message: { detail: [{ type: 'missing', loc: ['body', 'model'], msg: 'Field required' }] } };
const RAW = JSON.stringify({ error: { message: 'google/gemini is temporarily rate-limited upstream.' } });

const CASES: readonly Case[] = [
  {
    from: 'Anthropic',
    status: 401,
    body: anthropic('authentication_error', 'invalid x-api-key'),
    kind: 'key',
    quotes: 'invalid x-api-key',
  },
  {
    from: 'Anthropic',
    status: 404,
    body: anthropic('not_found_error', 'model: claude-9'),
    kind: 'model',
    quotes: 'model: claude-9',
  },
  {
    from: 'Anthropic',
    status: 400,
    body: anthropic('invalid_request_error', CREDIT),
    kind: 'credit',
    quotes: CREDIT,
  },
  {
    from: 'Anthropic',
    status: 403,
    body: anthropic('permission_error', 'Your API key does not have permission to use this model.'),
    kind: 'access',
    quotes: 'permission to use this model',
  },
  {
    from: 'Anthropic',
    status: 400,
    body: anthropic('invalid_request_error', 'prompt is too long: 205000 tokens > 200000 maximum'),
    kind: 'tooLong',
    quotes: '205000 tokens > 200000 maximum',
  },
  {
    from: 'Anthropic',
    status: 529,
    body: anthropic('overloaded_error', 'Overloaded'),
    kind: 'overloaded',
    quotes: 'Overloaded',
    retries: true,
  },
  {
    from: 'OpenAI',
    status: 401,
    body: openAi('Incorrect API key provided: sk-abc***xyz.', 'invalid_request_error', 'invalid_api_key'),
    kind: 'key',
    quotes: 'Incorrect API key provided: «key»',
  },
  {
    from: 'OpenAI',
    status: 403,
    body: openAi('Country, region, or territory not supported', 'request_forbidden'),
    kind: 'access',
    quotes: 'territory not supported',
  },
  {
    from: 'OpenAI',
    status: 404,
    body: openAi(
      'The model `gpt-9` does not exist or you do not have access to it.',
      'invalid_request_error',
      'model_not_found',
    ),
    kind: 'model',
    quotes: 'The model `gpt-9` does not exist',
  },
  {
    from: 'OpenAI',
    status: 429,
    body: openAi(QUOTA, 'insufficient_quota', 'insufficient_quota'),
    kind: 'credit',
    quotes: QUOTA,
  },
  {
    from: 'OpenAI',
    status: 429,
    body: openAi('Rate limit reached for gpt-5.', 'requests', 'rate_limit_exceeded'),
    kind: 'rateLimit',
    quotes: 'Rate limit reached',
    retries: true,
  },
  {
    from: 'OpenAI',
    status: 400,
    body: openAi(
      "Unsupported parameter: 'temperature' is not supported with this model.",
      'invalid_request_error',
    ),
    kind: 'refused',
    quotes: "'temperature' is not supported",
  },
  {
    from: 'Google',
    status: 400,
    body: google(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', [
      { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' },
    ]),
    kind: 'key',
    quotes: 'API key not valid.',
  },
  {
    from: 'Google, as a stream',
    status: 429,
    body: [
      google(429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota, please check your plan.', [
        { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34s' },
      ]),
    ],
    kind: 'rateLimit',
    quotes: 'You exceeded your current quota',
    retries: true,
  },
  {
    from: 'Google',
    status: 400,
    body: google(
      400,
      'INVALID_ARGUMENT',
      'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
    ),
    kind: 'tooLong',
    quotes: '1048576',
  },
  {
    from: 'OpenRouter',
    status: 402,
    body: { error: { code: 402, message: 'This request requires more credits, or fewer max_tokens.' } },
    kind: 'credit',
    quotes: 'requires more credits',
  },
  {
    from: 'OpenRouter, with the reason of the provider behind it',
    status: 429,
    body: { error: { code: 429, message: 'Provider returned error', metadata: { raw: RAW } } },
    kind: 'rateLimit',
    quotes: 'Provider returned error: google/gemini is temporarily rate-limited upstream.',
    retries: true,
  },
  {
    from: 'OpenRouter',
    status: 404,
    body: { error: { code: 404, message: 'No endpoints found that support image input' } },
    kind: 'refused',
    quotes: 'No endpoints found that support image input',
  },
  {
    from: 'Mistral',
    status: 401,
    body: { message: 'Unauthorized', request_id: '1' },
    kind: 'key',
    quotes: 'Unauthorized',
  },
  {
    from: 'Mistral',
    status: 400,
    body: {
      object: 'error',
      message: 'Invalid model: mistral-9',
      type: 'invalid_model',
      param: null,
      code: '1500',
    },
    kind: 'model',
    quotes: 'Invalid model: mistral-9',
  },
  { from: 'Mistral', status: 422, body: DETAIL, kind: 'refused', quotes: 'Field required' },
  {
    from: 'Groq',
    status: 429,
    body: openAi(GROQ_RATE, 'tokens', 'rate_limit_exceeded'),
    kind: 'rateLimit',
    quotes: GROQ_RATE,
    retries: true,
  },
  {
    from: 'Groq',
    status: 400,
    body: openAi(
      'Please reduce the length of the messages or completion.',
      'invalid_request_error',
      'context_length_exceeded',
    ),
    kind: 'tooLong',
    quotes: 'Please reduce the length',
  },
  {
    from: 'DeepSeek',
    status: 402,
    body: openAi('Insufficient Balance', 'unknown_error', 'invalid_request_error'),
    kind: 'credit',
    quotes: 'Insufficient Balance',
  },
  {
    from: 'DeepSeek',
    status: 400,
    body: openAi('Model Not Exist', 'invalid_request_error', 'invalid_request_error'),
    kind: 'model',
    quotes: 'Model Not Exist',
  },
  {
    from: 'xAI',
    status: 400,
    body: { code: 'Client specified an invalid argument', error: 'Incorrect API key provided: xai-12***89.' },
    kind: 'key',
    quotes: 'Incorrect API key provided: «key»',
  },
  {
    from: 'xAI',
    status: 403,
    body: { code: 'The caller does not have permission', error: XAI_CREDIT },
    kind: 'credit',
    quotes: XAI_CREDIT,
  },
  {
    from: 'Ollama',
    status: 404,
    body: openAi('model "llama9" not found, try pulling it first', 'api_error'),
    kind: 'model',
    quotes: 'try pulling it first',
  },
  { from: 'LM Studio', status: 400, body: { error: LM_STUDIO }, kind: 'tooLong', quotes: LM_STUDIO },
  {
    from: 'vLLM',
    status: 400,
    body: { object: 'error', message: VLLM, type: 'BadRequestError', param: null, code: 400 },
    kind: 'tooLong',
    quotes: VLLM,
  },
  {
    from: 'llama.cpp',
    status: 400,
    body: {
      error: {
        code: 400,
        message: 'the request exceeds the available context',
        type: 'exceed_context_size_error',
        n_ctx: 4096,
      },
    },
    kind: 'tooLong',
    quotes: 'the request exceeds the available context',
  },
  {
    from: 'Azure',
    status: 401,
    body: { error: { code: '401', message: 'Access denied due to invalid subscription key.' } },
    kind: 'key',
    quotes: 'Access denied due to invalid subscription key.',
  },
  {
    from: 'a proxy',
    status: 502,
    body: '<html><body>nginx</body></html>',
    kind: 'failed',
    quotes: 'Bad Gateway',
    retries: true,
  },
  {
    from: 'a proxy',
    status: 403,
    body: 'Blocked by the policy of ACME.',
    kind: 'access',
    quotes: 'Blocked by the policy of ACME.',
  },
  // An address without its `/v1`, or with a wrong path.
  ...[
    ['Ollama', '404 page not found'],
    ['vLLM', { detail: 'Not Found' }],
    ['llama.cpp', { error: { code: 404, message: 'File Not Found', type: 'not_found_error' } }],
    ['OpenAI', openAi('Invalid URL (POST /v2/chat/completions)', 'invalid_request_error')],
    ['Groq', openAi('Unknown request URL: POST /x. Please check the URL for typos', 'x', 'unknown_url')],
    ['Google', '<html><title>Error 404 (Not Found)!!1</title></html>'],
    ['Express', '<html><body><pre>Cannot POST /chat/completions</pre></body></html>'],
  ].map(([from, body]) => ({
    from: `the web server of ${from}`,
    status: 404,
    body,
    kind: 'format' as const,
    quotes: 'Nothing was found at',
  })),
];

describe('the failures of providers', () => {
  const context = { host: 'api.example', model: 'big-1', name: 'big', secrets: ['key-of-mine'] };
  for (const { from, status, body, kind, quotes, retries = false } of CASES) {
    it(`${from}: ${status} is ${kind}`, () => {
      const responseBody = typeof body === 'string' ? body : JSON.stringify(body);
      // The SDK has only the status text when the body does not have the expected shape.
      const message = status === 502 ? 'Bad Gateway' : 'Status text';
      const error = { name: 'AI_APICallError', statusCode: status, message, responseBody };
      const found = toFailure(error, context);
      assert.deepEqual([found.failure?.kind, found.retryable], [kind, retries]);
      assert.ok(found.message.includes(quotes), found.message);
    });
  }

  it('the words are quoted whole, on one line, without keys', () => {
    const long = `first\n\tline key-of-mine ${'x'.repeat(5000)} end`;
    const error = { statusCode: 400, message: '', responseBody: JSON.stringify(openAi(long, 'x')) };
    const { message } = toFailure(error, context);
    assert.equal(message, `api.example refused the request: first line «key» ${'x'.repeat(5000)} end.`);
  });
});

it('each kind of failure has something to do next', () => {
  const cases: readonly [FailureKind, readonly FailureAction[]][] = [
    ['key', ['setKey', 'selectModel']],
    ['access', ['selectModel', 'setKey']],
    ['model', ['selectModel']],
    ['rateLimit', ['tryAgain', 'selectModel']],
    ['credit', ['openBilling', 'selectModel', 'tryAgain']],
    ['unreachable', ['tryAgain', 'selectModel', 'openModelSettings']],
    ['lost', ['tryAgain']],
    ['tooLong', ['compact', 'showBreakdown', 'selectModel']],
    ['server', ['restartServer', 'showServerLog', 'editServer']],
  ];
  for (const [kind, actions] of cases)
    assert.deepEqual(actionsFor({ kind, host: 'api.openai.com' }), actions, kind);
});

it('only pages that we know are opened, over https', () => {
  assert.match(
    billingPage({ kind: 'credit', host: 'api.anthropic.com' }) ?? '',
    /^https:\/\/console\.anthropic\.com\//,
  );
  assert.equal(billingPage({ kind: 'credit', host: 'evil.example' }), undefined);
  assert.deepEqual(actionsFor({ kind: 'credit', host: 'evil.example' }), ['selectModel', 'tryAgain']);
});
