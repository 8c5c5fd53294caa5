import assert from 'node:assert/strict';
import { suite, suiteSetup, suiteTeardown, test } from 'mocha';
import * as vscode from 'vscode';
import type { ModelEvent, ModelRequest } from '../../../src/ports/models.ts';
import {
  EditorModel,
  editorModelName,
  findEditorModel,
  listEditorModels,
} from '../../../src/vscode/model/editorModel.ts';
import { TestModel } from './kit/testModel.ts';

/** One red pixel; the editor refuses bytes that are no image. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
);
const SECRET_WORD = 'Zebra';

const file = (mimeType: string) => ({
  kind: 'file' as const,
  name: 'a.bin',
  mimeType,
  size: PNG.length,
  read: async () => new Uint8Array(PNG),
});
const text = (words: string) => ({ kind: 'text' as const, text: words });

const REQUEST: ModelRequest = {
  system: 'Be terse.',
  messages: [
    { role: 'user', parts: [text('Look:'), file('image/png'), file('application/pdf')] },
    {
      role: 'assistant',
      parts: [
        { kind: 'reasoning', text: SECRET_WORD },
        text('I will.'),
        { kind: 'call', id: 'c1', name: 'charts__bar', arguments: { title: 'Sales' } },
      ],
    },
    {
      role: 'tool',
      results: [
        { id: 'c1', name: 'charts__bar', isError: true, parts: [text('No paper.'), file('image/png')] },
      ],
    },
  ],
  tools: [
    {
      name: 'charts__bar',
      tool: { server: 'charts', tool: 'bar' },
      description: 'Draws bars.',
      inputSchema: { type: 'object', properties: { title: { type: 'string' } } },
    },
  ],
  maxTokens: 99,
};
const PLAIN: ModelRequest = { system: '', messages: [{ role: 'user', parts: [text('Hi')] }], tools: [] };

/** The types here are older than the class. */
function dataPart(data: Uint8Array, mimeType: string): vscode.LanguageModelTextPart {
  const DataPart: unknown = Reflect.get(vscode, 'LanguageModelDataPart');
  assert.ok(typeof DataPart === 'function');
  return Reflect.construct(DataPart, [data, mimeType]);
}

async function collect(events: AsyncIterable<ModelEvent>): Promise<ModelEvent[]> {
  const all: ModelEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

/** What a provider got, as data. Its classes may be told apart by what they hold only. */
function seen(part: unknown): unknown {
  if (part instanceof vscode.LanguageModelTextPart) return part.value;
  if (part instanceof vscode.LanguageModelToolCallPart)
    return { call: part.callId, name: part.name, input: part.input };
  if (part instanceof vscode.LanguageModelToolResultPart)
    return { result: part.callId, content: part.content.map(seen) };
  if (typeof part === 'object' && part !== null && 'data' in part && 'mimeType' in part) {
    const whole = part.data instanceof Uint8Array && Buffer.from(part.data).equals(PNG);
    return whole ? `the ${part.mimeType}` : 'other bytes';
  }
  return part;
}

suite('a language model of VS Code', () => {
  let provider: TestModel | undefined;
  let model: EditorModel | undefined;
  const stub = () => provider ?? assert.fail('no provider');
  const stream = (request: ModelRequest, signal = new AbortController().signal) =>
    (model ?? assert.fail('no model')).stream(request, signal);

  suiteSetup(async () => {
    provider = new TestModel();
    const models = await listEditorModels();
    const found = models.find(({ vendor }) => vendor === TestModel.vendor);
    assert.ok(found, `There are only ${models.map(({ id }) => id).join(', ')}`);
    model = new EditorModel(found);
  });
  suiteTeardown(() => provider?.dispose());

  test('it is found by its id, by its vendor and id, and by its family', async () => {
    const models = await listEditorModels();
    for (const name of ['echo-1', 'filechat-test/echo-1', 'echo']) {
      assert.equal(findEditorModel(models, name)?.id, 'echo-1', name);
    }
    const [first] = models;
    assert.ok(first);
    assert.deepEqual([editorModelName(first, models), model?.name], ['vscode/echo-1', 'vscode/echo-1']);
  });

  test('text streams in, and tokens are counted', async () => {
    stub().reply = async (parts) => {
      for (const word of ['Hel', 'lo', '.']) parts.report(new vscode.LanguageModelTextPart(word));
    };
    const events = await collect(stream(PLAIN));
    const said = events.flatMap((event) => (event.kind === 'text' ? [event.text] : []));
    assert.equal(said.join(''), 'Hello.');
    assert.deepEqual(events.at(-1), { kind: 'finish', reason: 'stop', usage: { input: 2, output: 6 } });
  });

  test('it receives system text first, images as bytes, calls with results, and the tools', async () => {
    stub().asked.length = 0;
    await collect(stream(REQUEST));
    const [asked] = stub().asked;
    const { User, Assistant } = vscode.LanguageModelChatMessageRole;
    const notSent = `[a.bin: application/pdf, ${PNG.length} bytes; not sent to this model]`;
    assert.deepEqual(
      asked?.messages.map(({ role, content }) => [role, content.map(seen)]),
      [
        [User, ['Be terse.']],
        [User, ['Look:', 'the image/png', notSent]],
        [Assistant, ['I will.', { call: 'c1', name: 'charts__bar', input: { title: 'Sales' } }]],
        [User, [{ result: 'c1', content: ['The tool reported an error:', 'No paper.', 'the image/png'] }]],
      ],
    );
    assert.deepEqual(
      asked?.options.tools?.map(({ name, description, inputSchema }) => [name, description, inputSchema]),
      [['charts__bar', 'Draws bars.', REQUEST.tools[0]?.inputSchema]],
    );
    assert.deepEqual(asked?.options.modelOptions, { max_tokens: 99 });
  });

  test('tool calls arrive complete at the end of the reply', async () => {
    stub().reply = async (parts) => {
      parts.report(new vscode.LanguageModelTextPart('Drawing.'));
      parts.report(new vscode.LanguageModelToolCallPart('k1', 'charts__bar', { title: 'A' }));
      parts.report(new vscode.LanguageModelToolCallPart('k2', 'charts__bar', {}));
    };
    const events = await collect(stream(REQUEST));
    assert.deepEqual(
      events.filter(({ kind }) => kind === 'call'),
      [
        { kind: 'call', key: 'k1', name: 'charts__bar', argumentsText: '{"title":"A"}' },
        { kind: 'call', key: 'k2', name: 'charts__bar', argumentsText: '{}' },
      ],
    );
    const end = events.at(-1);
    assert.equal(end?.kind === 'finish' && end.reason, 'calls');
  });

  test('data parts are files, in their place, except what a provider says about itself', async () => {
    stub().reply = async (parts) => {
      parts.report(new vscode.LanguageModelTextPart('Here: '));
      for (const type of ['usage', 'stateful_marker', 'context_management', 'image/png']) {
        parts.report(dataPart(PNG, type));
      }
      parts.report(new vscode.LanguageModelTextPart('done.'));
    };
    const events = await collect(stream(PLAIN));
    assert.deepEqual(
      events.map(({ kind }) => kind),
      ['text', 'file', 'text', 'finish'],
    );
    const [made] = events.filter((event) => event.kind === 'file');
    const read = await made?.file.read(1000, new AbortController().signal);
    assert.ok(read?.kind === 'bytes' && Buffer.from(read.bytes).equals(PNG));
    assert.equal(read.declared, 'image/png');
  });

  test('an image that a model made is sent with the next message of the user', async () => {
    stub().asked.length = 0;
    const own = { ...file('image/png'), name: 'b.png' };
    await collect(
      stream({
        ...PLAIN,
        messages: [...PLAIN.messages, { role: 'assistant', parts: [own] }, ...PLAIN.messages],
      }),
    );
    assert.deepEqual(
      stub().asked[0]?.messages.map(({ content }) => content.map(seen)),
      [['Hi'], ['[image/png, asset:b.png: see the next message]'], ['[asset:b.png]', 'the image/png', 'Hi']],
    );
  });

  test('Stop cancels the provider and does not wait for it', async () => {
    const running = new AbortController();
    const cancelled = Promise.withResolvers<void>();
    stub().reply = (parts, token) => {
      token.onCancellationRequested(() => cancelled.resolve());
      parts.report(new vscode.LanguageModelTextPart('Begun'));
      return new Promise(() => undefined);
    };
    const said: ModelEvent[] = [];
    const reading = (async () => {
      for await (const event of stream(PLAIN, running.signal)) {
        said.push(event);
        running.abort();
      }
    })();
    await assert.rejects(reading, {
      kind: 'modelFailure',
      message: 'The request to vscode/echo-1 was stopped.',
    });
    assert.deepEqual(said, [{ kind: 'text', text: 'Begun' }]);
    await cancelled.promise;
  });

  test('an aborted signal sends no request', async () => {
    stub().asked.length = 0;
    await assert.rejects(collect(stream(PLAIN, AbortSignal.abort())), { kind: 'modelFailure' });
    assert.equal(stub().asked.length, 0);
  });

  const failures: readonly [name: string, error: () => Error, expected: RegExp][] = [
    [
      'no consent',
      () => vscode.LanguageModelError.NoPermissions('no'),
      /^Filechat is not allowed to use VS Code’s model vscode\/echo-1\. Run the chat again and choose Allow/,
    ],
    [
      'a quota',
      () => vscode.LanguageModelError.Blocked('Monthly quota is used up'),
      /^VS Code blocked the request to vscode\/echo-1: Monthly quota is used up\. If a quota/,
    ],
    [
      'a model that is gone',
      () => vscode.LanguageModelError.NotFound('gone'),
      /^VS Code no longer offers the model vscode\/echo-1\. Choose another/,
    ],
    [
      'anything else',
      () => new Error('The wire is cut'),
      /^VS Code’s model vscode\/echo-1 failed: .*The wire is cut/,
    ],
  ];
  for (const [name, error, expected] of failures) {
    test(`${name} is reported in plain words, and the text so far is kept`, async () => {
      // The editor itself drops words that an error overtakes.
      const heard = Promise.withResolvers<void>();
      stub().reply = async (parts) => {
        parts.report(new vscode.LanguageModelTextPart('Half'));
        await heard.promise;
        throw error();
      };
      const said: ModelEvent[] = [];
      const reading = (async () => {
        for await (const event of stream(PLAIN)) {
          said.push(event);
          heard.resolve();
        }
      })();
      await assert.rejects(reading, { kind: 'modelFailure', retryable: false, message: expected });
      assert.deepEqual(said, [{ kind: 'text', text: 'Half' }]);
    });
  }

  test('the request preview shows everything except bytes and reasoning, and sends nothing', async () => {
    stub().asked.length = 0;
    const preview = (await model?.preview(REQUEST)) ?? '';
    for (const words of [
      'Be terse.',
      'I will.',
      'No paper.',
      'Draws bars.',
      'max_tokens',
      `(${PNG.length} bytes)`,
    ]) {
      assert.ok(preview.includes(words), words);
    }
    assert.equal(preview.includes(PNG.toString('base64').slice(0, 20)), false);
    assert.equal(preview.includes(SECRET_WORD), false);
    assert.equal(JSON.parse(preview).messages.length, 4);
    assert.equal(stub().asked.length, 0);
  });
});
