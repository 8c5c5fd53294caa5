import assert from 'node:assert/strict';
import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Catalog } from '../../../src/catalog/catalog.ts';
import { type AssetEntry, CatalogRefusal } from '../../../src/catalog/entry.ts';
import { listAssets, pageOf } from '../../../src/catalog/listAssets.ts';
import type { AssetQuery } from '../../../src/catalog/toolSpecs.ts';
import { useChatFolder } from '../assets/folder.ts';

function asset(name: string, about: Partial<AssetEntry> = {}): AssetEntry {
  const file = `tool-file-20261116-093012-${name.replace(/[^A-Za-z0-9]/g, '').padEnd(8, 'x')}-1.bin`;
  return {
    kind: 'asset',
    assetKind: 'file',
    uri: `filechat://a.chat.md/${file}`,
    chat: 'a.chat.md',
    asset: file,
    name,
    size: 1,
    changed: new Date(0),
    mimeType: 'application/octet-stream',
    ...about,
  };
}

const ASSETS = [
  asset('file10.csv', { mimeType: 'text/csv', size: 30, changed: new Date(3), tool: 'Data.export' }),
  asset('file9.csv', { mimeType: 'text/csv', size: 10, changed: new Date(2) }),
  asset('Ärger.png', { assetKind: 'image', mimeType: 'image/png', size: 20, changed: new Date(1) }),
  asset('song.mp3', {
    assetKind: 'audio',
    mimeType: 'audio/mpeg',
    chat: 'notes/b.chat.md',
    changed: new Date(4),
  }),
];
const names = (query: AssetQuery, entries = ASSETS) =>
  pageOf(entries, query)
    .assets.map(({ name }) => name)
    .join(' ');

describe('a list of assets', () => {
  const cases: Record<string, [query: AssetQuery, expected: string]> = {
    'has the latest first': [{}, 'song.mp3 file10.csv file9.csv Ärger.png'],
    'has the oldest first': [{ order: 'ascending' }, 'Ärger.png file9.csv file10.csv song.mp3'],
    'sorts numbers in names by value': [{ sort: 'name' }, 'Ärger.png file9.csv file10.csv song.mp3'],
    'has names from the end': [
      { sort: 'name', order: 'descending' },
      'song.mp3 file10.csv file9.csv Ärger.png',
    ],
    'has the largest first': [{ sort: 'size' }, 'file10.csv Ärger.png file9.csv song.mp3'],
    'is about one chat': [{ chat: 'notes/b.chat.md' }, 'song.mp3'],
    'is about one kind': [{ kind: 'image' }, 'Ärger.png'],
    'is about a type': [{ mimeType: 'text/csv' }, 'file10.csv file9.csv'],
    'is about a group of types': [{ mimeType: ' IMAGE/* ' }, 'Ärger.png'],
    'matches a word in any case': [{ filter: 'äRGER' }, 'Ärger.png'],
    'matches all the words, anywhere': [{ filter: 'data.EXPORT csv' }, 'file10.csv'],
    'matches words of the type': [{ filter: 'mpeg' }, 'song.mp3'],
    'matches words of the chat': [{ filter: 'notes/' }, 'song.mp3'],
    'matches words of the file': [{ filter: 'tool-file file9csv' }, 'file9.csv'],
    'matches nothing else': [{ filter: 'csv mp3' }, ''],
    'has the requested number': [{ limit: 2 }, 'song.mp3 file10.csv'],
  };
  for (const [name, [query, expected]] of Object.entries(cases)) {
    it(name, () => assert.equal(names(query), expected));
  }

  it('counts the matches on all pages', () => {
    assert.equal(pageOf(ASSETS, { limit: 1, mimeType: 'text/*' }).total, 2);
    const first = pageOf(ASSETS, { limit: 3 });
    assert.equal(pageOf(ASSETS, { limit: 3, cursor: first.nextCursor }).total, 4);
  });

  it('has 50 entries on a page by default', () => {
    const many = Array.from({ length: 60 }, (_, at) => asset(`many${at}`));
    assert.equal(pageOf(many, {}).assets.length, 50);
  });
});

const anySort = fc.constantFrom('changed', 'name', 'size', undefined);
const anyOrder = fc.constantFrom('ascending', 'descending', undefined);
/** Many ties, and names that a collator treats as equal. */
const anyAssets = fc.uniqueArray(fc.nat(500), { maxLength: 30 }).chain((ids) =>
  fc.tuple(
    ...ids.map((id) =>
      fc
        .record({
          name: fc.constantFrom('a', 'A', 'é', 'e\u0301', 'b1', 'b01', ''),
          size: fc.nat(2),
          time: fc.nat(2),
        })
        .map(({ name, size, time }) => asset(`id${id}`, { name, size, changed: new Date(time) })),
    ),
  ),
);

describe('pages', () => {
  function allPages(
    start: readonly AssetEntry[],
    query: AssetQuery,
    change: (page: number) => readonly AssetEntry[],
  ) {
    const seen: string[] = [];
    let entries = start;
    for (let cursor: string | undefined, page = 1; ; page += 1) {
      const { assets, nextCursor } = pageOf(entries, { ...query, cursor });
      seen.push(...assets.map(({ uri }) => uri));
      if (nextCursor === undefined) return seen;
      assert.ok(assets.length > 0, 'each page makes progress');
      cursor = nextCursor;
      entries = change(page);
    }
  }

  it('together are the list, in its order', () => {
    fc.assert(
      fc.property(
        anyAssets,
        anySort,
        anyOrder,
        fc.integer({ min: 1, max: 7 }),
        (entries, sort, order, limit) => {
          const whole = pageOf(entries, { sort, order, limit: 200 }).assets.map(({ uri }) => uri);
          assert.deepEqual(
            allPages(entries, { sort, order, limit }, () => entries),
            whole,
          );
        },
      ),
    );
  });

  it('repeat and skip nothing, even if entries are added or removed in between', () => {
    fc.assert(
      fc.property(anyAssets, anyAssets, anyAssets, anySort, anyOrder, (stays, comes, goes, sort, order) => {
        const known = new Set(stays.map(({ uri }) => uri));
        const others = (each: AssetEntry, at: number) => ({ ...each, uri: `${each.uri}.${at}` });
        const first = [...stays, ...goes.map(others)];
        const later = [...comes.map((each, at) => others(each, at + 1000)), ...stays];
        const seen = allPages(first, { sort, order, limit: 3 }, () => later);
        assert.equal(new Set(seen).size, seen.length, 'nothing twice');
        assert.deepEqual(new Set(seen.filter((uri) => known.has(uri))), known, 'nothing left out');
      }),
    );
  });

  it('may have another size than the one before', () => {
    const { nextCursor } = pageOf(ASSETS, { limit: 1 });
    assert.equal(names({ limit: 3, cursor: nextCursor }), 'file10.csv file9.csv Ärger.png');
  });

  it('of a filter may be requested with an equivalent filter', () => {
    const { nextCursor } = pageOf(ASSETS, { filter: 'csv file', limit: 1 });
    assert.equal(
      names({ filter: ' CSV  file', sort: 'changed', order: 'descending', cursor: nextCursor }),
      'file9.csv',
    );
  });

  const { nextCursor = '' } = pageOf(ASSETS, { limit: 1 });
  const refused = (query: AssetQuery, words: RegExp) =>
    assert.throws(
      () => pageOf(ASSETS, query),
      (error: Error) => error instanceof CatalogRefusal && words.test(error.message),
    );

  const others: readonly AssetQuery[] = [
    { filter: 'csv' },
    { sort: 'name' },
    { sort: 'size' },
    { order: 'ascending' },
    { kind: 'file' },
    { mimeType: 'text/*' },
    { chat: 'a.chat.md' },
  ];
  for (const query of others) {
    it(`of another list are refused: ${JSON.stringify(query)}`, () =>
      refused({ ...query, cursor: nextCursor }, /^cursor belongs to another list/));
  }

  const coded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  for (const cursor of [
    '',
    'x',
    '🤷',
    coded({}),
    coded([]),
    coded(null),
    coded([1, 2, 3]),
    nextCursor.slice(0, -5),
  ]) {
    it(`of an invalid cursor are refused: ${cursor.slice(0, 20)}`, () =>
      refused({ cursor }, /^cursor is not a nextCursor of list_assets/));
  }

  it('never fail otherwise for any cursor', () => {
    const anyCursor = fc.oneof(
      fc.string(),
      fc.json().map((json) => Buffer.from(json).toString('base64url')),
    );
    fc.assert(
      fc.property(anyCursor, (cursor) => {
        try {
          pageOf(ASSETS, { cursor });
        } catch (error) {
          assert.ok(error instanceof CatalogRefusal);
        }
      }),
    );
  });
});

describe('the assets of a folder', () => {
  const chat = useChatFolder();

  it('are listed, and a missing chat is an error', async () => {
    const name = 'tool-image-20261116-093012-V1StGXR8a0-1.png';
    writeFileSync(chat.asset(name), 'x');
    writeFileSync(join(chat.path, 'a.chat.md'), `# %% user\n![dot.png](cmdassets/${name})\n`);
    utimesSync(chat.asset(name), 5, 5);
    const catalog = new Catalog({ folders: [chat.path] });
    const { assets, total, notes } = await listAssets(catalog, { chat: 'a.chat.md' });
    assert.deepEqual([assets[0]?.asset, total, notes], [name, 1, []]);
    await assert.rejects(listAssets(catalog, { chat: 'b.chat.md' }), /There is no chat b\.chat\.md/);
  });
});
