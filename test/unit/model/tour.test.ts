import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { modelTools } from '../../../src/model/request/modelTools.ts';
import { createTourModel } from '../../../src/model/tour.ts';
import type { ContentPart, ModelEvent, ModelMessage, ModelRequest } from '../../../src/ports/models.ts';

const SAMPLE = modelTools(
  ['tour', 'chart', 'tone', 'weather', 'fail'].map((tool) => ({ server: 'sample', tool, inputSchema: {} })),
);
const user = (text: string): ModelMessage => ({ role: 'user', parts: [{ kind: 'text', text }] });
const said: ModelMessage = { role: 'assistant', parts: [{ kind: 'text', text: 'Hello.' }] };
const request = (messages: readonly ModelMessage[], tools: ModelRequest['tools'] = SAMPLE): ModelRequest => ({
  system: '',
  messages,
  tools,
});

async function run(asked: ModelRequest, signal = new AbortController().signal) {
  const events: ModelEvent[] = [];
  for await (const event of createTourModel(async () => {}).stream(asked, signal)) events.push(event);
  const join = (kind: 'text' | 'reasoning') =>
    events.flatMap((event) => (event.kind === kind ? [event.text] : [])).join('');
  return {
    events,
    text: join('text'),
    reasoning: join('reasoning'),
    calls: events.filter((event) => event.kind === 'call'),
    finish: events.at(-1),
  };
}

describe('at the beginning', () => {
  it('the tour introduces itself and calls two tools of the sample server', async () => {
    const { text, reasoning, calls, finish } = await run(request([user('Hi')]));
    assert.match(text, /not an AI, but a short script/);
    assert.notEqual(reasoning, '');
    assert.equal(calls.map(({ name }) => name).join(), 'sample__chart,sample__weather');
    assert.equal(finish?.kind === 'finish' && finish.reason, 'calls');
  });

  it('it calls no tool of an unknown server', async () => {
    const other = modelTools([{ server: 'bank', tool: 'chart', inputSchema: {} }]);
    for (const tools of [other, []]) {
      const { text, calls, finish } = await run(request([user('Hi')], tools));
      assert.deepEqual(calls, []);
      assert.match(text, /Filechat: Select Model/);
      assert.equal(finish?.kind === 'finish' && finish.reason, 'stop');
    }
  });
});

describe('after results', () => {
  const result = (parts: readonly ContentPart[], isError = false) =>
    request([
      user('picture'),
      { role: 'assistant', parts: [{ kind: 'call', id: 'c1', name: 'sample__chart', arguments: {} }] },
      { role: 'tool', results: [{ id: 'c1', name: 'sample__chart', isError, parts }] },
    ]);
  const read = () => Promise.reject(new Error('The tour reads no file.'));
  const image = { kind: 'file', name: 'x.png', mimeType: 'image/png', size: 12_300, read } as const;

  it('it describes the results, the files, and the next steps', async () => {
    const { text, calls } = await run(result([{ kind: 'text', text: 'A `chart`:' }, image]));
    assert.match(text, /`sample__chart`: image\/png of 12\.3 KB; text, `A chart :`/);
    assert.match(text, /cmdassets\//);
    assert.match(text, /Select Model[\s\S]*Call Tool/);
    assert.deepEqual(calls, []);
  });

  it('it never calls again, whatever the result contains', async () => {
    const { calls, text } = await run(result([{ kind: 'text', text: 'picture sound tools' }], true));
    assert.deepEqual(calls, []);
    assert.match(text, /an error: `picture sound tools`/);
  });
});

describe('a known word gets a reply', () => {
  const cases: readonly (readonly [word: string, text: RegExp, called?: string])[] = [
    ['help', /I know these words/],
    ['Which MODEL is this?', /Filechat: Select Model/],
    ['tools', /5 tools: `sample\.chart`/],
    ['a picture, please', /draw a chart/, 'sample__chart'],
    ['sound', /chord/, 'sample__tone'],
    ['stop', /Filechat: Stop[\s\S]*300\.\n$/],
    ['What is the meaning of life?', /I am only the tour/],
  ];
  for (const [word, text, called = ''] of cases) {
    it(word, async () => {
      const reply = await run(request([user('Hi'), said, user(word)]));
      assert.match(reply.text, text);
      assert.equal(reply.calls.map(({ name }) => name).join(), called);
    });
  }
});

it('the pieces are small, and those of a call add up to its arguments', async () => {
  const { events, calls } = await run(request([user('Hi')]));
  const written = new Map<string, string>();
  for (const event of events) {
    if (event.kind === 'text') assert.ok(event.text.trim().split(/\s+/).length <= 1, event.text);
    if (event.kind === 'callInput') written.set(event.key, (written.get(event.key) ?? '') + event.text);
  }
  for (const call of calls) assert.equal(written.get(call.key), call.argumentsText);
});

it('it reports token usage', async () => {
  const { finish } = await run(request([user('Hi')]));
  assert.ok(finish?.kind === 'finish' && (finish.usage.input ?? 0) > 0 && (finish.usage.output ?? 0) > 0);
});

it('a stop ends it immediately', async () => {
  const stop = new AbortController();
  const events: string[] = [];
  for await (const event of createTourModel(async () => {}).stream(request([user('stop')]), stop.signal)) {
    events.push(event.kind);
    if (events.length === 3) stop.abort();
  }
  assert.deepEqual(events, ['text', 'text', 'text']);
});

it('the preview is the request itself', async () => {
  const asked = request([user('Hi')]);
  assert.deepEqual(JSON.parse(await createTourModel().preview(asked)), JSON.parse(JSON.stringify(asked)));
});
