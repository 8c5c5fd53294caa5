import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { ruleColor, ruleImage } from '../../../../src/vscode/read/turnStyle.ts';

interface Color {
  readonly id: string;
  readonly defaults: Readonly<Record<'dark' | 'light', string>>;
}

const manifest = JSON.parse(readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8')) as {
  readonly contributes: { readonly colors: readonly Color[] };
};

describe('the rule beside a turn', () => {
  for (const role of ['user', 'assistant', 'tool', 'system'] as const) {
    it(`has the color of ${role} in package.json`, () => {
      const color = manifest.contributes.colors.find(({ id }) => id === `filechat.${role}`);
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
