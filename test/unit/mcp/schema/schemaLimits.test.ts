import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { meterSchema, schemaProblem } from '../../../../src/mcp/schema/schemaLimits.ts';

function nested(levels: number): unknown {
  let schema: unknown = {};
  for (let depth = 1; depth < levels; depth += 1) schema = { items: schema };
  return schema;
}

const properties = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, true]));

describe('a schema is unsafe', () => {
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
    'when it refers to a relative address': [
      { items: { $dynamicRef: 'other.json' } },
      /refers to "other.json"/,
    ],
    'when a property with a misleading name refers elsewhere': [
      { properties: { default: { $ref: 'https://example.com' } } },
      /refers to/,
    ],
  };
  for (const [rule, [schema, reason]] of Object.entries(cases)) {
    it(rule, () => assert.match(schemaProblem(schema) ?? 'no problem', reason));
  }

  it('and the message about it is short', () => {
    const said = schemaProblem({ $ref: `https://example.com/${'x'.repeat(10_000)}` }) ?? '';
    assert.ok(said.length < 200 && said.includes('…'));
  });
});

describe('a schema is safe', () => {
  const cases: Readonly<Record<string, unknown>> = {
    'when it is as deep as is allowed': nested(64),
    'when it is large, but not too large': { properties: properties(9000) },
    'when it refers to itself': {
      $defs: { a: {} },
      properties: { a: { $ref: '#/$defs/a' }, b: { $ref: '#' } },
    },
    'when it refers to an embedded schema by its id': {
      $id: 'https://example.com/root',
      $defs: { a: { $id: 'a.json', type: 'string' } },
      anyOf: [{ $ref: 'a.json' }, { $ref: 'https://example.com/root#/$defs/a' }],
    },
    'when a property has the name of a keyword': {
      properties: { $ref: { type: 'string' }, pattern: { type: 'string' } },
    },
    'when data in it looks like keywords': {
      default: { $ref: 'https://example.com', pattern: '^(a+)+$' },
      enum: [{ $ref: 'https://example.com' }],
    },
    'when its keywords and its dialect are unknown': {
      $schema: 'https://example.com/dialect',
      frobnicate: { deeply: [1, 2, 3] },
    },
    'when its pattern is not valid': { pattern: '(' },
    'when its pattern could backtrack': { pattern: '^(a+)+$', patternProperties: { '(x*)*$': {} } },
    'when it is true': true,
    'when there is none': undefined,
  };
  for (const [rule, schema] of Object.entries(cases)) {
    it(rule, () => assert.equal(schemaProblem(schema), undefined));
  }
});

it('a metered schema charges for references and for listing keys', () => {
  const steps = { left: 100 };
  const schema = meterSchema({ $ref: '#/a', toString: { k: 1 }, x: Array(30).fill(1) }, steps);
  const spent = (use: () => unknown) => {
    const before = steps.left;
    use();
    return before - steps.left;
  };
  assert.equal(
    spent(() => schema['$ref']),
    10,
  );
  assert.equal(
    spent(() => schema['toString']),
    1,
  );
  assert.equal(
    spent(() => Reflect.ownKeys(schema)),
    6,
  );
  assert.throws(
    () => Object.keys(schema['x'] as object).concat(Object.keys(schema['x'] as object)),
    /too many steps/,
  );
});
