import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readKey } from '../../../../src/model/config/keys.ts';

describe('a pasted key', () => {
  const cases: readonly (readonly [rule: string, pasted: string])[] = [
    ['as it is', 'sk-ant-1'],
    ['with white space', '  sk-ant-1\t'],
    ['with line breaks', '\r\nsk-ant-1\r\n'],
    ['broken into lines', 'sk-\n  ant-1'],
    ['in quotes', '"sk-ant-1"'],
    ['in typographic quotes', '“sk-ant-1”'],
    ['as a header', 'Authorization: Bearer sk-ant-1'],
    ['with the scheme', 'bearer sk-ant-1'],
    ['as a variable', 'ANTHROPIC_API_KEY=sk-ant-1'],
    ['as an export', `export ANTHROPIC_API_KEY='sk-ant-1'`],
  ];
  for (const [rule, pasted] of cases)
    it(rule, () => assert.deepEqual(readKey(pasted), { ok: true, key: 'sk-ant-1' }));

  it('keeps its own signs', () => assert.deepEqual(readKey('AIza_x-y=='), { ok: true, key: 'AIza_x-y==' }));

  const refused: readonly (readonly [typed: string, problem: string])[] = [
    ['', 'empty'],
    [' \n', 'empty'],
    ['""', 'empty'],
    ['Bearer ', 'empty'],
    ['sk-ant 1', 'whitespace'],
    ['schlüssel', 'characters'],
  ];
  for (const [typed, problem] of refused)
    it(`${JSON.stringify(typed)} is refused: ${problem}`, () =>
      assert.deepEqual(readKey(typed), { ok: false, problem }));
});
