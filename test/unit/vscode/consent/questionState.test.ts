import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseChat } from '../../../../src/chat/format/parse.ts';
import type { ToolInfo } from '../../../../src/ports/tools.ts';
import { renderDefinition } from '../../../../src/vscode/consent/allowedTool.ts';
import {
  type CallQuestion,
  describeQuestion,
  planCallLenses,
  rulesText,
  stateOf,
} from '../../../../src/vscode/consent/questionState.ts';
import { wantsReason } from '../../../../src/vscode/run/lensPlan.ts';

const TOOL: ToolInfo = { server: 'charts', tool: 'bar', inputSchema: {} };
const CHAT =
  '---\nmodel: m\n---\n# %% user\nDraw.\n\n# %% assistant\n```tool_call charts.bar c1\n{"n": 1}\n```\n\n```tool_call charts.bar c2\n{}\n```\n';
const ask = (more: Partial<CallQuestion> = {}, id = 'c1', written = '{"n": 1}\n'): CallQuestion => ({
  call: { server: 'charts', tool: 'bar', id, arguments: {} },
  tool: TOOL,
  written,
  rules: rulesText(parseChat(CHAT)),
  files: [],
  notes: [],
  ...more,
});
const CHANGED = { print: '', always: true, at: '2026-05-03T10:00:00Z', definition: 'other' };

describe('a question about a call in a chat', () => {
  const cases: readonly [change: string, edit: (chat: string) => string, state: string][] = [
    ['nothing', (chat) => chat, 'waiting'],
    ['text below it', (chat) => `${chat}\n# %% user\nWait\n`, 'waiting'],
    ['text above it', (chat) => chat.replace('Draw.', 'Draw it.'), 'waiting'],
    ['the other call', (chat) => chat.replace('{}', '{"a": 1}'), 'waiting'],
    ['a result of the other call', (chat) => `${chat}\n# %% tool charts.bar c2\nok\n`, 'waiting'],
    ['its arguments', (chat) => chat.replace('1}', '2}'), 'edited'],
    ['its arguments to something invalid', (chat) => chat.replace('1}', ''), 'edited with a problem'],
    ['its tool', (chat) => chat.replace('charts.bar c1', 'charts.pie c1'), 'withdrawn'],
    ['its id', (chat) => chat.replace('bar c1', 'bar c9'), 'withdrawn'],
    ['its fence', (chat) => chat.replace('```tool_call charts.bar c1\n{"n": 1}\n```\n', ''), 'withdrawn'],
    ['a result', (chat) => `${chat}\n# %% tool charts.bar c1\nok\n`, 'withdrawn'],
    ['the front matter', (chat) => chat.replace('model: m', 'tools: []'), 'withdrawn'],
    ['everything', () => '', 'withdrawn'],
  ];
  for (const [change, edit, expected] of cases) {
    it(`after a change of ${change} is ${expected}`, () => {
      const state = stateOf(ask(), parseChat(edit(CHAT)));
      const problem = state.kind === 'edited' && state.problem !== undefined ? ' with a problem' : '';
      assert.equal(`${state.kind}${problem}`, expected);
    });
  }
});

describe('the line beside a call', () => {
  const short = (path: string) => path.replace('/home/ada/', '');
  const csv = { path: '/home/ada/data/sales.csv', bytes: 12_000, isContent: true };
  const line = (question: CallQuestion, chat = CHAT) => {
    const state = stateOf(question, parseChat(chat));
    assert.ok(state.kind !== 'withdrawn');
    const { text, isWarning } = describeQuestion(question, state, short);
    return `${isWarning ? '! ' : ''}${text}`;
  };
  const cases: readonly [CallQuestion, expected: string][] = [
    [ask(), 'asks for permission'],
    [ask({ files: [csv] }), 'sends data/sales.csv (12.0 KB)'],
    [
      ask({ files: [csv, { ...csv, path: '/home/ada/b.txt', isContent: false }] }),
      'sends data/sales.csv (12.0 KB) · sends the path of b.txt',
    ],
    [
      ask({ files: [1, 2, 3, 4, 5].map((n) => ({ ...csv, path: `/home/ada/${n}`, bytes: n })) }),
      'sends 1 (1 bytes), 2 (2 bytes), 3 (3 bytes) and 2 more',
    ],
    [
      ask({ files: [csv], tool: { ...TOOL, destructive: true } }),
      '! sends data/sales.csv (12.0 KB) · may delete or overwrite data',
    ],
    [ask({ before: CHANGED }), '! changed since you allowed it'],
    [
      ask({ before: { ...CHANGED, definition: renderDefinition(TOOL) } }),
      '! its server changed since you allowed it',
    ],
    [ask({ files: [{ ...csv, path: '/home/ada/a\u202eb' }] }), 'sends a⟦U+202E⟧b (12.0 KB)'],
  ];
  for (const [question, expected] of cases) it(expected, () => assert.equal(line(question), expected));

  it('says that the arguments were edited, and does not show the files of the old ones', () => {
    const edited = CHAT.replace('1}', '2}');
    const expected = 'arguments edited';
    assert.equal(line(ask({ files: [csv] }), edited), expected);
    const invalid = CHAT.replace('1}', '');
    assert.equal(line(ask(), invalid), '! the arguments are not valid JSON');
  });
});

describe('the lenses above waiting calls', () => {
  const plan = (...questions: readonly CallQuestion[]) =>
    planCallLenses(parseChat(CHAT), questions).map(({ kind, id, count }) =>
      kind === 'allowAll' ? `${id} ${kind} ${count}` : `${id} ${kind}`,
    );
  const row = (id: string) => ['allow', 'always', 'edit', 'decline'].map((kind) => `${id} ${kind}`);

  it('are the four answers, and “Allow All” for several', () => {
    assert.deepEqual(plan(ask()), row('c1'));
    assert.deepEqual(plan(ask(), ask({}, 'c2', '{}\n')), [
      ...row('c1'),
      'c1 allowAll 2',
      ...row('c2'),
      'c2 allowAll 2',
    ]);
  });

  it('lead to the changes of a tool, which is not allowed together with others', () => {
    const both = plan(ask({ before: CHANGED }), ask({}, 'c2', '{}\n'));
    assert.deepEqual(both, ['c1 showChanges', ...row('c1'), ...row('c2')]);
  });

  it('are gone with the call', () => assert.deepEqual(planCallLenses(parseChat('# %% user\n'), [ask()]), []));
});

describe('the hint to give a reason', () => {
  const declined = `${CHAT}\n# %% tool charts.bar c1\n> ⚠ The user declined the call.\n\n# %% tool charts.bar c2\nok\n`;
  const cases: readonly [chat: string, expected: boolean][] = [
    [`${declined}\n# %% user\n`, true],
    [`${declined}\n# %% user\nBecause\n`, false],
    [declined, false],
    [`${CHAT}\n# %% tool charts.bar c1\nok\n\n# %% user\n`, false],
    [`${declined}\n# %% user\nWhy\n\n# %% assistant\nSo.\n\n# %% user\n`, false],
    ['# %% user\n', false],
  ];
  for (const [chat, expected] of cases) {
    it(`${expected}: …${JSON.stringify(chat.slice(-40))}`, () =>
      assert.equal(wantsReason(chat, parseChat(chat)), expected));
  }
});
