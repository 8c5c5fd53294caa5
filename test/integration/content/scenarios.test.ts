/** The thirty numbered scenarios of tool authors: a real server of each SDK, and a real client. */

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
import { compileCache } from '../helpers/serving.ts';

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
const picture = (mimeType: string, bytes: Uint8Array) => ({ type: 'image', mimeType, data: base64(bytes) });
const PNG = picture('image/png', SAMPLES.png());
const MP3 = { type: 'audio', data: base64(SAMPLES.mp3()), mimeType: 'audio/mpeg' };
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

const serverOf = (sdk: string): StdioServer => ({
  kind: 'stdio',
  command: process.execPath,
  args: [repositoryPath('test/integration/fixtures/content-server.ts'), sdk, inside],
  env: compileCache(),
});

for (const sdk of ['1', '2']) {
  describe(`a server of SDK ${sdk} with filechat/content`, () => {
    const { command, args, env } = serverOf(sdk);
    const client = new Client({ name: 'scenarios', version: '1' });
    const logged: unknown[] = [];
    const allLogged = Promise.withResolvers<void>();
    before(async () => {
      client.setNotificationHandler('notifications/message', ({ params }) => {
        if (logged.push(params.data) === 2) allLogged.resolve();
      });
      await client.connect(
        new StdioClientTransport({ command, args: [...args], env: { ...env }, stderr: 'inherit' }),
      );
    });
    after(() => client.close());

    const call = (name: string, given: Record<string, unknown> = {}) =>
      client.callTool({ name, arguments: given }) as Promise<CallToolResult>;
    /** The blocks of a successful call. */
    const blocks = async (name: string, given?: Record<string, unknown>) => {
      const { content, isError } = await call(name, given);
      assert.notEqual(isError, true, JSON.stringify(content));
      return content;
    };
    /** The message of a failed call. */
    const failure = async (name: string, given?: Record<string, unknown>) => {
      const { content, isError } = await call(name, given);
      assert.equal(isError, true);
      assert.equal(content.length, 1);
      return content[0]?.type === 'text' ? content[0].text : '';
    };

    const returned: Record<string, [tool: string, block: object, given?: Record<string, unknown>]> = {
      '1: a PNG in a Buffer is an image block': ['png', PNG],
      '2: the type of a JPEG in a Uint8Array is detected': ['jpeg', picture('image/jpeg', SAMPLES.jpg())],
      '3: base64 with an explicit type is sent as it is': ['explicit', PNG],
      '4: a file is read, and its type is detected': ['file', PNG, { path: './image.png' }],
      '5: a PDF in a Buffer is a resource with blob, which MCP has for bytes': [
        'pdf',
        resource('application/pdf', SAMPLES.pdf(), 'file.pdf'),
      ],
      '8: the extension decides where the bytes have no signature': [
        'file',
        picture('image/gif', UNSIGNED),
        { path: './chart.gif' },
      ],
      '9: the bytes decide where there is no extension': ['file', PNG, { path: 'nameless' }],
      '10: WebP': ['webp', picture('image/webp', SAMPLES.webp())],
      '11: GIF': ['gif', picture('image/gif', SAMPLES.gif())],
      '12: an MP3 is audio of the registered type': ['mp3', MP3],
      '12: an MP3 has another type if its author says so': ['named_mp3', { ...MP3, mimeType: 'audio/mp3' }],
      '13: a ZIP is a resource with blob': ['zip', resource('application/zip', SAMPLES.zip(), 'file.zip')],
      '18: bytes without type, name and signature are octets': [
        'unknown',
        resource('application/octet-stream', Buffer.from([1, 2, 3, 4, 5, 6, 7, 8]), 'file.bin'),
      ],
      '24: of a data: URL only the bytes are sent': ['data_url', PNG],
      '26: an absolute path is used as it is where no folder is given': [
        'absolute',
        PNG,
        { path: join(outside, 'chart.png') },
      ],
    };
    for (const [name, [tool, block, given]] of Object.entries(returned)) {
      it(name, async () => assert.deepEqual(await blocks(tool, given), [block]));
    }

    const failed: Record<string, [tool: string, message: string, given?: Record<string, unknown>]> = {
      '16: a missing file is an error that names it': [
        'file',
        "Failed to read file './nonexistent.png': File not found: ./nonexistent.png. Check that the path is correct and the file exists.",
        { path: './nonexistent.png' },
      ],
      '17: invalid base64 is an error': [
        'bad_base64',
        'Invalid base64 data: String contains invalid characters. Ensure the data is properly base64-encoded.',
      ],
      '20: no bytes are an error': ['empty', 'Cannot convert empty buffer: there is nothing in it to send.'],
      '22: a missing resource is an error in a tool': [
        'own_resource',
        'Resource not found: unknown://resource',
        { path: 'unknown://resource' },
      ],
      '23: more than 50 MB are an error': [
        'too_large',
        `File too large: ${MAX_SIZE + 1} bytes (max: ${MAX_SIZE}). Consider reducing image quality or splitting into smaller files.`,
      ],
    };
    for (const [name, [tool, message, given]] of Object.entries(failed)) {
      it(name, async () => assert.equal(await failure(tool, given), message));
    }

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
      for (const contents of [
        { uri: 'img://logo', mimeType: 'image/png', blob: base64(SAMPLES.png()) },
        { uri: 'doc://manual', mimeType: 'application/pdf', blob: base64(SAMPLES.pdf()) },
        { uri: 'doc://readme', mimeType: 'text/plain', text: 'Read me.' },
        { uri: 'config://settings', mimeType: 'application/json', text: '{\n  "dark": true\n}' },
      ])
        assert.deepEqual(await read(contents.uri), [contents]);
    });

    it('14: 5 MB arrive whole', async () => {
      const result = await call('five_megabytes');
      assert.deepEqual(result.content, [picture('image/png', pngOfSize(5_000_000))]);
      assert.equal(result._meta?.['warnings'], undefined);
    });

    it('15: a string stays text, even if it is the path of a file elsewhere', async () => {
      for (const text of ['Hello World', '../elsewhere/chart.png', join(outside, 'chart.png'), 'aGVsbG8='])
        assert.deepEqual(await blocks('text', { text }), [{ type: 'text', text }]);
    });

    it('19: an unknown type is sent with a warning', async () => {
      const result = await call('strange_type');
      assert.deepEqual(result.content, [{ ...PNG, mimeType: 'image/xyz-invalid' }]);
      assert.match(JSON.stringify(result._meta), /Unsupported MIME type: image\/xyz-invalid/);
    });

    it('21: null and undefined are errors', async () => {
      for (const text of ['null', 'undefined'])
        assert.match(await failure('nothing', { text }), /^Invalid result/);
    });

    it('22: a missing resource is an error for the client', async () => {
      await assert.rejects(client.readResource({ uri: 'unknown://resource' }), /not found/i);
    });

    it('25: a relative path is relative to basePath and cannot leave it', async () => {
      assert.deepEqual(await blocks('file', { path: './images/chart.png' }), [PNG]);
      for (const path of ['../elsewhere/chart.png', join(outside, 'chart.png')])
        assert.equal(await failure('file', { path }), `Path traversal detected: ${path}`);
    });

    it('27: concurrent calls get their own results', async () => {
      const kinds = ['png', 'gif', 'webp', 'jpg', 'png', 'gif', 'webp', 'jpg', 'png', 'gif'] as const;
      const found = await Promise.all(kinds.map((text) => blocks('turn', { text })));
      assert.deepEqual(
        found.flat(),
        kinds.map((kind) => picture(`image/${kind === 'jpg' ? 'jpeg' : kind}`, SAMPLES[kind]())),
      );
    });

    it('28: a tool returns a resource of its own server', async () => {
      assert.deepEqual(await blocks('own_picture', { path: 'img://logo' }), [PNG]);
      const contents = { uri: 'doc://manual', mimeType: 'application/pdf', blob: base64(SAMPLES.pdf()) };
      assert.deepEqual(await blocks('own_resource', { path: 'doc://manual' }), [
        { type: 'resource', resource: contents },
      ]);
    });

    it('29: progress is reported before the image', async () => {
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

    it('30: log messages arrive with the image', async () => {
      assert.deepEqual(await blocks('logging'), [PNG]);
      await allLogged.promise;
      assert.deepEqual(logged, ['drawing', 'drawn']);
    });
  });
}

it('23: 50 MB arrive whole, with a warning', {
  timeout: 120_000,
}, async (t) => {
  // The SDK's client is limited to 10 MiB, so Filechat's client is used.
  const { call } = openSession(t, { content: serverOf('2') });
  const { sent, asset } = await call('content.fifty_megabytes');
  const saved = await asset(0);
  assert.equal(saved.length, MAX_SIZE);
  assert.equal(sha256(saved), sha256(pngOfSize(MAX_SIZE)));
  assert.deepEqual((sent as SentResult & { _meta?: unknown })._meta, {
    warnings: [`Large file detected: ${MAX_SIZE} bytes. Consider streaming or chunking.`],
  });
});
