import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { FolderAssets } from '../../../src/assets/store.ts';
import type { SpilledBytes } from '../../../src/ports/results.ts';
import { needsModes } from '../../windows/needs.ts';
import { useChatFolder } from './folder.ts';

const chat = useChatFolder();
const now = () => new Date(2026, 10, 16, 9, 30, 12);
const ids = (...list: string[]) => {
  const left = [...list];
  return () => left.shift() ?? 'LASTlast00';
};
const bytes = randomBytes(300_000);

function spill(folder = chat.asset('')): SpilledBytes {
  const path = join(folder, `.filechat-spill-${process.pid}-${randomBytes(4).toString('hex')}.tmp`);
  writeFileSync(path, bytes);
  return { path, size: bytes.length, head: bytes.subarray(0, 64) };
}

function save(spilled: SpilledBytes, newId = ids('FIRSTfirst')) {
  const assets = new FolderAssets({ folder: chat.path, now, newId }).beginResult();
  return assets.save({ kind: 'file', extension: 'bin', bytes: spilled });
}

describe('saving bytes that were spilled', () => {
  it('moves the file: it is the same one, under its own name', async () => {
    const spilled = spill();
    const { ino } = statSync(spilled.path);
    const saved = await save(spilled);
    assert.deepEqual(saved, { number: 1, path: 'cmdassets/tool-file-20261116-093012-FIRSTfirst-1.bin' });
    assert.equal(statSync(join(chat.path, saved.path)).ino, ino);
    assert.deepEqual(readFileSync(join(chat.path, saved.path)), bytes);
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
    const saved = await save(spill(), ids('FIRSTfirst', 'SECONDsec0'));
    assert.equal(saved.path, 'cmdassets/tool-file-20261116-093012-SECONDsec0-1.bin');
    assert.equal(readFileSync(taken, 'utf8'), 'mine');
    assert.equal(chat.files().length, 2);
  });

  it('an incomplete file is refused', async () => {
    const spilled = { ...spill(), size: bytes.length + 1 };
    await assert.rejects(save(spilled), {
      message: 'Could not save file 1 to cmdassets/: its temporary file is incomplete. Call the tool again.',
    });
    assert.ok(existsSync(spilled.path));
    assert.equal(chat.files().length, 1);
  });

  it('a file that is gone is said to be gone', async () => {
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
        assert.deepEqual(readFileSync(join(chat.path, saved.path)), bytes);
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
