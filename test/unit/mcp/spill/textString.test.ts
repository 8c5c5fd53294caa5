import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { BUDGET } from '../../../../src/base/budget.ts';
import { SpillTable } from '../../../../src/mcp/spill/spillFiles.ts';
import { joined } from '../../../../src/result/textWindows.ts';
import { bytesOf, cut, filterMessage, makeFolder } from './spilling.ts';

const MIN_TEXT = 20;
const characters = fc.constantFrom('a', ' ', '\\', '"', '\n', '\u0001', 'é', '中', '😀', '\uFEFF', '/');
const texts = fc.array(characters, { minLength: 60, maxLength: 120 }).map((all) => `a text ${all.join('')}`);
const chunkings = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 10 });

function escapeAll(text: string): string {
  return JSON.stringify(text).replace(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

test('a long text goes to a file as it is, at any chunking and with any escapes', async (t) => {
  const folder = makeFolder(t);
  const property = fc.asyncProperty(texts, chunkings, fc.boolean(), async (text, sizes, escaped) => {
    const table = folder.table();
    const json = `{"id":1,"result":{"text":${escaped ? escapeAll(text) : JSON.stringify(text)},"short":"a b"}}`;
    const filtered = await filterMessage(cut(Buffer.from(json), sizes), table, 10, MIN_TEXT);
    const { result } = JSON.parse(filtered.toString());
    const spill = table.find(result.text);
    assert.equal(bytesOf(spill).toString(), text);
    assert.ok(spill?.kind === 'bytes' && spill.pieces);
    assert.equal(await joined(spill.pieces()), text);
    assert.equal(result.short, 'a b');
    await table.dispose();
    assert.deepEqual(folder.files(), []);
  });
  await fc.assert(property, { numRuns: 100 });
});

const LONG = 'words and words '.repeat(10);

test('the same text twice is one file', async (t) => {
  const folder = makeFolder(t);
  const table = folder.table();
  const json = JSON.stringify({ id: 1, result: [LONG, `${LONG}.`, LONG] });
  const filtered = await filterMessage(
    [Buffer.from(json)].flatMap((all) => cut(all, [50])),
    table,
    10,
    MIN_TEXT,
  );
  const { result } = JSON.parse(filtered.toString());
  assert.equal(result[0], result[2]);
  assert.notEqual(result[0], result[1]);
  assert.equal(folder.files().length, 2);
  await table.dispose();
});

test('a text that cannot be written leaves its beginning', async (t) => {
  const folder = join(makeFolder(t).path, 'missing');
  const table = new SpillTable({ folder: async () => folder, maxBytes: 1e9 });
  const json = JSON.stringify({ id: 1, result: LONG.repeat(10_000) });
  const filtered = await filterMessage(cut(Buffer.from(json), [100_000]), table, 10, MIN_TEXT);
  const spill = table.find(JSON.parse(filtered.toString()).result);
  assert.ok(spill?.kind === 'failed');
  assert.match(spill.preview ?? '', /^words and words .{400,}…$/);
});

const kept: Readonly<Record<string, string>> = {
  'half a character': `${LONG}\\ud83d and more ${LONG}`,
  'half a character at the end': `${LONG}\\ud83d`,
  'an invalid escape': `${LONG}\\x and more ${LONG}`,
  'a text that looked like base64': `${'abcd'.repeat(30)} and more ${LONG}\\ud83d`,
};
for (const [name, raw] of Object.entries(kept)) {
  test(`${name} stays in the message`, async (t) => {
    const folder = makeFolder(t);
    const table = folder.table();
    const json = `{"id":1,"result":"${raw}"}`;
    for (const size of [1, 7, 40]) {
      const filtered = await filterMessage(cut(Buffer.from(json), [size]), table, 10, MIN_TEXT);
      assert.equal(filtered.toString(), json);
    }
    assert.deepEqual(folder.files(), []);
  });
}

test('text counts towards the limit of a message', async (t) => {
  const folder = makeFolder(t);
  const table = folder.table();
  const piece = Buffer.from('many words '.repeat(100_000));
  const chunks = [Buffer.from('{"id":1,"result":"')];
  for (let bytes = 0; bytes < BUDGET.messageBytes; bytes += piece.length) chunks.push(piece);
  const filtered = await filterMessage([...chunks, Buffer.from('"}')], table, 10, MIN_TEXT);
  assert.equal(filtered.toString(), '{}');
  assert.deepEqual(folder.files(), []);
});
