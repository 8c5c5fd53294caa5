import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { pageOf } from '../../../src/assetsServer/resources.ts';
import type { ChatEntry, Entry } from '../../../src/catalog/entry.ts';

const entry = (at: number, time: number): ChatEntry => ({
  kind: 'chat',
  uri: `filechat://${at}.chat.md`,
  chat: `${at}.chat.md`,
  title: String(at),
  size: 1,
  changed: new Date(time),
  mimeType: 'text/markdown',
});

it('pages contain every remaining entry once, even if entries are added or removed in between', () => {
  const times = fc.array(fc.nat(5), { minLength: 900, maxLength: 1600 });
  const changes = fc.record({ gone: fc.array(fc.nat(1600)), come: fc.array(fc.nat(5), { maxLength: 50 }) });
  fc.assert(
    fc.property(times, fc.array(changes, { minLength: 5, maxLength: 5 }), (all, between) => {
      let entries: Entry[] = all.map((time, at) => entry(at, time));
      const seen: string[] = [];
      const gone = new Set<number>();
      let cursor: string | undefined;
      let fresh = 10_000;
      let pages = 0;
      do {
        const page = pageOf(entries, cursor);
        assert.ok(page.page.length <= 500);
        seen.push(...page.page.map(({ chat }) => chat));
        cursor = page.nextCursor;
        const change = between[pages % between.length];
        for (const at of change?.gone ?? []) gone.add(at);
        entries = entries.filter(({ chat }) => !gone.has(Number.parseInt(chat, 10)));
        for (const time of change?.come ?? []) {
          entries.push(entry(fresh, time));
          fresh += 1;
        }
        pages += 1;
      } while (cursor !== undefined && pages < 50);
      assert.equal(new Set(seen).size, seen.length);
      const found = new Set(seen);
      all.forEach((_time, at) => {
        assert.ok(gone.has(at) || found.has(`${at}.chat.md`), `${at} is missing`);
      });
    }),
    { numRuns: 30 },
  );
});
