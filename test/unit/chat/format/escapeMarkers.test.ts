import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  escapeMarkers,
  restoreInvisible,
  showInvisible,
  unescapeMarkers,
} from '../../../../src/chat/format/escapeMarkers.ts';
import { fence } from '../../../../src/chat/format/fence.ts';
import { parseChat } from '../../../../src/chat/format/parse.ts';
import { anySign } from '../../../kit/anySign.ts';
import { eachCase } from '../eachCase.ts';

const markerish = fc
  .array(fc.constantFrom('# %% user', '\\', '# %%', '#%%', '\n', '# %% TOOL x', ' ', 'text', '\t', '\r\n'))
  .map((pieces) => pieces.join(''));

describe('markers in untrusted text', () => {
  it('start no turn', () => {
    fc.assert(
      fc.property(markerish, (text) => {
        assert.equal(parseChat(`# %% assistant\n${escapeMarkers(text)}`).turns.length, 1);
      }),
    );
  });

  it('are restored exactly', () => {
    fc.assert(fc.property(markerish, (text) => assert.equal(unescapeMarkers(escapeMarkers(text)), text)));
  });

  it('read as before in a preview: Markdown drops the backslash', () => {
    assert.equal(escapeMarkers('a\n# %% user\n'), 'a\n\\# %% user\n');
  });
});

describe('invisible characters', () => {
  const cases: Record<string, [text: string, shown: string]> = {
    'bidirectional controls are shown': ['a\u202Eb', 'a⟦U+202E⟧b'],
    'zero-width characters are shown': ['pass\u200Bword', 'pass⟦U+200B⟧word'],
    'tag characters are shown': ['x\u{E0041}', 'x⟦U+E0041⟧'],
    'escape sequences are shown': ['\u001b[31mred', '⟦U+001B⟧[31mred'],
    'a lone carriage return is shown': ['a\rb', 'a⟦U+000D⟧b'],
    'NUL is shown': ['a\0b', 'a⟦U+0000⟧b'],
    'a lone surrogate is shown': ['a\ud800b', 'a⟦U+D800⟧b'],
    'tabs and newlines stay': ['a\tb\nc', 'a\tb\nc'],
    'fillers and blank Braille are shown': ['a\u3164\u2800\u034fb', 'a⟦U+3164⟧⟦U+2800⟧⟦U+034F⟧b'],
    'variation selectors are shown': ['a\ufe01b', 'a⟦U+FE01⟧b'],
    'the emoji style of a character stays': ['⚠\ufe0f 1\ufe0f\u20e3', '⚠\ufe0f 1\ufe0f\u20e3'],
    'a family stays together': ['👨‍👩‍👧', '👨‍👩‍👧'],
    'a joiner between letters is shown': ['a\u200Db', 'a⟦U+200D⟧b'],
    'a joiner in a word of Persian stays': ['می\u200cخواهم', 'می\u200cخواهم'],
    'a joiner in a word of Sinhala stays': ['ශ්\u200dරී', 'ශ්\u200dරී'],
    'a second joiner is shown': ['می\u200c\u200cخ', 'می\u200c⟦U+200C⟧خ'],
    'the escape cannot be forged': ['⟦U+0041⟧', '⟦U+27E6⟧U+0041⟧'],
  };
  eachCase(cases, (text, shown) => {
    assert.equal(showInvisible(text), shown);
    assert.equal(restoreInvisible(shown), text);
  });

  it('are restored exactly', () => {
    const text = fc.string({
      unit: fc.oneof(
        fc.constantFrom('⟦U+', '⟧', '0041', '\u202e', '\ud800', '👨‍👩‍👧', '\r'),
        fc.string({ unit: anySign }),
      ),
    });
    fc.assert(fc.property(text, (each) => assert.equal(restoreInvisible(showInvisible(each)), each)));
  });
});

it('a fence is longer than any run of backticks within', () => {
  assert.equal(fence('a\n````\nb', 'md'), '`````md\na\n````\nb\n`````');
});
