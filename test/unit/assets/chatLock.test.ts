import assert from 'node:assert/strict';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { acquireLock, acquireLockOn } from '../../../src/assets/chatLock.ts';
import { needsModes, needsSymlinks, unlessWindows } from '../../windows/needs.ts';
import { useTree } from '../catalog/tree.ts';

type Child = ChildProcessByStdio<Writable, Readable, null>;
const program = join(import.meta.dirname, 'lockChild.ts');

const tree = useTree();
let chat = '';
let folder = '';
const children = new Set<Child>();

beforeEach(() => {
  chat = tree.write('a.chat.md', '# %% user\n');
  folder = tree.at('locks');
});
afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  children.clear();
});

function start(task: string, ...more: string[]): Child {
  const child = spawn(process.execPath, [program, task, chat, folder, ...more], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  children.add(child);
  return child;
}

async function firstLine(child: Child): Promise<unknown> {
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  return JSON.parse(line);
}

async function take() {
  const lock = await acquireLock(chat, { folders: [folder] });
  return 'release' in lock ? lock : assert.fail(lock.holder);
}

/** The holder, or `held` if this process could hold it. */
async function takeAndRelease(path = chat): Promise<string> {
  const lock = await acquireLock(path, { folders: [folder] });
  if ('holder' in lock) return lock.holder;
  await lock.release();
  return 'held';
}

describe('one run per chat', () => {
  it('another process gets the name of the holder until the lock is released', async () => {
    const child = start('keep');
    assert.equal(await firstLine(child), 'held');
    assert.match(
      await takeAndRelease(),
      new RegExp(`^a child \\(process ${child.pid}, since \\d\\d:\\d\\d:\\d\\d\\)$`),
    );
    child.stdin.end();
    await once(child, 'exit');
    assert.equal(await takeAndRelease(), 'held');
  });

  it('within one process it is one run too', async () => {
    const lock = await take();
    assert.match(await takeAndRelease(), /process/);
    await lock.release();
    assert.equal(await takeAndRelease(), 'held');
  });

  it('the lock of a killed process is taken over, every time', async () => {
    for (let times = 0; times < 3; times += 1) {
      const child = start('keep');
      assert.equal(await firstLine(child), 'held');
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    const lock = await take();
    assert.match(await takeAndRelease(), /process/);
    await lock.release();
    assert.deepEqual(readdirSync(folder), [], 'nothing is left of the dead ones');
  });

  it('a process that just ends leaves no lock', async () => {
    const child = start('exit');
    assert.equal(await firstLine(child), 'held');
    await once(child, 'exit');
    assert.deepEqual(readdirSync(folder), []);
  });

  const needsStart = unlessWindows('Node does not say on Windows when a process was started');
  it('a process with the reused pid of a dead one does not keep its lock', needsStart, async () => {
    const lock = await take();
    const [name = ''] = readdirSync(folder);
    const file = join(folder, name);
    const held = JSON.parse(readFileSync(file, 'utf8'));
    writeFileSync(file, JSON.stringify({ ...held, start: 'long ago' }));
    assert.equal(await takeAndRelease(), 'held');
    await lock.release();
  });

  it('a process that was killed while taking the lock blocks others only briefly', async () => {
    const child = start('exit');
    await firstLine(child);
    await once(child, 'exit');
    await takeAndRelease();
    const lock = await take();
    const [name = ''] = readdirSync(folder);
    await lock.release();
    writeFileSync(join(folder, name.replace(/\.lock$/, `.${child.pid}-token.tmp`)), '');
    await takeAndRelease();
    assert.deepEqual(readdirSync(folder), []);
  });

  it('concurrent processes never hold it together, even after a dead one', async () => {
    const dead = start('keep');
    await firstLine(dead);
    dead.kill('SIGKILL');
    await once(dead, 'exit');
    const log = tree.at('log');
    const racers = [start('race', log), start('race', log), start('race', log)];
    const held = await Promise.all(racers.map(firstLine));
    const lines = readFileSync(log, 'utf8').trim().split('\n');
    assert.deepEqual([held, lines.length], [[30, 30, 30], 180]);
    for (let at = 0; at < lines.length; at += 2) {
      assert.equal(lines[at + 1], lines[at]?.replace('in', 'out'), `line ${at + 1}`);
    }
  });
});

describe('the identity of a chat', () => {
  it('the same file under another name is the same chat', needsSymlinks, async () => {
    symlinkSync(chat, tree.at('b.chat.md'));
    const lock = await take();
    assert.match(await takeAndRelease(tree.at('b.chat.md')), /process/);
    await lock.release();
  });

  it('another chat is free, and so is one that does not exist yet', async () => {
    const lock = await take();
    assert.equal(await takeAndRelease(tree.at('new.chat.md')), 'held');
    await lock.release();
  });

  it('a chat that is not on a disk is identified by its address', async () => {
    const lock = await acquireLockOn('memfs:/a.chat.md', { folders: [folder] });
    assert.ok('release' in lock);
    assert.ok('holder' in (await acquireLockOn('memfs:/a.chat.md', { folders: [folder] })));
    assert.ok('release' in (await acquireLockOn('memfs:/b.chat.md', { folders: [folder] })));
    await lock.release();
  });
});

describe('the folder of the locks', needsModes, () => {
  it('is another one if another user has taken the first', async () => {
    mkdirSync(folder, { mode: 0o777 });
    chmodSync(folder, 0o777);
    const other = `${folder}-at-home`;
    const lock = await acquireLock(chat, { folders: [folder, other] });
    assert.ok('release' in lock);
    assert.deepEqual(readdirSync(folder), []);
    assert.equal(readdirSync(other).length, 1);
    assert.ok('holder' in (await acquireLock(chat, { folders: [folder, other] })));
    await lock.release();
  });

  it('is for its user only', async () => {
    await takeAndRelease();
    assert.equal(statSync(folder).mode & 0o777, 0o700);
  });

  it('is refused when others could write to it', async () => {
    mkdirSync(folder);
    chmodSync(folder, 0o777);
    await assert.rejects(take(), /accessible to other users\. Remove it and run again\./);
  });

  it('is refused when it is a link', needsSymlinks, async () => {
    mkdirSync(tree.at('elsewhere'), { mode: 0o700 });
    symlinkSync(tree.at('elsewhere'), folder);
    await assert.rejects(take(), /is a link or accessible/);
  });
});
