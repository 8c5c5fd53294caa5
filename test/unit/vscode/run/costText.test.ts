import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  addTurn,
  type ChatTotal,
  type CostView,
  costLine,
  costTooltip,
} from '../../../../src/vscode/run/costText.ts';

const total = (...dollars: (number | undefined)[]): ChatTotal | undefined =>
  dollars
    .reduce<readonly ChatTotal[]>(
      (totals, each) =>
        addTurn(totals, 'a', { model: 'm', usage: { input: 1000, output: 200 }, dollars: each }),
      [],
    )
    .at(0);

describe('the line in the status bar', () => {
  const cases: readonly [name: string, view: CostView, line: string][] = [
    ['nothing is known', {}, '$(comment-discussion) Filechat'],
    ['only the size is known', { next: { tokens: 1234 } }, '$(comment-discussion) next ≈1.2k tokens'],
    [
      'everything is known',
      { next: { tokens: 1234, dollars: 0.004 }, total: total(0.1, 0.02) },
      '$(comment-discussion) next ≈1.2k tokens, $0.0040 · so far $0.12',
    ],
    ['no price is known', { total: total(undefined) }, '$(comment-discussion) so far 1.2k tokens'],
    ['some prices are known', { total: total(0.5, undefined) }, '$(comment-discussion) so far ≥ $0.50'],
    ['it is free', { next: { tokens: 3, dollars: 0 } }, '$(comment-discussion) next ≈3 tokens, $0'],
    ['a run has started', { run: { seconds: 0 } }, '$(sync~spin) running · 0 s'],
    [
      'a request was sent',
      { run: { seconds: 3, model: 'sonnet', state: { kind: 'asking', model: 'sonnet' } } },
      '$(sync~spin) sonnet · 3 s · waiting for the first words',
    ],
    [
      'a model writes',
      { run: { seconds: 75, model: 'sonnet', state: { kind: 'writing', chars: 4321 } } },
      '$(sync~spin) sonnet · 1 min 15 s · ≈1.1k tokens',
    ],
    [
      'a model writes a call',
      { run: { seconds: 1, model: 'm', state: { kind: 'calling', name: 'a__$(bug)', chars: 4 } } },
      '$(sync~spin) m · 1 s · writes a call of a__$ (bug)',
    ],
    [
      'a retry is pending',
      { run: { seconds: 9, model: 'm', state: { kind: 'waiting', ms: 4_200, reason: 'busy' } } },
      '$(watch) trying again in 5 s',
    ],
  ];
  for (const [name, view, line] of cases) it(name, () => assert.equal(costLine(view), line));
});

describe('the tooltip', () => {
  it('shows the next request, the sum and each turn', () => {
    const view: CostView = {
      next: { model: 'sonnet', tokens: 900, dollars: 0.002 },
      total: total(0.1, undefined),
    };
    assert.equal(
      costTooltip(view),
      [
        'The next request to sonnet has about 900 tokens, about $0.0020 without the answer.',
        '',
        'So far: 2 answers, 2.4k tokens, $0.10 and 1 of unknown price.',
        '',
        '| # | model | in | out | cost |',
        '|-:|:-|-:|-:|-:|',
        '| 1 | m | 1.0k | 200 | $0.10 |',
        '| 2 | m | 1.0k | 200 | ? |',
        '',
        'Click to see what will be sent, and to leave something out.',
      ].join('\n'),
    );
  });

  it('says so if there is no reply yet', () => {
    assert.equal(
      costTooltip({}),
      'No model has answered in this chat yet.\n\nClick to see what will be sent, and to leave something out.',
    );
  });

  it('shows the reason of a retry', () => {
    const state = { kind: 'waiting', ms: 1, reason: 'Overloaded.' } as const;
    assert.match(costTooltip({ run: { seconds: 1, state } }), /^Waiting: Overloaded\\\.\n\n/);
  });

  it('escapes the name of the model', () => {
    const [spent] = addTurn([], 'a', { model: '[x](command:y) | `z`\n# <img>', usage: {} });
    assert.match(
      costTooltip({ total: spent }),
      /\| 1 \| \\\[x\\\]\\\(command\\:y\\\) \\\| \\`z\\` \\# \\<img\\> \| \? \| \? \| \? \|/,
    );
  });
});
