import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { after, before, describe, it, type TestContext } from 'node:test';
import type { Client } from '@modelcontextprotocol/client';
import {
  assetsServerFile,
  CHAT,
  CHAT_TEXT,
  CHAT_URI,
  connectOverHttp,
  connectOverStdio,
  createNotes,
  ERAS,
  type Era,
  IMAGE,
  IMAGE_URI,
  LOOSE,
  LOOSE_URI,
  type Notes,
  PNG_BYTES,
  REPORT,
  REPORT_TEXT,
  REPORT_URI,
  startOverHttp,
} from '../helpers/assetsServer.ts';
import { isAlive } from '../helpers/serving.ts';

const WAYS = {
  stdio: async (t: Pick<TestContext, 'after'>, era: Era, args: readonly string[]) =>
    (await connectOverStdio(t, era, args)).client,
  HTTP: async (t: Pick<TestContext, 'after'>, era: Era, args: readonly string[]) =>
    connectOverHttp(t, era, await startOverHttp(t, args)),
};

const ASSET_TEMPLATE = 'filechat://{chat}/{asset}';

for (const [way, connect] of Object.entries(WAYS)) {
  for (const era of ERAS) {
    describe(`the assets server over ${way} at ${era}`, () => {
      const ends: (() => unknown)[] = [];
      const lasting = { after: (end: () => unknown) => ends.push(end) } as Pick<TestContext, 'after'>;
      let notes: Notes;
      let client: Client;
      before(async () => {
        notes = createNotes(lasting);
        client = await connect(lasting, era, [notes.path]);
      });
      after(async () => {
        for (const end of ends.reverse()) await end();
      });

      it('says what it is and what can be done with it', async () => {
        assert.equal(client.getServerVersion()?.name, 'filechat-assets');
        assert.match(client.getInstructions() ?? '', /list_assets.*read_asset.*save_asset/);
        const { resources, tools, completions } = client.getServerCapabilities() ?? {};
        assert.deepEqual(resources, { listChanged: true, subscribe: true });
        assert.ok(tools && completions);
        const { tools: listed } = await client.listTools();
        assert.deepEqual(
          listed.map(({ name, annotations }) => [name, annotations?.readOnlyHint]),
          [
            ['list_assets', true],
            ['read_asset', true],
            ['search_chats', true],
            ['save_asset', false],
          ],
        );
        for (const { inputSchema, outputSchema } of listed) {
          assert.equal(inputSchema['type'], 'object');
          assert.equal(outputSchema?.['type'], 'object');
        }
      });

      it('lists every chat and asset with what reading it costs', async () => {
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

      it('reads chats and assets whole', async () => {
        const [chat] = (await client.readResource({ uri: CHAT_URI })).contents;
        assert.ok(chat && 'text' in chat);
        assert.equal(chat.text, CHAT_TEXT);
        assert.equal(chat.mimeType, 'text/markdown');
        const [image] = (await client.readResource({ uri: IMAGE_URI })).contents;
        assert.ok(image && 'blob' in image);
        assert.deepEqual(Buffer.from(image.blob, 'base64'), PNG_BYTES);
        assert.equal(image.uri, IMAGE_URI);
        // Every chat of the folder leads to its assets.
        const other = `filechat://notes%2Fcmdassets/${IMAGE}`;
        assert.equal((await client.readResource({ uri: other })).contents[0]?.uri, other);
      });

      it('says of what is not there that it is not found', async () => {
        for (const uri of ['filechat://nothing.chat.md', `${CHAT_URI}/${IMAGE.replace('V1', 'X1')}`])
          await assert.rejects(client.readResource({ uri }), {
            code: -32602,
            message: /nothing at filechat:/,
          });
        await assert.rejects(client.readResource({ uri: 'file:///etc/passwd' }), { code: -32602 });
      });

      it('completes the parts of its templates', async () => {
        const complete = async (name: string, value: string, chat?: string) => {
          const { completion } = await client.complete({
            ref: { type: 'ref/resource', uri: ASSET_TEMPLATE },
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
        await assert.rejects(
          client.complete({
            ref: { type: 'ref/resource', uri: 'x://{y}' },
            argument: { name: 'y', value: '' },
          }),
          { code: -32602 },
        );
      });

      it('gives windows of text and bytes that join to the whole', async () => {
        const text = await readByWindows(client, { uri: REPORT_URI, maxBytes: 7 });
        assert.equal(text.toString(), REPORT_TEXT);
        const bytes = await readByWindows(client, { uri: IMAGE_URI, maxBytes: 7 });
        assert.deepEqual(bytes, PNG_BYTES);
        const asBytes = await readByWindows(client, { uri: `asset:${REPORT}`, maxBytes: 7, as: 'bytes' });
        assert.equal(asBytes.toString(), REPORT_TEXT);
      });

      it('lists assets, searches chats, and saves what it lists then', async () => {
        const listed = await call(client, 'list_assets', { kind: 'file', sort: 'name', limit: 1 });
        assert.equal(listed.structured['total'], 2);
        const next = await call(client, 'list_assets', {
          kind: 'file',
          sort: 'name',
          limit: 1,
          cursor: listed.structured['nextCursor'],
        });
        assert.deepEqual(
          [listed, next].flatMap(({ structured }) =>
            (structured['assets'] as { asset: string }[]).map(({ asset }) => asset),
          ),
          [LOOSE, REPORT],
        );
        const { structured: found } = await call(client, 'search_chats', { query: 'HARBOUR sales' });
        const [hit] = found['hits'] as { uri: string; start: number; line: number }[];
        assert.equal(hit?.uri, CHAT_URI);
        const around = await call(client, 'read_asset', { uri: hit.uri, start: hit.start, maxBytes: 30 });
        assert.match(around.resource?.text ?? '', /Draw the sales/);

        const { structured: saved, text } = await call(client, 'save_asset', {
          chat: CHAT,
          name: 'dot.png',
          data: PNG_BYTES.toString('base64'),
        });
        assert.equal(saved['mimeType'], 'image/png');
        assert.match(text, /cmdassets\/tool-image-/);
        assert.deepEqual(
          readFileSync(join(notes.path, 'notes/cmdassets', String(saved['asset']))),
          PNG_BYTES,
        );
        const [image] = (await client.readResource({ uri: String(saved['uri']) })).contents;
        assert.ok(image && 'blob' in image);
        assert.equal(readFileSync(join(notes.path, CHAT), 'utf8'), CHAT_TEXT);
      });

      it('answers many calls at once, each with its own', async () => {
        const starts = Array.from({ length: 40 }, (_, at) => at);
        const windows = await Promise.all(
          starts.map((start) => call(client, 'read_asset', { uri: IMAGE_URI, start, maxBytes: 3 })),
        );
        windows.forEach(({ resource }, start) => {
          assert.deepEqual(Buffer.from(resource?.blob ?? '', 'base64'), PNG_BYTES.subarray(start, start + 3));
        });
      });

      it('refuses in words, as a result of the tool', async (t) => {
        const client = await connect(t, era, ['--read-only', createNotes(t).path]);
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
          const result = await client.callTool({ name, arguments: args });
          assert.equal(result.isError, true, name);
          assert.match((result.content[0] as { text: string }).text, reason);
        }
        await assert.rejects(client.callTool({ name: 'no_tool', arguments: {} }), { code: -32602 });
        const { tools } = await client.listTools();
        assert.ok(!tools.some(({ name }) => name === 'save_asset'));
      });

      it('tells when something comes, changes and goes', { timeout: 60_000 }, async (t) => {
        const notes = createNotes(t);
        const client = await connect(t, era, [notes.path]);
        const told = new Told(client);
        await follow(client, era, [CHAT_URI]);
        const { resources } = await client.listResources();
        assert.equal(resources.length, 5);

        const listed = told.next('list');
        notes.write('new/fresh.chat.md', '# %% user\nNew.\n');
        await listed;
        assert.equal((await client.listResources()).resources.length, 6);

        const updated = told.next(CHAT_URI);
        notes.write(CHAT, `${CHAT_TEXT}More.\n`);
        await updated;
        const [chat] = (await client.readResource({ uri: CHAT_URI })).contents;
        assert.ok(chat && 'text' in chat && chat.text.endsWith('More.\n'));

        const gone = told.next('list');
        rmSync(join(notes.path, 'new'), { recursive: true });
        await gone;
        assert.equal((await client.listResources()).resources.length, 5);
        assert.ok(!told.all.includes('filechat://ideas.chat.md'));
      });
    });
  }
}

describe('lists of resources', () => {
  for (const era of ERAS) {
    it(`come in pages, each entry once, at ${era}`, async (t) => {
      const notes = createNotes(t);
      for (let at = 0; at < 1200; at += 1)
        notes.write(
          `many/cmdassets/tool-file-20261116-093012-${String(at).padStart(10, '0')}-1.txt`,
          String(at),
        );
      const { client } = await connectOverStdio(t, era, [notes.path]);
      const first = await client.listResources({ cursor: undefined } as never);
      assert.equal(first.resources.length, 1205, 'the client asks for all pages by itself');
      const seen: string[] = [];
      let cursor: string | undefined;
      let pages = 0;
      do {
        const page = await client.request({
          method: 'resources/list',
          params: cursor === undefined ? {} : { cursor },
        });
        assert.ok(page.resources.length <= 500);
        seen.push(...page.resources.map(({ uri }) => uri));
        cursor = page.nextCursor;
        pages += 1;
      } while (cursor !== undefined);
      assert.equal(pages, 3);
      assert.equal(new Set(seen).size, 1205);
      await assert.rejects(client.listResources({ cursor: 'WzEsMl0' }), { code: -32602, message: /cursor/ });
      await assert.rejects(client.listResources({ cursor: '☃' }), { code: -32602, message: /cursor/ });
    });
  }
});

describe('the process', () => {
  for (const era of ERAS) {
    it(`ends with its client at ${era}, though it watches`, async (t) => {
      const notes = createNotes(t);
      const { client, pid, stderr } = await connectOverStdio(t, era, [notes.path]);
      await follow(client, era, [CHAT_URI]);
      await client.listResources();
      await client.close();
      assert.equal(isAlive(pid), false);
      assert.equal(stderr(), '');
    });
  }

  it('does not answer what was cancelled, and says nothing of it', async (t) => {
    const notes = createNotes(t);
    const child = spawn(process.execPath, [assetsServerFile(), notes.path]);
    t.after(() => child.kill());
    const send = (...messages: object[]) =>
      child.stdin.write(messages.map((each) => `${JSON.stringify({ jsonrpc: '2.0', ...each })}\n`).join(''));
    const lines = createInterface({ input: child.stdout });
    const clientInfo = { name: 'test', version: '1' };
    send({ id: 0, method: 'initialize', params: { protocolVersion: ERAS[0], capabilities: {}, clientInfo } });
    await once(lines, 'line');
    const answered: number[] = [];
    lines.on('line', (line) => answered.push(JSON.parse(line).id));
    const cancelled = [1, 2, 3].map((requestId) => ({
      method: 'notifications/cancelled',
      params: { requestId },
    }));
    send(
      { id: 1, method: 'tools/call', params: { name: 'search_chats', arguments: { query: 'harbour' } } },
      { id: 2, method: 'resources/list' },
      { id: 3, method: 'tools/call', params: { name: 'list_assets', arguments: {} } },
      ...cancelled,
      { id: 4, method: 'resources/list' },
    );
    await once(lines, 'line');
    child.stdin.end();
    const [[code]] = await Promise.all([
      once(child, 'exit'),
      text(child.stderr).then((said) => assert.equal(said, '')),
    ]);
    assert.equal(code, 0);
    assert.deepEqual(answered, [4]);
  });

  it('ends at SIGTERM, over stdio and HTTP', async (t) => {
    const notes = createNotes(t);
    const { client, pid } = await connectOverStdio(t, '2025-11-25', [notes.path]);
    const closed = new Promise<void>((resolve) => {
      client.onclose = resolve;
    });
    process.kill(pid, 'SIGTERM');
    await closed;
    const server = await startOverHttp(t, [notes.path]);
    const other = await connectOverHttp(t, '2025-11-25', server);
    await other.listResources();
    const exited = new Promise((resolve) => server.process.once('exit', (code) => resolve(code)));
    server.process.kill('SIGTERM');
    assert.equal(await exited, 0);
  });

  it('serves several folders under their labels, and keeps them apart', async (t) => {
    const [a, b] = [createNotes(t), createNotes(t)];
    b.write('notes/cmdassets/tool-file-20261116-093012-onlyInSecond-1.txt', 'second');
    const { client } = await connectOverStdio(t, '2026-07-28', [
      join(a.path, 'notes'),
      join(b.path, 'notes'),
    ]);
    const { resources } = await client.listResources();
    const chats = resources.filter(({ mimeType }) => mimeType === 'text/markdown').map(({ name }) => name);
    assert.deepEqual(chats.sort(), ['notes-2/sales.chat.md', 'notes/sales.chat.md']);
    assert.equal(readdirSync(join(a.path, 'notes/cmdassets')).length, 3);
    const name = 'tool-file-20261116-093012-onlyInSecond-1.txt';
    const inFirst = `filechat://notes%2Fsales.chat.md/${name}`;
    await assert.rejects(client.readResource({ uri: inFirst }), { code: -32602 });
    const { resource } = await call(client, 'read_asset', { uri: `asset:${name}` });
    assert.equal(resource?.text, 'second');
    const twice = await client.callTool({ name: 'read_asset', arguments: { uri: `asset:${IMAGE}` } });
    assert.match((twice.content[0] as { text: string }).text, /Several assets have this name.*notes-2%2F/);
  });
});

interface Called {
  readonly text: string;
  readonly structured: Record<string, unknown>;
  readonly resource?: { readonly uri: string; readonly text?: string; readonly blob?: string } | undefined;
}

/** The client has checked the structured content against the tool’s schema. */
async function call(client: Client, name: string, args: Record<string, unknown>): Promise<Called> {
  const result = await client.callTool({ name, arguments: args });
  const [text, embedded] = result.content;
  assert.ok(!result.isError && text?.type === 'text', JSON.stringify(result));
  return {
    text: text.text,
    structured: result.structuredContent as Record<string, unknown>,
    ...(embedded?.type === 'resource' ? { resource: embedded.resource } : {}),
  };
}

async function readByWindows(client: Client, args: Record<string, unknown>): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let start: number | undefined = 0;
  while (start !== undefined) {
    const { structured, resource } = await call(client, 'read_asset', { ...args, start });
    const piece: Buffer = Buffer.from(
      resource?.text ?? resource?.blob ?? '',
      resource?.text === undefined ? 'base64' : 'utf8',
    );
    assert.equal(piece.length, structured['byteCount']);
    assert.ok(piece.length <= Number(args['maxBytes']));
    pieces.push(piece);
    start = structured['nextStart'] as number | undefined;
  }
  return Buffer.concat(pieces);
}

/** As clients of each revision ask to be told. */
async function follow(client: Client, era: Era, uris: readonly string[]): Promise<void> {
  if (era === '2025-11-25') {
    for (const uri of uris) await client.subscribeResource({ uri });
    return;
  }
  const { honoredFilter } = await client.listen({
    resourcesListChanged: true,
    resourceSubscriptions: [...uris],
  });
  assert.deepEqual(honoredFilter, { resourcesListChanged: true, resourceSubscriptions: [...uris] });
}

/** What the server has told of changes: `list`, or an address. */
class Told {
  readonly all: string[] = [];
  readonly #waiting = new Set<(said: string) => void>();

  constructor(client: Client) {
    client.setNotificationHandler('notifications/resources/list_changed', () => this.#say('list'));
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => this.#say(params.uri));
  }

  next(wanted: string): Promise<void> {
    return new Promise((resolve) => {
      const waiter = (said: string) => {
        if (said !== wanted) return;
        this.#waiting.delete(waiter);
        resolve();
      };
      this.#waiting.add(waiter);
    });
  }

  #say(said: string): void {
    this.all.push(said);
    for (const waiter of [...this.#waiting]) waiter(said);
  }
}
