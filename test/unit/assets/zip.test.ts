import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { unzipSync } from 'fflate';
import { type ZipEntry, zipFiles, zipName } from '../../../src/assets/zip.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'filechat-zip-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function entry(name: string, ...pieces: readonly Uint8Array[]): ZipEntry {
  return {
    name,
    time: new Date(2026, 10, 16),
    bytes: pieces.reduce((sum, { length }) => sum + length, 0),
    async *read() {
      yield* pieces;
    },
  };
}

const never = new AbortController().signal;
const bytes = (text: string) => new TextEncoder().encode(text);
const unpacked = (path: string) =>
  Object.fromEntries(
    Object.entries(unzipSync(readFileSync(path))).map(([name, content]) => [
      name,
      Buffer.from(content).toString(),
    ]),
  );

describe('a zip of assets', () => {
  it('holds every byte of every file, whatever pieces they come in', async () => {
    const target = join(folder, 'a.zip');
    const seen: number[] = [];
    const files = [
      entry('a.txt', bytes('one '), bytes('two')),
      entry('b.png', bytes('png')),
      entry('empty.csv'),
    ];
    await zipFiles(target, files, { signal: never, onProgress: (more) => seen.push(more) });
    assert.deepEqual(unpacked(target), { 'a.txt': 'one two', 'b.png': 'png', 'empty.csv': '' });
    assert.deepEqual(seen, [4, 3, 3]);
    assert.deepEqual(readdirSync(folder), ['a.zip']);
  });

  it('compresses text, and stores compressed formats as they are', async () => {
    const target = join(folder, 'a.zip');
    const long = bytes('a'.repeat(100_000));
    await zipFiles(target, [entry('a.txt', long)], { signal: never });
    assert.ok(readFileSync(target).length < 1_000);
    await zipFiles(target, [entry('a.png', long)], { signal: never });
    assert.ok(readFileSync(target).length > 100_000);
  });

  it('keeps both of two files with one name', async () => {
    const target = join(folder, 'a.zip');
    await zipFiles(target, [entry('a.txt', bytes('1')), entry('A.txt', bytes('2'))], { signal: never });
    assert.deepEqual(unpacked(target), { 'a.txt': '1', 'A (2).txt': '2' });
  });

  it('that is canceled leaves no file, and an existing file unchanged', async () => {
    const target = join(folder, 'a.zip');
    await zipFiles(target, [entry('old.txt', bytes('old'))], { signal: never });
    const stop = new AbortController();
    const endless: ZipEntry = {
      ...entry('endless.bin'),
      async *read() {
        for (let piece = 0; ; piece += 1) {
          if (piece === 20) stop.abort();
          yield new Uint8Array(65_536).fill(piece);
        }
      },
    };
    await assert.rejects(zipFiles(target, [endless], { signal: stop.signal }), { name: 'AbortError' });
    assert.deepEqual(readdirSync(folder), ['a.zip']);
    assert.deepEqual(unpacked(target), { 'old.txt': 'old' });
  });

  it('leaves nothing behind when a file cannot be read', async () => {
    const broken: ZipEntry = {
      ...entry('a.txt'),
      // biome-ignore lint/correctness/useYield: it fails before it has read anything.
      async *read() {
        throw new Error('gone');
      },
    };
    await assert.rejects(zipFiles(join(folder, 'a.zip'), [broken], { signal: never }), /gone/);
    assert.deepEqual(readdirSync(folder), []);
  });

  it('refuses more than the format holds', async () => {
    const huge = { ...entry('a.bin'), bytes: 5_000_000_000 };
    await assert.rejects(zipFiles(join(folder, 'a.zip'), [huge], { signal: never }), /4 GB/);
  });
});

describe('a name in a zip leads nowhere else', () => {
  for (const [name, expected] of [
    ['a/b.png', 'a/b.png'],
    ['../../evil', 'evil'],
    ['..\\..\\evil', '.._.._evil'],
    ['/etc/passwd', 'etc/passwd'],
    ['C:evil', 'C_evil'],
    ['..', 'file'],
  ] as const) {
    it(`${JSON.stringify(name)} → ${expected}`, () => assert.equal(zipName(name), expected));
  }
});
