import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { PasteError } from '../../../../../src/mcp/config/pasted/types.ts';
import { splitWords } from '../../../../../src/mcp/config/pasted/words.ts';

describe('a command line', () => {
  const cases: readonly [string, string, readonly string[]][] = [
    ['is split at white space', '  npx  -y\tserver\n/tmp ', ['npx', '-y', 'server', '/tmp']],
    ['keeps quoted text together', `x "a b" 'c d' e"f g"'h'i`, ['x', 'a b', 'c d', 'ef ghi']],
    ['may have empty arguments', `x "" ''`, ['x', '', '']],
    ['keeps the other quote', `x "it's" 'a "b"'`, ['x', "it's", 'a "b"']],
    [
      'keeps paths of Windows',
      String.raw`C:\a\node.exe "\\srv\my share\x" C:\b`,
      ['C:\\a\\node.exe', '\\\\srv\\my share\\x', 'C:\\b'],
    ],
    ['can contain escaped quotes', String.raw`x "a \"b\"" \"c\" "d\\"`, ['x', 'a "b"', '"c"', 'd\\']],
    ['has no escapes between single quotes', String.raw`x 'a\' 'b\\c'`, ['x', 'a\\', 'b\\\\c']],
    [
      'does not use a shell',
      'x $HOME `id` a|b && c > d; *',
      ['x', '$HOME', '`id`', 'a|b', '&&', 'c', '>', 'd;', '*'],
    ],
  ];
  for (const [name, line, expected] of cases) {
    test(name, () => assert.deepEqual(splitWords(line), expected));
  }

  for (const line of ['x "a b', "x it's", String.raw`x "C:\a\"`]) {
    test(`with an open quote is a problem: ${line}`, () => assert.throws(() => splitWords(line), PasteError));
  }

  const word = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.string({ unit: fc.constantFrom('\\', '"', "'", ' ', 'a', '\n', '$') }),
  );
  const program = word.filter((each) => each !== '');

  test('that is quoted with double quotes is restored', () => {
    const quote = (text: string) =>
      `"${text.replace(/(\\*)("|$)/g, (_all, slashes, end) => slashes + slashes + (end && '\\"'))}"`;
    fc.assert(
      fc.property(program, fc.array(word), (first, rest) => {
        assert.deepEqual(splitWords([first, ...rest].map(quote).join(' ')), [first, ...rest]);
      }),
    );
  });

  test('that is quoted with single quotes is restored', () => {
    const quote = (text: string) =>
      text
        .split("'")
        .map((each) => `'${each}'`)
        .join(`"'"`);
    fc.assert(
      fc.property(program, fc.array(word), (first, rest) => {
        assert.deepEqual(splitWords([first, ...rest].map(quote).join('\t')), [first, ...rest]);
      }),
    );
  });
});
