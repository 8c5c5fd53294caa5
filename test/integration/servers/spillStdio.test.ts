import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, describe, type TestContext, test } from 'node:test';
import type { StdioServer } from '../../../src/mcp/config/types.ts';
import { PendingRequests } from '../../../src/mcp/spill/pendingRequests.ts';
import { SpillTable } from '../../../src/mcp/spill/spillFiles.ts';
import { StdioTransport } from '../../../src/mcp/spill/stdio.ts';
import type { ToolProgress } from '../../../src/ports/tools.ts';
import { until } from '../../kit/until.ts';
import { bytesOf, makeFolder } from '../../unit/mcp/spill/spilling.ts';
import { fixture, scripted, serve } from '../helpers/serving.ts';

const MB = 1_000_000;
const server: StdioServer = {
  kind: 'stdio',
  command: process.execPath,
  args: [fixture('spill-server.mjs')],
  env: {},
};

interface ImageResult {
  readonly content: readonly [{ readonly text: string }, { readonly data: string }];
}

interface SlowResult {
  readonly content: readonly [{ readonly data: string }];
}

/** For all tests that leave the server running. */
const shared = serve({ after }, { a: server });

function start(t: TestContext, serving = shared) {
  const folder = makeFolder(t);
  const call = (tool: string, args: Record<string, unknown>, spills: SpillTable, signal?: AbortSignal) =>
    serving.call(`a.${tool}`, args, { spills, signal });
  /** Calls a tool that returns an image, and checks that its bytes are in a file. */
  const check = async (tool: string, args: Record<string, unknown> & { size: number }) => {
    const table = folder.table();
    checkImage((await call(tool, args, table)) as ImageResult, table, args.size);
    await table.dispose();
  };
  return { ...serving, folder, call, check };
}

function checkImage({ content }: ImageResult, table: SpillTable, size: number): void {
  const spill = table.find(content[1].data);
  const bytes = bytesOf(spill);
  assert.equal(bytes.length, size);
  assert.equal(createHash('sha256').update(bytes).digest('hex'), content[0].text);
  assert.ok(spill?.kind === 'bytes' && Buffer.from(spill.head).equals(bytes.subarray(0, spill.head.length)));
  assert.ok(spill.head.length >= 4096);
}

describe('a large result over stdio', () => {
  test('arrives at any chunking', async (t) => {
    const { check, folder } = start(t);
    await check('pieces', { size: 5 * MB });
    await check('drip', { size: 60_000 });
    await check('idLast', { size: 2 * MB, seed: 1 });
    assert.deepEqual(folder.files(), []);
  });

  for (const tool of ['image', 'idLast']) {
    test(`reports how much has arrived, as ${tool}; a small one reports nothing`, async (t) => {
      const folder = makeFolder(t);
      const told: (number | undefined)[] = [];
      const onProgress = ({ bytes }: ToolProgress) => told.push(bytes);
      const ask = async (size: number) => {
        const spills = folder.table();
        await shared.call(`a.${tool}`, { size, seed: 1 }, { spills, onProgress });
        await spills.dispose();
      };
      await ask(100_000);
      assert.deepEqual(told, []);
      await ask(5 * MB);
      const [first = 0, last = 0] = [told[0], told.at(-1)];
      assert.ok(MB <= first && first <= last && last < 7 * MB, String(told));
    });
  }

  test('without a table stays in the message', async () => {
    const { content } = (await shared.call('a.image', { size: 100_000, seed: 1 })) as ImageResult;
    const hash = createHash('sha256').update(Buffer.from(content[1].data, 'base64'));
    assert.equal(hash.digest('hex'), content[0].text);
  });

  for (const tool of ['image', 'idLast']) {
    test(`several calls at once, by ${tool}, each get their own`, async (t) => {
      const { call, folder } = start(t);
      const tables = [1, 2, 3].map(() => folder.table());
      const results = await Promise.all(
        tables.map((table, seed) => call(tool, { size: MB + seed, seed }, table)),
      );
      for (const [n, table] of tables.entries()) {
        checkImage(results[n] as ImageResult, table, MB + n);
        await table.dispose();
      }
      assert.deepEqual(folder.files(), []);
    });
  }

  test('that is cancelled in the middle leaves no file, and its rest is dropped', async (t) => {
    const { call, check, folder } = start(t);
    const table = folder.table();
    const abort = new AbortController();
    const cancelled = call('half', { size: 8 * MB }, table, abort.signal);
    await until(() => folder.files().length === 1);
    abort.abort(new Error('stopped'));
    await assert.rejects(cancelled, /^Error: stopped$/);
    await table.dispose();
    assert.deepEqual(folder.files(), []);
    await check('image', { size: MB, seed: 4 });
    assert.deepEqual(folder.files(), []);
  });

  test('that is cut off by a crash leaves no file', async (t) => {
    const { call, check, folder } = start(t, serve(t, { a: server }));
    const table = folder.table();
    await assert.rejects(
      call('half', { size: 8 * MB, andCrash: true }, table),
      /failed: its process was ended by SIGKILL\. Last lines of stderr: out of memory\.$/,
    );
    assert.deepEqual(folder.files(), [], 'even before the table is disposed');
    await check('image', { size: MB, seed: 4 });
  });

  test('over the limit is refused with its size, and the next one arrives', async (t) => {
    const { call, check, folder } = start(t);
    const table = folder.table(3 * MB);
    const { content } = (await call('image', { size: 5 * MB + 1, seed: 1 }, table)) as ImageResult;
    assert.deepEqual(table.find(content[1].data), { kind: 'refused', size: 5 * MB + 1 });
    assert.deepEqual(folder.files(), []);
    await check('image', { size: 3 * MB, seed: 4 });
  });

  test('that the disk refuses is reported in its place, and the next one arrives', async (t) => {
    const { call, check } = start(t);
    const full = Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
    const table = new SpillTable({ folder: () => Promise.reject(full), maxBytes: 10 * MB });
    const { content } = (await call('image', { size: MB, seed: 1 }, table)) as ImageResult;
    assert.deepEqual(table.find(content[1].data), {
      kind: 'failed',
      size: MB,
      reason: 'the disk is full. Free some space and call the tool again',
    });
    await check('image', { size: MB, seed: 4 });
  });

  test('may take longer than the timeout, as long as bytes arrive, with a table and without', async (t) => {
    const { call, client, folder } = start(t, serve(t, { a: server }, { timeoutMs: () => 1000 }));
    const table = folder.table();
    const slow = call('slow', { pieces: 8, everyMs: 250 }, table) as Promise<SlowResult>;
    assert.equal(bytesOf(table.find((await slow).content[0].data)).length, (8 * 80_000 * 3) / 4);
    await table.dispose();
    const { tools, failures } = await client.listTools('a');
    assert.deepEqual([tools.map(({ tool }) => tool), failures], [['t'], []]);
  });
});

describe('messages over stdio', () => {
  test('with too much text fail alone', async (t) => {
    const { call, check, folder } = start(t);
    await assert.rejects(
      call('text', { size: 70 * 1024 * 1024 }, folder.table()),
      /^Error: Tool text of server a failed: its response contains more than 67\.1 MB of text, 500000 values, or 50000 different keys\. Request less/,
    );
    await check('image', { size: MB, seed: 4 });
  });

  test('the last progress is reported before the result, although they arrive together', async () => {
    const told: (number | undefined)[] = [];
    await shared.call('a.progress', {}, { onProgress: ({ done }) => told.push(done) });
    assert.deepEqual([told[0], told.at(-1)], [1, 3]);
  });

  test('a line that is not a message is logged', async (t) => {
    const { logged, text } = serve(t, { a: scripted() });
    await text('a.garbage');
    assert.ok(logged.some((line) => line.includes('that is not an MCP message: "Listening on port 3000…"')));
  });

  test('a line over the size limit closes the server', async (t) => {
    const lost = Promise.withResolvers<string>();
    const transport = new StdioTransport({
      server,
      requests: new PendingRequests(1_000_000),
      onLost: lost.resolve,
    });
    t.after(() => transport.close());
    await transport.start();
    const params = { name: 'endless', arguments: {} };
    await transport.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    assert.equal(await lost.promise, 'it sent a line that exceeds the size limit');
    await transport.close();
    assert.notEqual(transport.exit, undefined);
  });
});
