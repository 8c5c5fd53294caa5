import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { repairArguments } from '../../../../src/mcp/callArguments/repair.ts';

const SCHEMA = {
  type: 'object',
  $defs: { point: { type: 'object', properties: { x: { type: 'number' } }, required: ['x'] } },
  properties: {
    text: { type: 'string' },
    count: { type: 'integer' },
    ratio: { type: 'number' },
    on: { type: 'boolean' },
    names: { type: 'array', items: { type: 'string' } },
    sizes: { type: 'array', items: { type: 'integer' } },
    point: { $ref: '#/$defs/point' },
    points: { type: 'array', items: { $ref: '#/$defs/point' } },
    level: { enum: [1, 2, 3] },
    maybe: { type: ['integer', 'null'] },
    either: { anyOf: [{ type: 'number' }, { type: 'boolean' }] },
    textOrCount: { anyOf: [{ type: 'string' }, { type: 'integer' }] },
    one: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
    anything: {},
    must: { type: 'string' },
  },
  required: ['must'],
};

type Case = readonly [rule: string, written: unknown, sent: unknown, repairs?: string];

const cases: readonly Case[] = [
  ['null for an absent argument', { count: null }, {}, 'count: null was removed'],
  ['null where it is allowed', { maybe: null, anything: null }, { maybe: null, anything: null }],
  ['null for a required argument', { must: null }, { must: null }],
  ['null for an argument that the schema does not name', { other: null }, { other: null }],
  [
    'a number as a string',
    { count: '3', ratio: ' -1.5e3 ' },
    { count: 3, ratio: -1500 },
    'count: a string became a number; ratio: a string became a number',
  ],
  ['a fraction where a whole number is needed', { count: '3.5' }, { count: '3.5' }],
  ['a string that is no number', { count: '3 pieces', ratio: '0x10' }, { count: '3 pieces', ratio: '0x10' }],
  ['a number that would lose digits', { ratio: '12345678901234567890' }, { ratio: '12345678901234567890' }],
  ['a boolean as a string', { on: 'True' }, { on: true }, 'on: a string became a boolean'],
  ['yes is no boolean', { on: 'yes' }, { on: 'yes' }],
  ['a list as a string', { names: '["a", "b"]' }, { names: ['a', 'b'] }, 'names: a string became a list'],
  ['a list of other things as a string', { names: '[1]' }, { names: '[1]' }],
  ['half a list as a string', { names: '["a", "b"' }, { names: '["a", "b"' }],
  ['one string for a list', { names: 'a, b' }, { names: ['a, b'] }, 'names: one value became a list'],
  ['one number for a list', { sizes: 4 }, { sizes: [4] }, 'sizes: one value became a list'],
  [
    'one number as a string for a list',
    { sizes: '4' },
    { sizes: [4] },
    'sizes: one value became a list; sizes[0]: a string became a number',
  ],
  ['a word for a list of numbers', { sizes: 'four' }, { sizes: 'four' }],
  [
    'strings in a list of numbers',
    { sizes: ['1', 2] },
    { sizes: [1, 2] },
    'sizes[0]: a string became a number',
  ],
  [
    'an object as a string',
    { point: '{"x": "1",}' },
    { point: { x: 1 } },
    'point: a string became an object; point.x: a string became a number',
  ],
  ['an object without what it needs', { point: '{"y": 1}' }, { point: '{"y": 1}' }],
  ['one object for a list', { points: { x: 1 } }, { points: [{ x: 1 }] }, 'points: one value became a list'],
  [
    'a list of objects as a string',
    { points: '[{"x": 1}]' },
    { points: [{ x: 1 }] },
    'points: a string became a list',
  ],
  ['a choice of numbers', { level: '2' }, { level: 2 }, 'level: a string became a number'],
  ['no choice', { level: '7' }, { level: '7' }],
  [
    'two types of which one can be read',
    { either: 'false' },
    { either: false },
    'either: a string became a boolean',
  ],
  [
    'a string is allowed, so it stays',
    { text: '5', textOrCount: '5', one: '["a"]', anything: '{}' },
    { text: '5', textOrCount: '5', one: '["a"]', anything: '{}' },
  ],
  ['a number where a string is needed', { text: 5 }, { text: 5 }],
  ['the name __proto__', JSON.parse('{"__proto__": "1"}'), JSON.parse('{"__proto__": "1"}')],
];

describe('arguments of a call', () => {
  for (const [rule, written, sent, repairs = ''] of cases) {
    it(rule, () => {
      const repaired = repairArguments(JSON.stringify(written), SCHEMA);
      assert.deepEqual(repaired, { value: sent, repairs: repairs === '' ? [] : repairs.split('; ') });
    });
  }

  const texts: readonly (readonly [text: string, sent: object | undefined, schema?: object])[] = [
    ['', {}],
    ['{"count": 1,}', { count: 1 }],
    ['{"text": "a // b, }", // why\n "count": 1, /* not 2 */ }', { text: 'a // b, }', count: 1 }],
    [JSON.stringify('{"count": 1}'), { count: 1 }],
    [JSON.stringify(JSON.stringify('{"count": "1"}')), { count: 1 }],
    ['```json\n{"count": 1}\n```', { count: 1 }],
    ['{"count": 1}<|call|>', { count: 1 }],
    ['{"count": 1}\n</tool_call>', { count: 1 }],
    ['{"text": "a\n\tb", "count": 1}', { text: 'a\n\tb', count: 1 }],
    ['null', {}, { type: 'object' }],
    ['""', {}, {}],
    // The schema requires an argument.
    ['null', undefined],
    ['[{"count": 1}]', undefined],
    ['"count"', undefined],
    // Cut.
    ['{"count": 1', undefined],
    ['{"count": 1,', undefined],
    ['{"text": "a', undefined],
    [JSON.stringify('{"count": 1'), undefined],
  ];
  for (const [text, sent, schema = SCHEMA] of texts) {
    it(`the text ${text} is ${sent ? JSON.stringify(sent) : 'left to the model'}`, () => {
      assert.deepEqual(repairArguments(text, schema)?.value, sent);
    });
  }

  it('any beginning of a call is left alone', () => {
    const whole = '{"text": "a", "sizes": ["1", "2"], "point": "{\\"x\\": 1}"}';
    for (let end = 1; end < whole.length; end += 1) {
      assert.equal(repairArguments(whole.slice(0, end), SCHEMA), undefined, whole.slice(0, end));
    }
  });

  it('any value with any schema is read without an error, and a second time nothing is changed', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom(...Object.keys(SCHEMA.properties)), fc.jsonValue()),
        (args) => {
          const first = repairArguments(JSON.stringify(args), SCHEMA);
          assert.ok(first);
          const second = repairArguments(JSON.stringify(first.value), SCHEMA);
          assert.deepEqual(second?.repairs, []);
        },
      ),
    );
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue(), (args, schema) => {
        repairArguments(JSON.stringify(args), schema);
      }),
    );
  });

  it('deep nesting and schemas that contain themselves end', () => {
    const schema = {
      type: 'object',
      properties: { a: { $ref: '#' }, b: { type: 'array', items: { $ref: '#/properties/b' } } },
    };
    const deep = `${'{"a":'.repeat(200)}{}${'}'.repeat(200)}`;
    assert.deepEqual(repairArguments(deep, schema)?.repairs, []);
    const list = (depth: number) => `{"b":${'['.repeat(depth)}${']'.repeat(depth)}}`;
    assert.deepEqual(repairArguments(list(400), schema)?.repairs, []);
    assert.equal(repairArguments(list(2000), schema), undefined);
  });

  // Each of these was looked for again from each of its places, which took minutes.
  for (const [what, text] of [
    ['backticks before text', `${'`'.repeat(600_000)}x`],
    ['signs of a format before text', `${'<|>'.repeat(200_000)}x`],
    ['a string without an end', `{"${'\\"'.repeat(200_000)}`],
  ] as const) {
    it(`${what} are read once`, () => assert.equal(repairArguments(text, SCHEMA), undefined));
  }
});
