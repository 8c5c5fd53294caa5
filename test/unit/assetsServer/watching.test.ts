import assert from 'node:assert/strict';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { Catalog } from '../../../src/catalog/catalog.ts';
import { Watching } from '../../../src/catalog/watch.ts';

it('one watcher notifies all listeners, and a new one starts after the last listener has left', async (t) => {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'filechat-watching-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const watching = new Watching(new Catalog({ folders: [folder] }));
  t.after(() => watching.dispose());
  // The watch itself keeps nothing alive.
  const alive = setInterval(() => {}, 1000);
  t.after(() => clearInterval(alive));
  const join1 = joinNext(watching);
  const join2 = joinNext(watching);
  await Promise.all([join1.ready, join2.ready]);
  writeFileSync(join(folder, 'a.chat.md'), '# %% user\nA\n');
  assert.deepEqual(await Promise.all([join1.told, join2.told]), [true, true]);
  join1.dispose();
  join2.dispose();
  const late = joinNext(watching);
  await late.ready;
  writeFileSync(join(folder, 'b.chat.md'), '# %% user\nB\n');
  assert.equal(await late.told, true);
  assert.deepEqual([join1.count(), join2.count(), late.count()], [1, 1, 1]);
});

function joinNext(watching: Watching) {
  let count = 0;
  let onTold: (list: boolean) => void = () => {};
  const told = new Promise<boolean>((resolve) => {
    onTold = resolve;
  });
  const joined = watching.join(({ list }) => {
    count += 1;
    onTold(list);
  });
  return { ready: joined.ready, dispose: () => joined.dispose(), told, count: () => count };
}
