import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import type { EventEmitter } from 'node:events';
import { appendFileSync, mkdirSync, renameSync, rmSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, it } from 'node:test';
import { deferred } from '../../../src/base/async.ts';
import { Catalog } from '../../../src/catalog/catalog.ts';
import type { Entry } from '../../../src/catalog/entry.ts';
import { type CatalogChange, Watching, type WatchOptions } from '../../../src/catalog/watch.ts';
import type { Disposable } from '../../../src/ports/document.ts';
import { assetNumbered, chatWith, useTree } from './tree.ts';

const open: Disposable[] = [];
// Before the tree is removed: Windows keeps a folder that is watched.
afterEach(() => {
  for (const each of open.splice(0)) each.dispose();
});
const tree = useTree();
const PNG = assetNumbered(1);
const LIMIT_MS = 20_000;

/** Watches a folder and records every reported change. */
async function watching(folder: string, options: WatchOptions = {}) {
  const catalog = new Catalog({ folders: [folder] });
  const changes: CatalogChange[] = [];
  let told = () => {};
  const onChange = (change: CatalogChange) => {
    changes.push(change);
    told();
  };
  const joined = new Watching(catalog, options).join(onChange);
  open.push(joined);
  await joined.ready;
  /** Waits for the change after which this holds. The watch itself keeps no process alive, so that the clock must. */
  const until = async (holds: () => boolean | Promise<boolean>) => {
    for (;;) {
      const next = new Promise<void>((resolve, reject) => {
        const clock = setTimeout(() => reject(new Error('No change was told.')), LIMIT_MS);
        told = () => {
          clearTimeout(clock);
          resolve();
        };
      });
      if (await holds()) return told();
      await next;
    }
  };
  return { catalog, changes, until };
}

const has = async (catalog: Catalog, is: (entry: Entry) => boolean) =>
  (await catalog.snapshot()).entries.some(is);

describe('a change is reported', () => {
  const NOTES = 'notes/a.chat.md';
  const cases: Readonly<Record<string, readonly [change: () => void, told: CatalogChange]>> = {
    'of a new asset, as one of the list': [
      () => writeFileSync(tree.at('cmdassets', assetNumbered(2)), 'x'),
      { list: true, updated: [] },
    ],
    'of a chat that has changed, by its address': [
      () => appendFileSync(tree.at(NOTES), '\nmore\n'),
      { list: false, updated: ['filechat://notes%2Fa.chat.md'] },
    ],
    'of an asset that is written again': [
      () => writeFileSync(tree.at('cmdassets', PNG), 'other'),
      { list: false, updated: [`filechat://cmdassets/${PNG}`] },
    ],
    'of an asset that is deleted': [() => rmSync(tree.at('cmdassets', PNG)), { list: true, updated: [] }],
  };
  for (const [rule, [change, told]] of Object.entries(cases)) {
    it(rule, async () => {
      tree.write(`cmdassets/${PNG}`);
      tree.write(NOTES, '# %% user\nHi\n');
      tree.write('notes/b.chat.md');
      const { changes, until } = await watching(tree.path);
      change();
      await until(() => changes.length > 0);
      assert.deepEqual(changes[0], told);
    });
  }

  it('of an asset in a new folder', async () => {
    tree.write('a.chat.md', chatWith([PNG]));
    const { catalog, changes, until } = await watching(tree.path);
    mkdirSync(tree.at('cmdassets'));
    writeFileSync(tree.at('cmdassets', PNG), 'x');
    await until(() => has(catalog, ({ kind }) => kind === 'asset'));
    await until(() => changes.length > 0);
    assert.ok(changes.some(({ list }) => list));
  });

  it('of a renamed chat, as a change of the list, too', async () => {
    tree.write('a.chat.md', '# %% user\nHi\n');
    const { changes, until } = await watching(tree.path);
    writeFileSync(tree.at('a.chat.md'), '# %% user\nSomething else\n');
    await until(() => changes.some(({ list }) => list));
    assert.ok(changes.some(({ updated }) => updated.includes('filechat://a.chat.md')));
  });

  it('of a new chat in a new nested folder, and of later changes there', async () => {
    const { catalog, changes, until } = await watching(tree.path);
    mkdirSync(tree.at('one/two'), { recursive: true });
    writeFileSync(tree.at('one/two/a.chat.md'), 'x');
    await until(() => has(catalog, ({ chat }) => chat === 'one/two/a.chat.md'));
    await until(() => changes.length > 0);
    const before = changes.length;
    writeFileSync(tree.at('one/two/a.chat.md'), 'longer');
    await until(() =>
      changes.slice(before).some(({ updated }) => updated.includes('filechat://one%2Ftwo%2Fa.chat.md')),
    );
  });

  it('once for many simultaneous changes', async () => {
    mkdirSync(tree.at('cmdassets'));
    const { catalog, changes, until } = await watching(tree.path);
    for (let number = 1; number <= 200; number += 1)
      writeFileSync(tree.at('cmdassets', assetNumbered(number)), 'x');
    await until(async () => (await catalog.snapshot()).entries.length === 200 && changes.length > 0);
    assert.ok(changes.length <= 5, `${changes.length} changes were told`);
  });
});

describe('a watched folder', () => {
  it('may be moved away and another take its place', async () => {
    tree.write('notes/a.chat.md');
    const { catalog, changes, until } = await watching(tree.path);
    renameSync(tree.at('notes'), tree.at('old'));
    mkdirSync(tree.at('notes'));
    writeFileSync(tree.at('notes/b.chat.md'), 'x');
    await until(() => has(catalog, ({ chat }) => chat === 'notes/b.chat.md'));
    await until(() => changes.length > 0);
    const before = changes.length;
    appendFileSync(tree.at('notes/b.chat.md'), 'more');
    await until(() =>
      changes.slice(before).some(({ updated }) => updated.includes('filechat://notes%2Fb.chat.md')),
    );
  });

  it('may be the given one, and be deleted and created again', async () => {
    tree.write('notes/a.chat.md');
    const { changes, until } = await watching(tree.at('notes'), { pollMs: 50 });
    rmSync(tree.at('notes'), { recursive: true });
    await until(() => changes.length === 1);
    assert.deepEqual(changes[0], { list: true, updated: [] });
    tree.write('notes/a.chat.md');
    await until(() => changes.length === 2);
    appendFileSync(tree.at('notes/a.chat.md'), 'more');
    await until(() => changes.some(({ updated }) => updated.includes('filechat://a.chat.md')));
  });

  it('may not be there yet', async () => {
    const { changes, until } = await watching(tree.at('later'), { pollMs: 50 });
    tree.write('later/a.chat.md');
    await until(() => changes.length === 1);
    assert.deepEqual(changes[0], { list: true, updated: [] });
  });
});

describe('where the system reports no changes', () => {
  const full = Object.assign(new Error('no more watches'), { code: 'ENOSPC' });

  it('changes are polled, with one note', async () => {
    tree.write('a.chat.md', '# %% user\nHi\n');
    const notes: string[] = [];
    const { changes, until } = await watching(tree.path, {
      pollMs: 50,
      onNote: (note) => notes.push(note),
      watchFolder: () => {
        throw full;
      },
    });
    tree.write('notes/b.chat.md');
    await until(() => changes.length === 1);
    appendFileSync(tree.at('a.chat.md'), 'more');
    await until(() => changes.length === 2);
    assert.deepEqual(changes[1], { list: false, updated: ['filechat://a.chat.md'] });
    assert.deepEqual(notes, ['Some folders cannot be watched, so changes are polled every 0.05 seconds.']);
  });

  it('a watch that fails later is begun again', async () => {
    tree.write('a.chat.md');
    const watchers: EventEmitter[] = [];
    const { changes, until } = await watching(tree.path, {
      watchFolder: (path, onEvent) => {
        const watcher = watch(path, { persistent: false }, onEvent);
        watchers.push(watcher);
        return watcher;
      },
    });
    watchers[0]?.emit('error', new Error('EPERM'));
    appendFileSync(tree.at('a.chat.md'), 'more');
    await until(() => changes.length === 1);
    appendFileSync(tree.at('a.chat.md'), 'and more');
    await until(() => changes.length === 2);
    assert.equal(watchers.length, 2);
  });
});

describe('a file that is added to a new folder before it is watched', () => {
  it('is found by an additional scan', async () => {
    const { changes, until } = await watching(tree.path, {
      watchFolder: (path, onEvent) => {
        // The last moment before the folder is watched.
        if (path.endsWith('new')) writeFileSync(join(path, 'late.chat.md'), 'x');
        return watch(path, { persistent: false }, onEvent);
      },
    });
    mkdirSync(tree.at('new'));
    await until(() => changes.length === 1);
    assert.equal(changes[0]?.list, true);
  });
});

describe('nothing is reported', () => {
  it('for other files, or after disposal', async () => {
    tree.write('a.chat.md');
    const { changes, until } = await watching(tree.path);
    tree.touch('build/x.js', 'cmdassets/half.part');
    writeFileSync(tree.at('b.chat.md'), 'x');
    await until(() => changes.length > 0);
    assert.deepEqual(changes, [{ list: true, updated: [] }]);
    for (const each of open.splice(0)) each.dispose();
    writeFileSync(tree.at('c.chat.md'), 'x');
    const other = await watching(tree.path);
    writeFileSync(tree.at('d.chat.md'), 'x');
    await other.until(() => other.changes.length > 0);
    assert.equal(changes.length, 1);
  });

  it('and no process is kept alive by it', () => {
    tree.write('a.chat.md');
    const module = (name: string) =>
      JSON.stringify(new URL(`../../../src/catalog/${name}`, import.meta.url).href);
    const program = `
      import { Catalog } from ${module('catalog.ts')};
      import { Watching } from ${module('watch.ts')};
      await new Watching(new Catalog({ folders: [${JSON.stringify(tree.path)}, '/nowhere'] })).join(() => {}).ready;
      console.log('watching');
    `;
    const { status, stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
      encoding: 'utf8',
      timeout: LIMIT_MS,
    });
    assert.deepEqual([status, stdout], [0, 'watching\n']);
  });
});

it('one watcher notifies all listeners, and a new one starts after the last listener has left', async (t) => {
  const shared = new Watching(new Catalog({ folders: [tree.path] }));
  // The watch itself keeps nothing alive.
  const alive = setInterval(() => {}, 1000);
  t.after(() => clearInterval(alive));
  const first = joinNext(shared);
  const second = joinNext(shared);
  await Promise.all([first.ready, second.ready]);
  tree.write('a.chat.md');
  assert.deepEqual(await Promise.all([first.told, second.told]), [true, true]);
  first.dispose();
  second.dispose();
  const late = joinNext(shared);
  await late.ready;
  tree.write('b.chat.md');
  assert.equal(await late.told, true);
  assert.deepEqual([first.count(), second.count(), late.count()], [1, 1, 1]);
});

function joinNext(shared: Watching) {
  let count = 0;
  const { promise: told, resolve } = deferred<boolean>();
  const joined = shared.join(({ list }) => {
    count += 1;
    resolve(list);
  });
  open.push(joined);
  return { ...joined, told, count: () => count };
}
