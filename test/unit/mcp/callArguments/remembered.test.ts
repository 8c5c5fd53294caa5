import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { rememberable, stillKnown } from '../../../../src/mcp/callArguments/remembered.ts';

const SCHEMA = {
  type: 'object',
  properties: { title: {}, pin: { type: 'string', format: 'password' }, note: { $ref: '#/$defs/hidden' } },
  $defs: { hidden: { type: 'string', writeOnly: true } },
};

describe('arguments that are offered again', () => {
  const cases: readonly [name: string, args: Readonly<Record<string, unknown>>, kept: unknown][] = [
    [
      'plain values',
      { title: 'a', n: 1, list: [1, { a: null }] },
      { title: 'a', n: 1, list: [1, { a: null }] },
    ],
    ['references to files', { file: 'file:data.csv' }, { file: 'file:data.csv' }],
    [
      'words that only contain the name of a secret',
      { keywords: 'a', maxTokens: 5 },
      { keywords: 'a', maxTokens: 5 },
    ],
    [
      'no secrets, by their names',
      { title: 'a', apiKey: 'b', access_token: 'c', password: 'd' },
      { title: 'a' },
    ],
    ['no secrets, by their prefixes', { title: 'a', who: 'ghp_123', deep: [{ x: 'sk-1' }] }, { title: 'a' }],
    ['no secrets, by their schemas', { title: 'a', pin: '1234', note: 'b' }, { title: 'a' }],
    ['no secrets inside of objects', { title: 'a', auth: { token: 'b' } }, { title: 'a' }],
    ['no long texts', { title: 'a', text: 'x'.repeat(2001) }, { title: 'a' }],
    ['nothing of a long call', { list: Array.from({ length: 5 }, () => 'x'.repeat(2000)) }, undefined],
    ['nothing, if nothing is left', { password: 'a', other: undefined }, undefined],
  ];
  for (const [name, args, kept] of cases) it(name, () => assert.deepEqual(rememberable(SCHEMA, args), kept));

  it('only those that the tool still has', () => {
    assert.deepEqual(stillKnown(SCHEMA, { title: 'a', gone: 1 }), { title: 'a' });
    assert.deepEqual(stillKnown(SCHEMA, 'x'), {});
  });
});
