/** The thirty scenarios of whoever writes a tool, by their numbers: a real server of each SDK, and a real client. */

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type CallToolResult, Client, type ProgressCallback } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { MAX_SIZE } from '../../../src/content/index.ts';
import type { StdioServer } from '../../../src/mcp/config/types.ts';
import { temporaryFolder } from '../../kit/folder.ts';
import { pngOfSize, SAMPLES } from '../../unit/content/samples.ts';
import { openSession, type SentResult } from '../helpers/connect.ts';
import { repositoryPath } from '../helpers/sampleServer.ts';

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
const picture = (mimeType: string, bytes: Uint8Array) => ({ type: 'image', mimeType, data: base64(bytes) });
const PNG = picture('image/png', SAMPLES.png());
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const uriOf = (bytes: Uint8Array, name: string) => `content://sha256-${sha256(bytes).slice(0, 16)}/${name}`;

function resource(mimeType: string, bytes: Uint8Array, name: string) {
  return { type: 'resource', resource: { uri: uriOf(bytes, name), mimeType, blob: base64(bytes) } };
}

const folder = temporaryFolder({ after });
const inside = join(folder, 'served');
const outside = join(folder, 'elsewhere');
const UNSIGNED = Buffer.from('no signature at all');

before(async () => {
  await mkdir(join(inside, 'images'), { recursive: true });
  await mkdir(outside);
  await writeFile(join(inside, 'image.png'), SAMPLES.png());
  await writeFile(join(inside, 'images', 'chart.png'), SAMPLES.png());
  await writeFile(join(inside, 'chart.gif'), UNSIGNED);
  await writeFile(join(inside, 'nameless'), SAMPLES.png());
  await writeFile(join(outside, 'chart.png'), SAMPLES.png());
});

for (const sdk of ['1', '2']) {
  describe(`a server of SDK ${sdk} with filechat/content`, () => {
    const config: StdioServer = {
      kind: 'stdio',
      command: process.execPath,
      args: [repositoryPath('test/integration/fixtures/content-server.ts'), sdk, inside],
      env: {},
    };
    const client = new Client({ name: 'scenarios', version: '1' });
    const logged: unknown[] = [];
    const allLogged = Promise.withResolvers<void>();
    before(async () => {
      client.setNotificationHandler('notifications/message', ({ params }) => {
        if (logged.push(params.data) === 2) allLogged.resolve();
      });
      const { command, args } = config;
      await client.connect(new StdioClientTransport({ command, args: [...args], stderr: 'inherit' }));
    });
    after(() => client.close());

    const call = (name: string, given: Record<string, unknown> = {}) =>
      client.callTool({ name, arguments: given }) as Promise<CallToolResult>;
    /** The blocks of a call that went well. */
    const blocks = async (name: string, given?: Record<string, unknown>) => {
      const { content, isError } = await call(name, given);
      assert.notEqual(isError, true, JSON.stringify(content));
      return content;
    };
    /** What a call says that failed. */
    const failure = async (name: string, given?: Record<string, unknown>) => {
      const { content, isError } = await call(name, given);
      assert.equal(isError, true);
      assert.equal(content.length, 1);
      return content[0]?.type === 'text' ? content[0].text : '';
    };

    it('1: a PNG in a Buffer is an image block', async () => {
      assert.deepEqual(await blocks('png'), [PNG]);
    });

    it('2: a JPEG in a Uint8Array is told by its bytes', async () => {
      assert.deepEqual(await blocks('jpeg'), [picture('image/jpeg', SAMPLES.jpg())]);
    });

    it('3: base64 with an explicit type goes through as it is', async () => {
      assert.deepEqual(await blocks('explicit'), [PNG]);
    });

    it('4: a file is read, and its type is found', async () => {
      assert.deepEqual(await blocks('file', { path: './image.png' }), [PNG]);
    });

    it('5: a PDF in a Buffer is a resource with blob, which MCP has for bytes', async () => {
      assert.deepEqual(await blocks('pdf'), [resource('application/pdf', SAMPLES.pdf(), 'file.pdf')]);
    });

    it('6: text and images of a whole result stay, in their order', async () => {
      const result = await call('mixed');
      assert.deepEqual(result.content, [
        { type: 'text', text: 'before' },
        PNG,
        picture('image/gif', SAMPLES.gif()),
        { type: 'text', text: 'after' },
      ]);
      assert.deepEqual(result.structuredContent, { pictures: 2 });
    });

    it('7: resources of bytes, text and JSON are read as blob and as text', async () => {
      const read = async (uri: string) => (await client.readResource({ uri })).contents;
      assert.deepEqual(await read('img://logo'), [
        { uri: 'img://logo', mimeType: 'image/png', blob: base64(SAMPLES.png()) },
      ]);
      assert.deepEqual(await read('doc://manual'), [
        { uri: 'doc://manual', mimeType: 'application/pdf', blob: base64(SAMPLES.pdf()) },
      ]);
      assert.deepEqual(await read('doc://readme'), [
        { uri: 'doc://readme', mimeType: 'text/plain', text: 'Read me.' },
      ]);
      assert.deepEqual(await read('config://settings'), [
        { uri: 'config://settings', mimeType: 'application/json', text: '{\n  "dark": true\n}' },
      ]);
    });

    it('8: where the bytes say nothing, the extension does', async () => {
      assert.deepEqual(await blocks('file', { path: './chart.gif' }), [picture('image/gif', UNSIGNED)]);
    });

    it('9: where there is no extension, the bytes do', async () => {
      assert.deepEqual(await blocks('file', { path: 'nameless' }), [PNG]);
    });

    it('10: WebP', async () => {
      assert.deepEqual(await blocks('webp'), [picture('image/webp', SAMPLES.webp())]);
    });

    it('11: GIF', async () => {
      assert.deepEqual(await blocks('gif'), [picture('image/gif', SAMPLES.gif())]);
    });

    it('12: an MP3 is sound, of the registered type unless its author says another', async () => {
      const sound = { type: 'audio', data: base64(SAMPLES.mp3()) };
      assert.deepEqual(await blocks('mp3'), [{ ...sound, mimeType: 'audio/mpeg' }]);
      assert.deepEqual(await blocks('named_mp3'), [{ ...sound, mimeType: 'audio/mp3' }]);
    });

    it('13: a ZIP is a resource with blob', async () => {
      assert.deepEqual(await blocks('zip'), [resource('application/zip', SAMPLES.zip(), 'file.zip')]);
    });

    it('14: 5 MB arrive whole', async () => {
      const result = await call('five_megabytes');
      assert.deepEqual(result.content, [picture('image/png', pngOfSize(5_000_000))]);
      assert.equal(result._meta?.['warnings'], undefined);
    });

    it('15: a string stays text, also one that reads like the path of a file elsewhere', async () => {
      for (const text of ['Hello World', '../elsewhere/chart.png', join(outside, 'chart.png'), 'aGVsbG8='])
        assert.deepEqual(await blocks('text', { text }), [{ type: 'text', text }]);
    });

    it('16: a file that is not there is an error that names it', async () => {
      assert.equal(
        await failure('file', { path: './nonexistent.png' }),
        "Failed to read file './nonexistent.png': File not found: ./nonexistent.png. Check that the path is correct and the file exists.",
      );
    });

    it('17: invalid base64 is an error', async () => {
      assert.equal(
        await failure('bad_base64'),
        'Invalid base64 data: String contains invalid characters. Ensure the data is properly base64-encoded.',
      );
    });

    it('18: bytes without type, name and signature are octets', async () => {
      const bytes = Buffer.from([1, 2, 3, 4, 5, 6, 7, 8]);
      assert.deepEqual(await blocks('unknown'), [resource('application/octet-stream', bytes, 'file.bin')]);
    });

    it('19: a type that nobody knows is sent, with a warning', async () => {
      const result = await call('strange_type');
      assert.deepEqual(result.content, [{ ...PNG, mimeType: 'image/xyz-invalid' }]);
      assert.match(JSON.stringify(result._meta), /Unsupported MIME type: image\/xyz-invalid/);
    });

    it('20: no bytes are an error', async () => {
      assert.match(await failure('empty'), /^Cannot convert empty buffer/);
    });

    it('21: null and undefined are errors', async () => {
      for (const text of ['null', 'undefined'])
        assert.match(await failure('nothing', { text }), /^Invalid result/);
    });

    it('22: a resource that is not there is an error, in a tool and for the client', async () => {
      assert.equal(
        await failure('own_resource', { path: 'unknown://resource' }),
        'Resource not found: unknown://resource',
      );
      await assert.rejects(client.readResource({ uri: 'unknown://resource' }), /not found/i);
    });

    it('23: 50 MB arrive whole, with a warning; one byte more is an error', {
      timeout: 120_000,
    }, async (t) => {
      // The SDK's client gives up at 10 MiB, so it is ours that reads this one.
      const { call } = openSession(t, { content: config });
      const { sent, asset } = await call('content.fifty_megabytes');
      const saved = await asset(0);
      assert.equal(saved.length, MAX_SIZE);
      assert.equal(sha256(saved), sha256(pngOfSize(MAX_SIZE)));
      assert.deepEqual((sent as SentResult & { _meta?: unknown })._meta, {
        warnings: [`Large file detected: ${MAX_SIZE} bytes. Consider streaming or chunking.`],
      });
      assert.equal(
        await failure('too_large'),
        `File too large: ${MAX_SIZE + 1} bytes (max: ${MAX_SIZE}). Consider reducing image quality or splitting into smaller files.`,
      );
    });

    it('24: of a data: URL only the bytes are sent', async () => {
      assert.deepEqual(await blocks('data_url'), [PNG]);
    });

    it('25: a relative path counts from basePath and does not leave it', async () => {
      assert.deepEqual(await blocks('file', { path: './images/chart.png' }), [PNG]);
      for (const path of ['../elsewhere/chart.png', join(outside, 'chart.png')])
        assert.equal(await failure('file', { path }), `Path traversal detected: ${path}`);
    });

    it('26: an absolute path is used as it is where no folder is given', async () => {
      assert.deepEqual(await blocks('absolute', { path: join(outside, 'chart.png') }), [PNG]);
    });

    it('27: calls at the same time each get their own', async () => {
      const kinds = ['png', 'gif', 'webp', 'jpg', 'png', 'gif', 'webp', 'jpg', 'png', 'gif'] as const;
      const found = await Promise.all(kinds.map((text) => blocks('turn', { text })));
      assert.deepEqual(
        found.flat(),
        kinds.map((kind) => picture(`image/${kind === 'jpg' ? 'jpeg' : kind}`, SAMPLES[kind]())),
      );
    });

    it('28: a tool reads a resource of its own server and hands the picture on', async () => {
      assert.deepEqual(await blocks('own_picture', { path: 'img://logo' }), [PNG]);
      const contents = { uri: 'doc://manual', mimeType: 'application/pdf', blob: base64(SAMPLES.pdf()) };
      assert.deepEqual(await blocks('own_resource', { path: 'doc://manual' }), [
        { type: 'resource', resource: contents },
      ]);
    });

    it('29: progress is told, and the picture comes', async () => {
      const told: unknown[] = [];
      const onprogress: ProgressCallback = ({ progress, total }) => {
        told.push([progress, total]);
        if (progress === total) void call('seen');
      };
      const result = await client.callTool({ name: 'progress', arguments: {} }, { onprogress });
      assert.deepEqual(result.content, [PNG]);
      assert.deepEqual(told, [
        [1, 3],
        [2, 3],
        [3, 3],
      ]);
    });

    it('30: log messages come, and the picture', async () => {
      assert.deepEqual(await blocks('logging'), [PNG]);
      await allLogged.promise;
      assert.deepEqual(logged, ['drawing', 'drawn']);
    });
  });
}
