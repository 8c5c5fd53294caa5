import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { type FileHandle, open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { makeFolders, moveToNewName, renameOver } from '../../../src/assets/writeFile.ts';
import { temporaryFolder } from '../../kit/folder.ts';

describe('a file on a disk without hard links', () => {
  // FAT and exFAT: EPERM on Linux, ENOTSUP on macOS, EISDIR on Windows.
  for (const code of ['EPERM', 'ENOTSUP', 'EISDIR']) {
    it(`${code}: gets its name, and never one that is taken`, async (t) => {
      const folder = temporaryFolder(t);
      const [from, to] = [join(folder, 'new'), join(folder, 'asset')];
      const noLinks = () => Promise.reject(Object.assign(new Error(code), { code }));
      writeFileSync(from, 'first');
      assert.equal(await moveToNewName(from, to, noLinks), true);
      assert.equal(existsSync(from), false);
      writeFileSync(from, 'second');
      assert.equal(await moveToNewName(from, to, noLinks), false);
      assert.equal(readFileSync(to, 'utf8'), 'first');
    });
  }
});

describe('folders that are missing', () => {
  it('are created, also side by side', async (t) => {
    const path = join(temporaryFolder(t), 'a', 'b', 'c');
    await Promise.all([makeFolders(path), makeFolders(path), makeFolders(join(path, 'd'))]);
    assert.ok(existsSync(join(path, 'd')));
  });

  it('are refused where there can be none', async (t) => {
    const file = join(temporaryFolder(t), 'file');
    writeFileSync(file, '');
    for (const path of [file, join(file, 'a', 'b')]) await assert.rejects(makeFolders(path));
    // Node's own recursive mkdir never settles there.
    if (process.platform === 'linux')
      await assert.rejects(makeFolders('/proc/filechat/a'), { code: 'ENOENT' });
  });
});

const busy = (code: string) => Object.assign(new Error(code), { code });

function failing(times: number, code: string) {
  const calls: string[] = [];
  const move = async (from: string, to: string) => {
    calls.push(`${from} ${to}`);
    if (calls.length <= times) throw busy(code);
  };
  return { calls, move };
}

describe('a file that replaces another', () => {
  for (const code of ['EPERM', 'EACCES', 'EBUSY']) {
    it(`${code} on Windows is tried again`, async () => {
      const { calls, move } = failing(2, code);
      await renameOver('a', 'b', { platform: 'win32', rename: move });
      assert.deepEqual(calls, ['a b', 'a b', 'a b']);
    });
  }

  it('another failure is not tried again, nor any on another system', async () => {
    for (const [platform, code] of [
      ['win32', 'ENOENT'],
      ['linux', 'EPERM'],
    ] as const) {
      const { calls, move } = failing(1, code);
      await assert.rejects(renameOver('a', 'b', { platform, rename: move }), { code });
      assert.equal(calls.length, 1);
    }
  });

  it('a file that stays open is given up', async () => {
    const { move } = failing(Number.POSITIVE_INFINITY, 'EPERM');
    const pauses: number[] = [];
    const pause = async (ms: number) => pauses.push(ms);
    await assert.rejects(renameOver('a', 'b', { platform: 'win32', rename: move, pause }), { code: 'EPERM' });
    assert.deepEqual(pauses, [10, 20, 40, 80, 160, 320, 640]);
  });

  it('a file that is open for reading is replaced when it is closed', async (t) => {
    const folder = temporaryFolder(t);
    const [from, to] = [join(folder, 'new'), join(folder, 'old')];
    writeFileSync(from, 'new');
    writeFileSync(to, 'old');
    let reader: FileHandle | undefined = await open(to, 'r');
    const move = (...names: [string, string]) =>
      rename(...names).finally(async () => {
        await reader?.close();
        reader = undefined;
      });
    await renameOver(from, to, { rename: move });
    assert.equal(readFileSync(to, 'utf8'), 'new');
  });
});
