import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { ArgumentHelp } from '../../../../src/mcp/callArguments/help.ts';
import { repairArguments } from '../../../../src/mcp/callArguments/repair.ts';
import { checkStructured } from '../../../../src/mcp/pool/outputCheck.ts';
import {
  type ArgumentQuestion,
  checkAnswer,
  hasFormat,
  isTextFormat,
  printAnswer,
  type TextFormat,
} from '../../../../src/mcp/schema/answer.ts';
import {
  argumentQuestions,
  fillDefaults,
  missingArguments,
  withPatterns,
} from '../../../../src/mcp/schema/arguments.ts';
import { exampleFor } from '../../../../src/mcp/schema/example.ts';

/** The question for one required argument, without the fields that all questions share. */
function ask(schema: unknown, extra: object = {}): Record<string, unknown> {
  const [question] = argumentQuestions({ properties: { a: schema }, required: ['a'], ...extra });
  const { name, title, required, nullable, ...rest } = question as ArgumentQuestion;
  assert.deepEqual([name, title, required], ['a', 'a', true]);
  return { ...rest, ...(nullable ? { nullable } : {}) };
}

function question(schema: unknown, required = true): ArgumentQuestion {
  const [found] = argumentQuestions({ properties: { a: schema }, required: required ? ['a'] : [] });
  assert.ok(found);
  return found;
}

describe('a schema becomes a question of its kind', () => {
  const text = { kind: 'text' };
  const nullable = { ...text, nullable: true };
  const number = { kind: 'number', integer: false };
  const list = { kind: 'json', shape: 'array', allowsText: false };
  const anything = { kind: 'json', allowsText: true, example: 'null' };
  const choice = (value: unknown, typed = String(value), label = typed) => ({ value, text: typed, label });
  const xOrY = { kind: 'choices', choices: [choice('x'), choice('y')], unique: false };
  const limits = { minLength: 1, maxLength: 9, pattern: '^[a-z]+$' };
  const range = { minimum: 0, exclusiveMaximum: 1, multipleOf: 0.1 };
  const oneOrTwo = [{ const: 1, title: 'One' }, { const: 2 }];
  const object = { b: { type: 'integer', minimum: 2 }, c: { type: 'string' } };
  const oneAndTwo = [choice(1, '1', 'One'), choice(2)];
  const mixed = [choice('a'), choice(1), choice('1', '"1"'), choice(null)];
  const named = { enum: ['x', 'y'], enumNames: ['X', 'Y'] };
  const some = { minItems: 1, maxItems: 2, default: ['y'] };
  const xAndY = [choice('x', 'x', 'X'), choice('y', 'y', 'Y')];
  const positions = { prefixItems: [{ type: 'number' }], items: { enum: ['x'] } };
  const oldDraft = { minimum: 0, exclusiveMinimum: true };
  const cases: readonly [string, object | boolean, object][] = [
    ['string', { type: 'string' }, text],
    ['string with limits', { type: 'string', ...limits }, { ...text, ...limits }],
    ['boolean', { type: 'boolean', default: false }, { kind: 'yesNo', default: false }],
    ['number with limits', { type: 'number', ...range }, { ...number, ...range }],
    [
      'exclusive limits of old drafts',
      { type: 'number', ...oldDraft },
      { ...number, minimum: 0, exclusiveMinimum: 0 },
    ],
    ['integer', { type: 'integer' }, { ...number, integer: true }],
    ['string or null', { type: ['string', 'null'], default: null }, { ...nullable, default: null }],
    ['a union with null, as in pydantic', { anyOf: [{ type: 'string' }, { type: 'null' }] }, nullable],
    ['an invalid default is dropped', { type: 'number', maximum: 3, default: 5 }, { ...number, maximum: 3 }],
    ['a default of the wrong type is dropped', { type: 'string', default: 5 }, text],
    ['enum of strings and numbers', { enum: ['a', 1, '1', null, 'a'] }, { kind: 'choice', choices: mixed }],
    [
      'oneOf with titles',
      { oneOf: oneOrTwo, default: 2 },
      { kind: 'choice', choices: oneAndTwo, default: 2 },
    ],
    ['const', { const: 'x' }, { kind: 'choice', choices: [choice('x')] }],
    [
      'object',
      { type: 'object', properties: object, required: ['b'] },
      { kind: 'json', shape: 'object', allowsText: false, example: '{"b":2}' },
    ],
    ['array', { type: 'array', items: { type: 'string' } }, { ...list, example: '["text"]' }],
    ['array of an enum', { type: 'array', items: named, ...some }, { ...xOrY, ...some, choices: xAndY }],
    [
      'array of titled constants',
      { type: 'array', items: { anyOf: oneOrTwo }, uniqueItems: true },
      { kind: 'choices', choices: oneAndTwo, unique: true },
    ],
    [
      'a default with too many choices is dropped',
      { type: 'array', items: { enum: ['x', 'y'] }, maxItems: 1, default: ['x', 'y'] },
      { ...xOrY, maxItems: 1 },
    ],
    ['array with a schema per position', { type: 'array', ...positions }, { ...list, example: '["x"]' }],
    ['string with a format', { type: 'string', format: 'email' }, { ...text, format: 'email' }],
    ['an unknown format', { type: 'string', format: 'colour' }, text],
    [
      'a default against its format',
      { type: 'string', format: 'date', default: 'soon' },
      { ...text, format: 'date' },
    ],
    ['union', { type: ['string', 'number'] }, { ...anything, example: '"text"' }],
    [
      'union with an object',
      { anyOf: [{ type: 'string' }, { type: 'object' }] },
      { kind: 'json', allowsText: false, example: '"text"' },
    ],
    ['anything', true, anything],
    ['a remote reference', { $ref: 'https://example.com/s.json', type: 'string' }, anything],
    ['a reference to itself', { $ref: '#/properties/a' }, anything],
  ];
  for (const [name, schema, expected] of cases) {
    test(name, () => assert.deepEqual(ask(schema), expected));
  }

  test('local references are followed, and keywords beside them apply', () => {
    const $defs = { Level: { $ref: '#/$defs/a~1b%20c' }, 'a/b c': { enum: ['low', 'high'], default: 'low' } };
    const choices = [choice('low'), choice('high')];
    assert.deepEqual(ask({ $ref: '#/$defs/Level', default: 'high' }, { $defs }), {
      kind: 'choice',
      choices,
      default: 'high',
    });
    assert.equal(ask({ allOf: [{ $ref: '#/$defs/Level' }] }, { $defs })['kind'], 'choice');
  });
});

describe('the questions of a tool', () => {
  const fourArguments = { properties: { a: {}, b: {}, c: {}, d: {} }, required: ['d', 'b'] };
  const parts = [{ properties: { a: {} }, required: ['a'] }, { $ref: '#/$defs/X' }];
  const cases: readonly [string, unknown, string][] = [
    ['required ones come first, in the order of the schema', fourArguments, 'b! d! a c'],
    ['required without a schema', { properties: { a: {} }, required: ['z'] }, 'z! a'],
    ['a forbidden argument is not asked for', { properties: { a: false, b: {} } }, 'b'],
    ['merged from allOf', { allOf: parts, $defs: { X: { properties: { b: {} } } } }, 'a! b'],
    [
      'names from the prototype',
      JSON.parse('{"properties":{"__proto__":{},"constructor":{}},"required":["__proto__"]}'),
      '__proto__! constructor',
    ],
    ['a schema that is not an object', true, ''],
    ['no schema', undefined, ''],
    ['an invalid schema', { properties: [], required: 'a' }, ''],
  ];
  for (const [name, schema, expected] of cases) {
    test(name, () => {
      const names = argumentQuestions(schema).map((asked) => `${asked.name}${asked.required ? '!' : ''}`);
      assert.equal(names.join(' '), expected);
    });
  }

  test('titles and descriptions are kept, long ones cut', () => {
    const asked = question({ type: 'string', title: 'Name', description: 'd'.repeat(5_000_000) });
    assert.equal(asked.title, 'Name');
    assert.equal(asked.description?.length, 1001);
  });
});

const INSTRUMENTS = { type: 'array', items: { type: 'string', enum: ['Guitar', 'Piano, grand'] } };
const NUMBERS = { type: 'array', items: { type: 'number' } };
const FISH = {
  type: 'array',
  items: { anyOf: ['Tuna', 'Salmon', 'Trout'].map((title, at) => ({ const: `f${at + 1}`, title })) },
  minItems: 1,
  maxItems: 2,
};

describe('an answer is parsed according to its question', () => {
  const LEFT_OUT = undefined;
  const optional = (schema: object) => question(schema, false);
  const cases: readonly [string, ArgumentQuestion, string, unknown][] = [
    ['text as it is', question({ type: 'string' }), ' a b ', ' a b '],
    ['an emoji is one character', question({ type: 'string', maxLength: 1 }), '😀', '😀'],
    ['a number', question({ type: 'number' }), ' -1.5e3 ', -1500],
    ['0.3 is a multiple of 0.1', question({ type: 'number', multipleOf: 0.1 }), '0.3', 0.3],
    ['a whole number', question({ type: 'integer' }), '42', 42],
    ['yes', question({ type: 'boolean' }), 'Yes', true],
    ['false', question({ type: 'boolean' }), 'false', false],
    ['a choice by its label', question({ oneOf: [{ const: 7, title: 'Seven' }, { const: 8 }] }), 'Seven', 7],
    ['a choice by its text', question({ enum: [1, '1'] }), '"1"', '1'],
    ['an empty choice', question({ enum: ['', 'a'] }), '', ''],
    ['an object', question({ type: 'object' }), ' {"a": [1]} ', { a: [1] }],
    ['a list without its brackets', question(NUMBERS), ' 3, 5 ', [3, 5]],
    ['a list with its brackets', question(NUMBERS), '[3]', [3]],
    ['text where text or a number is allowed', question({ type: ['string', 'number'] }), 'abc', 'abc'],
    ['a number where text or a number is allowed', question({ type: ['string', 'number'] }), '5', 5],
    ['nothing, for an optional text', optional({ type: 'string' }), '', LEFT_OUT],
    ['blanks, for an optional number', optional({ type: 'number' }), '  ', LEFT_OUT],
    ['nothing, for an optional object', optional({ type: 'object' }), '', LEFT_OUT],
    ['nothing, where null is allowed', question({ type: ['string', 'null'] }), '', null],
    ['choices as JSON', question(INSTRUMENTS), '["Piano, grand", "Guitar"]', ['Piano, grand', 'Guitar']],
    ['choices by name and by label', question(FISH), ' Tuna,f2 ', ['f1', 'f2']],
    ['one choice with a comma in it', question(INSTRUMENTS), 'Piano, grand', ['Piano, grand']],
    ['no choice at all', question(INSTRUMENTS), '[]', []],
    ['nothing, for optional choices', optional(FISH), ' ', LEFT_OUT],
  ];
  for (const [name, asked, text, value] of cases) {
    test(name, () => assert.deepEqual(checkAnswer(asked, text), { ok: true, value }));
  }

  const wrong: readonly [string, ArgumentQuestion, string, RegExp][] = [
    ['nothing where something is required', question({ type: 'string' }), '', /required/],
    ['text that is too short', question({ type: 'string', minLength: 3 }), 'ab', /at least 3/],
    ['text that is too long', question({ type: 'string', maxLength: 1 }), 'ab', /at most 1/],
    ['a word as a number', question({ type: 'number' }), 'three', /number/],
    ['a comma in a number', question({ type: 'number' }), '3,5', /number/],
    ['hexadecimal', question({ type: 'number' }), '0x10', /number/],
    ['infinity', question({ type: 'number' }), '1e999', /number/],
    ['a fraction as a whole number', question({ type: 'integer' }), '1.5', /whole/],
    ['a number that would change', question({ type: 'integer' }), '9007199254740993', /exact/],
    ['below the minimum', question({ type: 'number', minimum: 2 }), '1', /at least 2/],
    ['at the exclusive maximum', question({ type: 'number', exclusiveMaximum: 2 }), '2', /less than 2/],
    ['not a multiple', question({ type: 'integer', multipleOf: 5 }), '7', /multiple of 5/],
    ['maybe', question({ type: 'boolean' }), 'maybe', /yes or no/],
    ['a value that is not a choice', question({ enum: ['a', 'b'] }), 'c', /a, b/],
    ['one value of several that is not a choice', question(FISH), 'f1, shark', /from: f1, f2, f3/],
    ['too few choices', question(FISH), '[]', /at least 1/],
    ['too many choices', question(FISH), 'f1,f2,f3', /at most 2/],
    ['the same choice twice', question({ ...FISH, uniqueItems: true }), 'f1,Tuna', /only once/],
    ['nothing, for required choices', question(FISH), '', /required/],
    ['an address without a host', question({ type: 'string', format: 'email' }), 'me@', /name@example\.com/],
    ['a day that does not exist', question({ type: 'string', format: 'date' }), '2026-02-30', /2026-01-31/],
    ['incomplete JSON', question({ type: 'object' }), '{"a":', /not valid JSON/],
    ['words as numbers', question(NUMBERS), 'abc', /^This is not valid JSON: [^"]*\. Example: \[0\]$/],
    [
      'a list for an object',
      question({ type: 'object', properties: { x: { type: 'number' } } }),
      '[]',
      /such as: {"x":0}/,
    ],
  ];
  for (const [name, asked, text, message] of wrong) {
    test(`refused: ${name}`, () => {
      const answer = checkAnswer(asked, text);
      assert.ok(!answer.ok);
      assert.match(answer.message, message);
    });
  }
});

describe('the pattern of a text', () => {
  const withPattern = async (pattern: string, extra: object = {}) => {
    const [asked] = await withPatterns([question({ type: 'string', pattern, ...extra })]);
    assert.ok(asked);
    return asked;
  };
  const cases: readonly [pattern: string, valid: string, invalid: string][] = [
    ['^[a-z]+$', 'abc', 'aBc'],
    ['b', 'abc', 'ac'],
    ['^\\d{4}-\\d{2}$', '2026-11', '2026-1'],
    ['^[^@\\s]+@[^@\\s]+\\.[^@\\s]+$', 'a@b.c', 'a b@c.d'],
    ['^.$', '😀', 'ab'],
    ['^[\\u0041-\\u005a]\\/(?<word>\\p{L})$', 'A/é', 'a/é'],
    ['^(a+)+$', 'a'.repeat(1000), `${'a'.repeat(1000)}!`],
    ['^.*.*.*.*.*.*.*=$', `${'x'.repeat(1000)}=`, 'x'.repeat(1000)],
    ['^(?:.?){30}a{30}$', 'a'.repeat(60), 'a'.repeat(61)],
  ];
  for (const [pattern, valid, invalid] of cases) {
    test(`is checked in linear time: ${pattern}`, async () => {
      const asked = await withPattern(pattern);
      assert.deepEqual(checkAnswer(asked, valid), { ok: true, value: valid });
      const refused = { ok: false, message: `It must match the pattern ${pattern}` };
      assert.deepEqual(checkAnswer(asked, invalid), refused);
    });
  }

  for (const pattern of ['^(?=a)', '(a)\\1', 'a{1001}', '(', 'x'.repeat(501)]) {
    test(`is not checked if RE2 does not support it, which the description mentions: ${pattern.slice(0, 30)}`, async () => {
      const asked = await withPattern(pattern, { description: 'A name.' });
      assert.match(
        asked.description ?? '',
        /^A name\. \(The pattern .{1,101} is checked only by the server\.\)$/,
      );
      assert.ok(checkAnswer(asked, 'anything').ok);
    });
  }

  test('is not checked for text that is too long', async () => {
    assert.ok(checkAnswer(await withPattern('^a+$'), 'b'.repeat(100_000)).ok);
  });

  test('is not checked after patterns that are too large', async () => {
    const large = question({ type: 'string', pattern: '(?:.{0,1000}){1}'.repeat(20) });
    const [, small] = await withPatterns([large, question({ type: 'string', pattern: '^a$' })]);
    assert.match(small?.description ?? '', /only by the server/);
  });

  test('applies to the default', async () => {
    assert.equal((await withPattern('^a$', { default: 'a' })).default, 'a');
    assert.ok(!('default' in (await withPattern('^a$', { default: 'b' }))));
  });
});

describe('the format', () => {
  const cases: Readonly<Record<TextFormat, { readonly valid: string; readonly invalid: string }>> = {
    email: {
      valid: 'a@b.c|ada.lovelace+x@example.co.uk|me@localhost|ü@münchen.de',
      invalid: `|@b.c|a@|a b@c.d|a@b@c.d|a@b..c|a@-b.c|a@b.c |${'a'.repeat(100_000)}@b.c`,
    },
    uri: {
      valid: 'https://example.com/a?b=c#d|mailto:ada@example.com|urn:isbn:0451450523|http://[::1]:80/',
      invalid: '|example.com|/path|https://|https://a b|https://a/<b>|:x',
    },
    date: {
      valid: '2026-01-31|2024-02-29|0001-01-01',
      invalid: '|2026-1-31|2026-02-30|2025-02-29|2026-13-01|31.01.2026|2026-01-31T00:00:00Z|2026-01-31 ',
    },
    'date-time': {
      valid: '2026-01-31T12:00:00Z|2026-01-31t23:59:60.123456789+05:30',
      invalid: '2026-01-31|2026-01-31T12:00Z|2026-01-31T12:00:00|2026-01-31T24:00:00Z|2026-01-31 12:00:00Z',
    },
  };
  for (const format of ['email', 'uri', 'date', 'date-time'] as const) {
    const { valid, invalid } = cases[format];
    for (const text of valid.split('|')) {
      test(`${format} accepts “${text}”`, () => assert.ok(hasFormat(format, text)));
    }
    for (const text of invalid.split('|')) {
      test(`${format} rejects “${text.slice(0, 30)}”`, () => assert.ok(!hasFormat(format, text)));
    }
  }

  test('is not checked if it is unknown', () => {
    for (const name of ['hostname', 'toString', '', undefined, 7]) assert.ok(!isTextFormat(name));
  });
});

describe('examples', () => {
  const two = { a: { type: 'string' }, b: { type: 'boolean' } };
  const cases: readonly [string, unknown, unknown][] = [
    ['required properties only', { properties: two, required: ['b'] }, { b: false }],
    [
      'all if none is required',
      { properties: { a: { type: 'string', format: 'date' } } },
      { a: '2026-01-31' },
    ],
    [
      'defaults and examples first',
      { properties: { a: { default: 7 }, b: { examples: ['x'] } } },
      { a: 7, b: 'x' },
    ],
    ['negative numbers', { type: 'number', maximum: -3 }, -3],
    [
      'the first of a union that is not null',
      { anyOf: [{ type: 'null' }, { type: 'array', items: { type: 'integer' } }, {}] },
      [0],
    ],
    ['a list of itself', { type: 'array', items: { $ref: '#' } }, [[[[[[null]]]]]]],
  ];
  for (const [name, schema, expected] of cases) {
    test(name, () => assert.deepEqual(exampleFor(schema), expected));
  }
});

describe('defaults and missing arguments', () => {
  const schema = {
    properties: { a: { default: 1 }, b: { $ref: '#/$defs/B' }, c: {}, d: { default: null } },
    required: ['a', 'c', 'e'],
    $defs: { B: { default: [2] } },
  };
  test('only missing arguments are filled in', () => {
    const filled = fillDefaults(schema, { a: 0, x: 'kept', c: undefined });
    assert.deepEqual(filled, { a: 0, x: 'kept', b: [2], d: null });
  });
  test('a required argument that is not given is missing', () => {
    assert.deepEqual(missingArguments(schema, { a: null, e: undefined }), ['c', 'e']);
    assert.deepEqual(missingArguments({ required: ['toString'] }, {}), ['toString']);
  });
  test('a default for "__proto__" pollutes nothing', () => {
    const filled = fillDefaults(JSON.parse('{"properties":{"__proto__":{"default":{"evil":1}}}}'), {});
    assert.equal(Object.getPrototypeOf(filled), Object.prototype);
    assert.equal(JSON.stringify(filled), '{"__proto__":{"evil":1}}');
  });
});

describe('no schema causes an exception', () => {
  function useAll(schema: unknown): void {
    for (const asked of argumentQuestions(schema)) {
      checkAnswer(asked, '');
      checkAnswer(asked, 'x');
      if ('default' in asked) {
        const answer = checkAnswer(asked, printAnswer(asked, asked.default));
        assert.ok(answer.ok, `${JSON.stringify(asked)} refuses its own default`);
      }
      if (asked.kind === 'json') JSON.parse(asked.example);
    }
    fillDefaults(schema, {});
    missingArguments(schema, {});
    JSON.stringify(exampleFor(schema));
  }

  const deep = (wrap: (inner: unknown) => unknown) => {
    let schema: unknown = { type: 'string' };
    for (let level = 0; level < 10_000; level++) schema = wrap(schema);
    return { properties: { a: schema }, required: ['a'] };
  };
  const cyclic: Record<string, unknown> = { type: 'object' };
  cyclic['properties'] = { a: cyclic, b: { default: cyclic }, c: { enum: [cyclic] } };
  const circle = { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } };
  const both = [{ $ref: '#' }, { $ref: '#' }];
  const pointers = { a: { $ref: '#/%E0%A4%A' }, b: { $ref: '#/constructor/prototype' } };
  const numbers = Array.from({ length: 100_000 }, (_, index) => index);
  const cases: readonly [string, unknown][] = [
    ['properties 10,000 deep', deep((a) => ({ type: 'object', properties: { a }, required: ['a'] }))],
    ['unions 10,000 deep', deep((inner) => ({ anyOf: [inner, { type: 'null' }] }))],
    ['parts 10,000 deep', deep((inner) => ({ allOf: [inner] }))],
    ['a default 10,000 deep', deep((inner) => ({ default: inner }))],
    ['a choice 10,000 deep', deep((inner) => ({ enum: [inner] }))],
    ['an object that contains itself', cyclic],
    ['references in a circle', circle],
    ['a circle that branches', { properties: { a: { allOf: both, anyOf: both } } }],
    ['a broken pointer', { properties: pointers }],
    ['100,000 choices', { properties: { a: { enum: numbers } } }],
  ];
  for (const [name, schema] of cases) {
    test(name, () => assert.doesNotThrow(() => useAll(schema)));
  }

  test('any JSON at all', () => {
    fc.assert(fc.property(fc.jsonValue(), useAll));
  });

  const small = fc.jsonValue({ maxDepth: 1 });
  const { schema } = fc.letrec<{ schema: unknown }>((tie) => {
    const schemas = fc.array(tie('schema'), { maxLength: 3 });
    const names = fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', 'a'));
    const keyword = (name: string, value: fc.Arbitrary<unknown>) => fc.tuple(fc.constant(name), value);
    const types = fc.constantFrom('string', 'number', 'integer', 'boolean', 'object', 'array', 'null', 'x');
    const keywords = fc.oneof(
      keyword('type', fc.oneof(types, fc.array(types, { maxLength: 3 }))),
      keyword('default', fc.oneof(small, fc.constantFrom('', null, 0, false, 'a', '1'))),
      keyword(
        'enum',
        fc.array(fc.oneof(small, fc.constantFrom('', '1', '"1"', 1, 'null', null)), { maxLength: 4 }),
      ),
      keyword('const', small),
      keyword('pattern', fc.constantFrom('^a', '(', '^(a+)+$', '')),
      keyword('minLength', fc.nat(3)),
      keyword('minItems', fc.nat(2)),
      keyword('uniqueItems', fc.boolean()),
      keyword('format', fc.constantFrom('email', 'uri', 'date', 'date-time', 'x')),
      keyword('minimum', fc.oneof(fc.integer(), fc.double())),
      keyword('exclusiveMaximum', fc.oneof(fc.boolean(), fc.integer())),
      keyword('multipleOf', fc.oneof(fc.double(), fc.integer())),
      keyword('properties', fc.dictionary(names, tie('schema'), { maxKeys: 3 })),
      keyword('required', fc.array(names, { maxLength: 2 })),
      keyword('items', tie('schema')),
      keyword('anyOf', schemas),
      keyword('oneOf', schemas),
      keyword('allOf', schemas),
      keyword('$ref', fc.constantFrom('#', '#/properties/a', '#/$defs/x', 'https://example.com')),
    );
    const some = fc.array(keywords, { maxLength: 4 }).map((entries) => Object.fromEntries(entries));
    return { schema: fc.oneof({ depthSize: 'small' }, fc.boolean(), some) };
  });

  test('any schema, and every default that is offered is an answer', () => {
    const root = fc.record({
      properties: fc.dictionary(fc.constantFrom('a', 'b', 'c'), schema),
      required: fc.array(fc.constantFrom('a', 'b')),
      $defs: fc.record({ x: schema }),
    });
    fc.assert(fc.property(root, useAll), { numRuns: 150 });
  });
});

test('no pattern of a server ever becomes a RegExp', async (t) => {
  // Takes 2^40 steps on a backtracking engine, and counts no repetition.
  const pattern = `^${'(a|a)'.repeat(40)}$`;
  const value = `${'a'.repeat(40)}b`;
  const text = { type: 'string', pattern, default: value };
  const schema = { type: 'object', properties: { x: text }, patternProperties: { [pattern]: text } };
  const { RegExp: Real } = globalThis;
  const made: string[] = [];
  globalThis.RegExp = new Proxy(Real, {
    construct: (target, [source, ...flags]) => {
      made.push(String(source));
      return new target(source, ...flags);
    },
  });
  t.after(() => {
    globalThis.RegExp = Real;
  });
  const questions = await withPatterns(argumentQuestions(schema));
  assert.equal(questions[0]?.default, undefined);
  const help = await ArgumentHelp.create(schema);
  await help?.check(JSON.stringify({ x: value }));
  await help?.complete('{"x": ""}', 7);
  assert.equal(checkStructured({ type: 'object', properties: { x: text } }, { x: value }), undefined);
  repairArguments(JSON.stringify({ x: value }), schema);
  assert.deepEqual(
    made.filter((source) => source.includes('(a|a)(a|a)')),
    [],
  );
});
