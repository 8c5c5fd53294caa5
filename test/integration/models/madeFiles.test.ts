import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { SdkProvider } from '../../../src/model/providers/wire.ts';
import { PNG, PNG_BASE64 } from '../../kit/png.ts';
import {
  breakOff,
  CASES,
  createChat,
  GIF,
  reply,
  SAMPLES,
  speak,
  type Wire,
  wav,
} from '../helpers/madeWire.ts';
import { imagesOf, textsOf } from '../helpers/modelServer.ts';
import { checkEnd } from '../helpers/runCli.ts';

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

  it('finds pages, which Anthropic cites in its text: they are links in their place', async (t) => {
    const page = { url: 'https://a.test/x', title: 'A page' };
    const citation = { type: 'web_search_result_location', ...page, cited_text: '95', encrypted_index: 'i' };
    const found = [{ type: 'web_search_result', ...page, encrypted_content: 'e', page_age: null }];
    const block = (index: number, start: object, ...deltas: readonly object[]) => [
      { type: 'content_block_start', index, content_block: start },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ];
    const words = (text: string) => ({ type: 'text_delta', text });
    const events = [
      ...block(
        0,
        { type: 'server_tool_use', id: 's', name: 'web_search', input: {} },
        { type: 'input_json_delta', partial_json: '{"query":"moons"}' },
      ),
      ...block(1, { type: 'web_search_tool_result', tool_use_id: 's', content: found }),
      ...block(2, { type: 'text', text: '' }, words('Jupiter has 95 moons'), {
        type: 'citations_delta',
        citation,
      }),
      ...block(3, { type: 'text', text: '' }, words('. That is many.')),
    ];
    const wire = { provider: 'anthropic', model: 'claude-sonnet-4-5', events } as const;
    const { cli, run } = await createChat(t, wire, [speak(reply(wire))]);
    checkEnd(await run(), { code: 0 });
    assert.match(
      await cli.read('a.chat.md'),
      /<summary>Web search: moons<\/summary>[\s\S]+Jupiter has 95 moons \[1\]\(https:\/\/a\.test\/x\)\. That is many\.\n\nSources:\n\n1\. \[A page\]\(https:\/\/a\.test\/x\)\n/,
    );
  });
});
