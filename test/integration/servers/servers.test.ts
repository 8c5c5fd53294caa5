import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { drawChart } from '../../../samples/server/chart.ts';
import { encodePng } from '../../../samples/server/encode/png.ts';
import { readSampleFile } from '../../../samples/server/files.ts';
import { writeReport } from '../../../samples/server/report.ts';
import { playArpeggio } from '../../../samples/server/tools/audio.ts';
import { argumentQuestions, fillDefaults } from '../../../src/mcp/schema/arguments.ts';
import { exampleFor } from '../../../src/mcp/schema/example.ts';
import type { ToolInfo } from '../../../src/ports/tools.ts';
import { temporaryFolder } from '../../kit/folder.ts';
import { assertEveryBlockKept, nameParts, onlyAsset, readAsset, sha256 } from '../helpers/checkBlocks.ts';
import { type BareClient, connectBareClient, openSession } from '../helpers/connect.ts';
import { type Arguments, fromNpm } from '../helpers/serving.ts';

/** Arguments from the example and the defaults of the schema. */
function argumentsFor({ inputSchema }: ToolInfo): Arguments {
  return fillDefaults(inputSchema, exampleFor(inputSchema) as Arguments);
}

describe('server-debug', () => {
  const folder = temporaryFolder({ after });
  const config = fromNpm(
    '@modelcontextprotocol/server-debug',
    '--stdio',
    `--log-file=${join(folder, 'debug.log')}`,
  );
  const session = openSession({ after }, { debug: config });
  let bare: BareClient;
  before(async () => {
    bare = await connectBareClient(config);
  });
  after(() => bare.close());

  it('every tool, called with example arguments, has each of its blocks as one part', async (t) => {
    const { tools, failures } = await session.client.listTools();
    assert.deepEqual(failures, []);
    const names = tools.map(({ tool }) => tool);
    assert.deepEqual(names, ['debug-tool', 'debug-refresh', 'debug-log']);
    for (const tool of tools) {
      await t.test(tool.tool, async () => {
        const called = await session.call(`debug.${tool.tool}`, argumentsFor(tool));
        assert.notEqual(called.sent.content.length, 0);
        await assertEveryBlockKept(called);
      });
    }
  });

  const contents: readonly (readonly [contentType: string, blocks: readonly string[]])[] = [
    ['text', ['text', 'text', 'text']],
    ['image', ['image .png', 'image .png', 'image .png']],
    ['audio', ['audio .wav', 'audio .wav', 'audio .wav']],
    ['resource', ['text', 'text', 'text']],
    ['resourceLink', ['link', 'link', 'link']],
    ['mixed', ['text', 'image .png', 'audio .wav']],
  ];

  it('the content types below are all that its schema offers', async () => {
    const { tools } = await session.client.listTools('debug');
    const question = argumentQuestions(tools[0]?.inputSchema).find(({ name }) => name === 'contentType');
    assert.ok(question?.kind === 'choice');
    assert.deepEqual(
      question.choices.map(({ value }) => value),
      contents.map(([contentType]) => contentType),
    );
  });

  for (const [contentType, blocks] of contents) {
    it(`content of type ${contentType} is ${blocks.join(', ')}, with the bytes that another client receives`, async () => {
      const called = await session.call('debug.debug-tool', { contentType });
      assert.deepEqual(called.sent.content, (await bare.call('debug-tool', { contentType })).content);
      assert.deepEqual(nameParts(called.result.parts), [...blocks, 'data']);
      await assertEveryBlockKept(called);
    });
  }

  it('a single block stays a single part', async () => {
    const called = await session.call('debug.debug-tool', { contentType: 'audio', multipleBlocks: false });
    assert.deepEqual(nameParts(called.result.parts), ['audio .wav', 'data']);
    await assertEveryBlockKept(called);
  });

  it('structured content that differs from the blocks follows them as data', async () => {
    const { result, sent } = await session.call('debug.debug-tool', { contentType: 'mixed' });
    const data = result.parts.at(-1);
    assert.ok(data?.kind === 'data');
    assert.deepEqual(JSON.parse(data.json), sent.structuredContent);
  });

  it('a result that reports an error keeps its blocks, after a note', async () => {
    const called = await session.call('debug.debug-tool', { contentType: 'mixed', simulateError: true });
    assert.equal(called.result.isError, true);
    assert.match(called.markdown, /^> ⚠ \*\*The tool reported an error\.\*\*\n\n/);
    await assertEveryBlockKept(called);
  });
});

describe('server-everything', () => {
  const config = fromNpm('@modelcontextprotocol/server-everything', 'stdio');
  const session = openSession({ after }, { everything: config });
  let bare: BareClient;
  before(async () => {
    bare = await connectBareClient(config);
  });
  after(() => bare.close());

  const call = async (tool: string, args: Arguments = {}) => {
    const called = await session.call(`everything.${tool}`, args);
    await assertEveryBlockKept(called);
    return called;
  };

  const sameEachTime: readonly (readonly [tool: string, args: Arguments, parts: readonly string[]])[] = [
    ['get-tiny-image', {}, ['text', 'image .png', 'text']],
    ['get-annotated-message', { messageType: 'error', includeImage: true }, ['text', 'image .png']],
    ['get-annotated-message', { messageType: 'success', includeImage: true }, ['text', 'image .png']],
    ['get-annotated-message', { messageType: 'debug', includeImage: true }, ['text', 'image .png']],
    ['get-annotated-message', { messageType: 'debug' }, ['text']],
    ['get-resource-links', { count: 4 }, ['text', 'link', 'link', 'link', 'link']],
    ['get-structured-content', { location: 'Chicago' }, ['data']],
  ];
  for (const [tool, args, parts] of sameEachTime) {
    it(`${tool} ${JSON.stringify(args)} is ${parts.join(', ')}, as another client receives it`, async () => {
      const called = await call(tool, args);
      assert.deepEqual(called.sent, await bare.call(tool, args));
      assert.deepEqual(nameParts(called.result.parts), parts);
    });
  }

  it('get-structured-content is not shown twice: its text and data are the same', async () => {
    const { sent, markdown } = await call('get-structured-content', { location: 'New York' });
    assert.ok(sent.structuredContent);
    const weather = { temperature: 33, conditions: 'Cloudy', humidity: 82 };
    assert.equal(markdown, `\`\`\`json formatted\n${JSON.stringify(weather, null, 2)}\n\`\`\``);
  });

  it('get-resource-links keeps the target, type and description of each link', async () => {
    const { markdown } = await call('get-resource-links', { count: 1 });
    assert.match(
      markdown,
      /\n\n> Resource `Blob Resource 1` at `demo:\/\/resource\/dynamic\/blob\/1`, type `text\/plain`\n> `Resource 1: /,
    );
  });

  it('get-resource-reference to a text is its text, under its address', async () => {
    const { result, markdown } = await call('get-resource-reference', {
      resourceType: 'Text',
      resourceId: 2,
    });
    assert.deepEqual(nameParts(result.parts), ['text', 'text', 'text']);
    assert.match(
      markdown,
      /\n\n> From `demo:\/\/resource\/dynamic\/text\/2` \(`text\/plain`\)\n\n```\nResource 2: /,
    );
  });

  it('get-resource-reference to a blob is a file, named after its address', async () => {
    const { result, folder } = await call('get-resource-reference', { resourceType: 'Blob', resourceId: 7 });
    assert.deepEqual(nameParts(result.parts), ['text', 'file .txt', 'text']);
    assert.equal(onlyAsset(result.parts).name, '7');
    assert.match((await readAsset(folder, result.parts[1])).toString(), /^Resource 7: This is a base64 blob/);
  });

  // Long enough to arrive in many pieces, and not to be made short by gzip.
  const input = Buffer.from(Array.from({ length: 300_000 }, (_, i) => (i * i * 31 + (i >> 3)) % 251));
  const data = `data:application/octet-stream;base64,${input.toString('base64')}`;

  it('gzip-file-as-resource is a complete .gz file that unpacks to the original', async () => {
    const { result, folder } = await call('gzip-file-as-resource', {
      name: 'numbers.gz',
      data,
      outputType: 'resource',
    });
    assert.deepEqual(nameParts(result.parts), ['file .gz']);
    assert.equal(onlyAsset(result.parts).name, 'numbers.gz');
    assert.equal(sha256(gunzipSync(await readAsset(folder, result.parts[0]))), sha256(input));
  });

  it('gzip-file-as-resource as a link is a link, not a file', async () => {
    const { result } = await call('gzip-file-as-resource', {
      name: 'numbers.gz',
      data,
      outputType: 'resourceLink',
    });
    assert.deepEqual(nameParts(result.parts), ['link']);
  });
});

describe('server-filesystem read_media_file', () => {
  const folder = temporaryFolder({ after });
  const session = openSession(
    { after },
    { files: fromNpm('@modelcontextprotocol/server-filesystem', folder) },
  );

  const png = encodePng(drawChart({ title: 'T', values: [1, 2], style: 'bars' }));
  const wav = playArpeggio('A4', 0.5);
  const pdf = writeReport();
  const media: readonly (readonly [file: string, bytes: Uint8Array, part: string])[] = [
    ['chart.png', png, 'image .png'],
    ['chord.wav', wav, 'audio .wav'],
    ['tone.mp3', readSampleFile('jingle.mp3'), 'audio .mp3'],
    ['report.pdf', pdf, 'file .pdf'],
    // The server judges by the name; we judge by the bytes.
    ['png-inside.jpg', png, 'image .png'],
    ['wav-inside.mp3', wav, 'audio .wav'],
    ['png-inside.data', png, 'image .png'],
    ['pdf-inside', pdf, 'file .pdf'],
  ];
  for (const [file, bytes, part] of media) {
    it(`${file} becomes one ${part} of the same bytes, although the server sends it twice`, async () => {
      const path = join(folder, file);
      await writeFile(path, bytes);
      const called = await session.call('files.read_media_file', { path });
      assert.deepEqual(called.sent.structuredContent, { content: called.sent.content });
      assert.deepEqual(nameParts(called.result.parts), [part]);
      await assertEveryBlockKept(called);
      assert.equal(sha256(await readAsset(called.folder, called.result.parts[0])), sha256(bytes));
    });
  }
});
