import assert from 'node:assert/strict';
import { it } from 'node:test';
import { HighlightCache } from '../../../../src/views/preview/code.ts';

function counted() {
  const asked: string[] = [];
  const highlight = (text: string, language: string) => {
    asked.push(`${language} ${text}`);
    return `<${text}>`;
  };
  return { asked, highlight };
}

it('highlights the same code once, by text and language', () => {
  const colours = new HighlightCache();
  const { asked, highlight } = counted();
  const shown = ['js', 'js', 'json'].map((language) => colours.of(highlight, 'a', language));
  assert.deepEqual(shown, ['<a>', '<a>', '<a>']);
  assert.deepEqual(asked, ['js a', 'json a']);
});

it('is cleared when the highlighter changes', () => {
  const colours = new HighlightCache();
  colours.of(() => 'old', 'a', 'js');
  assert.equal(
    colours.of(() => 'new', 'a', 'js'),
    'new',
  );
});

it('is cleared when it is full', () => {
  const { asked, highlight } = counted();
  // Each entry takes seven characters: “js”, a line break, the code and its highlighted form.
  const colours = new HighlightCache(14);
  for (const text of ['a', 'b', 'a', 'c', 'a', 'b']) colours.of(highlight, text, 'js');
  assert.deepEqual(asked, ['js a', 'js b', 'js c', 'js a', 'js b']);
});
