import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { DEVICE_NAME } from '../../../../src/base/assetNames.ts';
import { stemFor } from '../../../../src/chat/outline/fileName.ts';
import { eachCase } from '../eachCase.ts';

describe('the name of a chat', () => {
  const cases: Record<string, [question: string, expected: string | undefined]> = {
    'is the question': ['How is the weather?', 'how-is-the-weather'],
    'is its first line': ['Plot the sales\nas bars\n', 'plot-the-sales'],
    'has at most 40 characters, whole words': [
      'Please write a long letter to the people of the town that we live in',
      'please-write-a-long-letter-to-the-people',
    ],
    'is cut in a word that is too long': ['x'.repeat(80), 'x'.repeat(40)],
    'has no Markdown': ['## **Plot** the _sales_ of `2024`', 'plot-the-sales-of-2024'],
    'has links as their labels': ['Plot [sales.csv](data/sales.csv)', 'plot-sales-csv'],
    'has addresses as their hosts': ['Sum up https://www.example.com/a/b?c=d', 'sum-up-example-com'],
    'is not a fence': ['```js\nlet x = 1\n```\n', 'let-x-1'],
    'is not a comment': ['<!-- x -->\nGo on', 'go-on'],
    'is the question after quoted lines': [
      '`a.ts`, lines 3–4:\n\n```ts\nlet a;\n```\n\nWhy not?\n',
      'why-not',
    ],
    'keeps umlauts': ['Was kostet ein Haus in Köln?', 'was-kostet-ein-haus-in-köln'],
    'keeps composed letters together': ['Ko\u0308ln', 'köln'],
    'keeps other scripts': ['グラフを描いて', 'グラフを描いて'],
    'keeps marks of other scripts': ['नमस्ते दुनिया', 'नमस्ते-दुनिया'],
    'joins letters around apostrophes': [
      "What's new in Rust’s borrow checker?",
      'whats-new-in-rusts-borrow-checker',
    ],
    'has no characters that files cannot have': ['a/b\\c:d?e"f|g', 'a-b-c-d-e-f-g'],
    'has no emoji': ['🚀 Launch it 🚀', 'launch-it'],
    'does not lead anywhere': ['../../etc/passwd', 'etc-passwd'],
    'is not a device of Windows': ['con', undefined],
    'is not the name of a new chat': ['New 2', undefined],
    'is undefined without words': ['??? …', undefined],
    'is undefined for an empty question': ['', undefined],
  };
  eachCase(cases, (question, expected) => assert.equal(stemFor(`# %% user\n${question}`), expected));

  it('can be the name of a file everywhere', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (question) => {
        const stem = stemFor(`# %% user\n${question}`);
        if (stem === undefined) return;
        assert.match(stem, /^[\p{L}\p{N}\p{M}]+(?:-[\p{L}\p{N}\p{M}]+)*$/u);
        assert.ok([...stem].length <= 40 && !DEVICE_NAME.test(stem));
      }),
    );
  });
});
