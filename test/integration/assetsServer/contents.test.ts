import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import type { Client } from '@modelcontextprotocol/client';
import { until } from '../../kit/until.ts';
import {
  CHAT,
  CHAT_TEXT,
  callTool,
  connectOverHttp,
  connectOverStdio,
  createNotes,
  IMAGE_URI,
  type Notes,
  PNG_BYTES,
  REPORT_TEXT,
  REPORT_URI,
  startOverHttp,
} from '../helpers/assetsServer.ts';

const PHOTO = 'tool-image-20261116-093020-Photo12345-1.png';
const HUGE = 'tool-image-20261116-093021-Huge123456-1.png';
const SOUND = 'tool-audio-20261116-093022-Sound12345-1.wav';
const WAV_HEAD = 'RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x40\x1f\0\0\x01\0\x08\0data';
const CLIENT = 'filechat-integration 1';

const photo = Buffer.concat([PNG_BYTES, Buffer.alloc(200_000, 'noise')]);
const sound = Buffer.concat([Buffer.from(WAV_HEAD, 'latin1'), Buffer.alloc(100_000, 'tone')]);

function createMedia(notes: Notes): void {
  notes.write(`notes/cmdassets/${PHOTO}`, photo);
  notes.write(
    `notes/cmdassets/${HUGE}`,
    Buffer.concat([PNG_BYTES.subarray(0, 40), Buffer.alloc(15_700_030)]),
  );
  notes.write(`notes/cmdassets/${SOUND}`, sound);
}

async function readBlock(client: Client, args: Record<string, unknown>) {
  const result = await client.callTool({ name: 'read_asset', arguments: args });
  const [about, ...blocks] = result.content;
  assert.ok(about?.type === 'text');
  const { content } = (result.structuredContent ?? {}) as { content?: string };
  return { about: about.text, blocks, content, isError: result.isError };
}

it('read_asset returns images and audio whole, as content that clients show', async (t) => {
  const notes = createNotes(t);
  createMedia(notes);
  const { client } = await connectOverStdio(t, '2025-11-25', [notes.path]);
  const image = { type: 'image', mimeType: 'image/png', data: photo.toString('base64') };
  for (const args of [{}, { as: 'auto', start: 0, maxBytes: 65_536 }, { as: 'image' }]) {
    const { about, blocks, content } = await readBlock(client, { uri: `asset:${PHOTO}`, ...args });
    assert.deepEqual([blocks, content], [[image], 'image']);
    assert.match(about, /^All of .* \(image\/png, 200070 bytes\)\.$/);
  }
  const audio = { type: 'audio', mimeType: 'audio/wav', data: sound.toString('base64') };
  const heard = await readBlock(client, { uri: `asset:${SOUND}` });
  assert.deepEqual([heard.blocks, heard.content], [[audio], 'audio']);

  const window = await callTool(client, 'read_asset', { uri: `asset:${PHOTO}`, as: 'resource' });
  assert.deepEqual([window.structured['content'], window.structured['nextStart']], ['bytes', 65_536]);
  assert.deepEqual(Buffer.from(window.resource?.blob ?? '', 'base64'), photo.subarray(0, 65_536));
  const text = await readBlock(client, { uri: REPORT_URI, as: 'text' });
  assert.deepEqual([text.blocks, text.content], [[{ type: 'text', text: REPORT_TEXT }], 'text']);

  const large = await readBlock(client, { uri: `asset:${HUGE}` });
  assert.deepEqual([large.blocks, large.content, large.isError], [[], 'none', undefined]);
  assert.match(large.about, /15700070 bytes\) is too large to be returned whole\. Read it in windows/);
  const refused = await readBlock(client, { uri: `asset:${HUGE}`, as: 'image' });
  assert.equal(refused.isError, true);
  assert.match(refused.about, /15\.7 MB, more than the 3\.8 MB/);
});

it('thresholds are options, and the text of a list says which files are large', async (t) => {
  const notes = createNotes(t);
  createMedia(notes);
  const listed = async (...options: string[]) => {
    const { client } = await connectOverStdio(t, '2025-11-25', [...options, notes.path]);
    const { text, structured } = await callTool(client, 'list_assets', {});
    const assets = structured['assets'] as { asset: string; largeFileWarning: boolean }[];
    const { content } = await readBlock(client, { uri: `asset:${SOUND}` });
    return { text, large: assets.filter((each) => each.largeFileWarning).map(({ asset }) => asset), content };
  };
  const plain = await listed();
  assert.deepEqual(plain.large.sort(), [SOUND, HUGE].sort());
  assert.match(plain.text, new RegExp(`15\\.7 MB, large, ~\\d+ tokens\\): asset:${HUGE}`));
  assert.doesNotMatch(plain.text, new RegExp(`large.*asset:${PHOTO}`));
  const loose = await listed('--max-tokens', '1000000', '--max-inline-bytes', '20000000');
  assert.deepEqual([loose.large, loose.content], [[], 'audio']);
  assert.doesNotMatch(loose.text, /large/);
  const strict = await listed('--max-inline-bytes', '40', '--max-media-bytes', '1000');
  assert.equal(strict.large.length, 5);
  assert.equal(strict.content, 'none');
});

it('a saved file keeps its name, its chat and its client; the audit log has each access', async (t) => {
  const notes = createNotes(t);
  const log = join(notes.around, 'logs/audit.jsonl');
  const args = ['--audit', log, notes.path];
  const near = await connectOverStdio(t, '2025-11-25', args);
  const far = await connectOverHttp(t, '2026-07-28', await startOverHttp(t, args));
  const saved: string[] = [];
  for (const [index, client] of Object.entries({ harbor: near.client, market: far })) {
    const name = `quarterly-plan-${index}.txt`;
    const { structured } = await callTool(client, 'save_asset', { chat: CHAT, name, text: `Plan ${index}` });
    saved.push(String(structured['uri']));
    for (const query of [
      { filter: `quarterly ${index}` },
      { chat: CHAT, filter: 'PLAN-'.concat(`${index}`) },
    ]) {
      const { text, structured: list } = await callTool(client, 'list_assets', query);
      const assets = list['assets'] as Record<string, unknown>[];
      assert.deepEqual(
        assets.map((each) => [each['name'], each['chat'], each['savedBy'], each['uri']]),
        [[name, CHAT, CLIENT, structured['uri']]],
      );
      assert.match(text, new RegExp(`- ${name} \\(text/plain`));
    }
  }
  assert.equal(readFileSync(join(notes.path, CHAT), 'utf8'), CHAT_TEXT);
  await callTool(far, 'read_asset', { uri: IMAGE_URI });
  await far.readResource({ uri: REPORT_URI });
  await assert.rejects(far.readResource({ uri: 'filechat://gone.chat.md' }));
  await far.callTool({ name: 'read_asset', arguments: { uri: 'asset:nothing.png' } });
  await near.client.close();

  const read = () => readFileSync(log, 'utf8').trim().split('\n');
  await until(() => read().length === 10);
  assert.doesNotMatch(read().join(''), /Plan (?:harbor|market)|Umsätze|iVBOR/);
  const lines = read().map((line) => JSON.parse(line));
  for (const { time, server, client, ms } of lines) {
    assert.deepEqual([server, client, typeof ms], ['filechat-assets', CLIENT, 'number']);
    assert.ok(Math.abs(Date.now() - Date.parse(time)) < 600_000);
  }
  const facts = lines.map(({ kind, name, outcome, files }) => JSON.stringify([kind, name, outcome, files]));
  const file = (name: string | undefined, bytes: number) => [{ name, bytes }];
  const expected = [
    ['call', 'save_asset', 'ok', file(saved[0], 11)],
    ['call', 'save_asset', 'ok', file(saved[1], 11)],
    ...Array.from({ length: 4 }, () => ['call', 'list_assets', 'ok', null]),
    ['call', 'read_asset', 'ok', file(IMAGE_URI, PNG_BYTES.length)],
    ['resource', REPORT_URI, 'ok', file(REPORT_URI, Buffer.byteLength(REPORT_TEXT))],
    ['resource', 'filechat://gone.chat.md', 'error', file('filechat://gone.chat.md', 0)],
    ['call', 'read_asset', 'error', file('asset:nothing.png', 0)],
  ].map((each) => JSON.stringify(each));
  assert.deepEqual(facts.sort(), expected.sort());
});
