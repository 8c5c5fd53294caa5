import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { foldCase, searchChat, searchWords } from '../../../../src/chat/outline/searchChat.ts';
import { anySign } from '../../../kit/anySign.ts';
import { eachCase } from '../eachCase.ts';

const CHAT = [
  '# %% user',
  'Plot the sales of Lisbon.',
  '# %% assistant',
  'I draw the Sales now. <!-- secret -->',
  '# %% tool charts.bar c1',
  'Nothing about the town.',
  '# %% user',
  'And the SALES of Porto?',
  '',
].join('\n');

describe('searching a chat', () => {
  const hits = (query: string, title = 'Numbers') => searchChat(CHAT, title, searchWords(query), 10);
  const cases: Record<string, [query: string, expected: string[]]> = {
    'finds a word in any case, the latest turn first': [
      'sales',
      [
        'user: And the SALES of Porto?',
        'assistant: I draw the Sales now.',
        'user: Plot the sales of Lisbon.',
      ],
    ],
    'requires all words in one turn': ['SALES lisbon', ['user: Plot the sales of Lisbon.']],
    'matches parts of words': ['ort', ['user: And the SALES of Porto?']],
    'counts words of the title as found': ['numbers porto', ['user: And the SALES of Porto?']],
    'finds a title': ['numbers', ['title: ']],
    'finds nothing in comments': ['secret', []],
    'finds nothing if words are in different turns': ['porto lisbon', []],
    'finds nothing without words': ['  ', []],
  };
  eachCase(cases, (query, expected) => {
    assert.deepEqual(
      hits(query).map(({ role, snippet }) => `${role ?? 'title'}: ${snippet}`),
      expected,
    );
  });

  it('reports the offset of the match', () => {
    const [hit] = hits('porto');
    assert.equal(CHAT.slice(hit?.offset).startsWith('Porto?'), true);
  });

  it('shows the words around a match of a long line', () => {
    const text = `# %% user\n${'a '.repeat(100)}needle${' b'.repeat(100)}\n`;
    const [hit] = searchChat(text, '', ['needle'], 1);
    assert.match(hit?.snippet ?? '', /^…[a ]+needle[b ]+…$/);
    assert.ok((hit?.snippet.length ?? 0) < 160);
  });

  for (const lineEnd of ['\n', '\r\n']) {
    it(`a line that fits has no “…” before ${JSON.stringify(lineEnd)}`, () => {
      const line = `needle${' b'.repeat(52)}`;
      const [hit] = searchChat(`# %% user${lineEnd}${line}${lineEnd}`, '', ['needle'], 1);
      assert.equal(hit?.snippet, line);
    });
  }

  it('returns at most the given number of hits', () =>
    assert.equal(searchChat(CHAT, '', ['the'], 2).length, 2));

  it('keeps all offsets when it folds case', () => {
    assert.equal(foldCase('İstanbul ÄÖ'), 'İstanbul äö');
    fc.assert(fc.property(fc.string({ unit: anySign }), (text) => foldCase(text).length === text.length));
    for (let code = 0; code <= 0x1ffff; code += 1) {
      const letter = String.fromCodePoint(code);
      if (foldCase(letter).length !== letter.length) assert.fail(`U+${code.toString(16)} changes its length`);
    }
  });
});
