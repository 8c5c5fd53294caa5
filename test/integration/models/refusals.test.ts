/** Models that refuse a part of a request, through the command line. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { createSdkModel } from '../../../src/model/providers/sdkModel.ts';
import type { ModelEvent } from '../../../src/ports/models.ts';
import { PNG } from '../../kit/png.ts';
import { type ChatFolder, createChatFolder } from '../helpers/chatFolder.ts';
import {
  ask,
  collect,
  configFor,
  imagesOf,
  KEY,
  PROVIDERS,
  recordBodies,
  startMock,
} from '../helpers/modelServer.ts';
import { checkEnd } from '../helpers/runCli.ts';
import { serveTools } from '../helpers/toolServer.ts';
import { type Asked, end, sendAll, toolCall, words } from '../helpers/wireServer.ts';

interface Body {
  readonly messages: readonly { readonly role: string; readonly content?: unknown }[];
  readonly tools?: readonly unknown[];
  readonly temperature?: number;
  readonly stream?: boolean;
}

const bodyOf = ({ body }: Pick<Asked, 'body'>): Body => JSON.parse(body);
const rolesOf = ({ messages }: Body) => messages.map(({ role }) => role);
const hasImages = (body: Body) => imagesOf(body).length > 0;

function respond({ response }: Asked, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

/** In a stream, or as a whole if none is asked for. */
function answer(asked: Asked, text: string): void {
  if (bodyOf(asked).stream === true) {
    sendAll(asked, words(text), end());
    return;
  }
  const choices = [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }];
  const usage = { prompt_tokens: 12, completion_tokens: 3, total_tokens: 15 };
  respond(asked, 200, { id: 'c', object: 'chat.completion', created: 1, model: 'm', choices, usage });
}

const say = async (folder: ChatFolder, text: string) =>
  folder.write('a.chat.md', `${await folder.chat()}${text}\n`);
const limitsFile = (folder: ChatFolder) => join(folder.path, '..', 'state', 'filechat', 'model-limits.json');
const lineOf = (stderr: string) => stderr.split('\n').filter((line) => line.includes('remembers this'));

const TEXT_ONLY: readonly (readonly [who: string, status: number, body: object])[] = [
  ['LM Studio', 400, { error: 'Model does not support images. Please use a model that does.' }],
  [
    'llama.cpp',
    500,
    { error: { code: 500, message: 'image input is not supported - hint: …', type: 'server_error' } },
  ],
  [
    'OpenRouter',
    404,
    { error: { message: 'No endpoints found that support image input', code: 404 }, user_id: 'u' },
  ],
  [
    'Groq',
    400,
    {
      error: {
        message:
          "'messages.5' : for 'role:user' the following must be satisfied[('messages.5.content' : value must be a string)]",
        type: 'invalid_request_error',
      },
    },
  ],
];

/** A chat in which a tool returns an image, with a model that refuses images. */
function createImageChat(t: TestContext, status: number, body: object): Promise<ChatFolder> {
  return createChatFolder(t, '# %% user\nA photo, please.\n', (asked) => {
    if (asked.number === 1) return sendAll(asked, toolCall(0, 'x', 'sample__photo', '{}'), end('tool_calls'));
    if (hasImages(bodyOf(asked))) return respond(asked, status, body);
    return sendAll(asked, words('I cannot see it.'), end());
  });
}

describe('a chat with an image continues with a text-only model', () => {
  for (const [who, status, body] of TEXT_ONLY) {
    it(who, async (t) => {
      const folder = await createImageChat(t, status, body);
      const { stderr } = checkEnd(await folder.runChat(), { code: 0 });
      const chat = await folder.chat();
      assert.equal(chat.match(/^# %% tool sample\.photo c1$/gm)?.length, 1, chat);
      assert.match(chat, /# %% assistant\nI cannot see it\.\n\n# %% user\n$/);
      assert.doesNotMatch(stderr, /Retrying/);
      const [line = '', ...others] = lineOf(stderr);
      assert.match(line, /^it does not accept images, so it gets a one-line description of each \(“.+”\)\./);
      assert.deepEqual(others, []);
      const bodies = folder.server.asked.map(bodyOf);
      assert.deepEqual(bodies.map(hasImages), [false, true, false]);
      assert.match(
        JSON.stringify(bodies[2]),
        /\[asset:(\S+\.jpg)\][^"]*\[\1: image\/jpeg, [\d.]+ KB; this model does not accept such files\]/,
      );
    });
  }

  it('and the next run knows it, until the settings of the model change or images are always sent', async (t) => {
    const folder = await createImageChat(t, 400, { error: 'Model does not support images.' });
    checkEnd(await folder.runChat(), { code: 0 });
    const runAgain = async (...more: string[]) => {
      const before = folder.server.asked.length;
      await say(folder, 'Sure?');
      const { stderr } = checkEnd(await folder.runChat(...more), { code: 0 });
      const images = folder.server.asked.slice(before).map((asked) => hasImages(bodyOf(asked)));
      return { images, lines: lineOf(stderr).length };
    };
    assert.deepEqual(await runAgain(), { images: [false], lines: 0 });
    assert.deepEqual(await runAgain('--images', 'never'), { images: [false], lines: 0 });
    assert.deepEqual(await runAgain('--images', 'always'), { images: [true, false], lines: 1 });
    const config = { provider: 'openai-chat', model: 'm', baseUrl: folder.server.url, maxTokens: 100 };
    await folder.write('models.json', JSON.stringify({ models: { it: config } }));
    assert.deepEqual(await runAgain(), { images: [true, false], lines: 1 });
    assert.deepEqual(await runAgain(), { images: [false], lines: 0 });
  });
});

it('of two images, only the one that the provider names is left out', async (t) => {
  const folder = await createChatFolder(
    t,
    '# %% user\nWhich is red: ![](a.png) or ![](b.png)?\n',
    (asked) => {
      if (asked.number > 1) return sendAll(asked, words('The first.'), end());
      const { messages } = bodyOf(asked);
      const { content } = messages.at(-1) ?? {};
      const at = Array.isArray(content) ? content.findLastIndex(({ type }) => type === 'image_url') : -1;
      const param = `messages[${messages.length - 1}].content[${at}].image_url`;
      return respond(asked, 400, { error: { message: 'Invalid image data.', param } });
    },
  );
  await folder.write('a.png', PNG);
  await folder.write('b.png', PNG);
  const { stderr } = checkEnd(await folder.runChat(), { code: 0 });
  assert.match(stderr, /refused an image.*each image that was left out \(“Invalid image data”\)\./);
  const bodies = folder.server.asked.map(bodyOf);
  assert.deepEqual(
    bodies.map((body) => imagesOf(body).length),
    [2, 1],
  );
  assert.match(JSON.stringify(bodies[1]), /\[b\.png: image\/png, [^\]]+; this model/);
});

interface Refusal {
  readonly feature: string;
  readonly status?: number;
  readonly reason: string;
  refuses(body: Body): boolean;
  /** What the accepted request looks like. */
  accepted(body: Body): void;
  readonly said: RegExp;
}

const CHAT = `---
temperature: 0.3
system: Be terse.
---
# %% user
Time?

# %% assistant
I look.

\`\`\`tool_call sample.clock c1
{"zone": "UTC"}
\`\`\`

# %% tool sample.clock c1
\`\`\`
Ten.
\`\`\`

# %% user
Sure?
`;

/** A chat with a model that answers like this, and a server with one tool. */
async function createToolChat(t: TestContext, answer: (asked: Asked) => void): Promise<ChatFolder> {
  const folder = await createChatFolder(t, CHAT, answer);
  await serveTools(folder, { sample: [{ name: 'clock' }] });
  return folder;
}

const REFUSALS: readonly Refusal[] = [
  {
    feature: 'tools',
    reason: 'registry.ollama.ai/library/gemma:2b does not support tools',
    refuses: ({ tools }) => tools !== undefined,
    accepted: (body) => {
      assert.deepEqual(rolesOf(body), ['system', 'user', 'assistant', 'user']);
      assert.equal(
        body.messages[2]?.content,
        'I look.\n\n[Called the tool sample__clock with {"zone":"UTC"}]',
      );
      assert.match(JSON.stringify(body.messages[3]), /\[Result of the tool sample__clock\].*Ten\..*Sure\?/);
    },
    said: /^it does not accept tools, so the request was sent again without them \(“registry/,
  },
  {
    feature: 'a system prompt',
    reason: 'System role not supported',
    refuses: (body) => rolesOf(body).includes('system'),
    accepted: (body) => {
      assert.deepEqual(rolesOf(body), ['user', 'assistant', 'tool', 'user']);
      assert.match(
        JSON.stringify(body.messages[0]?.content),
        /^\[\{"type":"text","text":"Be terse\..*"Time\?"\}\]$/,
      );
    },
    said: /^it does not accept a system prompt, so it was put before the first message \(“System role/,
  },
  {
    feature: 'a temperature',
    reason: "Unsupported parameter: 'temperature' is not supported with this model.",
    refuses: ({ temperature }) => temperature !== undefined,
    accepted: ({ temperature, tools, ...body }) => {
      assert.deepEqual([temperature, tools !== undefined], [undefined, true]);
      assert.deepEqual(rolesOf(body), ['system', 'user', 'assistant', 'tool', 'user']);
    },
    said: /^it does not accept a temperature, so the request was sent again without it \(“Unsupported/,
  },
  {
    feature: 'streaming',
    reason: "Unsupported value: 'stream' does not support true with this model. Supported values are: false.",
    refuses: ({ stream }) => stream === true,
    accepted: ({ stream, temperature }) => assert.deepEqual([stream ?? false, temperature], [false, 0.3]),
    said: /^it does not stream, so the whole reply was requested at once \(“Unsupported/,
  },
];

describe('a model that refuses', () => {
  for (const { feature, status = 400, reason, refuses, accepted, said } of REFUSALS) {
    it(`${feature} gets the request again without it, and the next request at once`, async (t) => {
      const folder = await createToolChat(t, (asked) => {
        if (refuses(bodyOf(asked))) respond(asked, status, { error: { message: reason } });
        else answer(asked, `Reply ${asked.number}.`);
      });
      const { stderr } = checkEnd(await folder.runChat(), { code: 0 });
      assert.equal(await folder.chat(), `${CHAT}\n# %% assistant\nReply 2.\n\n# %% user\n`);
      const [line = '', ...others] = lineOf(stderr);
      assert.match(line, said);
      assert.ok(line.endsWith(`To forget it, delete ${limitsFile(folder)}.`), line);
      assert.deepEqual(others, []);
      await say(folder, 'Again?');
      assert.deepEqual(lineOf(checkEnd(await folder.runChat(), { code: 0 }).stderr), []);
      assert.match(await folder.chat(), /# %% assistant\nReply 3\.\n\n# %% user\n$/);
      const bodies = folder.server.asked.map(bodyOf);
      assert.deepEqual(bodies.map(refuses), [true, false, false]);
      accepted(bodies[1] ?? { messages: [] });
    });
  }

  it('one after the other is asked without all of them', async (t) => {
    const folder = await createToolChat(t, (asked) => {
      const found = REFUSALS.find(({ refuses }) => refuses(bodyOf(asked)));
      if (found) respond(asked, 400, { error: { message: found.reason } });
      else answer(asked, 'At last.');
    });
    const { stderr } = checkEnd(await folder.runChat(), { code: 0 });
    assert.match(await folder.chat(), /# %% assistant\nAt last\.\n\n# %% user\n$/);
    assert.deepEqual([folder.server.asked.length, lineOf(stderr).length], [5, 4]);
  });
});

describe('a whole reply is read like a stream', () => {
  const joined = (events: readonly ModelEvent[]) =>
    events
      .map((event) => (event.kind === 'text' ? event.text : event.kind === 'call' ? event.argumentsText : ''))
      .join('');
  const endOf = (events: readonly ModelEvent[]) => events.find((event) => event.kind === 'finish');
  for (const provider of PROVIDERS) {
    it(provider, async (t) => {
      const mock = await startMock(t);
      const toolCalls = [{ id: 'call_1', name: 'a__b', arguments: '{"x":1}' }];
      mock.onMessage('call', { toolCalls, ...(provider === 'google' && { finishReason: 'stop' }) });
      mock.onMessage('talk', { content: 'The last quarter 📈 is the best one.' });
      const { fetch, bodies } = recordBodies();
      const model = createSdkModel(configFor(provider, mock.url), { key: KEY, fetch });
      for (const question of ['call', 'talk']) {
        const [streamed, whole] = await Promise.all(
          [false, true].map((isWhole) =>
            collect(model.stream({ ...ask(question), isWhole }, new AbortController().signal)),
          ),
        );
        assert.ok(streamed && whole);
        assert.notEqual(joined(whole), '');
        assert.deepEqual([joined(whole), endOf(whole)?.reason], [joined(streamed), endOf(streamed)?.reason]);
      }
      if (provider !== 'google')
        assert.deepEqual(bodies.map(({ stream }) => stream === true).sort(), [false, false, true, true]);
      assert.equal(mock.getRequests().length, 4);
    });
  }
});

describe('a request is not repeated', () => {
  const others: readonly (readonly [rule: string, status: number, reason: string])[] = [
    ['if it is refused for another reason', 400, "Invalid 'tools[0].function.name': string too long."],
    ['if the refused feature is not in it', 400, 'Model does not support images.'],
    ['if the key is the problem', 401, 'This key does not support tools'],
  ];
  for (const [rule, status, reason] of others) {
    it(rule, async (t) => {
      const folder = await createToolChat(t, (asked) =>
        respond(asked, status, { error: { message: reason } }),
      );
      const { stderr } = checkEnd(await folder.runChat(), { code: 1 });
      assert.ok(stderr.includes(reason), stderr);
      assert.equal(folder.server.asked.length, 1);
      await assert.rejects(readFile(limitsFile(folder)), { code: 'ENOENT' });
    });
  }

  it('a third time if leaving the feature out does not help, and nothing is remembered', async (t) => {
    const folder = await createToolChat(t, (asked) =>
      respond(asked, 400, { error: { message: 'm does not support tools' } }),
    );
    const { stderr } = checkEnd(await folder.runChat(), { code: 1 });
    assert.match(stderr, /m does not support tools/);
    assert.equal(folder.server.asked.length, 2);
    await assert.rejects(readFile(limitsFile(folder)), { code: 'ENOENT' });
  });
});

it('without a folder for its state, a run still knows what the model refuses', async (t) => {
  const folder = await createImageChat(t, 400, { error: 'Model does not support images.' });
  await folder.write('file', '');
  const state = join(folder.path, 'file');
  const args = ['run', 'a.chat.md', '--models', 'models.json', '--servers', 'mcp.json', '--approve', 'auto'];
  const env = { XDG_STATE_HOME: state, LOCALAPPDATA: state };
  const { stderr } = checkEnd(await folder.start(args, { env }).ended, { code: 0 });
  assert.match(
    stderr,
    /^it does not accept images.* It is forgotten after this run, because .*model-limits\.json could not be saved: .+\.$/m,
  );
});
