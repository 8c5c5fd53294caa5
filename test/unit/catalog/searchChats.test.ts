import assert from 'node:assert/strict';
import { truncateSync, utimesSync } from 'node:fs';
import { describe, it } from 'node:test';
import { Catalog } from '../../../src/catalog/catalog.ts';
import { type Address, CatalogRefusal, type FoundEntry } from '../../../src/catalog/entry.ts';
import { searchChats } from '../../../src/catalog/searchChats.ts';
import { readWindow } from '../../../src/catalog/windows.ts';
import { useTree } from './tree.ts';

type ChatQuery = Parameters<typeof searchChats>[1];
const folder = useTree();
let seconds = 1000;

/** Each is later than the one before. */
function write(name: string, text: string | Uint8Array): string {
  const path = folder.write(name, text);
  seconds += 1;
  utimesSync(path, seconds, seconds);
  return path;
}

const catalog = () => new Catalog({ folders: [folder.path] });
const search = (query: ChatQuery, signal?: AbortSignal) => searchChats(catalog(), query, signal);
const placesOf = async (query: ChatQuery) =>
  (await search(query)).hits.map(({ chat, line, role }) => `${chat}:${line} ${role ?? 'title'}`);

describe('a search over chats', () => {
  it('finds turns that have all the words, the latest chat first and in it the latest turn', async () => {
    write('a.chat.md', '# %% user\nSales of Lisbon\n# %% assistant\nThe SALES rise in Lisbon.\n');
    write('notes/b.chat.md', '# %% user\nHello\n\nLisbon and\nsales\n');
    write('c.chat.md', '# %% user\nSales of Porto\n');
    assert.deepEqual(await placesOf({ query: 'lisbon sales' }), [
      'notes/b.chat.md:4 user',
      'a.chat.md:1 title',
      'a.chat.md:4 assistant',
      'a.chat.md:2 user',
    ]);
  });

  it('describes a hit and its position', async () => {
    const before = '---\ntitle: Größen\n---\n# %% user\nHello\n# %% assistant\nÄpfel & ';
    write('a.chat.md', `${before}needle\n`);
    const { hits, more } = await search({ query: 'NEEDLE' });
    assert.deepEqual(hits, [
      {
        uri: 'filechat://a.chat.md',
        chat: 'a.chat.md',
        title: 'Größen',
        role: 'assistant',
        snippet: 'Äpfel & needle',
        line: 7,
        start: Buffer.byteLength(before),
      },
    ]);
    assert.equal(more, false);
  });

  it('counts the title', async () => {
    write('a.chat.md', '---\ntitle: Yearly numbers\n---\n# %% user\nPlot Porto\n');
    assert.deepEqual(await placesOf({ query: 'numbers porto' }), ['a.chat.md:5 user']);
    const [hit] = (await search({ query: 'yearly' })).hits;
    assert.deepEqual([hit?.role, hit?.line, hit?.start], [undefined, 1, 0]);
  });

  const places: Record<string, string | Uint8Array> = {
    'after characters of all sizes': '\ufeff# %% user\r\nä€😀\r\n\r\nä€😀 needle\r\n',
    'at the end of a chat without a line break': '# %% system\nneedle',
    'after invalid bytes': Buffer.from('# %% user\ncaf\xe9 \xff\n\xe9\nhere is a needle\n', 'latin1'),
  };
  for (const [name, text] of Object.entries(places)) {
    it(`opens the place, ${name}`, async () => {
      write('a.chat.md', text);
      const [hit] = (await search({ query: 'needle' })).hits;
      const found = await catalog().find({ kind: 'chat', chat: hit?.chat ?? '' });
      const { body, start } = await readWindow(found, { start: hit?.start, maxBytes: 6 });
      assert.deepEqual(body, { kind: 'text', text: 'needle' });
      assert.equal(start, hit?.start);
    });
  }

  it('opens the line of a hit after an invalid byte', async () => {
    write('a.chat.md', Buffer.from('# %% user\nfirst\ncaf\xe9 needle\n', 'latin1'));
    const [hit] = (await search({ query: 'needle' })).hits;
    assert.deepEqual([hit?.line, hit?.start], [3, '# %% user\nfirst\n'.length]);
  });

  it('is about one chat, or about all but one', async () => {
    write('a.chat.md', '# %% user\nx needle\n');
    write('b.chat.md', '# %% user\nx needle\n');
    const chats = async (query: ChatQuery) => [
      ...new Set((await search(query)).hits.map(({ chat }) => chat)),
    ];
    assert.deepEqual(await chats({ query: 'needle', chat: 'a.chat.md' }), ['a.chat.md']);
    assert.deepEqual(await chats({ query: 'needle', except: 'a.chat.md' }), ['b.chat.md']);
    await assert.rejects(search({ query: 'needle', chat: 'c.chat.md' }), /There is no chat c\.chat\.md/);
  });

  it('ends at the limit, and reports that there are more', async () => {
    for (let chat = 0; chat < 12; chat += 1) write(`${chat}.chat.md`, '# %% system\nneedle\n');
    const all = await search({ query: 'needle', limit: 12 });
    assert.deepEqual([all.hits.length, all.more], [12, false]);
    const some = await search({ query: 'needle', limit: 11 });
    assert.deepEqual([some.hits.length, some.more], [11, true]);
    assert.equal(some.hits[0]?.chat, '11.chat.md');
    // As many as are read at once: whether there are more is known only from the next ones.
    const eight = await search({ query: 'needle', limit: 8 });
    assert.deepEqual([eight.hits.length, eight.more], [8, true]);
  });

  it('does not let one long chat hide the others', async () => {
    write('a.chat.md', '# %% system\nneedle\n');
    write('long.chat.md', '# %% system\nneedle\n'.repeat(50));
    const { hits, more } = await search({ query: 'needle' });
    assert.equal(hits.at(-1)?.chat, 'a.chat.md');
    assert.equal(more, true);
    assert.equal((await search({ query: 'needle', chat: 'long.chat.md', limit: 50 })).hits.length, 50);
  });

  it('leaves out chats over 20 MB, without reading them', async () => {
    truncateSync(write('large.chat.md', '# %% system\nneedle\n'), 20_000_001);
    truncateSync(write('just.chat.md', '# %% system\nneedle\n'), 20_000_000);
    assert.deepEqual(await placesOf({ query: 'needle' }), ['just.chat.md:2 system']);
  });

  it('stops when aborted', async () => {
    write('a.chat.md', '# %% user\nneedle\n');
    await assert.rejects(search({ query: 'needle' }, AbortSignal.abort()), { name: 'AbortError' });
    const stopping = new AbortController();
    /** Aborted when the first chat is about to be read. */
    class Stopped extends Catalog {
      override find(address: Address): Promise<FoundEntry> {
        stopping.abort();
        return super.find(address);
      }
    }
    const found = searchChats(new Stopped({ folders: [folder.path] }), { query: 'needle' }, stopping.signal);
    await assert.rejects(found, { name: 'AbortError' });
  });

  it('is refused without words', () => assert.rejects(search({ query: ' \n' }), CatalogRefusal));
});
