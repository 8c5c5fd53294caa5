import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, it } from 'node:test';
import { FolderAssets, type FolderAssetsOptions, sweepChatFolder } from '../../../src/assets/store.ts';
import type { NewAsset, SpilledBytes } from '../../../src/ports/results.ts';
import { needsModes, needsSymlinks, unlessWindows } from '../../windows/needs.ts';
import { useChatFolder } from './folder.ts';

const chat = useChatFolder();
const now = () => new Date(2026, 10, 16, 9, 30, 12);
const encode = (text: string) => new TextEncoder().encode(text);
const png = (bytes: Uint8Array = encode('bytes')): NewAsset => ({ kind: 'image', extension: 'png', bytes });
/** Ids in this order. */
const ids = (...list: string[]) => ({ newId: () => list.shift() ?? 'LASTlast00' });
const store = (options: Partial<FolderAssetsOptions> = {}) =>
  new FolderAssets({ folder: chat.path, ...options });
const named = (...list: string[]) => store({ now, ...ids(...list) });
const contentOf = (path: string) => readFileSync(join(chat.path, path));

describe('saving an asset', () => {
  it('names it by kind, time, result and number', async () => {
    const assets = named('V1StGXR8').beginResult();
    const saved = [
      await assets.save(png()),
      await assets.save({ ...png(), kind: 'file', extension: 'pdf' }),
      await assets.save(png(encode('others'))),
    ];
    assert.deepEqual(saved, [
      { number: 1, path: 'cmdassets/tool-image-20261116-093012-V1StGXR8-1.png' },
      { number: 1, path: 'cmdassets/tool-file-20261116-093012-V1StGXR8-1.pdf' },
      { number: 2, path: 'cmdassets/tool-image-20261116-093012-V1StGXR8-2.png' },
    ]);
    assert.equal(contentOf(saved[0]?.path ?? '').toString(), 'bytes');
    assert.equal(chat.files().length, 3, 'nothing else is left behind');
  });

  it('pads its number if the result has ten or more of its kind', async () => {
    const assets = named('V1StGXR8').beginResult();
    const names = [];
    for (const text of 'abcdefghijk')
      names.push(nameOf(await assets.save({ ...png(encode(text)), last: 11 })));
    assert.equal(names[1], 'tool-image-20261116-093012-V1StGXR8-02.png');
    assert.deepEqual(names, chat.files());
  });

  it('has ids of letters and digits, another for each result', async () => {
    const kept = store({ now });
    const save = async (text: string) => (await kept.beginResult().save(png(encode(text)))).path;
    const paths = [await save('one'), await save('two')];
    for (const path of paths)
      assert.match(path, /^cmdassets\/tool-image-20261116-093012-[A-Za-z0-9]{8,}-1\.png$/);
    assert.notEqual(paths[0], paths[1]);
  });

  for (const inBatch of [false, true]) {
    const where = inBatch ? 'in a batch' : 'alone';

    it(`never overwrites: a taken name means another id, ${where}`, async () => {
      const twice = named('taken', 'taken', 'free');
      await twice.beginResult().save(png(encode('first')));
      const assets = twice.beginResult();
      const second = await assets.save({ ...png(), inBatch });
      await assets.settle?.();
      assert.equal(second.path, 'cmdassets/tool-image-20261116-093012-free-1.png');
      assert.equal(contentOf('cmdassets/tool-image-20261116-093012-taken-1.png').toString(), 'first');
      assert.equal(chat.files().length, 2);
    });

    it(`many writers of one name lose nothing, ${where}`, async () => {
      const writers = Array.from({ length: 20 }, (_, at) => `writer ${at}`);
      const saved = writers.map((text, at) =>
        named('same', `own${at}`)
          .beginResult()
          .save({ ...png(encode(text)), inBatch }),
      );
      const contents = (await Promise.all(saved)).map(({ path }) => contentOf(path).toString());
      assert.deepEqual(contents, writers);
      assert.equal(chat.files().length, writers.length);
    });
  }

  it('links with the prefix of a chat that is not saved', async () => {
    const elsewhere = store({ now, ...ids('id'), linkPrefix: '/far/cmdassets' });
    const saved = await elsewhere.beginResult().save(png());
    assert.equal(saved.path, '/far/cmdassets/tool-image-20261116-093012-id-1.png');
  });
});

describe('a folder that cannot be used is refused, and nothing is written', () => {
  const save = () => store().beginResult().save(png());
  const refused = (reason: string) =>
    assert.rejects(save(), { message: `Could not save image 1 to cmdassets/: ${reason}` });
  beforeEach(() => rmSync(chat.asset(''), { recursive: true }));

  it('a symbolic link', needsSymlinks, async () => {
    const elsewhere = join(chat.path, 'elsewhere');
    mkdirSync(elsewhere);
    symlinkSync(elsewhere, join(chat.path, 'cmdassets'));
    await refused('it is a symbolic link. Put a real folder in its place.');
    assert.deepEqual(readdirSync(elsewhere), []);
  });

  it('a symbolic link to nowhere', needsSymlinks, async () => {
    symlinkSync(join(chat.path, 'nowhere'), join(chat.path, 'cmdassets'));
    await assert.rejects(save(), /symbolic link/);
    assert.equal(existsSync(join(chat.path, 'nowhere')), false);
  });

  it('a file', async () => {
    writeFileSync(join(chat.path, 'cmdassets'), 'mine');
    await refused('it is a file. Put a folder in its place.');
    assert.equal(contentOf('cmdassets').toString(), 'mine');
  });

  it('and a copy is kept in the recovery folder, from where it can be saved later', async () => {
    const cmdassets = join(chat.path, 'cmdassets');
    const recovery = join(chat.path, 'state', 'recovered');
    writeFileSync(cmdassets, 'mine');
    const kept = store({ recovery });
    await assert.rejects(
      kept.beginResult().save(png()),
      /it is a file\. .* It is kept in .*recovered.*-1\.png until Retry saves it\.$/,
    );
    assert.equal(await kept.beginResult().spillFolder(), recovery);
    const [name = ''] = readdirSync(recovery);
    await assert.rejects(kept.restore(name, assert.fail), /it is a file/);
    rmSync(cmdassets);
    await assert.rejects(kept.restore('../x.png', assert.fail), /There is no copy of \.\.\/x\.png/);
    await assert.rejects(
      kept.restore(name, () => Promise.reject(new Error('no link'))),
      /no link/,
    );
    assert.deepEqual(readdirSync(recovery), [name]);
    const linked: string[] = [];
    await kept.restore(name, async (path) => void linked.push(path));
    assert.deepEqual(linked, [`cmdassets/${name}`]);
    assert.equal(contentOf(`cmdassets/${name}`).toString(), 'bytes');
    assert.deepEqual(readdirSync(recovery), []);
  });

  it('no copy is kept, and Retry is not mentioned, if the chat has no line for the file', async () => {
    const recovery = join(chat.path, 'state', 'recovered');
    writeFileSync(join(chat.path, 'cmdassets'), 'mine');
    const pasted = store({ recovery }).beginResult({ keepsCopies: false });
    await assert.rejects(pasted.save(png()), /Put a folder in its place\.$/);
    assert.equal(existsSync(recovery), false);
  });

  it('a recovery folder that cannot be written is named', async () => {
    writeFileSync(join(chat.path, 'cmdassets'), 'mine');
    const assets = store({ recovery: join(chat.path, 'cmdassets', 'x') }).beginResult();
    await assert.rejects(
      assets.save(png()),
      /cmdassets\/: it is a file\. Put a folder in its place\. No copy could be kept in .*x: (?:ENOTDIR|EEXIST)/,
    );
  });

  it('a folder of the chat that is gone', async () => {
    rmSync(chat.path, { recursive: true });
    await refused('the folder of the chat does not exist.');
  });
});

const older = 'tool-image-20200101-000000-V1StGXR8a0-1.png';
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

  it('in results that are saved side by side', async () => {
    const kept = store();
    const bytes = randomBytes(1000);
    const same = Array.from({ length: 5 }, () => kept.beginResult().save(png(Buffer.from(bytes))));
    const others = [200, 300].map((size) => kept.beginResult().save(png(randomBytes(size))));
    const paths = (await Promise.all([...same, ...others])).map(({ path }) => path);
    assert.equal(new Set(paths).size, 3);
    assert.equal(chat.files().length, 3);
  });

  it('with files of several sizes that were there before, side by side', async () => {
    const sizes = [1000, 2000, 3000];
    const contents = sizes.map((size) => randomBytes(size));
    for (const [at, bytes] of contents.entries())
      writeFileSync(chat.asset(older.replace('-1.', `-${at + 1}.`)), bytes);
    const kept = store();
    await Promise.all(contents.map((bytes) => kept.beginResult().save(png(bytes))));
    assert.equal(chat.files().length, 3);
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

  it('of several, the oldest is used', async () => {
    const bytes = randomBytes(1000);
    writeFileSync(chat.asset(older.replace('2020', '2021')), bytes);
    writeFileSync(chat.asset(older), bytes);
    assert.equal(nameOf(await store().beginResult().save(png(bytes))), older);
  });
});

describe('a partial file', () => {
  const partial = (text: string) => ({ ...png(encode(text)), isPartial: true });

  it('has bytes that no other file uses, and is removed', async () => {
    const assets = store();
    const whole = await assets.beginResult().save(png(encode('a')));
    const begun = assets.beginResult();
    const paths = [await begun.save(partial('a')), await begun.save(partial('b'))].map(({ path }) => path);
    const other = await assets.beginResult().save(png(encode('b')));
    for (const path of paths) await begun.removePartial?.(path);
    assert.deepEqual(
      chat.files().map((name) => `cmdassets/${name}`),
      [whole.path, other.path].toSorted(),
    );
  });

  it('is not removed by a result that has not saved it, and whole files never are', async () => {
    const assets = store();
    const begun = assets.beginResult();
    const { path } = await begun.save(partial('a'));
    const whole = await begun.save(png(encode('b')));
    await assets.beginResult().removePartial?.(path);
    await begun.removePartial?.(whole.path);
    await begun.removePartial?.('cmdassets/../a.chat.md');
    assert.equal(chat.files().length, 2);
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
      assert.deepEqual(contentOf(saved.path), bytes);
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
      assert.deepEqual(contentOf(second.path), bytes);
    });
  }

  it('among very many files of its size', async () => {
    const many = Array.from({ length: 1100 }, (_, at) => at);
    for (const at of many)
      writeFileSync(chat.asset(older.replace('-1.', `-${at + 1}.`)), `${at}`.padStart(9));
    const saved = await store()
      .beginResult()
      .save(png(Buffer.from('new bytes')));
    assert.equal(contentOf(saved.path).toString(), 'new bytes');
  });
});

const SPILLED = randomBytes(300_000);

function spill(folder = chat.asset('')): SpilledBytes {
  const path = join(folder, `.filechat-spill-${process.pid}-${randomBytes(4).toString('hex')}.tmp`);
  writeFileSync(path, SPILLED);
  return { path, size: SPILLED.length, head: SPILLED.subarray(0, 64) };
}

describe('saving bytes that were spilled', () => {
  const save = (spilled: SpilledBytes, ...others: string[]) =>
    named('FIRSTfirst', ...others)
      .beginResult()
      .save({ kind: 'file', extension: 'bin', bytes: spilled });

  it('moves the file: it is the same one, under its own name', async () => {
    const spilled = spill();
    const { ino } = statSync(spilled.path);
    const saved = await save(spilled);
    assert.deepEqual(saved, { number: 1, path: 'cmdassets/tool-file-20261116-093012-FIRSTfirst-1.bin' });
    assert.equal(statSync(join(chat.path, saved.path)).ino, ino);
    assert.deepEqual(contentOf(saved.path), SPILLED);
    assert.deepEqual(chat.files(), ['tool-file-20261116-093012-FIRSTfirst-1.bin']);
  });

  it('as readable as any other asset, though it was private while it arrived', needsModes, async () => {
    const spilled = spill();
    chmodSync(spilled.path, 0o600);
    const saved = await save(spilled);
    assert.equal(statSync(join(chat.path, saved.path)).mode & 0o777, 0o644 & ~process.umask());
  });

  it('a taken name means another id, and nothing is overwritten', async () => {
    const taken = chat.asset('tool-file-20261116-093012-FIRSTfirst-1.bin');
    writeFileSync(taken, 'mine');
    const saved = await save(spill(), 'SECONDsec0');
    assert.equal(saved.path, 'cmdassets/tool-file-20261116-093012-SECONDsec0-1.bin');
    assert.equal(readFileSync(taken, 'utf8'), 'mine');
    assert.equal(chat.files().length, 2);
  });

  it('an incomplete file is refused', async () => {
    const spilled = { ...spill(), size: SPILLED.length + 1 };
    await assert.rejects(save(spilled), {
      message: 'Could not save file 1 to cmdassets/: its temporary file is incomplete. Call the tool again.',
    });
    assert.ok(existsSync(spilled.path));
    assert.equal(chat.files().length, 1);
  });

  it('a missing file is reported as missing', async () => {
    const spilled = spill();
    rmSync(spilled.path);
    await assert.rejects(save(spilled), /its temporary file is gone/);
    assert.deepEqual(chat.files(), []);
  });

  const otherDisk = findOtherDisk();
  if (otherDisk === undefined)
    console.log('There is no second disk here: copying between disks is not tested.');
  else {
    it('from another disk the system copies it', async () => {
      const folder = mkdtempSync(join(otherDisk, 'filechat-spill-'));
      try {
        const spilled = spill(folder);
        const saved = await save(spilled);
        assert.deepEqual(contentOf(saved.path), SPILLED);
        assert.equal(existsSync(spilled.path), false);
        assert.equal(chat.files().length, 1);
      } finally {
        rmSync(folder, { recursive: true });
      }
    });
  }
});

function findOtherDisk(): string | undefined {
  const path = '/dev/shm';
  const here = statSync(import.meta.dirname).dev;
  return existsSync(path) && statSync(path).dev !== here ? path : undefined;
}

/** A process that has just ended. */
const deadPid = spawnSync(process.execPath, ['-e', '']).pid;
const alivePid = process.ppid;
const TWO_DAYS_AGO = new Date(Date.now() - 2 * 24 * 60 * 60 * 1000);

/** Uses the folder as a new process would, and returns the remaining contents. */
async function isKept(name: string, time?: Date): Promise<boolean> {
  writeFileSync(chat.asset(name), 'half');
  if (time) utimesSync(chat.asset(name), time, time);
  await store().beginResult().spillFolder();
  return chat.files().includes(name);
}

describe('leftovers of a crash are swept at the first use of the folder', () => {
  const swept: readonly [string, string, Date?][] = [
    ['a spill file of a process that is gone', `.filechat-spill-${deadPid}-a1B2.tmp`],
    ['a half-written asset of a process that is gone', `.filechat-save-${deadPid}-0123456789ab.tmp`],
    ['a spill file that is days old', `.filechat-spill-${alivePid}-a1B2.tmp`, TWO_DAYS_AGO],
  ];
  for (const [what, name, time] of swept) {
    it(what, async () => assert.equal(await isKept(name, time), false));
  }

  const leftover = `.filechat-spill-${deadPid}-a1B2.tmp`;
  it('or of the chat, if nothing is saved', async () => {
    for (const path of [chat.asset(leftover), join(chat.path, leftover)]) writeFileSync(path, 'half');
    await sweepChatFolder(chat.path);
    assert.deepEqual([chat.files(), existsSync(join(chat.path, leftover))], [[], false]);
  });

  it('but not through a link', needsSymlinks, async () => {
    const outside = join(chat.path, 'outside');
    renameSync(chat.asset(''), outside);
    symlinkSync(outside, join(chat.path, 'cmdassets'));
    writeFileSync(join(outside, leftover), 'half');
    await sweepChatFolder(chat.path);
    assert.deepEqual(readdirSync(outside), [leftover]);
  });
});

describe('nothing else is swept', () => {
  const kept: readonly [string, string, Date?][] = [
    ['a spill file of this process', `.filechat-spill-${process.pid}-a1B2.tmp`],
    ['a spill file of a process that lives', `.filechat-spill-${alivePid}-a1B2.tmp`],
    ['a spill file whose process has another user', '.filechat-spill-1-a1B2.tmp'],
    ['an asset', 'tool-image-20200101-000000-V1StGXR8a0-1.png', TWO_DAYS_AGO],
    ['the user’s own .tmp', 'notes.tmp', TWO_DAYS_AGO],
    ['a name that only looks like one', `.filechat-spill-${deadPid}-a.tmp.png`, TWO_DAYS_AGO],
    ['a name without a process', '.filechat-spill-x-a.tmp', TWO_DAYS_AGO],
  ];
  for (const [what, name, time] of kept) {
    const needs = what.includes('another user') ? unlessWindows('No process of another user is known') : {};
    it(what, needs, async () => assert.equal(await isKept(name, time), true));
  }

  it('a folder under such a name', async () => {
    mkdirSync(chat.asset(`.filechat-spill-${deadPid}-a1B2.tmp`));
    await store().beginResult().spillFolder();
    assert.equal(chat.files().length, 1);
  });

  it('files that appear while the store is in use', async () => {
    const kept = store();
    await kept.beginResult().spillFolder();
    writeFileSync(chat.asset(`.filechat-spill-${deadPid}-a1B2.tmp`), '');
    await kept.beginResult().spillFolder();
    assert.equal(chat.files().length, 1);
  });
});
