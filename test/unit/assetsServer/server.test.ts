import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { Client } from '@modelcontextprotocol/client';
import { InMemoryTransport } from '@modelcontextprotocol/server';
import { createServer } from '../../../src/assetsServer/server.ts';
import { createShared, type Shared } from '../../../src/assetsServer/shared.ts';
import {
  CHAT,
  CHAT_TEXT,
  CHAT_URI,
  callTool,
  createNotes,
  IMAGE,
  IMAGE_URI,
  LOOSE,
  LOOSE_URI,
  PNG_BYTES,
  REPORT,
  REPORT_TEXT,
  REPORT_URI,
} from '../../integration/helpers/assetsServer.ts';

const SECRET = '/home/somebody/chats/private.chat.md';
const ASSET_TEMPLATE = 'filechat://{chat}/{asset}';
const OPTIONS = {
  folders: [],
  readOnly: false,
  maxUploadBytes: 1000,
  allowedTypes: [],
  maxMediaBytes: 3000,
  maxInlineBytes: 1000,
  maxTokens: 500,
  version: '1',
  log: () => {},
};

/** Call it before creating folders, so that clients end first: Windows does not remove a folder that is watched. */
function clientsOf(t: TestContext): Client[] {
  const clients: Client[] = [];
  t.after(async () => void (await Promise.all(clients.map((client) => client.close()))));
  return clients;
}

async function connect(clients: Client[], shared: Shared): Promise<Client> {
  const [near, far] = InMemoryTransport.createLinkedPair();
  await createServer(shared, 'legacy').server.connect(far);
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(near);
  clients.push(client);
  return client;
}

async function serveNotes(t: TestContext, options: Partial<typeof OPTIONS> = {}) {
  const clients = clientsOf(t);
  const notes = createNotes(t);
  const shared = createShared({ ...OPTIONS, folders: [notes.path], ...options });
  return { notes, client: await connect(clients, shared) };
}

describe('resources', () => {
  it('include every chat and asset, with the cost of reading it', async (t) => {
    const { client } = await serveNotes(t);
    const { resources } = await client.listResources();
    assert.deepEqual(
      resources.map(({ uri }) => uri).sort(),
      [CHAT_URI, IMAGE_URI, REPORT_URI, LOOSE_URI, 'filechat://ideas.chat.md'].sort(),
    );
    const report = resources.find(({ uri }) => uri === REPORT_URI);
    assert.equal(report?.name, REPORT);
    assert.equal(report?.title, 'umsatz.txt');
    assert.match(report?.description ?? '', /about \d+ tokens.*charts\.bar.*notes\/sales\.chat\.md/);
    const { lastModified, estimatedTokens, ...meta } = report?._meta ?? {};
    assert.deepEqual(meta, {
      size: Buffer.byteLength(REPORT_TEXT),
      mimeType: 'text/plain',
      autoReadSafe: true,
      largeFileWarning: false,
    });
    assert.equal(report?.annotations?.lastModified, lastModified);
    assert.equal(estimatedTokens, Math.ceil(Buffer.byteLength(REPORT_TEXT) / 4));
    const { resourceTemplates } = await client.listResourceTemplates();
    assert.deepEqual(
      resourceTemplates.map(({ uriTemplate }) => uriTemplate),
      [ASSET_TEMPLATE, 'filechat://{chat}'],
    );
  });

  it('are read whole, by every address that leads to them', async (t) => {
    const { client } = await serveNotes(t);
    const [chat] = (await client.readResource({ uri: CHAT_URI })).contents;
    assert.ok(chat && 'text' in chat);
    assert.deepEqual([chat.text, chat.mimeType], [CHAT_TEXT, 'text/markdown']);
    const [image] = (await client.readResource({ uri: IMAGE_URI })).contents;
    assert.ok(image && 'blob' in image);
    assert.deepEqual([image.uri, Buffer.from(image.blob, 'base64')], [IMAGE_URI, PNG_BYTES]);
    // Every chat of the folder leads to its assets.
    const other = `filechat://notes%2Fcmdassets/${IMAGE}`;
    assert.equal((await client.readResource({ uri: other })).contents[0]?.uri, other);
  });

  it('that do not exist are not found', async (t) => {
    const { client } = await serveNotes(t);
    for (const uri of ['filechat://nothing.chat.md', `${CHAT_URI}/${IMAGE.replace('V1', 'X1')}`])
      await assert.rejects(client.readResource({ uri }), { code: -32602, message: /nothing at filechat:/ });
    await assert.rejects(client.readResource({ uri: 'file:///etc/passwd' }), { code: -32602 });
  });

  it('are completed by the parts of their templates', async (t) => {
    const { client } = await serveNotes(t);
    const complete = async (name: string, value: string, chat?: string, uri = ASSET_TEMPLATE) => {
      const { completion } = await client.complete({
        ref: { type: 'ref/resource', uri },
        argument: { name, value },
        ...(chat === undefined ? {} : { context: { arguments: { chat } } }),
      });
      return completion.values;
    };
    assert.deepEqual(await complete('chat', 'notes/s'), [CHAT]);
    assert.deepEqual(await complete('chat', 'ASSETS'), ['notes/cmdassets']);
    assert.deepEqual(await complete('asset', 'tool-image', CHAT), [IMAGE]);
    assert.deepEqual(await complete('asset', '', 'notes/cmdassets'), [LOOSE]);
    assert.deepEqual(await complete('asset', 'none'), []);
    assert.deepEqual(await complete('other', ''), []);
    await assert.rejects(complete('y', '', undefined, 'x://{y}'), { code: -32602 });
  });

  it('are listed in pages, each entry once', async (t) => {
    const { client, notes } = await serveNotes(t);
    for (let at = 0; at < 1200; at += 1)
      notes.write(`many/cmdassets/tool-file-20261116-093012-${String(at).padStart(10, '0')}-1.txt`, `${at}`);
    const first = await client.listResources({ cursor: undefined } as never);
    assert.equal(first.resources.length, 1205, 'the client asks for all pages');
    const pages: string[][] = [];
    for (let cursor: string | undefined, isLast = false; !isLast; isLast = cursor === undefined) {
      const page = await client.request({ method: 'resources/list', params: cursor ? { cursor } : {} });
      pages.push(page.resources.map(({ uri }) => uri));
      cursor = page.nextCursor;
    }
    assert.deepEqual(
      pages.map(({ length }) => length),
      [500, 500, 205],
    );
    assert.equal(new Set(pages.flat()).size, 1205);
    for (const cursor of ['WzEsMl0', '☃'])
      await assert.rejects(client.listResources({ cursor }), { code: -32602, message: /cursor/ });
  });

  it('of several folders have labels, and are kept apart', async (t) => {
    const clients = clientsOf(t);
    const [a, b] = [createNotes(t), createNotes(t)];
    const name = 'tool-file-20261116-093012-onlyInSecond-1.txt';
    b.write(`notes/cmdassets/${name}`, 'second');
    const folders = [a, b].map(({ path }) => join(path, 'notes'));
    const client = await connect(clients, createShared({ ...OPTIONS, folders }));
    const { resources } = await client.listResources();
    const chats = resources.filter(({ mimeType }) => mimeType === 'text/markdown').map((each) => each.name);
    assert.deepEqual(chats.sort(), ['notes-2/sales.chat.md', 'notes/sales.chat.md']);
    const inFirst = `filechat://notes%2Fsales.chat.md/${name}`;
    await assert.rejects(client.readResource({ uri: inFirst }), { code: -32602 });
    const { resource } = await callTool(client, 'read_asset', { uri: `asset:${name}` });
    assert.equal(resource?.text, 'second');
    const twice = await client.callTool({ name: 'read_asset', arguments: { uri: `asset:${IMAGE}` } });
    assert.match((twice.content[0] as { text: string }).text, /Several assets have this name.*notes-2%2F/);
  });
});

describe('tools', () => {
  const refusals: readonly [tool: string, args: Record<string, unknown>, reason: RegExp][] = [
    ['read_asset', { uri: 'filechat://nothing.chat.md' }, /nothing at/],
    ['read_asset', { uri: 'asset:nothing.png' }, /no asset of this name/],
    ['read_asset', { uri: IMAGE_URI, start: 1000 }, /has 70 bytes/],
    ['read_asset', { uri: IMAGE_URI, maxBytes: 0 }, /maxBytes must be/],
    ['read_asset', {}, /uri must be/],
    ['search_chats', { query: '' }, /query must/],
    ['list_assets', { sort: 'colour' }, /sort must be/],
    ['save_asset', { name: 'a.txt', text: 'a' }, /--read-only/],
  ];
  for (const [name, args, reason] of refusals) {
    it(`report a refusal as text: ${name} ${JSON.stringify(args)}`, async (t) => {
      const { client } = await serveNotes(t, { readOnly: true });
      const result = await client.callTool({ name, arguments: args });
      assert.equal(result.isError, true);
      assert.match((result.content[0] as { text: string }).text, reason);
    });
  }

  it('do not include saving when the server is read-only', async (t) => {
    const { client } = await serveNotes(t, { readOnly: true });
    assert.ok(!(await client.listTools()).tools.some(({ name }) => name === 'save_asset'));
  });

  it('save the same bytes, uploaded twice concurrently, as one file', async (t) => {
    const { client } = await serveNotes(t);
    const upload = { chat: CHAT, name: 'a.txt', text: 'the same' };
    const save = () => client.callTool({ name: 'save_asset', arguments: upload });
    const [first, ...others] = await Promise.all(Array.from({ length: 5 }, save));
    for (const other of others) assert.deepEqual(other, first);
  });
});

it('unexpected errors are logged, and not shown to clients', async (t) => {
  const logged: string[] = [];
  const shared = createShared({ ...OPTIONS, log: (message) => logged.push(message) });
  shared.catalog.snapshot = async () => {
    throw Object.assign(new Error(`EIO: i/o error, scandir '${SECRET}'`), { code: 'EIO' });
  };
  const client = await connect(clientsOf(t), shared);
  logged.length = 0;
  const failure = (asked: Promise<unknown>) =>
    asked.then(
      () => assert.fail('It was answered.'),
      (error: unknown) => error,
    );
  const ref = { type: 'ref/resource', uri: 'filechat://{chat}' } as const;
  const told: unknown[] = [
    await failure(client.listResources()),
    await failure(client.complete({ ref, argument: { name: 'chat', value: '' } })),
  ];
  for (const [name, args] of [
    ['list_assets', {}],
    ['search_chats', { query: 'x' }],
    ['read_asset', { uri: 'asset:tool-file-20261116-093012-V1StGXR8a0-1.png' }],
  ] as const) {
    const result = await client.callTool({ name, arguments: args });
    assert.equal(result.isError, true);
    told.push(result);
  }
  for (const each of told) {
    assert.doesNotMatch(`${each} ${JSON.stringify(each)}`, /somebody|EIO|scandir/);
    assert.match(`${each} ${JSON.stringify(each)}`, /Internal server error/);
  }
  assert.equal(logged.filter((line) => line.includes(SECRET)).length, told.length);
});
