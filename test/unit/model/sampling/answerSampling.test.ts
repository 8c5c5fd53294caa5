import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { answerSampling } from '../../../../src/model/sampling/answerSampling.ts';
import type { ChatModel, FinishReason, ModelEvent, ModelRequest } from '../../../../src/ports/models.ts';
import type { SamplingRequest } from '../../../../src/ports/servers.ts';
import { showMessages } from '../request/requests.ts';

const say = (text: string): ModelEvent => ({ kind: 'text', text });
const finish = (reason: FinishReason): ModelEvent => ({ kind: 'finish', reason, usage: {} });
const call = (name: string, argumentsText: string) =>
  ({ kind: 'call', key: 'k', name, argumentsText }) as const;

/** Replies with one list of events per request; an error in it is thrown. */
class ScriptedModel implements ChatModel {
  readonly name = 'scripted';
  readonly provider = 'test';
  readonly asked: ModelRequest[] = [];
  readonly #replies: (readonly (ModelEvent | Error)[])[];

  constructor(...replies: (readonly (ModelEvent | Error)[])[]) {
    this.#replies = replies;
  }

  accepts(mimeType: string): boolean {
    return mimeType === 'image/png';
  }

  async *stream(request: ModelRequest): AsyncGenerator<ModelEvent> {
    this.asked.push(request);
    for (const event of this.#replies.shift() ?? []) {
      if (event instanceof Error) throw event;
      yield event;
    }
  }

  async preview(): Promise<string> {
    return '';
  }
}

type Message = SamplingRequest['messages'][number];
const message = (role: Message['role'], ...parts: Message['parts']): Message => ({ role, parts });
const user = (text: string) => message('user', { kind: 'text', text });
const tool = (name: string) => ({ name, description: 'd', inputSchema: { anyOf: [] } });
const request = (more: Partial<SamplingRequest> = {}): SamplingRequest => ({
  messages: [user('hi')],
  maxTokens: 50,
  hints: [],
  ...more,
});
const ask = (model: ChatModel, more: Partial<SamplingRequest> = {}, signal = new AbortController().signal) =>
  answerSampling(request(more), model, signal, { timer: async () => {} });

function failure(retryable: boolean): Error {
  return Object.assign(new Error('The model is busy.'), { kind: 'modelFailure', retryable });
}

describe('the request to the model', () => {
  const asked = async (more: Partial<SamplingRequest>) => {
    const model = new ScriptedModel([finish('stop')]);
    await ask(model, more);
    assert.ok(model.asked[0]);
    return model.asked[0];
  };

  test('has the messages, the system text and the limits', async () => {
    const { system, maxTokens, temperature, messages, tools } = await asked({
      system: 'Be brief.',
      temperature: 0.2,
    });
    assert.deepEqual(
      { system, maxTokens, temperature, tools },
      { system: 'Be brief.', maxTokens: 50, temperature: 0.2, tools: [] },
    );
    assert.equal(showMessages({ messages }), 'user\n  hi');
  });

  test('has accepted images as files, and others by name', async () => {
    const data = 'AAECAw==';
    const media = message(
      'user',
      { kind: 'image', mimeType: 'image/png', data },
      { kind: 'image', mimeType: 'image/tiff', data },
      { kind: 'image', mimeType: 'image/png', data: '???' },
      { kind: 'audio', mimeType: 'audio/wav', data },
    );
    const { messages } = await asked({ messages: [media] });
    assert.equal(
      showMessages({ messages }),
      `user
  <image/png image 1>
  [image 2: image/tiff, 4 bytes; it could not be sent]
  [image 3: image/png, 2 bytes; it could not be sent]
  [audio 1: audio/wav, 4 bytes; it could not be sent]`,
    );
    const [first] = messages;
    const part = first?.role === 'user' ? first.parts[0] : undefined;
    assert.ok(part?.kind === 'file');
    assert.deepEqual([part.size, ...(await part.read())], [4, 0, 1, 2, 3]);
  });

  test('has calls and results under names that every provider accepts', async () => {
    const { messages, tools } = await asked({
      tools: ['look.up', 'look/up', 'plain'].map(tool),
      messages: [
        user('a'),
        user('b'),
        message(
          'assistant',
          { kind: 'text', text: 'I look' },
          { kind: 'image', mimeType: 'image/png', data: 'AAAA' },
          { kind: 'call', id: 'c1', name: 'look/up', arguments: { x: 1 } },
        ),
        message('user', { kind: 'result', id: 'c1', isError: true, parts: [] }),
      ],
    });
    assert.equal(tools.map(({ name }) => name).join(), '_look_up_1,_look_up_2,plain');
    assert.deepEqual(tools[0]?.inputSchema, { type: 'object', properties: {} });
    assert.equal(
      showMessages({ messages }),
      `user
  a
  b
assistant
  text: I look
  text: [image 1: image/png, 3 bytes]
  call c1 _look_up_2 {"x":1}
tool
  result c1 _look_up_2 (error)
    (nothing)`,
    );
  });

  test('begins with a user message', async () => {
    const { messages } = await asked({ messages: [message('assistant', { kind: 'text', text: 'hello' })] });
    const expected = 'user\n  (The conversation starts with your message.)\nassistant\n  text: hello';
    assert.equal(showMessages({ messages }), expected);
  });

  test('follows the tool choice', async () => {
    const tools = [tool('look')];
    assert.deepEqual((await asked({ tools, toolChoice: 'none' })).tools, []);
    const { system } = await asked({ tools, toolChoice: 'required', system: 'S' });
    assert.equal(system, 'S\n\nRespond by calling one of the tools.');
  });
});

describe('the answer of the model', () => {
  const tools = [tool('look.up')];
  const text = (words: string) => [{ kind: 'text', text: words }];

  test('has its text in one part', async () => {
    const model = new ScriptedModel([say('a'), { kind: 'reasoning', text: 'hm' }, say('b'), finish('stop')]);
    assert.deepEqual(await ask(model), { model: 'scripted', parts: text('ab'), stopReason: 'endTurn' });
  });

  test('has its calls with the server’s names and new ids, and runs none', async () => {
    const messages = [
      message('assistant', { kind: 'call', id: 'call_2', name: 'look.up', arguments: {} }),
      message('user', { kind: 'result', id: 'call_2', isError: false, parts: [] }),
    ];
    const calls = [call('_look_up_1', '{"x":1}'), call('made_up', '')];
    const model = new ScriptedModel([say('I look'), ...calls, finish('calls')]);
    const { parts, stopReason } = await ask(model, { tools, messages });
    assert.equal(stopReason, 'toolUse');
    assert.deepEqual(parts, [
      ...text('I look'),
      { kind: 'call', id: 'call_3', name: 'look.up', arguments: { x: 1 } },
      { kind: 'call', id: 'call_4', name: 'made_up', arguments: {} },
    ]);
  });

  test('has the server’s names of tools that differ only in characters that models do not accept', async () => {
    const same = Array.from(
      { length: 1000 },
      (_, at) => `${'é'.repeat(100)}${String.fromCharCode(0x1000 + at)}`,
    );
    const model = new ScriptedModel([call(`${'_'.repeat(59)}_1000`, '{}'), finish('calls')]);
    const { parts } = await ask(model, {
      tools: same.map((name) => ({ name, description: '', inputSchema: {} })),
    });
    assert.deepEqual(parts, [{ kind: 'call', id: 'call_1', name: same.at(-1), arguments: {} }]);
  });

  test('has no calls that the server did not allow', async () => {
    const model = new ScriptedModel([say('a'), call('_look_up_1', '{}'), finish('calls')]);
    const answer = await ask(model, { tools, toolChoice: 'none' });
    assert.deepEqual([answer.parts, answer.stopReason], [text('a'), 'endTurn']);
  });

  const reasons = [
    ['stop', 'endTurn'],
    ['length', 'maxTokens'],
    ['other', 'endTurn'],
  ] as const;
  for (const [reason, stopReason] of reasons) {
    test(`${reason} is ${stopReason}`, async () => {
      assert.equal((await ask(new ScriptedModel([finish(reason)]))).stopReason, stopReason);
    });
  }

  test('ends at a stop sequence, however the text is divided', async () => {
    for (const pieces of [['one STOP two'], ['one S', 'TO', 'P two'], ['one ', 'STOP']]) {
      const model = new ScriptedModel([...pieces.map(say), finish('stop')]);
      const { parts, stopReason } = await ask(model, { stopSequences: ['', 'STOP', 'two'] });
      assert.deepEqual([parts, stopReason], [text('one '), 'stopSequence']);
    }
  });

  test('invalid JSON arguments are an error', async () => {
    const model = new ScriptedModel([call('_look_up_1', '{"x":'), finish('calls')]);
    await assert.rejects(ask(model, { tools }), /invalid arguments/);
  });
});

describe('when the model fails', () => {
  test('a transient failure is retried from the beginning', async () => {
    const model = new ScriptedModel([say('half'), failure(true)], [say('whole'), finish('stop')]);
    assert.deepEqual((await ask(model)).parts, [{ kind: 'text', text: 'whole' }]);
  });

  test('a permanent failure is reported', async () => {
    const model = new ScriptedModel([failure(false)]);
    await assert.rejects(ask(model), { message: 'The model is busy.' });
    assert.equal(model.asked.length, 1);
  });

  test('a persistent failure is reported after several attempts', async () => {
    const model = new ScriptedModel(...Array.from({ length: 9 }, () => [failure(true)]));
    await assert.rejects(ask(model), { message: 'The model is busy. Gave up after 3 attempts.' });
  });

  test('a refusal is an error', async () => {
    await assert.rejects(ask(new ScriptedModel([say('I'), finish('refused')])), /refused/);
  });

  test('an incomplete answer is an error', async () => {
    await assert.rejects(ask(new ScriptedModel([say('I')])), /ended unexpectedly/);
  });

  test('a stop ends the wait for a retry', async () => {
    const stop = new AbortController();
    const model = new ScriptedModel([failure(true)]);
    const timer = async () => stop.abort(new Error('stopped'));
    await assert.rejects(answerSampling(request(), model, stop.signal, { timer }), { message: 'stopped' });
    assert.equal(model.asked.length, 1);
  });
});
