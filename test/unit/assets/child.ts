/** A separate process that saves assets: `node child.ts TASK FOLDER [ID]`. It prints the outcome as JSON. */

import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FolderAssets } from '../../../src/assets/store.ts';
import { SpillTable } from '../../../src/mcp/spill/spillFiles.ts';
import type { AssetBytes } from '../../../src/ports/results.ts';

const [task = '', folder = '', own = ''] = process.argv.slice(2);
const SAVES = 100;
/** A multiple of three, so that each piece is complete base64. */
const PIECE_BYTES = 48_000;

const tasks: Readonly<Record<string, () => Promise<unknown>>> = {
  /** All writers begin with the same id at the same time of day; a taken name gives each its own. */
  async race() {
    const ids = ['SAMEsame00'];
    const newId = () => ids.shift() ?? `${own}${String(ids.length).padStart(8, '0')}`;
    const now = () => new Date(2026, 10, 16, 9, 30, 12);
    const assets = new FolderAssets({ folder, now, newId }).beginResult();
    const paths: string[] = [];
    for (let at = 0; at < SAVES; at += 1) {
      const bytes = new TextEncoder().encode(`${own} ${at}`);
      paths.push((await assets.save({ kind: 'file', extension: 'txt', bytes })).path);
    }
    return paths;
  },

  async save() {
    return saveFile(new TextEncoder().encode('small'));
  },

  /** Dies in the middle of an asset, with no time to clean up. */
  async crash() {
    void saveFile(Buffer.alloc(50_000_000));
    for (;;) {
      await new Promise(setImmediate);
      if (readdirSync(join(folder, 'cmdassets')).length > 0) process.kill(process.pid, 'SIGKILL');
    }
  },

  /** On a disk that is almost full. */
  async full() {
    const large = Buffer.alloc(500_000, 'x');
    const store = new FolderAssets({ folder });
    const inMemory = await saveFile(large, store);
    mkdirSync(own, { recursive: true });
    const path = join(own, `.filechat-spill-${process.pid}-a.tmp`);
    writeFileSync(path, large);
    const spilled = await saveFile({ path, size: large.length, head: large.subarray(0, 10) }, store);
    const left = readdirSync(join(folder, 'cmdassets'));
    return { inMemory, spilled, left, next: await saveFile(new TextEncoder().encode('small'), store) };
  },

  /** A long string arrives on a disk that has room for its beginning. */
  async spill() {
    const bytes = randomBytes(1_200_000);
    const assets = new FolderAssets({ folder, recovery: own }).beginResult();
    const spills = new SpillTable({ folder: (failure) => assets.spillFolder(failure), maxBytes: 1e9 });
    const file = spills.begin();
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      await file.reserve(PIECE_BYTES);
      file.addBase64(bytes.subarray(at, at + PIECE_BYTES).toString('base64'));
    }
    const spilled = await file.finish();
    const message = await saveFile(spilled, { beginResult: () => assets });
    const copies = readdirSync(own).map((name) => readFileSync(join(own, name)).equals(bytes));
    return { message, copies, left: readdirSync(join(folder, 'cmdassets')) };
  },
};

/** The link, or why there is none. */
async function saveFile(
  bytes: AssetBytes,
  store: Pick<FolderAssets, 'beginResult'> = new FolderAssets({ folder }),
): Promise<string> {
  try {
    return (await store.beginResult().save({ kind: 'file', extension: 'txt', bytes })).path;
  } catch (error) {
    return (error as Error).message;
  }
}

console.log(JSON.stringify(await tasks[task]?.()));
