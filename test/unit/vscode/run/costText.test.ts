import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  addTurn,
  type ChatTotals,
  type CostView,
  costLine,
  costTooltip,
  describeNext,
  describeSpent,
  describeTurns,
  findTotal,
  forgetChats,
  RunTally,
  renameChats,
} from '../../../../src/vscode/run/costText.ts';

const turn = (dollars?: number) => ({ model: 'm', usage: { input: 1000, output: 200 }, dollars });
const spend = (chats: readonly string[]): ChatTotals =>
  chats.reduce<ChatTotals>((totals, chat) => addTurn(totals, chat, turn(1)), []);
const names = (totals: ChatTotals) => totals.map(({ chat, count }) => `${chat} ${count}`);
const total = (...dollars: (number | undefined)[]) =>
  dollars.reduce<ChatTotals>((totals, each) => addTurn(totals, 'a', turn(each)), []).at(0);

describe('the line in the status bar', () => {
  const cases: Record<string, readonly [view: CostView, line: string]> = {
    'there is no model': [{}, '$(hubot) Select a model'],
    'the model is known, and nothing else is shown': [
      { model: 'sonnet', next: { tokens: 1234, dollars: 0.004 }, total: total(0.1, 0.02) },
      '$(hubot) sonnet',
    ],
    'its name is no icon': [{ model: 'a $(bug)' }, '$(hubot) a $ (bug)'],
    'a run has started': [{ run: { seconds: 0 } }, '$(sync~spin) running · 0 s'],
    'a request was sent': [
      { run: { seconds: 3, model: 'sonnet', state: { kind: 'asking', model: 'sonnet' } } },
      '$(sync~spin) sonnet · 3 s · waiting for the response',
    ],
    'a model writes': [
      { run: { seconds: 75, tokens: 1081, model: 'sonnet', state: { kind: 'writing', chars: 4321 } } },
      '$(sync~spin) sonnet · 1 min 15 s · ≈1.1k tokens',
    ],
    'a model writes a call': [
      { run: { seconds: 1, model: 'm', state: { kind: 'calling', name: 'a__$(bug)', chars: 4 } } },
      '$(sync~spin) m · 1 s · writing a call to a__$ (bug)',
    ],
    'a retry is pending': [
      { run: { seconds: 9, model: 'm', state: { kind: 'waiting', ms: 4_200, reason: 'busy' } } },
      '$(watch) retrying in 5 s',
    ],
  };
  for (const [name, [view, line]] of Object.entries(cases))
    it(name, () => assert.equal(costLine(view), line));
});

describe('the tooltip', () => {
  it('shows the next request, the sum and each turn', () => {
    const next = { model: 'sonnet', tokens: 900, dollars: 0.002 };
    assert.equal(
      costTooltip({ next, total: total(0.1, undefined) }),
      `The next request to sonnet has about 900 tokens, about $0.0020 without the reply.

So far: 2 replies, 2.4k tokens, $0.10 and 1 of unknown price.

| # | model | in | out | cost |
|-:|:-|-:|-:|-:|
| 1 | m | 1.0k | 200 | $0.10 |
| 2 | m | 1.0k | 200 | ? |

Click for the model, tokens, cost, servers and the log.`,
    );
  });

  it('reports if there is no reply yet', () => {
    assert.equal(
      costTooltip({}),
      'No usage recorded for this chat yet.\n\nClick for the model, tokens, cost, servers and the log.',
    );
  });

  it('shows the reason of a retry', () => {
    const state = { kind: 'waiting', ms: 1, reason: 'Overloaded.' } as const;
    assert.match(costTooltip({ run: { seconds: 0, state } }), /^Waiting: Overloaded\\\.\n\n/);
  });

  it('escapes the name of the model', () => {
    const [spent] = addTurn([], 'a', { model: '[x](command:y) | `z`\n# <img>', usage: {} });
    assert.match(
      costTooltip({ total: spent }),
      /\| 1 \| \\\[x\\\]\\\(command\\:y\\\) \\\| \\`z\\` \\# \\<img\\> \| \? \| \? \| \? \|/,
    );
  });
});

describe('the figures in the menu', () => {
  it('the next request', () => {
    assert.equal(describeNext({ tokens: 1234 }), '≈1.2k tokens');
    assert.equal(describeNext({ tokens: 3, dollars: 0 }), '≈3 tokens, $0');
  });

  it('the sum, with unknown prices', () => {
    const spent = [total(0.1, 0.02), total(undefined), total(0.5, undefined)];
    assert.deepEqual(
      spent.map((each) => each && describeSpent(each)),
      ['$0.12', '1.2k tokens', '≥ $0.50'],
    );
  });

  it('each reply', () => {
    const spent = total(0.1, undefined);
    assert.deepEqual(spent && describeTurns(spent), [
      { label: '1. m', description: '1.0k tokens in, 200 out · $0.10' },
      { label: '2. m', description: '1.0k tokens in, 200 out' },
    ]);
  });
});

it('a run counts the tokens of all its replies and calls', () => {
  let nowMs = 10_000;
  const tally = new RunTally(() => nowMs);
  assert.equal(tally.tokens, 0);
  tally.update({ kind: 'asking', model: 'm' });
  tally.update({ kind: 'writing', chars: 40 });
  tally.update({ kind: 'writing', chars: 80 });
  tally.update({ kind: 'calling', name: 'a.b', chars: 8 });
  tally.update({ kind: 'calling', name: 'a.b', chars: 12 });
  assert.equal(tally.tokens, 25);
  // The next reply starts.
  tally.update({ kind: 'writing', chars: 4 });
  assert.deepEqual([tally.tokens, tally.model, tally.state?.kind], [26, 'm', 'writing']);
  nowMs = 22_900;
  assert.equal(tally.seconds, 12);
  nowMs = 9_000;
  assert.equal(tally.seconds, 0);
});

describe('the cost of chats', () => {
  it('is summed up, with unpriced turns counted separately', () => {
    const { count, tokens, dollars, unpriced, turns } = total(0.5, undefined) ?? {};
    assert.deepEqual([count, tokens, dollars, unpriced, turns?.length], [2, 2400, 0.5, 1, 2]);
  });

  it('keeps the sum of all turns and only the last of them', () => {
    const found = findTotal(spend(Array.from({ length: 50 }, () => 'a')), 'a');
    assert.deepEqual([found?.count, found?.dollars, found?.turns.length], [50, 50, 20]);
  });

  it('is forgotten for the least recently used chats', () => {
    const totals = spend(['first', ...Array.from({ length: 199 }, (_, at) => `c${at}`), 'first', 'new']);
    assert.equal(totals.length, 200);
    assert.deepEqual([findTotal(totals, 'first')?.count, findTotal(totals, 'c0')], [2, undefined]);
  });

  const renames: Record<string, readonly [from: string, to: string, expected: readonly string[]]> = {
    'a file': ['/x/a', '/x/c', ['/x/c 2', '/x/b 1', '/xy 1']],
    'a folder': ['/x', '/z', ['/z/a 2', '/z/b 1', '/xy 1']],
    'onto another': ['/x/a', '/x/b', ['/x/b 2', '/xy 1']],
    'an unknown one': ['/q', '/r', ['/x/a 2', '/x/b 1', '/xy 1']],
    'to its own name': ['/x/a', '/x/a', ['/x/a 2', '/x/b 1', '/xy 1']],
  };
  for (const [name, [from, to, expected]] of Object.entries(renames)) {
    it(`follows a rename: ${name}`, () => {
      const totals = addTurn(spend(['/x/a', '/x/b', '/xy']), '/x/a', turn(1));
      const sorted = [...totals].sort((a, b) => (a.chat < b.chat ? -1 : 1));
      assert.deepEqual(names(renameChats(sorted, from, to)), expected);
    });
  }

  const deletions: Record<string, readonly [deleted: string, expected: readonly string[]]> = {
    'a file': ['/x/a', ['/x/b 1', '/xy 1']],
    'a folder': ['/x', ['/xy 1']],
    'an unknown one': ['/q', ['/x/a 1', '/x/b 1', '/xy 1']],
  };
  for (const [name, [deleted, expected]] of Object.entries(deletions)) {
    it(`is forgotten with a deletion: ${name}`, () => {
      assert.deepEqual(names(forgetChats(spend(['/x/a', '/x/b', '/xy']), deleted)), expected);
    });
  }
});
