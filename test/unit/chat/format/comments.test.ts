import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { findHidden, withoutComments } from '../../../../src/chat/format/comments.ts';
import { eachCase } from '../eachCase.ts';

describe('comments are not sent', () => {
  const cases: Record<string, [body: string, expected: string]> = {
    'nothing to drop': ['a\n\nb\n', 'a\n\nb\n'],
    'within a line': ['a <!-- x --> b\n', 'a  b\n'],
    'several in a line': ['a <!-- x -->b<!-- y -->\n', 'a b\n'],
    'a line of its own goes with its line': ['a\n<!-- x -->\nb\n', 'a\nb\n'],
    'blank lines around it become one': ['a\n\n<!-- x -->\n\nb\n', 'a\n\nb\n'],
    'over several lines': ['a\n\n<!-- x\n\ny\n-->\n\nb\n', 'a\n\nb\n'],
    'at the start, with the blank lines after it': ['<!-- x -->\n\na\n', 'a\n'],
    'at the end': ['a\n\n<!-- x -->', 'a\n\n'],
    'with CRLF': ['a\r\n\r\n<!-- x -->\r\n\r\nb\r\n', 'a\r\n\r\nb\r\n'],
    'text after it on its last line stays': ['<!-- x\ny --> z\n', ' z\n'],
    'across blank lines, from the middle of a line': ['a <!-- x\n\ny --> b\n', 'a  b\n'],
    'across a fence': ['a <!-- x\n```\n--> b\n', 'a  b\n'],
    'never closed at the start of a line: to the end': ['a\n<!-- x\n\nb\n', 'a\n'],
    'never closed within a line: text': ['a <!-- x\n\nb\n', 'a <!-- x\n\nb\n'],
    'the shortest': ['<!-->a<!--->b', 'ab'],
    'in a fence it is code': ['```html\n<!-- x -->\n```\n', '```html\n<!-- x -->\n```\n'],
    'in an open fence it is code': ['```html\n<!-- x -->\n', '```html\n<!-- x -->\n'],
    'in a code span it is code': ['a `<!-- x -->` b', 'a `<!-- x -->` b'],
    'in a code span over two lines it is code': ['a `b\n<c> <!-- x -->` b', 'a `b\n<c> <!-- x -->` b'],
    'a backtick alone makes no code': ['a ` <!-- x --> b', 'a `  b'],
    'an escaped backtick makes no code': ['a \\`<!-- x -->` b', 'a \\`` b'],
    'an escaped character begins no comment': ['a \\<!-- x --> b', 'a \\<!-- x --> b'],
    'a code span ends with its paragraph': ['a ` b\n\nc <!-- x --> ` d', 'a ` b\n\nc  ` d'],
    'after a fence': ['```\n<!--\n```\n<!-- x -->\nb', '```\n<!--\n```\nb'],
  };
  eachCase(cases, (body, expected) => assert.equal(withoutComments(body), expected));

  it('no region overlaps another, and each is in order', () => {
    const piece = fc.constantFrom(...'<!--¦-->¦`¦``¦```\n¦\n¦\n\n¦a¦\\¦~~~\n¦- ¦    '.split('¦'));
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const body = pieces.join('');
        const { comments, code } = findHidden(body);
        let end = 0;
        for (const region of [...comments, ...code].sort((a, b) => a.start - b.start)) {
          assert.ok(end <= region.start && region.start < region.end && region.end <= body.length);
          end = region.end;
        }
      }),
      { numRuns: 400 },
    );
  });

  const many: Record<string, string> = {
    '` `` ': '` `` ',
    'a <!-- ': 'a <!-- ',
    '<!-- a -->\n': '',
    'b <!-- a --> c\n\n': 'b  c\n\n',
    'b <!-- a --> ': 'b  ',
    '<!-- a --> ': '',
  };
  for (const [piece, kept] of Object.entries(many)) {
    it(`${JSON.stringify(piece)} 50,000 times`, () =>
      assert.equal(withoutComments(piece.repeat(50_000)), kept.repeat(50_000)));
  }
});
