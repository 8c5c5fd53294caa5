import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ModelError } from '../../../../src/model/providers/failure.ts';
import { limitModel } from '../../../../src/model/providers/limitedModel.ts';
import type { ChatModel, ModelEvent, ModelRequest, RequestFeature } from '../../../../src/ports/models.ts';

async function collect(events: AsyncIterable<ModelEvent>): Promise<readonly ModelEvent[]> {
  const all: ModelEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

const REQUEST: ModelRequest = {
  system: 'Be terse.',
  messages: [{ role: 'user', parts: [{ kind: 'text', text: 'Hi' }] }],
  tools: [{ name: 'a__b', tool: { server: 'a', tool: 'b' }, description: '', inputSchema: {} }],
  temperature: 0.5,
};
const WORD: ModelEvent = { kind: 'text', text: 'Hi' };
const NO_TOOLS = 'm does not support tools';
const NO_STREAM = 'This model does not support streaming.';

const refuse = (reason: string, status = 400) =>
  new ModelError({ message: reason, failure: { kind: 'refused', reason, status }, status });

/** A model whose replies are given; an error is thrown in its place. */
function createModel(replies: readonly (readonly (ModelEvent | Error)[])[], provider = 'openai-chat') {
  const sent: ModelRequest[] = [];
  const learned: string[] = [];
  const known = new Set<RequestFeature>();
  const model: ChatModel = {
    name: 'm',
    provider,
    accepts: () => true,
    preview: async (request) => JSON.stringify(request),
    async *stream(request) {
      sent.push(request);
      for (const each of replies[sent.length - 1] ?? []) {
        if (each instanceof Error) throw each;
        yield each;
      }
    },
  };
  const limits = {
    known: () => known,
    learn: async (feature: RequestFeature, reason: string) => {
      known.add(feature);
      learned.push(`${feature}: ${reason}`);
    },
  };
  const limited = limitModel(model, limits);
  const run = () => collect(limited.stream(REQUEST, new AbortController().signal));
  return { limited, run, sent, learned, known };
}

it('each refused feature is left out once, and remembered when the reply begins', async () => {
  const { run, sent, learned } = createModel([[refuse(NO_TOOLS)], [refuse(NO_STREAM)], [WORD, WORD], [WORD]]);
  assert.deepEqual(await run(), [WORD, WORD]);
  assert.deepEqual(
    sent.map(({ tools, isWhole = false }) => [tools.length, isWhole]),
    [
      [1, false],
      [0, false],
      [0, true],
    ],
  );
  assert.deepEqual(learned, [`tools: ${NO_TOOLS}`, `streaming: ${NO_STREAM}`]);
  await run();
  assert.deepEqual([sent.length, sent[3]?.tools, sent[3]?.isWhole], [4, [], true]);
});

it('a feature without which the request fails too is not remembered', async () => {
  for (const second of [refuse(NO_TOOLS), refuse('Something else.'), refuse('Slow down.', 429)]) {
    const { run, sent, learned } = createModel([[refuse(NO_TOOLS)], [second], [WORD]]);
    await assert.rejects(run(), second);
    assert.deepEqual([sent.length, learned], [2, []]);
  }
});

it('a reply that has begun is never requested again', async () => {
  const error = refuse(NO_TOOLS);
  const { run, sent } = createModel([[WORD, error], [WORD]]);
  await assert.rejects(run(), error);
  assert.equal(sent.length, 1);
});

it('a bug is not a refusal', async () => {
  const error = new Error(NO_TOOLS);
  const { run, sent } = createModel([[error], [WORD]]);
  await assert.rejects(run(), error);
  assert.equal(sent.length, 1);
});

it('a model of VS Code has no system role and always streams, so neither can be left out', async () => {
  for (const reason of [NO_STREAM, 'System role not supported']) {
    const { run, sent } = createModel([[refuse(reason)], [WORD]], 'vscode');
    await assert.rejects(run(), { message: reason });
    assert.equal(sent.length, 1);
  }
});

it('a model that refuses images accepts none, and the preview shows what is really sent', async () => {
  const { limited, known } = createModel([]);
  assert.ok(limited.accepts('image/png'));
  known.add('images').add('tools');
  assert.deepEqual([limited.accepts('image/png'), limited.accepts('application/pdf')], [false, true]);
  assert.match(await limited.preview(REQUEST), /"tools":\[\]/);
});
