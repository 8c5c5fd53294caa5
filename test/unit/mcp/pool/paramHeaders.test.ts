import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { paramHeaders, scanParamHeaders } from '../../../../src/mcp/pool/paramHeaders.ts';

const header = (name: unknown, type: unknown = 'string') => ({ type, 'x-mcp-header': name });
const object = (properties: unknown, more: object = {}) => ({ type: 'object', properties, ...more });

describe('the headers that a tool declares', () => {
  const right: Readonly<Record<string, readonly [unknown, readonly (readonly [string, string])[]]>> = {
    'none, where none is declared': [object({ a: { type: 'string' } }), []],
    'of strings, integers and booleans, in their order': [
      object({ a: header('A'), b: header('B', 'integer'), c: header('C', 'boolean') }),
      [
        ['a', 'A'],
        ['b', 'B'],
        ['c', 'C'],
      ],
    ],
    'at any depth of properties': [
      object({ where: object({ region: header('Region') }) }),
      [['where.region', 'Region']],
    ],
    'and no property that only has the same name': [
      object({ 'x-mcp-header': { type: 'string' }, list: { items: object({ 'x-mcp-header': {} }) } }),
      [],
    ],
    'and no data': [object({ a: { type: 'object', default: header('A'), enum: [header('B')] } }), []],
    'none of values that are not schemas': [null, []],
  };
  for (const [rule, [schema, expected]] of Object.entries(right)) {
    it(rule, () => {
      const scan = scanParamHeaders(schema);
      assert.ok(scan.ok);
      assert.deepEqual(
        scan.declarations.map(({ path, header }) => [path.join('.'), header]),
        expected,
      );
    });
  }

  const wrong: Readonly<Record<string, readonly [unknown, RegExp]>> = {
    'without a name': [object({ a: header('') }), /for "a" without a name/],
    'with an invalid name': [object({ a: header(5) }), /without a name/],
    'with a blank in the name': [object({ a: header('My Region') }), /invalid header name "My Region"/],
    'with a colon in the name': [object({ a: header('A:B') }), /invalid header name/],
    'with a line break in the name': [object({ a: header('A\r\nB') }), /invalid header name/],
    'with letters beyond ASCII in the name': [object({ a: header('Région') }), /invalid header name/],
    'of a number': [object({ a: header('A', 'number') }), /"a", which is not a string, an integer or a bool/],
    'of an object': [object({ a: header('A', 'object') }), /not a string/],
    'of a list': [object({ a: header('A', 'array') }), /not a string/],
    'of null': [object({ a: header('A', 'null') }), /not a string/],
    'of a union of types': [object({ a: header('A', ['string', 'null']) }), /not a string/],
    'of no type': [object({ a: { 'x-mcp-header': 'A' } }), /not a string/],
    twice: [object({ a: header('Region'), b: header('Region') }), /"Region" twice/],
    'twice but for the case': [object({ a: header('Region'), b: header('REGION') }), /twice/],
    'for all arguments': [
      { ...object({}), 'x-mcp-header': 'A' },
      /outside of the properties of the arguments/,
    ],
    'in the items of a list': [object({ a: { items: header('A') } }), /outside of the properties/],
    'below the items of a list': [
      object({ a: { items: object({ b: header('A') }) } }),
      /outside of the properties/,
    ],
    'in an alternative': [object({}, { anyOf: [object({ a: header('A') })] }), /outside of the properties/],
    'in a condition': [object({}, { if: object({ a: header('A') }) }), /outside of the properties/],
    'in a definition': [
      object({ a: { $ref: '#/$defs/a' } }, { $defs: { a: header('A') } }),
      /outside of the prop/,
    ],
    'for other properties': [object({}, { additionalProperties: header('A') }), /outside of the properties/],
  };
  for (const [rule, [schema, reason]] of Object.entries(wrong)) {
    it(`are invalid ${rule}`, () => {
      const scan = scanParamHeaders(schema);
      assert.ok(!scan.ok);
      assert.match(scan.reason, reason);
    });
  }

  it('are found at any depth of the schema', () => {
    let schema: unknown = header('A');
    for (let depth = 0; depth < 10_000; depth += 1) schema = { items: schema };
    assert.equal(scanParamHeaders(schema).ok, false);
  });
});

describe('the headers of a call', () => {
  const scan = scanParamHeaders(object({ a: header('A'), where: object({ b: header('B') }) }));
  const declarations = scan.ok ? scan.declarations : [];
  const base64 = (text: string) => `=?base64?${Buffer.from(text).toString('base64')}?=`;

  const values: Readonly<Record<string, readonly [unknown, string | undefined]>> = {
    'contain plain text unchanged': ['us-east1', 'us-east1'],
    'contain inner spaces unchanged': ['us east', 'us east'],
    'contain whole numbers': [-42, '-42'],
    'contain the largest exact number': [Number.MAX_SAFE_INTEGER, '9007199254740991'],
    'omit numbers that are not exact': [2 ** 53, undefined],
    'omit NaN': [Number.NaN, undefined],
    'contain true in lower case': [true, 'true'],
    'contain false in lower case': [false, 'false'],
    'omit null': [null, undefined],
    'omit absent arguments': [undefined, undefined],
    'omit objects': [{ x: 1 }, undefined],
    'encode empty text in base64': ['', '=?base64??='],
    'encode letters beyond ASCII in base64': ['Zürich', base64('Zürich')],
    'encode a leading space in base64': [' a', base64(' a')],
    'encode a trailing space in base64': ['a ', base64('a ')],
    'encode a tab in base64': ['a\tb', base64('a\tb')],
    'encode a line break in base64, so that no other header can begin': ['a\r\nX: 1', base64('a\r\nX: 1')],
    'encode text that looks like base64': ['=?base64?YQ==?=', base64('=?base64?YQ==?=')],
  };
  for (const [rule, [value, expected]] of Object.entries(values)) {
    it(rule, () => assert.equal(paramHeaders(declarations, { a: value })['Mcp-Param-A'], expected));
  }

  it('include nested arguments', () => {
    assert.deepEqual(paramHeaders(declarations, { where: { b: 'x' }, b: 'y' }), { 'Mcp-Param-B': 'x' });
    assert.deepEqual(paramHeaders(declarations, { where: 'b' }), {});
  });

  it('never include the prototype', () => {
    const inherited = [{ path: ['constructor', 'name'], header: 'Name' }];
    assert.deepEqual(paramHeaders(inherited, {}), {});
  });
});
