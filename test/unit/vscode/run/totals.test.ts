import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  addTurn,
  type ChatTotals,
  findTotal,
  forgetChats,
  renameChats,
} from '../../../../src/vscode/run/costText.ts';

const turn = (dollars?: number) => ({ model: 'm', usage: { input: 10, output: 5 }, dollars });
const spend = (chats: readonly string[]): ChatTotals =>
  chats.reduce<ChatTotals>((totals, chat) => addTurn(totals, chat, turn(1)), []);
const names = (totals: ChatTotals) => totals.map(({ chat, count }) => `${chat} ${count}`);

describe('the cost of chats', () => {
  it('is summed up, with unpriced turns counted separately', () => {
    const totals = addTurn(addTurn([], 'a', turn(0.5)), 'a', turn());
    const { count, tokens, dollars, unpriced, turns } = findTotal(totals, 'a') ?? {};
    assert.deepEqual([count, tokens, dollars, unpriced, turns?.length], [2, 30, 0.5, 1, 2]);
  });

  it('keeps the sum of all turns and only the last of them', () => {
    const total = findTotal(spend(Array.from({ length: 50 }, () => 'a')), 'a');
    assert.deepEqual([total?.count, total?.dollars, total?.turns.length], [50, 50, 20]);
  });

  it('is forgotten for the least recently used chats', () => {
    const totals = spend(['first', ...Array.from({ length: 199 }, (_, at) => `c${at}`), 'first', 'new']);
    assert.equal(totals.length, 200);
    assert.deepEqual([findTotal(totals, 'first')?.count, findTotal(totals, 'c0')], [2, undefined]);
  });

  const renames: readonly [name: string, from: string, to: string, expected: readonly string[]][] = [
    ['a file', '/x/a', '/x/c', ['/x/c 2', '/x/b 1', '/xy 1']],
    ['a folder', '/x', '/z', ['/z/a 2', '/z/b 1', '/xy 1']],
    ['onto another', '/x/a', '/x/b', ['/x/b 2', '/xy 1']],
    ['an unknown one', '/q', '/r', ['/x/a 2', '/x/b 1', '/xy 1']],
    ['to its own name', '/x/a', '/x/a', ['/x/a 2', '/x/b 1', '/xy 1']],
  ];
  for (const [name, from, to, expected] of renames) {
    it(`follows a rename: ${name}`, () => {
      const totals = addTurn(spend(['/x/a', '/x/b', '/xy']), '/x/a', turn(1));
      const sorted = [...totals].sort((a, b) => (a.chat < b.chat ? -1 : 1));
      assert.deepEqual(names(renameChats(sorted, from, to)), expected);
    });
  }

  const deletions: readonly [name: string, deleted: string, expected: readonly string[]][] = [
    ['a file', '/x/a', ['/x/b 1', '/xy 1']],
    ['a folder', '/x', ['/xy 1']],
    ['an unknown one', '/q', ['/x/a 1', '/x/b 1', '/xy 1']],
  ];
  for (const [name, deleted, expected] of deletions) {
    it(`is forgotten with a deletion: ${name}`, () => {
      assert.deepEqual(names(forgetChats(spend(['/x/a', '/x/b', '/xy']), deleted)), expected);
    });
  }
});
