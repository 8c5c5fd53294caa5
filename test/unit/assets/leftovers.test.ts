import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { FolderAssets } from '../../../src/assets/store.ts';
import { unlessWindows } from '../../windows/needs.ts';
import { useChatFolder } from './folder.ts';

const chat = useChatFolder();
/** A process that has just ended. */
const deadPid = spawnSync(process.execPath, ['-e', '']).pid;
const alivePid = process.ppid;
const TWO_DAYS_AGO = new Date(Date.now() - 2 * 24 * 60 * 60 * 1000);

/** Uses the folder as a new process would, and says what of the file is left. */
async function isKept(name: string, time?: Date): Promise<boolean> {
  writeFileSync(chat.asset(name), 'half');
  if (time) utimesSync(chat.asset(name), time, time);
  await new FolderAssets({ folder: chat.path }).beginResult().spillFolder();
  return chat.files().includes(name);
}

describe('leftovers of a crash are swept at the first use of the folder', () => {
  const swept: readonly [string, string, Date?][] = [
    ['a spill file of a process that is gone', `.filechat-spill-${deadPid}-a1B2.tmp`],
    ['a half-written asset of a process that is gone', `.filechat-save-${deadPid}-0123456789ab.tmp`],
    ['a spill file that is days old', `.filechat-spill-${alivePid}-a1B2.tmp`, TWO_DAYS_AGO],
    [
      'one of the first version, days old',
      'tool-image-20261116-093012-V1StGXR8a0-1.png.0123456789ab.tmp',
      TWO_DAYS_AGO,
    ],
  ];
  for (const [what, name, time] of swept) {
    it(what, async () => assert.equal(await isKept(name, time), false));
  }
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
    await new FolderAssets({ folder: chat.path }).beginResult().spillFolder();
    assert.equal(chat.files().length, 1);
  });

  it('files that appear while the store is in use', async () => {
    const store = new FolderAssets({ folder: chat.path });
    await store.beginResult().spillFolder();
    writeFileSync(chat.asset(`.filechat-spill-${deadPid}-a1B2.tmp`), '');
    await store.beginResult().spillFolder();
    assert.equal(chat.files().length, 1);
  });
});
