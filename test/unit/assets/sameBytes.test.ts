import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { FolderAssets } from '../../../src/assets/store.ts';
import type { NewAsset } from '../../../src/ports/results.ts';
import { needsSymlinks } from '../../windows/needs.ts';
import { useChatFolder } from './folder.ts';

const chat = useChatFolder();
const older = 'tool-image-20200101-000000-V1StGXR8a0-1.png';
const png = (bytes: Uint8Array): NewAsset => ({ kind: 'image', extension: 'png', bytes });
const store = () => new FolderAssets({ folder: chat.path });
const nameOf = ({ path }: { path: string }) => path.replace('cmdassets/', '');

describe('identical bytes are stored once', () => {
  it('the same block twice: two numbers, one file', async () => {
    const assets = store().beginResult();
    const bytes = randomBytes(100_000);
    const [first, other, again] = [
      await assets.save(png(bytes)),
      await assets.save(png(randomBytes(100_000))),
      await assets.save(png(Buffer.from(bytes))),
    ];
    assert.deepEqual([first.number, other.number, again.number], [1, 2, 3]);
    assert.equal(again.path, first.path);
    assert.notEqual(other.path, first.path);
    assert.equal(chat.files().length, 2);
  });

  it('in results of one store, and in those of another process before', async () => {
    const bytes = randomBytes(1000);
    writeFileSync(chat.asset(older), bytes);
    const kept = store();
    assert.equal(nameOf(await kept.beginResult().save(png(bytes))), older);
    assert.equal(nameOf(await kept.beginResult().save(png(bytes))), older);
    assert.deepEqual(chat.files(), [older]);
  });

  it('also when another writer added the file after the folder was read', async () => {
    const kept = store();
    await kept.beginResult().save(png(randomBytes(10)));
    const bytes = randomBytes(1000);
    await store().beginResult().save(png(bytes));
    // Some disks keep time so coarsely that the folder would look unchanged.
    utimesSync(chat.asset(''), new Date(), new Date(Date.now() + 5000));
    await kept.beginResult().save(png(bytes));
    assert.equal(chat.files().length, 2);
  });

  it('spilled bytes too', async () => {
    const bytes = randomBytes(700_000);
    const spill = chat.asset('.filechat-spill-1-abc.tmp');
    const kept = store();
    const first = await kept.beginResult().save(png(bytes));
    writeFileSync(spill, bytes);
    const spilled = { path: spill, size: bytes.length, head: bytes.subarray(0, 100) };
    const second = await kept.beginResult().save({ ...png(bytes), bytes: spilled });
    assert.equal(second.path, first.path);
  });

  it('the oldest of several is the one', async () => {
    const bytes = randomBytes(1000);
    writeFileSync(chat.asset(older.replace('2020', '2021')), bytes);
    writeFileSync(chat.asset(older), bytes);
    assert.equal(nameOf(await store().beginResult().save(png(bytes))), older);
  });
});

describe('bytes are stored again in case of doubt', () => {
  const bytes = randomBytes(20_000);
  const differing = (at: number) => {
    const copy = Buffer.from(bytes);
    copy[at] = (copy[at] ?? 0) ^ 1;
    return copy;
  };
  const cases: readonly [string, () => void][] = [
    ['one byte differs at the beginning', () => writeFileSync(chat.asset(older), differing(0))],
    ['one byte differs in the middle', () => writeFileSync(chat.asset(older), differing(10_000))],
    ['one byte differs at the end', () => writeFileSync(chat.asset(older), differing(19_999))],
    ['the other is longer', () => writeFileSync(chat.asset(older), Buffer.concat([bytes, bytes]))],
    ['another extension', () => writeFileSync(chat.asset(older.replace('.png', '.jpg')), bytes)],
    ['another kind', () => writeFileSync(chat.asset(older.replace('image', 'file')), bytes)],
    ['a file that is not ours', () => writeFileSync(chat.asset('holiday.png'), bytes)],
    [
      'a symbolic link',
      () => {
        writeFileSync(join(chat.path, 'elsewhere.png'), bytes);
        symlinkSync(join(chat.path, 'elsewhere.png'), chat.asset(older));
      },
    ],
  ];
  for (const [name, prepare] of cases) {
    it(name, name.includes('link') ? needsSymlinks : {}, async () => {
      prepare();
      const saved = await store().beginResult().save(png(bytes));
      assert.notEqual(nameOf(saved), older);
      assert.deepEqual(readFileSync(join(chat.path, saved.path)), bytes);
      assert.equal(chat.files().length, 2);
    });
  }

  const changes: readonly [string, (path: string) => void][] = [
    ['it was removed', (path) => rmSync(path)],
    ['it was changed in place', (path) => writeFileSync(path, differing(10_000))],
    [
      'a link took its place',
      (path) => {
        renameSync(path, join(chat.path, 'moved.png'));
        symlinkSync(join(chat.path, 'moved.png'), path);
      },
    ],
  ];
  for (const [name, change] of changes) {
    it(`after it was saved, ${name}`, name.includes('link') ? needsSymlinks : {}, async () => {
      const kept = store();
      const first = await kept.beginResult().save(png(bytes));
      change(join(chat.path, first.path));
      const second = await kept.beginResult().save(png(bytes));
      assert.notEqual(second.path, first.path);
      assert.deepEqual(readFileSync(join(chat.path, second.path)), bytes);
    });
  }

  it('among very many files of its size', async () => {
    const many = Array.from({ length: 1100 }, (_, at) => at);
    for (const at of many)
      writeFileSync(chat.asset(older.replace('-1.', `-${at + 1}.`)), `${at}`.padStart(9));
    const saved = await store()
      .beginResult()
      .save(png(Buffer.from('new bytes')));
    assert.equal(readFileSync(join(chat.path, saved.path), 'utf8'), 'new bytes');
  });
});
