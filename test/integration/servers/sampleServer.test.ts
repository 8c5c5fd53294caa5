import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { fileTypeFromBuffer } from 'file-type';
import { serveHttp } from '../../../samples/server/http.ts';

const MAIN = fileURLToPath(new URL('../../../samples/server/main.ts', import.meta.url));
const SAMPLES = new URL('../../../samples/', import.meta.url);

/** The results of each tool: text as `text`, other blocks as their type and media type. */
const EXPECTED: readonly (readonly [
  tool: string,
  blocks: readonly string[],
  args?: Record<string, unknown>,
])[] = [
  [
    'tour',
    ['text', 'image image/png', 'text', 'audio audio/wav', 'text', 'resource application/pdf', 'text'],
  ],
  ['mixed', ['text', 'image image/png', 'text', 'image image/jpeg', 'text']],
  ['chart', ['image image/png'], { title: 'T', values: [1, 2] }],
  ['photo', ['image image/jpeg']],
  ['animation', ['image image/gif']],
  ['badge', ['image image/webp']],
  ['tone', ['text', 'audio audio/wav'], { note: 'A4', seconds: 0.5 }],
  ['jingle', ['audio audio/mpeg']],
  ['report', ['resource application/pdf']],
  ['archive', ['resource application/zip']],
  ['notes', ['resource text/markdown']],
  ['media', ['resource image/jpeg', 'resource audio/mpeg']],
  ['link', ['text', 'resource_link text/csv']],
  ['weather', ['text']],
  ['measure', ['text']],
  ['order', ['text'], { name: 'Ada', flavour: 'lemon', layers: 2, address: { street: 'S', city: 'C' } }],
  ['fail', ['text']],
  ['slow', ['text'], { seconds: 0, steps: 2 }],
  ['hostile', ['text', 'image image/png', 'text']],
];

describe('the sample server over stdio', () => {
  const client = new Client({ name: 'test', version: '1' });
  before(() => client.connect(new StdioClientTransport({ command: process.execPath, args: [MAIN] })));
  after(() => client.close());

  it('lists the tools that the samples promise, each with a title and a description', async () => {
    const { tools } = await client.listTools();
    assert.deepEqual(
      tools.map((tool) => tool.name),
      [...EXPECTED.map(([tool]) => tool)],
    );
    for (const tool of tools) assert.ok(tool.title && tool.description && tool.annotations, tool.name);
  });

  for (const [tool, blocks, args = {}] of EXPECTED) {
    it(`${tool} returns ${blocks.join(', ')}, with bytes of the declared types`, async () => {
      const result = await client.callTool({ name: tool, arguments: args });
      assert.equal(result.isError === true, tool === 'fail');
      assert.deepEqual(result.content.map(nameBlock), blocks);
      for (const { mimeType, base64 } of result.content.flatMap(listBytes)) {
        assert.equal((await fileTypeFromBuffer(Buffer.from(base64, 'base64')))?.mime, mimeType);
      }
    });
  }

  it('mixed has the three texts of the seed', async () => {
    const { content } = await client.callTool({ name: 'mixed' });
    const texts = content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
    assert.deepEqual(texts, [
      "Here's the first generated image:",
      "And here's another image showing a different view:",
      'Analysis of both images...',
    ]);
  });

  it('weather returns the same content as text and as data, measure does not', async () => {
    const weather = await client.callTool({ name: 'weather', arguments: { city: 'Rome' } });
    const [text] = weather.content;
    assert.deepEqual(JSON.parse(text?.type === 'text' ? text.text : ''), weather.structuredContent);
    const measure = await client.callTool({ name: 'measure' });
    assert.ok(measure.structuredContent);
  });

  it('order fills in its defaults and refuses invalid arguments', async () => {
    const order = { name: 'Ada', flavour: 'lemon', layers: 2, address: { street: 'S', city: 'C' } };
    const { content } = await client.callTool({ name: 'order', arguments: order });
    const [text] = content;
    assert.deepEqual(JSON.parse(text?.type === 'text' ? text.text : ''), {
      ...order,
      gift: false,
      kilograms: 1.5,
      toppings: [],
    });
    const refused = await client.callTool({ name: 'order', arguments: { ...order, layers: 8 } });
    assert.equal(refused.isError, true);
  });

  it('reads every resource, and the link states the size of what it points at', async () => {
    const { resources } = await client.listResources();
    assert.equal(resources.length, 6);
    for (const { uri } of resources) assert.equal((await client.readResource({ uri })).contents.length, 1);
    const [, link] = (await client.callTool({ name: 'link' })).content;
    assert.ok(link?.type === 'resource_link');
    const [contents] = (await client.readResource({ uri: link.uri })).contents;
    assert.ok(contents && 'text' in contents);
    assert.equal(Buffer.byteLength(contents.text), link.size);
  });

  it('has a sample chat for each of its tools, with valid arguments', async () => {
    const calls = await readSampleCalls();
    assert.deepEqual(calls.map((call) => call.tool).sort(), EXPECTED.map(([tool]) => tool).sort());
    for (const { chat, tool, args } of calls) {
      const quick = tool === 'slow' ? { ...args, seconds: 0 } : args;
      const result = await client.callTool({ name: tool, arguments: quick });
      assert.equal(result.isError === true, tool === 'fail', `${chat}: ${tool}`);
    }
  });
});

type Block = Awaited<ReturnType<Client['callTool']>>['content'][number];

function nameBlock(block: Block): string {
  if (block.type === 'text') return 'text';
  return `${block.type} ${block.type === 'resource' ? block.resource.mimeType : block.mimeType}`;
}

function listBytes(block: Block): { mimeType: string | undefined; base64: string }[] {
  if (block.type === 'image' || block.type === 'audio')
    return [{ mimeType: block.mimeType, base64: block.data }];
  if (block.type !== 'resource' || !('blob' in block.resource)) return [];
  return [{ mimeType: block.resource.mimeType, base64: block.resource.blob }];
}

async function readSampleCalls(): Promise<{ chat: string; tool: string; args: Record<string, unknown> }[]> {
  const chats = (await readdir(SAMPLES)).filter((name) => name.endsWith('.chat.md'));
  const calls = chats.map(async (chat) => {
    const text = await readFile(new URL(chat, SAMPLES), 'utf8');
    assert.match(text, /^(?:---\n[^#]*#[^#]*---\n)?# %% user\n/);
    return [...text.matchAll(/^```tool_call sample\.(\w+)\n([^`]*)\n```$/gm)].map(
      ([, tool = '', json = '']) => ({
        chat,
        tool,
        args: JSON.parse(json) as Record<string, unknown>,
      }),
    );
  });
  return (await Promise.all(calls)).flat();
}

describe('the sample server over HTTP', () => {
  it('offers the same tools and returns the same bytes each time', async (test) => {
    const { server, url } = await serveHttp(0);
    test.after(() => server.close().closeAllConnections());
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    test.after(() => client.close());
    assert.equal((await client.listTools()).tools.length, EXPECTED.length);
    const [first, second] = [
      await client.callTool({ name: 'tour' }),
      await client.callTool({ name: 'tour' }),
    ];
    assert.deepEqual(first, second);
  });

  it('refuses other paths, ended sessions and foreign hosts', async (test) => {
    const { server, url } = await serveHttp(0);
    test.after(() => server.close().closeAllConnections());
    assert.equal(await getStatus(new URL('/', url)), 404);
    assert.equal(await getStatus(new URL(url), { 'mcp-session-id': 'gone' }), 404);
    assert.equal(await getStatus(new URL(url), { host: 'example.invalid:80' }), 403);
  });
});

/** Not `fetch`, which does not let the Host header be chosen. */
async function getStatus(url: URL, headers: Record<string, string> = {}): Promise<number | undefined> {
  const [response] = (await once(get(url, { headers }), 'response')) as [IncomingMessage];
  response.resume();
  return response.statusCode;
}
