import assert from 'node:assert/strict';
import { readFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import type { Client } from '@modelcontextprotocol/client';
import {
  CHAT,
  connectOverHttp,
  connectOverStdio,
  createNotes,
  startOverHttp,
} from '../helpers/assetsServer.ts';

const SMALL = 'tool-file-20261116-093012-Small12345-1.bin';
const LARGE = 'tool-file-20261116-093012-Large12345-1.bin';
const GIGABYTE = 1024 ** 3;
const WINDOW_BYTES = 64 * 1024;
/** How much more memory the process may need for the larger of two files; a copy would take a thousand. */
const MAX_MORE_MB = 8;

it('a window of a file of 1 GB takes no more memory than one of a small file', {
  skip: noProc(),
}, async (t) => {
  const notes = createNotes(t);
  notes.write(`notes/cmdassets/${SMALL}`, Buffer.alloc(1024 * 1024, 7));
  notes.write(`notes/cmdassets/${LARGE}`, '');
  truncateSync(join(notes.path, 'notes/cmdassets', LARGE), GIGABYTE);
  const { client, pid } = await connectOverStdio(t, '2025-11-25', [notes.path]);
  for (const start of [0, 100_000]) await readWindow(client, SMALL, start);
  for (let at = 0; at < 10; at += 1) await readWindow(client, SMALL, at * WINDOW_BYTES);
  const afterSmall = peakMb(pid);
  for (let at = 0; at < 10; at += 1) await readWindow(client, LARGE, at * 100_000_000);
  const afterLarge = peakMb(pid);
  assert.ok(afterLarge - afterSmall <= MAX_MORE_MB, `${afterSmall} → ${afterLarge} MB`);
  const end = await readWindow(client, LARGE, GIGABYTE - 10);
  assert.equal(end['byteCount'], 10);
  assert.equal(end['nextStart'], undefined);
  await assert.rejects(client.readResource({ uri: uriOf(LARGE) }), /1073741824 bytes.*read_asset/);
});

it('a file that is read whole never exceeds the message limit of a client', async (t) => {
  const notes = createNotes(t);
  const text = 'tool-file-20261116-093012-Text123456-1.txt';
  notes.write(`notes/cmdassets/${LARGE}`, Buffer.alloc(7.5 * 1024 * 1024));
  notes.write(`notes/cmdassets/${SMALL}`, Buffer.alloc(7.4 * 1024 * 1024));
  // Each of its characters takes six in JSON.
  notes.write(`notes/cmdassets/${text}`, '\u0001'.repeat(2 * 1024 * 1024));
  const { client } = await connectOverStdio(t, '2026-07-28', [notes.path]);
  for (const name of [LARGE, text])
    await assert.rejects(client.readResource({ uri: uriOf(name) }), /read_asset/, name);
  const { contents } = await client.readResource({ uri: uriOf(SMALL) });
  assert.ok(contents[0] && 'blob' in contents[0]);
  const window = { uri: uriOf(text), maxBytes: 2 * 1024 * 1024 };
  const refused = await client.callTool({ name: 'read_asset', arguments: window });
  assert.match((refused.content[0] as { text: string }).text, /Use a smaller maxBytes/);
  const largest = { uri: uriOf(LARGE), maxBytes: 4 * 1024 * 1024 };
  assert.ok(!(await client.callTool({ name: 'read_asset', arguments: largest })).isError);
});

it('an upload of 20 MB arrives complete over both transports', async (t) => {
  const notes = createNotes(t);
  const bytes = Buffer.alloc(20_000_000, 'Not all of it is the same. ');
  bytes.writeUInt32BE(0x00_01_02_03, 0);
  const { client } = await connectOverStdio(t, '2025-11-25', [notes.path]);
  const remote = await connectOverHttp(t, '2026-07-28', await startOverHttp(t, [notes.path]));
  for (const each of [client, remote]) {
    const result = await each.callTool({
      name: 'save_asset',
      arguments: { chat: CHAT, name: 'large.bin', data: bytes.toString('base64') },
    });
    const { asset } = result.structuredContent as { asset: string };
    assert.deepEqual(readFileSync(join(notes.path, 'notes/cmdassets', asset)), bytes);
  }
});

it('an upload over the limit is refused with the limit and its option, and the connection stays open', async (t) => {
  const notes = createNotes(t);
  const args = ['--max-upload-bytes', '1000', notes.path];
  const { client } = await connectOverStdio(t, '2025-11-25', args);
  const remote = await connectOverHttp(t, '2026-07-28', await startOverHttp(t, args));
  for (const each of [client, remote]) {
    const save = (size: number) =>
      each.callTool({ name: 'save_asset', arguments: { name: 'a.txt', text: 'x'.repeat(size) } });
    const refused = await save(1001);
    assert.equal(refused.isError, true);
    assert.match(JSON.stringify(refused.content), /limit of 1\.0 KB \(1000 bytes\).*--max-upload-bytes/);
    await assert.rejects(save(2_000_000), /longer than \d+ bytes.*1000 bytes; --max-upload-bytes/);
    assert.equal((await save(1000)).isError, undefined);
  }
});

function uriOf(name: string): string {
  return `filechat://notes%2Fcmdassets/${name}`;
}

async function readWindow(client: Client, name: string, start: number): Promise<Record<string, unknown>> {
  const result = await client.callTool({ name: 'read_asset', arguments: { uri: uriOf(name), start } });
  assert.ok(!result.isError, JSON.stringify(result));
  return result.structuredContent as Record<string, unknown>;
}

/** The most memory that the process ever had. */
function peakMb(pid: number): number {
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Math.round(Number(kilobytes) / 1024);
}

function noProc(): string | false {
  return process.platform === 'linux' ? false : 'only Linux tells the peak of another process';
}
