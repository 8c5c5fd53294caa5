import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MarkdownIt } from 'markdown-it';
import { eachCase } from '../../chat/eachCase.ts';
import { createPreview, render } from './helpers.ts';

const reply = (text: string, md?: MarkdownIt) => render(`# %% assistant\n${text}\n`, '/a.chat.md', md);

describe('formulas of a reply', () => {
  /** Stands for VS Code's own extension, which is on or off. */
  const withMath = () => {
    const md = createPreview();
    for (const name of ['math_inline', 'math_inline_block', 'math_block'])
      md.renderer.rules[name] = (tokens, index) => `<${name}>${tokens[index]?.content}</${name}>`;
    return md;
  };
  const md = withMath();
  const cases: Record<string, [text: string, expected: RegExp]> = {
    'within text': ['a \\(x^2 + y_1\\) b', /a <math_inline>x\^2 \+ y_1<\/math_inline> b/],
    'twice in a line': [
      '\\(a\\) and \\(b\\)',
      /<math_inline>a<\/math_inline> and <math_inline>b<\/math_inline>/,
    ],
    'in a block': [
      'So:\n\\[\n\\frac{a}{b}\n\\]\nDone',
      /So:<\/p>\n<math_block>\\frac\{a\}\{b\}<\/math_block><p[^>]*>Done/,
    ],
    'in a block of one line': ['\\[ a = b \\]', /^<math_block>a = b<\/math_block>/m],
    'in a block with rows': [
      '\\[\n\\begin{pmatrix} a \\\\[4pt] b \\end{pmatrix}\n\\]',
      /<math_block>\\begin\{pmatrix\} a \\\\\[4pt\] b \\end\{pmatrix\}<\/math_block>/,
    ],
    'in a list': ['- one\n\n  \\[\n  a\n  \\]\n- two', /<math_block>a<\/math_block>/],
    'displayed within text': [
      'Then \\[a = b\\] holds.',
      /Then <math_inline_block>a = b<\/math_inline_block> holds/,
    ],
    'not in code': ['`\\(a\\)`', /<code>\\\(a\\\)<\/code>/],
    'not in a fence': ['```\n\\[\na\n\\]\n```', /<code[^>]*>\\\[\na\n\\\]\n<\/code>/],
    'not without an end': ['a \\(b', /a \(b/],
    'not without an end of the block': ['\\[\na', /<p[^>]*>\[\na/],
    'not after an escaped backslash': ['a \\\\(b\\\\)', /a \\\(b\\\)/],
    'not empty': ['a \\(\\)', /a \(\)/],
  };
  eachCase(cases, (text, expected) => assert.match(reply(text, md), expected));

  it('are plain text while formulas are switched off', () => {
    assert.match(reply('a \\(x\\)\n\n\\[\nb\n\\]'), /a \(x\)<\/p>\n<p[^>]*>\[\nb\n\]/);
  });

  it('are escaped brackets in other turns and other files', () => {
    assert.match(render('# %% user\na \\[x\\]', '/a.chat.md', md), /a \[x\]/);
    assert.match(render('a \\(x\\)', '/notes.md', md), /a \(x\)/);
  });
});

describe('tasks', () => {
  const cases: Record<string, [text: string, expected: RegExp]> = {
    'to do': ['- [ ] one', /<li[^>]*><input type="checkbox" class="filechat-task" disabled> one<\/li>/],
    'that are done': ['1. [x] one', /<input type="checkbox" class="filechat-task" disabled checked> one/],
    'in a loose list': [
      '- [X] one\n\n- [ ] two',
      /<p[^>]*><input [^>]*checked> one<\/p>[\s\S]*disabled> two/,
    ],
    'with formatting': ['- [ ] **one**', /disabled> <strong>one/],
    'not elsewhere': ['[ ] one', /<p[^>]*>\[ \] one/],
    'not without words': ['- [ ]', /<li[^>]*>\[ \]<\/li>/],
    'not in code': ['- `[ ] one`', /<code>\[ \] one/],
  };
  eachCase(cases, (text, expected) => assert.match(reply(text), expected));

  it('of other files are unchanged', () => assert.match(render('- [ ] one', '/notes.md'), /\[ \] one/));
});

describe('an image of a reply that is not loaded', () => {
  const cases: Record<string, [text: string, expected: RegExp]> = {
    'is a link with its label': [
      'See \\![a chart](https://x.test/a.png).',
      /See <a href="https:\/\/x\.test\/a\.png" title="[^"]*">a chart \(not loaded: it is on the internet\)<\/a>\./,
    ],
    'is a link with its address': [
      '\\![](https://x.test/a.png)',
      /<a [^>]*>https:\/\/x\.test\/a\.png \(not loaded/,
    ],
    'is not an address after an exclamation mark': [
      'Look!https://x.test',
      /Look!<a [^>]*>https:\/\/x\.test<\/a>/,
    ],
  };
  eachCase(cases, (text, expected) => assert.match(reply(text), expected));
});
