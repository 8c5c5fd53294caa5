import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { MarkerLines, ruleColor, ruleImage } from '../../../../src/vscode/annotations/turnStyle.ts';

const { contributes } = JSON.parse(
  readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8'),
) as { contributes: { colors: { id: string; defaults: Record<'dark' | 'light', string> }[] } };

describe('the rule beside a turn', () => {
  for (const role of ['user', 'assistant', 'tool', 'system'] as const) {
    it(`has the color of ${role} in package.json`, () => {
      const color = contributes.colors.find(({ id }) => id === `filechat.${role}`);
      for (const theme of ['dark', 'light'] as const) {
        assert.equal(ruleColor(role, theme, undefined), color?.defaults[theme]);
      }
    });
  }

  it('has the color that the user configured', () => {
    assert.equal(ruleColor('user', 'dark', { 'filechat.user': '#123456' }), '#123456');
  });

  it('has the default color if the configured one is invalid', () => {
    for (const other of [null, 'x', { 'filechat.user': 7 }, { 'filechat.user': '"/><script>' }]) {
      assert.equal(ruleColor('user', 'dark', other), '#4daafc');
    }
  });

  it('is an SVG image', () => {
    const [head, data] = ruleImage('#123456').split(',');
    assert.equal(head, 'data:image/svg+xml;base64');
    assert.match(atob(data ?? ''), /^<svg .*fill="#123456".*<\/svg>$/);
  });
});

describe('the decorations of turns', () => {
  const change = (start: number, end: number, text: string) => ({
    range: { start: { line: start }, end: { line: end } },
    text,
  });
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
      let now = 10_000;
      const shown = new MarkerLines(() => now);
      assert.equal(shown.update([0, 5, 9], names), true);
      now += 2_000;
      shown.move(changes);
      assert.equal(shown.update(lines, names), isSet);
      assert.equal(shown.update(lines, names), false);
    });
  }

  it('are set again when lines move while the decorations may still be on their way', () => {
    const shown = new MarkerLines(() => 10_000);
    shown.update([0, 5, 9], names);
    shown.move([change(10, 10, '\n')]);
    assert.equal(shown.update([0, 5, 9], names), false);
    shown.move([change(2, 2, '\n')]);
    assert.equal(shown.update([0, 6, 10], names), true);
  });

  it('are set when the role of a turn changes', () => {
    const shown = new MarkerLines();
    shown.update([0, 5, 9], names);
    assert.equal(shown.update([0, 5, 9], 'user tool user'), true);
  });
});
