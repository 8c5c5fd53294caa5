import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { RepeatFilter } from '../../../../src/chat/reply/incoming.ts';
import { eachCase } from '../eachCase.ts';
import { inPieces } from '../hostileReply.ts';

const filter = (partial: string, pieces: readonly string[]) => {
  const repeat = new RepeatFilter(partial);
  return pieces.map((piece) => repeat.push(piece)).join('') + repeat.end();
};

describe('a continued reply', () => {
  const cases: Record<string, [partial: string, incoming: string, kept: string]> = {
    continues: ['Hello wor', 'ld.', 'ld.'],
    'that begins all over again loses the repetition': ['Hello wor', 'Hello world.', 'ld.'],
    'may have white space before the repetition': ['Hello wor', '\n\nHello world.', 'ld.'],
    'that repeats the last words loses them': [
      'One two three four five six',
      'four five six seven',
      ' seven',
    ],
    'loses as much as is repeated': [
      'abc def ghi jkl abc def ghi jkl',
      'abc def ghi jkl abc def ghi jkl mno',
      ' mno',
    ],
    'that begins the cut word again loses its beginning': ['Hello wor', 'world', 'ld'],
    'may begin with the same word, if that is whole': ['so wor', 'wor. Yes', 'wor. Yes'],
    'may repeat a few letters': ['the cat and', ' the dog', ' the dog'],
    'may repeat white space and lines of symbols': [
      '| a |\n|------------|------------|',
      '\n|------------|------------|',
      '\n|------------|------------|',
    ],
    'keeps its leading white space if nothing is repeated': ['Hello.', '\n\nBye.', '\n\nBye.'],
    'may equal the existing text': ['Hello wor', 'Hello wor', ''],
    'may end while it could still be a repetition': ['Hello wor', 'Hello', 'Hello'],
    'of nothing passes': ['', 'Hello', 'Hello'],
  };
  eachCase(cases, (partial, incoming, kept) => {
    fc.assert(
      fc.property(inPieces(fc.constant(incoming)), (pieces) => {
        assert.equal(filter(partial, pieces), kept);
      }),
    );
  });

  it('is held back only while it is undecided', () => {
    const repeat = new RepeatFilter('Hello wor');
    assert.deepEqual(
      ['He', 'y', ' you'].map((piece) => repeat.push(piece)),
      ['', 'Hey', ' you'],
    );
  });

  const cutCases: Record<string, [partial: string, incoming: string, kept: string]> = {
    'that is cut in a repetition drops it': ['Hello wonderful world and', 'Hello wonder', ''],
    'that is cut in a repetition of the last words drops them': ['One two three four five', 'three four', ''],
    'that is cut after a repetition keeps new text': ['Hello wor', 'Hello world.', 'ld.'],
    'that is cut in new text keeps it': ['Hello wor', 'ld and', 'ld and'],
  };
  eachCase(cutCases, (partial, incoming, kept) => {
    const repeat = new RepeatFilter(partial);
    assert.equal(repeat.push(incoming) + repeat.end(false), kept);
  });

  it('loses the blocks that it repeats, in repeated text even if they differ', () => {
    const repeat = new RepeatFilter('One two.\n\nThree fo', ['search', 'search']);
    const kept = [repeat.push('One two.'), repeat.skips('another'), repeat.skips('search')];
    assert.deepEqual([...kept, repeat.push('Three four')], ['', true, true, 'ur']);
    const later = ['search', 'search', 'other'].map((block) => repeat.skips(block));
    assert.deepEqual(later, [true, false, false]);
  });

  it('drops only repeated text', () => {
    const words = fc.string({ unit: fc.constantFrom('a', 'b', 'c', ' ', '\n'), maxLength: 40 });
    fc.assert(
      fc.property(words, inPieces(words), (partial, pieces) => {
        const incoming = pieces.join('');
        const kept = filter(partial, pieces);
        assert.ok(incoming.endsWith(kept));
        assert.equal(kept, filter(partial, [incoming]));
        const lost = incoming.slice(0, incoming.length - kept.length).trimStart();
        assert.ok(partial.endsWith(lost), 'only words that stand at the end are dropped');
      }),
      { numRuns: 600 },
    );
  });
});
