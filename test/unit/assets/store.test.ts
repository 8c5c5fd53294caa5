import assert from 'node:assert/strict';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { FolderAssets } from '../../../src/assets/store.ts';
import { needsSymlinks } from '../../windows/needs.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'filechat-assets-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const now = () => new Date(2026, 10, 16, 9, 30, 12);
const bytes = new TextEncoder().encode('bytes');
const png = { kind: 'image' as const, extension: 'png', bytes };
const store = (newId: () => string = () => 'V1StGXR8') => new FolderAssets({ folder, now, newId });
const files = () => readdirSync(join(folder, 'cmdassets')).sort();

describe('saving an asset', () => {
  it('names it by kind, time, result and number', async () => {
    const assets = store().beginResult();
    const saved = [
      await assets.save(png),
      await assets.save({ ...png, kind: 'file', extension: 'pdf' }),
      await assets.save({ ...png, bytes: new TextEncoder().encode('others') }),
    ];
    assert.deepEqual(saved, [
      { number: 1, path: 'cmdassets/tool-image-20261116-093012-V1StGXR8-1.png' },
      { number: 1, path: 'cmdassets/tool-file-20261116-093012-V1StGXR8-1.pdf' },
      { number: 2, path: 'cmdassets/tool-image-20261116-093012-V1StGXR8-2.png' },
    ]);
    assert.deepEqual(readFileSync(join(folder, saved[0]?.path ?? ''), 'utf8'), 'bytes');
  });

  it('leaves nothing else behind', async () => {
    await store().beginResult().save(png);
    assert.deepEqual(files(), ['tool-image-20261116-093012-V1StGXR8-1.png']);
  });

  it('has ids of letters and digits, another for each result', async () => {
    const real = new FolderAssets({ folder, now });
    const save = async (text: string) =>
      (await real.beginResult().save({ ...png, bytes: new TextEncoder().encode(text) })).path;
    const paths = [await save('one'), await save('two')];
    for (const path of paths)
      assert.match(path, /^cmdassets\/tool-image-20261116-093012-[A-Za-z0-9]{8,}-1\.png$/);
    assert.notEqual(paths[0], paths[1]);
  });

  it('never overwrites: a taken name means another id', async () => {
    const ids = ['taken', 'taken', 'free'];
    const twice = store(() => ids.shift() ?? 'more');
    await twice.beginResult().save({ ...png, bytes: new TextEncoder().encode('first') });
    const second = await twice.beginResult().save(png);
    assert.equal(second.path, 'cmdassets/tool-image-20261116-093012-free-1.png');
    assert.equal(
      readFileSync(join(folder, 'cmdassets/tool-image-20261116-093012-taken-1.png'), 'utf8'),
      'first',
    );
  });

  it('many writers of one name lose nothing', async () => {
    const writers = Array.from({ length: 20 }, (_, at) => {
      const ids = ['same', `own${at}`];
      return store(() => ids.shift() ?? 'more')
        .beginResult()
        .save({ ...png, bytes: new TextEncoder().encode(`writer ${at}`) });
    });
    const paths = (await Promise.all(writers)).map(({ path }) => path);
    const contents = paths.map((path) => readFileSync(join(folder, path), 'utf8'));
    assert.deepEqual(
      contents,
      writers.map((_, at) => `writer ${at}`),
    );
    assert.equal(files().length, writers.length);
  });

  it('links with the prefix of a chat that is not saved', async () => {
    const saved = await new FolderAssets({ folder, now, newId: () => 'id', linkPrefix: '/far/cmdassets' })
      .beginResult()
      .save(png);
    assert.equal(saved.path, '/far/cmdassets/tool-image-20261116-093012-id-1.png');
  });
});

describe('a folder that cannot be used is refused, and nothing is written', () => {
  const save = () => store().beginResult().save(png);

  it('a symbolic link', needsSymlinks, async () => {
    const elsewhere = join(folder, 'elsewhere');
    mkdirSync(elsewhere);
    symlinkSync(elsewhere, join(folder, 'cmdassets'));
    await assert.rejects(save(), {
      message: 'Could not save image 1 to cmdassets/: it is a symbolic link. Put a real folder in its place.',
    });
    assert.deepEqual(readdirSync(elsewhere), []);
  });

  it('a symbolic link to nowhere', needsSymlinks, async () => {
    symlinkSync(join(folder, 'nowhere'), join(folder, 'cmdassets'));
    await assert.rejects(save(), /symbolic link/);
    assert.throws(() => statSync(join(folder, 'nowhere')), { code: 'ENOENT' });
  });

  it('a file', async () => {
    writeFileSync(join(folder, 'cmdassets'), 'mine');
    await assert.rejects(save(), {
      message: 'Could not save image 1 to cmdassets/: it is a file. Put a folder in its place.',
    });
    assert.equal(readFileSync(join(folder, 'cmdassets'), 'utf8'), 'mine');
  });

  it('a folder of the chat that is gone', async () => {
    rmSync(folder, { recursive: true });
    await assert.rejects(save(), {
      message: 'Could not save image 1 to cmdassets/: the folder of the chat does not exist.',
    });
  });
});
