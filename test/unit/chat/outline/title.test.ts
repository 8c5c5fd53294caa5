import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { chatStem, chatTitle, summarizeChat, titleFor } from '../../../../src/chat/outline/title.ts';
import { anySign } from '../../../kit/anySign.ts';
import { eachCase } from '../eachCase.ts';

describe('a title', () => {
  const cases: Record<string, [body: string, expected: string | undefined]> = {
    'is the first line': ['Plot the sales\nplease\n', 'Plot the sales'],
    'has no Markdown syntax': [
      '## **Plot** the _sales_ of `2024`, snake_case',
      'Plot the sales of 2024, snake_case',
    ],
    'has links as their labels': ['See [the sales](data/a.csv) ![and](b.png)', 'See the sales and'],
    'is not a list mark or a quote': ['> 1. - [ ] Do it', 'Do it'],
    'is not a rule or a blank line': ['\n---\n***\nGo', 'Go'],
    'is not a comment': ['<!-- x -->\nGo <!-- y -->on', 'Go on'],
    'is not a fence': ['```js\nlet x = 1\n```\n', 'let x = 1'],
    'is not a tag': ['<b>Go</b> to <https://x.y>', 'Go to https://x.y'],
    'is cut at a word': [
      'Please write a long letter to the people of the town that we live in, thanks',
      'Please write a long letter to the people of the town that…',
    ],
    'is cut in a word that is too long': ['x'.repeat(80), `${'x'.repeat(59)}…`],
    'is in any language': ['グラフを描いて', 'グラフを描いて'],
    'is the question after quoted lines': ['`a.ts`, lines 3–4:\n\n```ts\nlet a;\n```\n\nWhy?\n', 'Why?'],
    'is the name of quoted lines without a question': [
      '`a.ts`, line 3:\n\n```ts\nlet a;\n```\n\n',
      'a.ts, line 3:',
    ],
    'is undefined without words': ['!!! ---\n', undefined],
  };
  eachCase(cases, (body, expected) =>
    assert.equal(titleFor(`# %% system\nno\n# %% user\n${body}`), expected),
  );

  it('is from the first turn with words', () => {
    assert.equal(titleFor('# %% user\n\n# %% assistant\nno\n# %% user\nyes\n'), 'yes');
    assert.equal(titleFor('# %% assistant\nno\n'), undefined);
  });

  it('is not made of the arguments of a call', () => {
    const call = '# %% user\n```tool_call charts.bar c1\n{"title": "No"}\n```\n';
    assert.equal(titleFor(call), 'charts.bar');
    assert.equal(titleFor(`${call}\n# %% tool charts.bar c1\nDone.\n\n# %% user\nyes\n`), 'yes');
    assert.equal(titleFor(`${call}and words\n`), 'and words');
  });

  it('is never long, for any question', () => {
    fc.assert(
      fc.property(fc.string({ unit: anySign, maxLength: 300 }), (body) => {
        const title = titleFor(`# %% user\n${body}`);
        assert.ok([...(title ?? '')].length <= 60 && !/[\r\n]/.test(title ?? ''));
      }),
    );
  });
});

it('a typed name loses the ending of chats, whole or in part', () => {
  const stems = {
    plan: 'plan',
    'plan.md': 'plan',
    'plan.chat': 'plan',
    'plan.chat.md': 'plan',
    'Plan.MD': 'Plan',
    'plan.md.chat.md': 'plan',
    'plan.chat.md.chat.md': 'plan',
    'plan.chat.chat.md': 'plan',
  };
  for (const [typed, stem] of Object.entries(stems)) assert.equal(chatStem(typed), stem);
});

it('other endings belong to the name', () => {
  for (const name of ['plan.txt', 'v1.2', 'plan.md.txt', 'chatmd', '.md', '.chat'])
    assert.equal(chatStem(name), name);
});

describe('the summary of a chat', () => {
  const cases: Record<string, [text: string, expected: string | undefined]> = {
    'its own title': ['---\ntitle: Sales\n---\n# %% user\nPlot it\n', 'Sales'],
    'its first words': ['# %% user\nPlot **it**\n', 'Plot it'],
    'a title in one line, and no longer than a line': [
      `---\ntitle: "a\\n\\u202e b${'c'.repeat(200)}"\n---\n`,
      `a b${'c'.repeat(97)}`,
    ],
    'nothing of an empty chat': ['# %% user\n', undefined],
  };
  eachCase(cases, (text, expected) => assert.equal(chatTitle(text), expected));

  it('its model, its turns and how many files it links to', () => {
    const image = '![Tool generated image 1](cmdassets/a.png)';
    const text = `---\nmodel: tour\n---\n# %% user\nGo\n# %% tool a.b c1\n${image}\n\n${image}\n[x](cmdassets/b.pdf)\n`;
    assert.deepEqual(summarizeChat(text), { model: 'tour', turns: 2, assets: 2 });
    assert.deepEqual(summarizeChat(''), { turns: 0, assets: 0 });
  });
});
