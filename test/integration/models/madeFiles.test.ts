import assert from 'node:assert/strict';
import { mkdir, readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { SdkProvider } from '../../../src/model/providers/wire.ts';
import { PNG, PNG_BASE64 } from '../../kit/png.ts';
import { listAssets } from '../helpers/checkBlocks.ts';
import { CASES, CSV, GIF, reply, SAMPLES, type Wire, wav } from '../helpers/madeWire.ts';
import { type Connection, imagesOf, KEY, startRawServer, textsOf } from '../helpers/modelServer.ts';
import { checkEnd, createCliFolder } from '../helpers/runCli.ts';

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
    else if (path === '/v1/files/file_endless/content') sendEndlessly(response);
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

/** The same, except that the code wrote another file. */
function withFile({ events }: Wire, id: string): readonly object[] {
  return JSON.parse(JSON.stringify(events).replace('file_1', id)) as readonly object[];
}

/** Sends bytes until the client has enough. */
function sendEndlessly(response: ServerResponse): void {
  const piece = Buffer.alloc(20_000, 1);
  const more = () => {
    if (!response.destroyed) response.write(piece, more);
  };
  more();
}

describe('a file that cannot be saved', () => {
  const wire = CASES['Gemini, several images between texts'] as Wire;
  it('because of its type leaves a line in its place, and the others are saved', async (t) => {
    const { cli, run, read } = await createChat(t, wire, [speak(reply(wire))]);
    await cli.write('settings.json', '{"results.allowedMimeTypes":["image/gif"]}');
    checkEnd(await run('--settings', 'settings.json'), { code: 0 });
    const { shown, files } = await read();
    const line =
      '> ⚠ The image was not saved: it is image/png (70 bytes), and filechat.results.allowedMimeTypes allows image/gif.';
    assert.ok(shown.includes(`A red one:\n\n${line}\n\nand a blue one:\n\nimage 1 .gif\n`), shown);
    assert.deepEqual(files, [GIF]);
  });

  it('leaves one line, however often its reply is repeated or resumed', async (t) => {
    const { cli, run, read } = await createChat(t, wire, [
      breakOff(reply(wire, 2)),
      speak(reply(wire, 2)),
      speak(reply(wire, 1)),
      speak(reply(wire)),
    ]);
    await cli.write('settings.json', '{"results.allowedMimeTypes":["image/gif"]}');
    checkEnd(await run('--settings', 'settings.json'), { code: 1 });
    checkEnd(await run('--settings', 'settings.json'), { code: 0 });
    const { shown } = await read();
    assert.match(
      shown,
      /assistant\nA red one:\n\n> ⚠ The image was not saved: [^\n]+\n\nand a blue one:\n\nimage 1 \.gif\n\n# %% user\n$/,
    );
  });

  it('because it is too large is not fetched to its end', async (t) => {
    const code = CASES['Anthropic, a file that code wrote'] as Wire;
    const endless = { ...code, events: withFile(code, 'file_endless') };
    const { cli, run, read } = await createChat(t, endless, [speak(reply(endless))]);
    await cli.write('settings.json', '{"results.maxAssetBytes":100000}');
    checkEnd(await run('--settings', 'settings.json'), { code: 0 });
    const { shown, assets } = await read();
    assert.match(
      shown,
      /I compute\.\n\n<details>[^>]+>Code execution: python a\.py[\s\S]+<\/details>\n\n> ⚠ The file was not saved: it has .*allows 100\.0 KB\.\n\nThere\./,
    );
    assert.deepEqual(assets, []);
  });

  it('because the server does not have it leaves a line with the reason', async (t) => {
    const code = CASES['Anthropic, a file that code wrote'] as Wire;
    const gone = { ...code, events: withFile(code, 'file_2') };
    const { run, read } = await createChat(t, gone, [speak(reply(gone))]);
    checkEnd(await run(), { code: 0 });
    const { shown, assets } = await read();
    assert.match(
      shown,
      /I compute\.\n\n<details>[^>]+>Code execution: python a\.py[\s\S]+<\/details>\n\n> ⚠ The file could not be saved: 127\.0\.0\.1:\d+ responded with 404\.\n\nThere\./,
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

  it('has nothing of a call that the provider ran', async (t) => {
    const wire = CASES['Anthropic, a file that code wrote'] as Wire;
    const { cli, run, requests } = await createChat(t, wire, [speak(reply(wire)), speak(reply(wire))]);
    checkEnd(await run(), { code: 0 });
    assert.match(await cli.read('a.chat.md'), /^<details><summary>Code execution: python a\.py<\/summary>$/m);
    await cli.write('a.chat.md', `${await cli.read('a.chat.md')}And now?\n`);
    checkEnd(await run(), { code: 0 });
    const { messages } = JSON.parse(requests.findLast(({ path }) => path === '/v1/messages')?.body ?? '{}');
    const texts = textsOf({ messages }).join('\n');
    assert.match(texts, /I compute\.\s+\[file sales\.csv, [^\n]+\]\s+There\./);
    assert.doesNotMatch(texts, /python|provider_tool|details/);
  });

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

describe('a tool that the provider runs', () => {
  const asked: readonly (readonly [provider: SdkProvider, model: string, tool: RegExp])[] = [
    ['openai', 'gpt-5', /"tools":\[\{"type":"web_search"[^\]]*\{"type":"image_generation"/],
    ['anthropic', 'claude-sonnet-4-5', /"tools":\[\{"type":"web_search_20250305","name":"web_search"/],
    ['google', 'gemini-2.5-flash', /"tools":\[\{"googleSearch":\{\}\}\]/],
  ];
  const chat = '---\ntools: [provider.web_search, provider.image_generation]\n---\n# %% user\nDraw.\n';
  for (const [provider, model, tool] of asked) {
    it(`is in the request if the chat names it: ${provider}`, async (t) => {
      const wire = { provider, model, events: [] };
      const { run, requests } = await createChat(t, wire, [speak(reply(wire))], chat);
      const { stderr } = await run();
      assert.match(requests[0]?.body ?? '', tool);
      assert.equal(/has no tool “image_generation”/.test(stderr), provider !== 'openai', stderr);
    });
  }
});
