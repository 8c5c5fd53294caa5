import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { json as readJson } from 'node:stream/consumers';
import { describe, type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { EventLines } from '../../../src/mcp/spill/fetch.ts';
import type { ToolProgress } from '../../../src/ports/tools.ts';
import { serveHttp } from '../../kit/http.ts';
import { until } from '../../kit/until.ts';
import { bytesOf, cut, makeFolder } from '../../unit/mcp/spill/spilling.ts';
import { http, serve } from '../helpers/serving.ts';

const MB = 1_000_000;

interface Message {
  readonly id?: number;
  readonly method: string;
  readonly params?: { name?: string; arguments?: { size?: number }; _meta?: { progressToken?: number } };
}

type Framing = 'json' | 'events' | 'gzip';

interface ImageResult {
  readonly content: readonly [{ readonly text: string }, { readonly data: string }];
}

describe('a large result over HTTP', () => {
  for (const framing of ['json', 'events', 'gzip'] as const) {
    test(`is a file, as ${framing}`, async (t) => {
      const { call, folder } = await start(t, framing);
      const table = folder.table();
      const { content } = (await call('image', table, 6 * MB)) as ImageResult;
      const bytes = bytesOf(table.find(content[1].data));
      assert.equal(createHash('sha256').update(bytes).digest('hex'), content[0].text);
      await table.dispose();
      assert.deepEqual(folder.files(), []);
    });

    test(`leaves nothing of what has arrived in memory, as ${framing}`, async (t) => {
      const { call, folder } = await start(t, framing);
      const table = folder.table();
      await call('empty', table);
      const chunks = watchChunks(t, framing === 'gzip' ? ['socket'] : ['socket', 'response']);
      await call('image', table, 6 * MB);
      await table.dispose();
      assert.ok(chunks.length > 10);
      // The chunk with the head of the response arrives before its body is read.
      assert.ok(chunks.filter(({ length }) => length > 0).length <= 1);
    });

    test(`reports how much has arrived, as ${framing}`, async (t) => {
      const serving = await start(t, framing);
      const spills = serving.folder.table();
      const told: (number | undefined)[] = [];
      const onProgress = ({ bytes }: ToolProgress) => told.push(bytes);
      await serving.callTool('web.image', { size: 4 * MB }, { spills, onProgress });
      await spills.dispose();
      const [first = 0, last = 0] = [told[0], told.at(-1)];
      assert.ok(MB <= first && first <= last && last < 6 * MB, String(told));
    });

    test(`over the limit is refused with its size, and the next call works, as ${framing}`, async (t) => {
      const { call, folder } = await start(t, framing);
      const table = folder.table(2 * MB);
      const { content } = (await call('image', table, 5 * MB)) as ImageResult;
      assert.deepEqual(table.find(content[1].data), { kind: 'refused', size: 5 * MB });
      assert.deepEqual(folder.files(), []);
      assert.deepEqual(await call('empty', table), { content: [] });
    });
  }

  for (const framing of ['json', 'events'] as const) {
    test(`that is cancelled in the middle is not read on, and leaves no file, as ${framing}`, async (t) => {
      const { call, folder, closed } = await start(t, framing);
      const table = folder.table();
      const abort = new AbortController();
      const cancelled = call('endless', table, 0, abort.signal);
      await until(() => folder.files().length > 0);
      abort.abort(new Error('stopped'));
      await assert.rejects(cancelled, /^Error: stopped$/);
      await closed;
      await table.dispose();
      assert.deepEqual(folder.files(), []);
      assert.deepEqual(await call('empty', table), { content: [] });
    });

    test(`that breaks off leaves no file, as ${framing}`, async (t) => {
      const { call, folder } = await start(t, framing);
      const table = folder.table();
      await assert.rejects(
        call('breaks', table),
        /Tool breaks of server web failed: .*(lost|terminated|closed)/,
      );
      await table.dispose();
      assert.deepEqual(folder.files(), []);
    });
  }

  test('with too much text fails alone', async (t) => {
    const { call, folder } = await start(t, 'events');
    const table = folder.table();
    await assert.rejects(call('text', table, 70 * MB), /its response contains more than 67\.1 MB of text/);
    assert.deepEqual(await call('empty', table), { content: [] });
  });

  test('the last progress is reported before the result, although they arrive together', async (t) => {
    const { callTool } = await start(t, 'events');
    const told: (number | undefined)[] = [];
    await callTool('web.progress', {}, { onProgress: ({ done }) => told.push(done) });
    assert.deepEqual([told[0], told.at(-1)], [1, 3]);
  });
});

describe('lines of an event stream', () => {
  test('are split at any chunking', () => {
    const line = fc.constantFrom(
      'data: {"a":1}',
      'data:x',
      'data',
      'data:',
      'data:  y',
      'id: 5',
      ': c',
      'dat: z',
      '',
    );
    const ends = fc.constantFrom('\n', '\r\n', '\r');
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 12 }),
        ends,
        fc.array(fc.integer({ min: 1, max: 7 }), { maxLength: 6 }),
        (lines, end, sizes) => {
          const stream = Buffer.from(lines.map((each) => each + end).join(''));
          const reader = new EventLines();
          let told = '';
          for (const chunk of cut(stream, sizes)) {
            for (const part of reader.split(chunk)) {
              if (part.kind === 'data') told += part.bytes.toString();
              else told += part.kind === 'other' ? `<${part.line}>` : part.kind === 'endOfData' ? '|' : '#';
            }
          }
          const expected = lines.map((each) => {
            if (each === '') return '#';
            return each.startsWith('data:') ? `${each.slice(5).replace(/^ /, '')}|` : `<${each}>`;
          });
          assert.equal(told, expected.join(''));
        },
      ),
      { numRuns: 400 },
    );
  });
});

/** What the next requests of this process read from their sockets, and the bodies that are made of it. */
function watchChunks(t: TestContext, events: readonly string[]): Buffer[] {
  const chunks: Buffer[] = [];
  const watch = (message: unknown) => {
    const { request } = message as { request: ClientRequest };
    const listen = (stream: Readable) => stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    // After the client has begun to read: a stream without its listener would lose the beginning.
    for (const event of events) request.on(event, (stream: Readable) => setImmediate(listen, stream));
  };
  subscribe('http.client.request.created', watch);
  t.after(() => unsubscribe('http.client.request.created', watch));
  return chunks;
}

async function start(t: TestContext, framing: Framing) {
  const folder = makeFolder(t);
  const closed = Promise.withResolvers<void>();
  const url = await serveHttp(t, async (request, response) => {
    const message = request.method === 'POST' ? ((await readJson(request)) as Message) : undefined;
    if (message?.id === undefined) response.writeHead(message === undefined ? 405 : 202).end();
    else await answer(message, response, framing, closed.resolve);
  });
  const serving = serve(t, { web: http(url) });
  const call = (tool: string, spills: ReturnType<typeof folder.table>, size = 0, signal?: AbortSignal) =>
    serving.call(`web.${tool}`, { size }, { spills, signal });
  return { ...serving, folder, call, callTool: serving.call, closed: closed.promise };
}

async function answer(message: Message, response: ServerResponse, framing: Framing, onClosed: () => void) {
  const { id, method, params } = message;
  const reply = (result: unknown) => JSON.stringify({ jsonrpc: '2.0', id, result });
  const [before, after] = framing === 'events' ? ['event: message\ndata: ', '\n\n'] : ['', ''];
  const send = (text: string) => {
    const body = before + text + after;
    response.end(framing === 'gzip' ? gzipSync(body, { level: 1 }) : body);
  };
  response.setHeader(
    'content-type',
    framing === 'events' ? 'text/event-stream' : 'application/json; charset=utf-8',
  );
  if (framing === 'gzip') response.setHeader('content-encoding', 'gzip');
  const name = params?.name ?? '';
  const size = params?.arguments?.size ?? 0;
  const half = `${before}{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"image","data":"`;
  if (method === 'initialize') {
    send(reply({ ...params, capabilities: {}, serverInfo: { name: 's', version: '1' } }));
  } else if (name === 'image') {
    send(reply(imageOf(randomBytes(size))));
  } else if (name === 'text') {
    send(reply({ content: [{ type: 'text', text: 'a word '.repeat(size / 7) }] }));
  } else if (name === 'breaks') {
    response.write(half + 'A'.repeat(MB), () => response.destroy());
  } else if (name === 'endless') {
    response.on('close', onClosed).write(half);
    while (!response.destroyed) await new Promise((resolve) => response.write('A'.repeat(MB), resolve));
  } else if (name === 'progress') {
    const progress = [1, 2, 3].map((done) => ({
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: { progressToken: params?._meta?.progressToken, progress: done },
    }));
    send([...progress.map((each) => JSON.stringify(each)), reply({ content: [] })].join('\n\ndata: '));
  } else {
    send(reply({ content: [] }));
  }
}

function imageOf(bytes: Buffer) {
  const text = createHash('sha256').update(bytes).digest('hex');
  return {
    content: [
      { type: 'text', text },
      { type: 'image', data: bytes.toString('base64') },
    ],
  };
}
