import assert from 'node:assert/strict';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { SdkProvider } from '../../../src/model/providers/wire.ts';
import { PNG, PNG_BASE64 } from '../../kit/png.ts';
import { listAssets } from '../helpers/checkBlocks.ts';
import { type Connection, imagesOf, KEY, startRawServer, textsOf, toEvent } from '../helpers/modelServer.ts';
import { checkEnd, createCliFolder } from '../helpers/runCli.ts';

const GIF = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');
const GIF_BASE64 = GIF.toString('base64');
const CSV = Buffer.from('quarter,sales\n1,3\n2,5\n');
const SAMPLES = Buffer.from(Array.from({ length: 200 }, (_, at) => (at * 37) % 256));

interface Wire {
  readonly provider: SdkProvider;
  readonly model: string;
  /** The events of a reply, except those that begin and end it. */
  readonly events: readonly object[];
}

/** The events that end a reply. */
const ENDS: Readonly<Record<SdkProvider, readonly object[]>> = {
  google: [{ candidates: [{ content: { role: 'model', parts: [] }, finishReason: 'STOP' }] }],
  anthropic: [
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 7 } },
    { type: 'message_stop' },
  ],
  openai: [{ type: 'response.completed', response: { usage: { input_tokens: 1, output_tokens: 1 } } }],
  'openai-chat': [chunk({}, 'stop')],
  'openai-compatible': [chunk({}, 'stop')],
};

const BEGINNINGS: Partial<Record<SdkProvider, readonly object[]>> = {
  anthropic: [
    {
      type: 'message_start',
      message: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'claude',
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: 1, output_tokens: 1 },
      },
    },
  ],
  openai: [{ type: 'response.created', response: { id: 'r', created_at: 1, model: 'gpt' } }],
};

function chunk(delta: object, finish: string | null = null): object {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices };
}

const gemini = (...parts: readonly object[]): object => ({
  candidates: [{ content: { role: 'model', parts } }],
});
const inline = (data: string, mimeType = 'image/png', more: object = {}): object => ({
  inlineData: { mimeType, data },
  ...more,
});

function openAiText(index: number, text: string): readonly object[] {
  const item = { type: 'message', id: `msg_${index}` };
  return [
    { type: 'response.output_item.added', output_index: index, item },
    {
      type: 'response.output_text.delta',
      item_id: item.id,
      output_index: index,
      content_index: 0,
      delta: text,
    },
  ];
}

const openAiEnd = (index: number): object => ({
  type: 'response.output_item.done',
  output_index: index,
  item: { type: 'message', id: `msg_${index}` },
});

function anthropicText(index: number, text: string): readonly object[] {
  return [
    { type: 'content_block_start', index, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index, delta: { type: 'text_delta', text } },
    { type: 'content_block_stop', index },
  ];
}

const IMAGE_CALL = { type: 'image_generation_call', id: 'ig_1' };
const CITED = {
  type: 'container_file_citation',
  container_id: 'cntr_1',
  file_id: 'cfile_1',
  filename: '../sales.csv',
  start_index: 0,
  end_index: 4,
};

/** How each provider sends a file, what the reply becomes, and the bytes of its files in order. */
const CASES: Readonly<Record<string, Wire & { reply: string; files: readonly Buffer[] }>> = {
  'Gemini, several images between texts': {
    provider: 'google',
    model: 'gemini-2.5-flash-image',
    events: [
      gemini({ text: 'A red one:' }),
      gemini(inline(PNG_BASE64), { text: 'and ' }),
      gemini({ text: 'a blue one:' }, inline(GIF_BASE64, 'image/png')),
    ],
    reply: 'A red one:\n\nimage 1 .png\n\nand a blue one:\n\nimage 2 .gif',
    files: [PNG, GIF],
  },
  'Gemini, an image alone': {
    provider: 'google',
    model: 'gemini-2.5-flash-image',
    events: [gemini(inline(PNG_BASE64))],
    reply: 'image 1 .png',
    files: [PNG],
  },
  'Gemini, a draft in its thoughts': {
    provider: 'google',
    model: 'gemini-3-pro-image-preview',
    events: [
      gemini({ text: 'Red, then.', thought: true }),
      gemini(inline(GIF_BASE64, 'image/gif', { thought: true })),
      gemini(inline(PNG_BASE64, 'image/png', { thoughtSignature: 'c2lnbmVk' })),
    ],
    reply:
      '<details><summary>Reasoning</summary>\n\n````reasoning\nRed, then.\n````\n\nimage 1 .gif\n\n</details>\n\nimage 2 .png\n<!-- filechat:metadata {"google":{"thoughtSignature":"c2lnbmVk"}} -->',
    files: [GIF, PNG],
  },
  'Gemini, speech without a header': {
    provider: 'google',
    model: 'gemini-2.5-flash-preview-tts',
    events: [gemini(inline(SAMPLES.toString('base64'), 'audio/L16;codec=pcm;rate=16000'))],
    reply: 'audio 1 .wav',
    files: [wav(SAMPLES, 16_000)],
  },
  'OpenAI, an image after partial ones': {
    provider: 'openai',
    model: 'gpt-5',
    events: [
      ...openAiText(0, 'I draw.'),
      openAiEnd(0),
      { type: 'response.output_item.added', output_index: 1, item: IMAGE_CALL },
      {
        type: 'response.image_generation_call.partial_image',
        item_id: 'ig_1',
        output_index: 1,
        partial_image_index: 0,
        partial_image_b64: GIF_BASE64,
      },
      {
        type: 'response.output_item.done',
        output_index: 1,
        item: { ...IMAGE_CALL, status: 'completed', result: PNG_BASE64 },
      },
      ...openAiText(2, 'Done.'),
      openAiEnd(2),
    ],
    reply: 'I draw.\n\nimage 1 .png\n\nDone.',
    files: [PNG],
  },
  'OpenAI, a file that code wrote, cited twice': {
    provider: 'openai',
    model: 'gpt-5',
    events: [
      ...openAiText(0, 'See '),
      ...[0, 1].map((at) => ({
        type: 'response.output_text.annotation.added',
        item_id: 'msg_0',
        output_index: 0,
        content_index: 0,
        annotation_index: at,
        annotation: CITED,
      })),
      {
        type: 'response.output_text.delta',
        item_id: 'msg_0',
        output_index: 0,
        content_index: 0,
        delta: 'the file.',
      },
      openAiEnd(0),
    ],
    reply: 'See the file.\n\nfile 1: sales.csv .csv',
    files: [CSV],
  },
  'OpenAI, audio in pieces with its words': {
    provider: 'openai-chat',
    model: 'gpt-audio',
    events: [
      chunk({ role: 'assistant', audio: { id: 'audio_1', transcript: 'Good ' } }),
      chunk({ audio: { data: SAMPLES.subarray(0, 100).toString('base64') } }),
      chunk({ audio: { transcript: 'morning.' } }),
      chunk({ audio: { data: SAMPLES.subarray(100).toString('base64') } }),
      chunk({ audio: { expires_at: 1 } }),
    ],
    reply: 'Good morning.\n\naudio 1 .wav',
    files: [wav(SAMPLES, 24_000)],
  },
  'OpenRouter, images': {
    provider: 'openai-compatible',
    model: 'google/gemini-2.5-flash-image',
    events: [
      chunk({ role: 'assistant', content: 'Two: ' }),
      chunk({
        content: 'here.',
        images: [PNG_BASE64, GIF_BASE64].map((data) => ({
          type: 'image_url',
          image_url: { url: `data:image/png;base64,${data}` },
        })),
      }),
    ],
    reply: 'Two: here.\n\nimage 1 .png\n\nimage 2 .gif',
    files: [PNG, GIF],
  },
  'Anthropic, a file that code wrote': {
    provider: 'anthropic',
    model: 'claude-sonnet-4-5',
    events: [
      ...anthropicText(0, 'I compute.'),
      {
        type: 'content_block_start',
        index: 1,
        content_block: { type: 'server_tool_use', id: 'srvtoolu_1', name: 'bash_code_execution', input: {} },
      },
      {
        type: 'content_block_delta',
        index: 1,
        delta: { type: 'input_json_delta', partial_json: '{"command":"python a.py"}' },
      },
      { type: 'content_block_stop', index: 1 },
      {
        type: 'content_block_start',
        index: 2,
        content_block: {
          type: 'bash_code_execution_tool_result',
          tool_use_id: 'srvtoolu_1',
          content: {
            type: 'bash_code_execution_result',
            stdout: '',
            stderr: '',
            return_code: 0,
            content: [{ type: 'bash_code_execution_output', file_id: 'file_1' }],
          },
        },
      },
      { type: 'content_block_stop', index: 2 },
      ...anthropicText(3, 'There.'),
    ],
    reply: 'I compute.\n\nfile 1: sales.csv .csv\n\nThere.',
    files: [CSV],
  },
};

function wav(samples: Buffer, rate: number): Buffer {
  const number = (value: number, bytes: number) => {
    const buffer = Buffer.alloc(bytes);
    buffer.writeUIntLE(value, 0, bytes);
    return buffer;
  };
  const format = [
    number(1, 2),
    number(1, 2),
    number(rate, 4),
    number(rate * 2, 4),
    number(2, 2),
    number(16, 2),
  ];
  const head = [Buffer.from('RIFF'), number(36 + samples.length, 4), Buffer.from('WAVEfmt '), number(16, 4)];
  return Buffer.concat([...head, ...format, Buffer.from('data'), number(samples.length, 4), samples]);
}

/** A reply on the wire; `upTo` is where it is cut. */
function reply({ provider, events }: Wire, upTo = Number.POSITIVE_INFINITY): string {
  const all = [...(BEGINNINGS[provider] ?? []), ...events, ...ENDS[provider]];
  return all.slice(0, upTo).map(toEvent).join('');
}

interface Request {
  readonly path: string;
  readonly body: string;
}

/** A chat whose model is on a server that gives these replies, one for each request, and has the files of code. */
async function createChat(
  t: TestContext,
  wire: Wire,
  replies: readonly ((connection: Connection) => void)[],
  chat = '# %% user\nDraw.\n',
) {
  const cli = await createCliFolder(t);
  const requests: Request[] = [];
  let asked = 0;
  const url = await startRawServer(t, (connection) => {
    const { request, response, body } = connection;
    const path = request.url ?? '';
    requests.push({ path, body });
    const key =
      request.headers['x-api-key'] ?? request.headers.authorization ?? request.headers['x-goog-api-key'];
    if (!String(key).includes(KEY)) response.writeHead(401).end();
    else if (path === '/v1/files/file_1') response.end('{"filename":"sales.csv","mime_type":"text/csv"}');
    else if (/^\/v1\/(?:files\/file_1|containers\/cntr_1\/files\/cfile_1)\/content$/.test(path))
      response.end(CSV);
    else if (request.method !== 'POST') response.writeHead(404).end();
    else replies[asked++]?.(connection);
  });
  const baseUrl = `${url}/v1`;
  const { provider, model } = wire;
  await cli.write('models.json', JSON.stringify({ models: { it: { provider, model, baseUrl } } }));
  await cli.write('a.chat.md', chat);
  const run = (...more: string[]) =>
    cli.start(['run', 'a.chat.md', '--models', 'models.json', ...more], { env: { FILECHAT_KEY_IT: KEY } })
      .ended;
  const read = async () => {
    const text = await cli.read('a.chat.md');
    const links = [...text.matchAll(LINK)];
    const paths = links.map(([, , , path = '']) => path);
    return {
      text,
      paths,
      shown: text.replace(LINK, (_, bang: string, label: string, path: string) => {
        assert.equal(bang === '!', label.startsWith('image'), 'only an image is shown as one');
        return `${label} ${path.slice(path.lastIndexOf('.'))}`;
      }),
      files: await Promise.all(paths.map((path) => readFile(join(cli.path, path)))),
      assets: await listAssets(cli.path),
    };
  };
  return { cli, run, read, requests };
}

const LINK =
  /(!?)\[Model generated ([^\]]+)\]\((cmdassets\/model-(?:image|audio|file)-\d{8}-\d{6}-[A-Za-z0-9]{8,}-\d+\.[a-z0-9]+)\)/g;

const speak =
  (text: string) =>
  ({ response }: Connection): void => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(text);
  };

/** Sends this much, then closes the connection. */
const breakOff =
  (text: string) =>
  ({ response }: Connection): void => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(text, () => response.destroy());
  };

describe('a file that a model makes', () => {
  for (const [name, wire] of Object.entries(CASES)) {
    it(`is saved with its bytes, and linked in its place: ${name}`, async (t) => {
      const { run, read } = await createChat(t, wire, [speak(reply(wire))]);
      checkEnd(await run(), { code: 0 });
      const chat = await read();
      assert.equal(chat.shown, `# %% user\nDraw.\n\n# %% assistant\n${wire.reply}\n\n# %% user\n`);
      assert.deepEqual(chat.files, wire.files);
      assert.deepEqual(chat.assets, chat.paths.toSorted(), 'there is one file for each link');
    });
  }
});

describe('a reply with a file', () => {
  const wire = CASES['Gemini, several images between texts'] as Wire;

  it('that breaks off and is repeated has each file and each text once', async (t) => {
    const { run, read, requests } = await createChat(t, wire, [breakOff(reply(wire, 2)), speak(reply(wire))]);
    checkEnd(await run(), { code: 0 });
    const { shown, assets } = await read();
    assert.equal(
      shown,
      '# %% user\nDraw.\n\n# %% assistant\nA red one:\n\nimage 1 .png\n\nand a blue one:\n\nimage 2 .gif\n\n# %% user\n',
    );
    assert.equal(assets.length, 2);
    assert.match(requests[1]?.body ?? '', /already made these files.*asset:model-image-/);
  });

  it('that was interrupted is resumed without a file twice, and counts on', async (t) => {
    const { cli, run, read } = await createChat(t, wire, [
      speak(reply(wire, 2)),
      speak(reply(wire, 2)),
      speak(reply(wire, 2)),
      speak(reply(wire)),
    ]);
    checkEnd(await run(), { code: 1 });
    assert.match(await cli.read('a.chat.md'), /<!-- filechat:interrupted connection lost -->/);
    checkEnd(await run(), { code: 0 });
    const { shown, assets } = await read();
    assert.match(
      shown,
      /assistant\nA red one:\n\nimage 1 \.png\n\nand a blue one:\n\nimage 2 \.gif\n\n# %% user\n$/,
    );
    assert.equal(assets.length, 2);
  });
});

describe('a file that cannot be saved', () => {
  const wire = CASES['Gemini, several images between texts'] as Wire;
  const limits: readonly (readonly [settings: object, reason: RegExp])[] = [
    [
      { 'results.maxAssetBytes': 1024, 'results.allowedMimeTypes': ['image/gif'] },
      /not saved: it is image\/png/,
    ],
  ];
  for (const [settings, reason] of limits) {
    it(`leaves a line in its place, and the others are saved: ${reason.source}`, async (t) => {
      const { cli, run, read } = await createChat(t, wire, [speak(reply(wire))]);
      await cli.write('settings.json', JSON.stringify(settings));
      checkEnd(await run('--settings', 'settings.json'), { code: 0 });
      const { shown, files } = await read();
      const [, line] = /A red one:\n\n(> ⚠ .*)\n\nand a blue one:\n\nimage \d \.gif\n/.exec(shown) ?? [];
      assert.match(line ?? shown, reason);
      assert.deepEqual(files, [GIF]);
    });
  }

  it('because it is too large for the settings is not fetched whole', async (t) => {
    const code = CASES['Anthropic, a file that code wrote'] as Wire;
    const { cli, run, read } = await createChat(t, code, [speak(reply(code))]);
    await cli.write('settings.json', '{"results.maxAssetBytes":1024}');
    CSV.fill(0, 0, 0);
    checkEnd(await run('--settings', 'settings.json'), { code: 0 });
    assert.equal((await read()).files.length, 1);
  });

  it('because the server does not have it leaves a line with the reason', async (t) => {
    const code = CASES['Anthropic, a file that code wrote'] as Wire;
    const gone = { ...code, events: JSON.parse(JSON.stringify(code.events).replace('file_1', 'file_2')) };
    const { run, read } = await createChat(t, gone, [speak(reply(gone))]);
    checkEnd(await run(), { code: 0 });
    const { shown, assets } = await read();
    assert.match(
      shown,
      /I compute\.\n\n> ⚠ The file could not be saved: 127\.0\.0\.1:\d+ responded with 404\.\n\nThere\./,
    );
    assert.deepEqual(assets, []);
  });
});

describe('the next request', () => {
  const next = 'Make it blue.\n';
  const made =
    '# %% user\nDraw.\n\n# %% assistant\nHere:\n\n![Model generated image 1](cmdassets/model-image-20261116-093012-V1StGXR8a0-1.png)\n\nDone.\n\n# %% user\n';
  const models: readonly (readonly [provider: SdkProvider, model: string, inReply: boolean])[] = [
    ['google', 'gemini-2.5-flash-image', true],
    ['google', 'gemini-3-pro-image-preview', false],
    ['openai', 'gpt-5', false],
    ['openai-chat', 'gpt-4o', false],
    ['openai-compatible', 'some-model', false],
    ['anthropic', 'claude-sonnet-4-5', false],
  ];
  for (const [provider, model, inReply] of models) {
    it(`has the image ${inReply ? 'in the reply' : 'in the user’s message'}: ${provider} ${model}`, async (t) => {
      const wire = { provider, model, events: [] };
      const { cli, run, requests } = await createChat(t, wire, [speak(reply(wire))], made + next);
      await mkdir(join(cli.path, 'cmdassets'));
      await cli.write('cmdassets/model-image-20261116-093012-V1StGXR8a0-1.png', PNG);
      await run();
      const body = JSON.parse(requests[0]?.body ?? '{}');
      assert.deepEqual(imagesOf(body), [`image/png ${PNG_BASE64}`]);
      const messages: { role?: string }[] = body.messages ?? body.input ?? body.contents;
      const holder = messages.findLastIndex((message) => JSON.stringify(message).includes(PNG_BASE64));
      assert.equal(messages[holder]?.role === 'user', !inReply);
      assert.equal(holder, inReply ? messages.length - 2 : messages.length - 1);
      const texts = textsOf(body).join('\n');
      assert.ok(texts.includes('Here:') && texts.includes('Done.') && texts.includes('Make it blue.'), texts);
      assert.ok(!texts.includes('![Model generated'), texts);
    });
  }

  it('has only a line for what the provider does not take back', async (t) => {
    const wire = { provider: 'google', model: 'gemini-2.5-flash', events: [] } as const;
    const chat = made
      .replace('![Model generated image', '[Model generated audio')
      .replaceAll('image', 'audio')
      .replace('.png', '.wav');
    const { cli, run, requests } = await createChat(t, wire, [speak(reply(wire))], chat + next);
    await mkdir(join(cli.path, 'cmdassets'));
    await cli.write('cmdassets/model-audio-20261116-093012-V1StGXR8a0-1.wav', wav(SAMPLES, 24_000));
    await run();
    assert.match(
      requests[0]?.body ?? '',
      /\[audio 1, audio\/wav, 244 bytes, asset:model-audio-20261116-093012-V1StGXR8a0-1\.wav\]/,
    );
  });
});
