import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createSdkModel } from '../../../../src/model/providers/sdkModel.ts';
import type { SdkProvider } from '../../../../src/model/providers/wire.ts';
import type { ModelFailure, ModelRequest } from '../../../../src/ports/models.ts';

const request: ModelRequest = {
  system: '',
  messages: [{ role: 'user', parts: [{ kind: 'text', text: 'go' }] }],
  tools: [{ name: 't', tool: { server: 's', tool: 't' }, description: '', inputSchema: { type: 'object' } }],
};

const BEGUN =
  '{"tool_calls":[{"index":0,"id":"k","type":"function","function":{"name":"t","arguments":""}}]}';
const chunk = (delta: string, reason = 'null') =>
  `{"id":"c","created":1,"model":"m","choices":[{"index":0,"delta":${delta},"finish_reason":${reason}}]}`;
const chat = {
  cut: `
    ${chunk(BEGUN)}
    ${chunk(String.raw`{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\":"}}]}`)}`,
  limit: chunk('{}', '"length"'),
};

/** For each provider that streams calls: the beginning of a call, and the events at the token limit. */
const WIRES: Partial<Record<SdkProvider, { readonly cut: string; readonly limit: string }>> = {
  anthropic: {
    cut: String.raw`
      {"type":"message_start","message":{"id":"i","model":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}
      {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"k","name":"t","input":{}}}
      {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"a\":"}}`,
    limit: `
      {"type":"content_block_stop","index":0}
      {"type":"message_delta","delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":3}}
      {"type":"message_stop"}`,
  },
  openai: {
    cut: String.raw`
      {"type":"response.created","response":{"id":"r","created_at":1,"model":"m"}}
      {"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"fc_1","call_id":"k","name":"t","arguments":""}}
      {"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":0,"delta":"{\"a\":"}`,
    limit:
      '{"type":"response.incomplete","response":{"incomplete_details":{"reason":"max_output_tokens"},"usage":{"input_tokens":1,"output_tokens":1}}}',
  },
  'openai-chat': chat,
  'openai-compatible': chat,
};

/** The events, and the failure at the end, if any. */
async function run(provider: SdkProvider, lines: string): Promise<readonly unknown[]> {
  const body = lines.trim().replace(/^ */gm, 'data: ').replaceAll('\n', '\n\n');
  const fetch = async () => new Response(`${body}\n\n`, { headers: { 'content-type': 'text/event-stream' } });
  const model = createSdkModel(
    { name: 'm', provider, model: 'm', baseUrl: 'http://host.example/v1' },
    { fetch },
  );
  const seen: unknown[] = [];
  try {
    for await (const event of model.stream(request, new AbortController().signal)) seen.push(event);
  } catch (error) {
    seen.push(error);
  }
  return seen;
}

const begun = [
  { kind: 'callInput', key: 'k', name: 't', text: '' },
  { kind: 'callInput', key: 'k', name: 't', text: '{"a":' },
];

describe('a call that is cut off in the middle of its JSON is shown but never run', () => {
  for (const [provider, { cut, limit }] of Object.entries(WIRES) as [SdkProvider, typeof chat][]) {
    it(`${provider}: by the end of the connection`, async () => {
      const seen = await run(provider, cut);
      assert.deepEqual(seen.slice(0, -1), begun);
      const failure = seen.at(-1) as ModelFailure;
      assert.deepEqual([failure.kind, failure.retryable], ['modelFailure', true]);
    });

    it(`${provider}: by the token limit`, async () => {
      const seen = await run(provider, `${cut}\n${limit}`);
      assert.deepEqual(seen.slice(0, -1), begun);
      assert.partialDeepStrictEqual(seen.at(-1), { kind: 'finish', reason: 'length' });
    });
  }
});
