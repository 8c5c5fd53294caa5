import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MarkerLines } from '../../../../src/vscode/read/turnStyle.ts';

const change = (start: number, end: number, text: string) => ({
  range: { start: { line: start }, end: { line: end } },
  text,
});

describe('the decorations of turns', () => {
  const names = 'user assistant user';
  const cases: Record<string, [changes: ReturnType<typeof change>[], lines: number[], isSet: boolean]> = {
    'stay when letters are typed': [[change(2, 2, 'x')], [0, 5, 9], false],
    'move with inserted lines': [[change(2, 2, '\n\n')], [0, 7, 11], false],
    'move with deleted lines': [[change(6, 8, '')], [0, 5, 7], false],
    'move with several changes at once': [[change(7, 7, '\n'), change(2, 3, '')], [0, 4, 9], false],
    'are set when a marker is not where its decoration moved': [[change(2, 2, '\n')], [0, 5, 9], true],
    'are set when a marker itself was edited': [[change(5, 5, 'x')], [0, 5, 9], true],
    'are set when a change of the lines before a marker ends in it': [[change(4, 5, '\n')], [0, 5, 9], true],
    'are set when a turn is added': [[change(7, 7, '\n')], [0, 5, 7, 10], true],
  };
  for (const [name, [changes, lines, isSet]] of Object.entries(cases)) {
    it(name, () => {
      const shown = new MarkerLines();
      assert.equal(shown.update([0, 5, 9], names), true);
      shown.move(changes);
      assert.equal(shown.update(lines, names), isSet);
      assert.equal(shown.update(lines, names), false);
    });
  }

  it('are set when the role of a turn changes', () => {
    const shown = new MarkerLines();
    shown.update([0, 5, 9], names);
    assert.equal(shown.update([0, 5, 9], 'user tool user'), true);
  });
});
