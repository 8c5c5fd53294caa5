import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { splitCommand } from '../../../../src/mcp/config/commandLine.ts';

function split(line: string): readonly string[] | string {
  const found = splitCommand(line);
  return found.kind === 'command' ? [found.command, ...found.args] : found.message;
}

describe('a command line', () => {
  const cases: readonly [string, string, readonly string[]][] = [
    ['is split at white space', '  npx  -y\tserver\n/tmp ', ['npx', '-y', 'server', '/tmp']],
    ['keeps together what is quoted', `x "a b" 'c d' e"f g"'h'i`, ['x', 'a b', 'c d', 'ef ghi']],
    ['has empty arguments', `x "" ''`, ['x', '', '']],
    ['keeps the other quote', `x "it's" 'a "b"'`, ['x', "it's", 'a "b"']],
    [
      'keeps paths of Windows',
      String.raw`C:\a\node.exe "\\srv\my share\x" C:\b`,
      ['C:\\a\\node.exe', '\\\\srv\\my share\\x', 'C:\\b'],
    ],
    ['has a way to write a quote', String.raw`x "a \"b\"" \"c\" "d\\"`, ['x', 'a "b"', '"c"', 'd\\']],
    ['knows no escapes between single quotes', String.raw`x 'a\' 'b\\c'`, ['x', 'a\\', 'b\\\\c']],
    [
      'has no shell',
      'x $HOME `id` a|b && c > d; *',
      ['x', '$HOME', '`id`', 'a|b', '&&', 'c', '>', 'd;', '*'],
    ],
  ];
  for (const [name, line, expected] of cases) {
    test(name, () => assert.deepEqual(split(line), expected));
  }

  const bad: readonly [string, string, RegExp][] = [
    ['nothing', ' ', /^Enter the program first/],
    ['an empty program', '"" x', /^Enter the program first/],
    ['an open quote', 'x "a b', /\("\) is not closed/],
    ['an open single quote', "x it's", /\('\) is not closed/],
    ['a path that takes its quote with it', String.raw`x "C:\a\"`, /not closed/],
  ];
  for (const [name, line, expected] of bad) {
    test(`that is ${name} is a problem`, () => assert.match(String(split(line)), expected));
  }

  const word = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.string({ unit: fc.constantFrom('\\', '"', "'", ' ', 'a', '\n', '$') }),
  );
  const program = word.filter((each) => each !== '');

  test('that is quoted comes back as it was, between double quotes', () => {
    const quote = (text: string) =>
      `"${text.replace(/(\\*)("|$)/g, (_all, slashes, end) => slashes + slashes + (end && '\\"'))}"`;
    fc.assert(
      fc.property(program, fc.array(word), (first, rest) => {
        assert.deepEqual(split([first, ...rest].map(quote).join(' ')), [first, ...rest]);
      }),
    );
  });

  test('that is quoted comes back as it was, between single quotes', () => {
    const quote = (text: string) =>
      text
        .split("'")
        .map((each) => `'${each}'`)
        .join(`"'"`);
    fc.assert(
      fc.property(program, fc.array(word), (first, rest) => {
        assert.deepEqual(split([first, ...rest].map(quote).join('\t')), [first, ...rest]);
      }),
    );
  });
});
