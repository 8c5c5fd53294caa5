import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { modelTools, nameOfTool, toolOfName } from '../../../../src/model/request/tools.ts';
import type { ToolInfo } from '../../../../src/ports/tools.ts';

const tool = (server: string, name: string, more: Partial<ToolInfo> = {}): ToolInfo => ({
  server,
  tool: name,
  inputSchema: { type: 'object' },
  ...more,
});
const names = (...tools: ToolInfo[]) => modelTools(tools).map(({ name }) => name);

describe('the names of tools', () => {
  it('consist of server and tool if every provider accepts that', () => {
    assert.deepEqual(names(tool('charts', 'bar-chart')), ['charts__bar-chart']);
  });

  const odd: readonly (readonly [server: string, name: string])[] = [
    ['a', 'b.c'],
    ['a', 'b c'],
    ['a', '建てる'],
    ['1a', 'b'],
    ['a', 'x'.repeat(100)],
    ['a'.repeat(100), 'x'],
    ['a__b', 'c'],
    ['a', '_b'],
    ['a_', 'b'],
    ['a', ''],
  ];
  for (const [server, name] of odd) {
    it(`${server.slice(0, 10)} ${name.slice(0, 10)} is valid for every provider`, () => {
      const [given = ''] = names(tool(server, name));
      assert.match(given, /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/);
      assert.deepEqual(toolOfName(modelTools([tool(server, name)]), given), { server, tool: name });
    });
  }

  it('of different tools differ and do not depend on other tools', () => {
    const tools = [...odd.map(([server, name]) => tool(server, name)), tool('a', 'b__c'), tool('a', 'b_c')];
    const all = modelTools(tools);
    assert.equal(new Set(all.map(({ name }) => name)).size, tools.length);
    for (const each of tools) assert.equal(nameOfTool(all, each), nameOfTool(modelTools([each]), each));
    for (const each of tools) assert.equal(nameOfTool([], each), nameOfTool(all, each));
  });

  it('have a fixed order, and duplicate tools are removed', () => {
    const [a, b, c] = [tool('z', 'a'), tool('a', 'z'), tool('a', 'b')];
    assert.deepEqual(names(a, b, c, a), ['a__b', 'a__z', 'z__a']);
    assert.deepEqual(names(c, b, a), names(a, b, c));
  });

  it('a hashed name cannot replace another tool', () => {
    const [taken = ''] = names(tool('a', 'b.c'));
    const all = modelTools([tool('a', 'b.c'), tool('a', taken.slice('a__'.length))]);
    assert.equal(new Set(all.map(({ name }) => name)).size, 2);
  });
});

it('a model may also write a name as it is in the chat', () => {
  const tools = modelTools([tool('a', 'b.c')]);
  assert.deepEqual(toolOfName(tools, 'a.b.c'), { server: 'a', tool: 'b.c' });
  assert.equal(toolOfName(tools, 'a.b'), undefined);
});

describe('a description', () => {
  const describeIt = (more: Partial<ToolInfo>) => modelTools([tool('a', 'b', more)])[0]?.description;

  it('is the server’s, else the title, else the name', () => {
    assert.equal(describeIt({ description: 'D', title: 'T' }), 'D');
    assert.equal(describeIt({ description: ' ', title: 'T' }), 'T');
    assert.equal(describeIt({}), 'b');
  });

  it('is cut to the strictest limit and has no tag characters', () => {
    const long = describeIt({ description: '😀'.repeat(3_000_000) }) ?? '';
    assert.ok(long.length <= 2048 && long.isWellFormed() && long.endsWith('…'));
    assert.equal(describeIt({ description: 'a\u{e0041}\u{e0042}b' }), 'ab');
  });
});

describe('an input schema is an object', () => {
  const schemaOf = (inputSchema: unknown) => modelTools([tool('a', 'b', { inputSchema })])[0]?.inputSchema;
  const cases: readonly (readonly [rule: string, given: unknown, expected: unknown])[] = [
    ['also when there is none', undefined, { type: 'object', properties: {} }],
    ['also when it is nonsense', [1], { type: 'object', properties: {} }],
    ['also when it is true', true, { type: 'object', properties: {} }],
    [
      'without $schema',
      { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object', properties: { a: {} } },
      { type: 'object', properties: { a: {} } },
    ],
    [
      'of the properties of all alternatives',
      { oneOf: [{ properties: { a: {} }, required: ['a'] }, { properties: { b: {} } }], required: ['c'] },
      { type: 'object', properties: { a: {}, b: {} }, required: ['c'] },
    ],
    [
      'of what it refers to',
      { $ref: '#/$defs/x', $defs: { x: { type: 'object', properties: { a: {} }, required: ['a'] } } },
      {
        type: 'object',
        $defs: { x: { type: 'object', properties: { a: {} }, required: ['a'] } },
        properties: { a: {} },
        required: ['a'],
      },
    ],
    [
      'without hidden letters',
      { type: 'object', properties: { a: { description: 'x\u{e0041}' } } },
      { type: 'object', properties: { a: { description: 'x' } } },
    ],
  ];
  for (const [rule, given, expected] of cases) it(rule, () => assert.deepEqual(schemaOf(given), expected));

  it('with __proto__ as an ordinary property', () => {
    const schema = schemaOf(JSON.parse('{"properties": {"__proto__": {"type": "string"}}}'));
    assert.equal(JSON.stringify(schema), '{"properties":{"__proto__":{"type":"string"}},"type":"object"}');
  });
});
