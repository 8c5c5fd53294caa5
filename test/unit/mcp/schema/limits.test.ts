import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { schemaProblem } from '../../../../src/mcp/schema/limits.ts';

function nested(levels: number): unknown {
  let schema: unknown = {};
  for (let depth = 1; depth < levels; depth += 1) schema = { items: schema };
  return schema;
}

const properties = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, true]));

describe('a schema is dangerous', () => {
  const cases: Readonly<Record<string, readonly [unknown, RegExp]>> = {
    'when it is nested too deeply': [nested(65), /^is nested more than 64 levels deep$/],
    'when it is nested so deeply that recursion would end the program': [nested(200_000), /levels deep/],
    'when it has too many values': [{ properties: properties(10_000) }, /^has more than 10000 values$/],
    'when one list has a million values': [{ enum: new Array(1_000_000).fill(0) }, /more than 10000 values/],
    'when one text is too long': [{ description: 'x'.repeat(300_000) }, /^is larger than 262\.1 KB$/],
    'when one name is too long': [{ properties: { ['x'.repeat(300_000)]: true } }, /larger than 262\.1 KB/],
    'when it refers to another machine': [
      { properties: { a: { $ref: 'https://example.com/a.json#/x' } } },
      /^refers to "https:\/\/example.com\/a.json#\/x", which is not fetched$/,
    ],
    'when it refers to a file': [{ $ref: 'file:///etc/passwd' }, /refers to "file:/],
    'when it refers to something beside it': [
      { items: { $dynamicRef: 'other.json' } },
      /refers to "other.json"/,
    ],
    'when a property with a misleading name refers elsewhere': [
      { properties: { default: { $ref: 'https://example.com' } } },
      /refers to/,
    ],
    'when its pattern can backtrack catastrophically': [
      { properties: { a: { type: 'string', pattern: '^(a+)+$' } } },
      /^has the pattern "\^\(a\+\)\+\$", which could hang \(catastrophic backtracking\)$/,
    ],
    'when its pattern for names can': [{ patternProperties: { '(x*)*$': {} } }, /catastrophic backtracking/],
    'when an alternative has such a pattern': [
      { anyOf: [{}, { pattern: '(a|a)*b' }] },
      /catastrophic backtracking/,
    ],
  };
  for (const [rule, [schema, reason]] of Object.entries(cases)) {
    it(rule, () => assert.match(schemaProblem(schema) ?? 'no problem', reason));
  }

  it('and what is said about it stays short', () => {
    const said = schemaProblem({ $ref: `https://example.com/${'x'.repeat(10_000)}` }) ?? '';
    assert.ok(said.length < 200 && said.includes('…'));
  });
});

describe('a schema is harmless', () => {
  const cases: Readonly<Record<string, unknown>> = {
    'when it is as deep as is allowed': nested(64),
    'when it is large, but not too large': { properties: properties(9000) },
    'when it refers to itself': {
      $defs: { a: {} },
      properties: { a: { $ref: '#/$defs/a' }, b: { $ref: '#' } },
    },
    'when it refers to what it holds under another name': {
      $id: 'https://example.com/root',
      $defs: { a: { $id: 'a.json', type: 'string' } },
      anyOf: [{ $ref: 'a.json' }, { $ref: 'https://example.com/root#/$defs/a' }],
    },
    'when a property is called like a keyword': {
      properties: { $ref: { type: 'string' }, pattern: { type: 'string' } },
    },
    'when data in it look like keywords': {
      default: { $ref: 'https://example.com', pattern: '^(a+)+$' },
      enum: [{ $ref: 'https://example.com' }],
    },
    'when its keywords and its dialect are not known': {
      $schema: 'https://example.com/dialect',
      frobnicate: { deeply: [1, 2, 3] },
    },
    'when its pattern is not valid': { pattern: '(' },
    'when its pattern is the usual one for e-mail addresses': {
      pattern:
        "^(?!\\.)(?!.*\\.\\.)([A-Za-z0-9_'+\\-\\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$",
    },
    'when it is only true': true,
    'when it is not there': undefined,
  };
  for (const [rule, schema] of Object.entries(cases)) {
    it(rule, () => assert.equal(schemaProblem(schema), undefined));
  }
});
