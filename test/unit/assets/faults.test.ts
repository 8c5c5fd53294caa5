/** Faults 27 to 29, and a crash: with real processes, real permissions and a disk that is really full. */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { needsModes } from '../../windows/needs.ts';
import { useChatFolder } from './folder.ts';

const chat = useChatFolder();
const program = join(import.meta.dirname, 'child.ts');
const OTHER_USER = 65534;

async function runChild<T>(args: readonly string[], options: { uid?: number } = {}): Promise<T> {
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...args], options);
  return JSON.parse(stdout) as T;
}

describe('27: two processes that save under the same names', () => {
  it('lose nothing and overwrite nothing', async () => {
    const writers = ['one', 'two'];
    const results = await Promise.all(writers.map((own) => runChild<string[]>(['race', chat.path, own])));
    results.forEach((paths, writer) => {
      paths.forEach((path, at) => {
        assert.equal(readFileSync(join(chat.path, path), 'utf8'), `${writers[writer]} ${at}`);
      });
    });
    assert.equal(new Set(results.flat()).size, 200);
    assert.deepEqual(
      chat.files(),
      results
        .flat()
        .map((path) => path.replace('cmdassets/', ''))
        .sort(),
    );
  });
});

/** Windows has no signals: a process that ends itself like this exits with 1. */
const KILLED = process.platform === 'win32' ? { code: 1 } : { signal: 'SIGKILL' };

describe('a process that is killed in the middle of an asset', () => {
  it('leaves a temporary file and no asset, and the next process removes it', async () => {
    await assert.rejects(runChild(['crash', chat.path]), KILLED);
    assert.match(chat.files().join(), /^\.filechat-save-\d+-[0-9a-f]+\.tmp$/);
    const path = await runChild<string>(['save', chat.path]);
    assert.deepEqual(chat.files(), [path.replace('cmdassets/', '')]);
  });
});

describe('28: a folder that may not be written to', { skip: whyNoPermissions() }, () => {
  const someone = process.getuid?.() === 0 ? { uid: OTHER_USER } : {};
  const message =
    'Could not save file 1 to cmdassets/: permission to write to the folder was denied. Change it and call the tool again.';

  it('is reported, leaves nothing behind, and works once it is writable', async () => {
    chmodSync(chat.path, 0o755);
    chmodSync(chat.asset(''), 0o555);
    assert.equal(await runChild(['save', chat.path], someone), message);
    assert.deepEqual(chat.files(), []);
    chmodSync(chat.asset(''), 0o777);
    assert.match(await runChild(['save', chat.path], someone), /^cmdassets\/tool-file-/);
    assert.equal(chat.files().length, 1);
  });

  it('also when cmdassets/ itself cannot be created', async () => {
    rmSync(chat.asset(''), { recursive: true });
    chmodSync(chat.path, 0o555);
    assert.equal(await runChild(['save', chat.path], someone), message);
    chmodSync(chat.path, 0o755);
  });
});

describe('29: a disk that fills up in the middle of an asset', { skip: whyNoSmallDisk() }, () => {
  it('leaves no temporary file and no dead link, and the next save works', async () => {
    const { next, ...failed } = await runOnSmallDisk('64k', 'full');
    const message = (number: number) =>
      `Could not save file ${number} to cmdassets/: the disk is full. Free some space and call the tool again.`;
    assert.deepEqual(failed, { inMemory: message(1), spilled: message(1), left: [] });
    assert.match(next, /^cmdassets\/tool-file-/);
  });

  it('keeps all of a long string that arrives', async () => {
    const { message, ...kept } = await runOnSmallDisk('600k', 'spill');
    assert.match(
      message,
      /^Could not save file 1 to cmdassets\/: the disk is full\. Free some space\. It is kept in /,
    );
    assert.deepEqual(kept, { copies: [true], left: [] });
  });
});

async function runOnSmallDisk(size: string, task: string) {
  const disk = join(chat.path, 'disk');
  mkdirSync(disk);
  // In a mount namespace of its own, so that the disk is gone when the process is.
  const script = 'mount -t tmpfs -o "size=$5" none "$1" && exec "$2" "$3" "$6" "$1" "$4"';
  const spill = join(chat.path, 'spill');
  const args = ['-rm', 'sh', '-c', script, 'sh', disk, process.execPath, program, spill, size, task];
  const { stdout } = await promisify(execFile)('unshare', args);
  return JSON.parse(stdout);
}

function whyNoPermissions(): string | false {
  if (needsModes.skip || process.getuid?.() !== 0) return needsModes.skip;
  const { status, error } = spawnSync(
    process.execPath,
    ['-e', `require('fs').readFileSync(${JSON.stringify(program)})`],
    {
      uid: OTHER_USER,
    },
  );
  return status === 0
    ? false
    : `root cannot start a process of another user: ${error ?? 'it cannot read the tests'}`;
}

function whyNoSmallDisk(): string | false {
  if (process.platform !== 'linux') return 'Only Linux mounts a small disk without an administrator';
  const { status, stderr, error } = spawnSync('unshare', [
    '-rm',
    'sh',
    '-c',
    'mount -t tmpfs -o size=64k none /mnt',
  ]);
  return status === 0 ? false : `no disk can be mounted: ${error ?? String(stderr).trim()}`;
}
