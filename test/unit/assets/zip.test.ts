import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { unzipSync } from 'fflate';
import { type ZipEntry, type ZipOptions, zipFiles, zipName } from '../../../src/assets/zip.ts';
import { until } from '../../kit/until.ts';
import { useTree } from '../catalog/tree.ts';

const folder = useTree();
const zip = (entries: readonly ZipEntry[], options: Partial<ZipOptions> = {}) =>
  zipFiles(folder.at('a.zip'), entries, { signal: new AbortController().signal, ...options });
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

const bytes = (text: string) => new TextEncoder().encode(text);
const unpacked = () =>
  Object.fromEntries(
    Object.entries(unzipSync(readFileSync(folder.at('a.zip')))).map(([name, content]) => [
      name,
      Buffer.from(content).toString(),
    ]),
  );

describe('a zip of assets', () => {
  it('contains every byte of every file, at any chunking', async () => {
    const seen: number[] = [];
    const files = [
      entry('a.txt', bytes('one '), bytes('two')),
      entry('b.png', bytes('png')),
      entry('empty.csv'),
    ];
    await zip(files, { onProgress: (more) => seen.push(more) });
    assert.deepEqual(unpacked(), { 'a.txt': 'one two', 'b.png': 'png', 'empty.csv': '' });
    assert.deepEqual(seen, [4, 3, 3]);
    assert.deepEqual(readdirSync(folder.path), ['a.zip']);
  });

  it('compresses text, and stores compressed formats as they are', async () => {
    const long = bytes('a'.repeat(100_000));
    await zip([entry('a.txt', long)]);
    assert.ok(readFileSync(folder.at('a.zip')).length < 1_000);
    await zip([entry('a.png', long)]);
    assert.ok(readFileSync(folder.at('a.zip')).length > 100_000);
  });

  it('keeps both of two files with one name', async () => {
    await zip([entry('a.txt', bytes('1')), entry('A.txt', bytes('2'))]);
    assert.deepEqual(unpacked(), { 'a.txt': '1', 'A (2).txt': '2' });
  });

  it('of thousands of files with one name looks at each name once', async (t) => {
    const count = 300;
    const looks = t.mock.method(Map.prototype, 'has');
    const before = looks.mock.callCount();
    await zip(Array.from({ length: count }, () => entry('a.txt')));
    const names = looks.mock.calls
      .slice(before)
      .filter(({ arguments: [key] }) => typeof key === 'string' && /^a(?: \(\d+\))?\.txt$/.test(key));
    looks.mock.restore();
    assert.ok(names.length <= 3 * count, `${names.length}`);
    assert.equal(Object.keys(unpacked()).length, count);
  });

  it('is written to a new file of a name that cannot be known before', async () => {
    const names = new Set<string>();
    for (let times = 0; times < 2; times += 1) {
      const watching: ZipEntry = {
        ...entry('a.txt'),
        async *read() {
          yield bytes('x');
          const isPartial = (name: string) => name.endsWith('.partial');
          await until(() => readdirSync(folder.path).some(isPartial));
          names.add(readdirSync(folder.path).find(isPartial) ?? '');
        },
      };
      await zip([watching]);
    }
    assert.equal(names.size, 2);
    for (const name of names) assert.match(name, /^a\.zip\.[0-9a-f]{24}\.partial$/);
  });

  it('that is canceled leaves no file, and an existing file unchanged', async () => {
    await zip([entry('old.txt', bytes('old'))]);
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
    await assert.rejects(zip([endless], { signal: stop.signal }), { name: 'AbortError' });
    assert.deepEqual(readdirSync(folder.path), ['a.zip']);
    assert.deepEqual(unpacked(), { 'old.txt': 'old' });
  });

  it('leaves nothing behind when a file cannot be read', async () => {
    const broken: ZipEntry = {
      ...entry('a.txt'),
      // biome-ignore lint/correctness/useYield: it fails before it has read anything.
      async *read() {
        throw new Error('gone');
      },
    };
    await assert.rejects(zip([broken]), /gone/);
    assert.deepEqual(readdirSync(folder.path), []);
  });

  it('refuses more than the format supports', async () => {
    const huge = { ...entry('a.bin'), bytes: 5_000_000_000 };
    await assert.rejects(zip([huge]), /4 GB/);
  });
});

describe('a name in a zip stays inside its folder', () => {
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
