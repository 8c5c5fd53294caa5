import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkStructured } from '../../../../src/mcp/pool/outputCheck.ts';

const WEATHER = {
  type: 'object',
  properties: {
    temperature: { type: 'number', maximum: 60 },
    sky: { enum: ['clear', 'cloudy'] },
    hours: { type: 'array', items: { $ref: '#/$defs/hour' } },
  },
  required: ['temperature'],
  additionalProperties: false,
  $defs: { hour: { type: 'object', properties: { at: { type: 'integer' } }, required: ['at'] } },
};

describe('structured content matches', () => {
  const cases: Readonly<Record<string, readonly [unknown, unknown]>> = {
    'its schema': [WEATHER, { temperature: 20, sky: 'clear', hours: [{ at: 1 }] }],
    'a schema that refers to itself': [
      { properties: { next: { $ref: '#' }, value: { type: 'number' } }, required: ['value'] },
      { value: 1, next: { value: 2, next: { value: 3 } } },
    ],
    'an older dialect': [{ $schema: 'http://json-schema.org/draft-07/schema#', type: 'object' }, {}],
    'a constant that looks like keywords': [
      { properties: { a: { const: { pattern: 'x', uniqueItems: true } } } },
      { a: { pattern: 'x', uniqueItems: true } },
    ],
    'a schema whose properties are called like keywords': [
      { properties: { pattern: { type: 'string' }, format: { type: 'string' } } },
      { pattern: 'a', format: 'b' },
    ],
  };
  for (const [rule, [schema, value]] of Object.entries(cases)) {
    it(rule, () => assert.equal(checkStructured(schema, value), undefined));
  }
});

describe('a mismatch is one sentence', () => {
  const SENTENCE = "The structured content does not match the tool's own output schema";
  const cases: Readonly<Record<string, readonly [unknown, string]>> = {
    'for a missing property': [{}, `${SENTENCE}: Instance does not have required property "temperature".`],
    'for a wrong type': [
      { temperature: 'warm' },
      `${SENTENCE} at /temperature: Instance type "string" is invalid. Expected "number".`,
    ],
    'for a nested value': [
      { temperature: 1, hours: [{ at: 1 }, { at: 'noon' }] },
      `${SENTENCE} at /hours/1/at: Instance type "string" is invalid. Expected "integer".`,
    ],
    'for a list': [[], `${SENTENCE}: Instance type "array" is invalid. Expected "object".`],
  };
  for (const [rule, [value, expected]] of Object.entries(cases)) {
    it(rule, () => assert.equal(checkStructured(WEATHER, value), expected));
  }

  it('for enums, extra properties and lengths', () => {
    assert.match(checkStructured(WEATHER, { temperature: 1, sky: 'green' }) ?? '', /at \/sky: .*clear/);
    assert.match(checkStructured(WEATHER, { temperature: 1, more: 2 }) ?? '', /at \/more: /);
    assert.match(
      checkStructured({ properties: { a: { minLength: 3 } } }, { a: 'x' }) ?? '',
      /at \/a: .*short/,
    );
  });

  it('with untrusted text shortened and visible', () => {
    const name = `a\u202e\n${'x'.repeat(5000)}`;
    const said = checkStructured({ properties: { [name]: { type: 'number' } } }, { [name]: 'b' }) ?? '';
    assert.ok(said.startsWith(SENTENCE) && said.length < 400);
    assert.doesNotMatch(said, /[\u202e\n]/);
  });
});

describe('structured content is not checked', () => {
  let doubling: unknown = { type: 'number' };
  const $defs: Record<string, unknown> = { d0: doubling };
  for (let at = 1; at < 40; at += 1) {
    doubling = { allOf: [{ $ref: `#/$defs/d${at - 1}` }, { $ref: `#/$defs/d${at - 1}` }] };
    $defs[`d${at}`] = doubling;
  }
  let deep: unknown = 1;
  for (let at = 0; at < 100_000; at += 1) deep = { a: deep };

  const cases: Readonly<Record<string, readonly [unknown, unknown]>> = {
    'when there is no schema': [undefined, {}],
    'when there is none': [WEATHER, undefined],
    'when its schema refers to another address': [
      { properties: { a: { $ref: 'https://example.com/a' } } },
      { a: 1 },
    ],
    'when its schema has a broken reference': [{ properties: { a: { $ref: '#/$defs/none' } } }, { a: 1 }],
    'when the dialect is unknown': [{ $schema: 'https://example.com', type: 'string' }, 1],
    'when it is larger than a megabyte': [{ type: 'string' }, [new Array(600_000).fill(1)]],
    'when the names of properties are patterns': [
      { patternProperties: { a: {} }, additionalProperties: false },
      { b: 1 },
    ],
    'against patterns, which could hang': [
      { properties: { a: { pattern: '^[a-z]*[a-z]*[a-z]*!$' } } },
      { a: 'x'.repeat(100_000) },
    ],
    'against formats, which can, too': [{ properties: { a: { format: 'date' } } }, { a: 'x' }],
    'for duplicate items, which would be slow': [
      { properties: { a: { uniqueItems: true } } },
      { a: new Array(100_000).fill(1) },
    ],
    'when references make the schema endless': [{ $defs, $ref: '#/$defs/d39' }, 1],
    'when references run in a circle': [{ anyOf: [{ $ref: '#' }] }, 1],
    'when the value is deeper than the stack': [{ properties: { a: { $ref: '#' } } }, deep],
  };
  for (const [rule, [schema, value]] of Object.entries(cases)) {
    it(rule, () => assert.equal(checkStructured(schema, value), undefined));
  }
});

it('a check does not modify the schema', () => {
  const schema = structuredClone(WEATHER);
  checkStructured(schema, { temperature: 1, hours: [{ at: 1 }] });
  assert.deepEqual(schema, WEATHER);
  assert.deepEqual(Reflect.ownKeys(schema.$defs.hour), Reflect.ownKeys(WEATHER.$defs.hour));
});
