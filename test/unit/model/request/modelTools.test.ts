import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  fitDescriptions,
  listNames,
  modelTools,
  nameOfTool,
  toolOfName,
} from '../../../../src/model/request/modelTools.ts';
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

describe('a name as a model writes it', () => {
  const tools = modelTools([
    tool('time', 'current_time'),
    tool('git', 'log'),
    tool('files', 'read.file'),
    tool('web', 'read'),
    tool('disk', 'read'),
    tool('log', 'er'),
    tool('lo', 'ger'),
  ]);
  const cases: readonly (readonly [written: string, meant: string | undefined])[] = [
    ['time__current_time', 'time.current_time'],
    ['time.current_time', 'time.current_time'],
    ['files.read.file', 'files.read.file'],
    ['functions.time__current_time', 'time.current_time'],
    ['functions/time__current_time', 'time.current_time'],
    ['functions.time__current_time:0', 'time.current_time'],
    ['default_api:time__current_time', 'time.current_time'],
    ['mcp__time__current_time', 'time.current_time'],
    ['to=functions.current_time', 'time.current_time'],
    ['current_time', 'time.current_time'],
    ['current_time()', 'time.current_time'],
    ['`current_time`', 'time.current_time'],
    ['currentTime', 'time.current_time'],
    ['Time-Current-Time', 'time.current_time'],
    ['time/current_time', 'time.current_time'],
    ['time__current_time<|channel|>commentary', 'time.current_time'],
    ['<|start|>functions.current_time<|channel|>', 'time.current_time'],
    ['commentary<|channel|>', undefined],
    ['commentary to=functions.time__current_time<|constrain|>json', 'time.current_time'],
    ['assistant<|channel|>commentary to=functions.current_time', 'time.current_time'],
    ['<function=time__current_time>', 'time.current_time'],
    ['<tool_call>current_time', 'time.current_time'],
    ['time__current_time</tool_call>', 'time.current_time'],
    ['time__current_time{"zone":"UTC"}', 'time.current_time'],
    ['tool_call: time__current_time', 'time.current_time'],
    ['mcp_time_current_time', 'time.current_time'],
    ['namespace.time__current_time', 'time.current_time'],
    ['time__current_time_2', undefined],
    ['atime__current_time', undefined],
    ['log', 'git.log'],
    ['read_file', 'files.read.file'],
    // Two tools fit.
    ['read', undefined],
    ['logger', undefined],
    // Another server, or a part of a name.
    ['clock__current_time', undefined],
    ['current', undefined],
    ['time', undefined],
    ['functions.', undefined],
    ['', undefined],
    ['__', undefined],
  ];
  for (const [written, meant] of cases) {
    it(`${JSON.stringify(written)} is ${meant ?? 'none that was given'}`, () => {
      const found = toolOfName(tools, written);
      assert.equal(found && `${found.server}.${found.tool}`, meant);
    });
  }

  it('a long name with many quotes is read at once', () => {
    assert.equal(toolOfName(tools, `a${'"'.repeat(200_000)}a`), undefined);
    // Compared with each tool, this took minutes.
    const many = modelTools(Array.from({ length: 1000 }, (_, at) => tool('a', `b${at}`)));
    assert.equal(toolOfName(many, 'x'.repeat(4_000_000)), undefined);
  });

  it('a model that calls another tool is told at most 50 names', () => {
    const many = modelTools(Array.from({ length: 53 }, (_, at) => tool('a', `t${at + 10}`)));
    assert.match(listNames(many), /^The tools of this chat: a__t10, a__t11, .*, a__t59 and 3 more\.$/);
    assert.equal(listNames([]), 'This chat has no tools.');
  });
});

describe('a description', () => {
  const describeIt = (more: Partial<ToolInfo>) => modelTools([tool('a', 'b', more)])[0]?.description;

  it('is the server’s, else the title, else the name', () => {
    assert.equal(describeIt({ description: 'D', title: 'T' }), 'D');
    assert.equal(describeIt({ description: ' ', title: 'T' }), 'T');
    assert.equal(describeIt({}), 'b');
  });

  it('is whole up to 16,000 characters and has no tag characters', () => {
    assert.equal(describeIt({ description: 'word '.repeat(3000) }), 'word '.repeat(3000).trim());
    const long = describeIt({ description: '😀'.repeat(3_000_000) }) ?? '';
    assert.ok(long.length <= 16_000 && long.isWellFormed() && long.endsWith('…'));
    assert.equal(describeIt({ description: 'a\u{e0041}\u{e0042}b' }), 'ab');
  });
});

describe('a description that is too long for a provider', () => {
  const fittedTo = (description: string, maxChars?: number) => {
    const { tools, cut } = fitDescriptions(modelTools([tool('a', 'b', { description })]), maxChars);
    return [tools[0]?.description ?? '', cut.length] as const;
  };
  const cases: Record<string, [description: string, fitted: string]> = {
    'is cut after a sentence': ['First one. Second one. Third one is long.', 'First one. Second one. …'],
    'is cut after a line': [
      'A heading of some words\nfirst second third fourth',
      'A heading of some words …',
    ],
    'is cut after a word': ['One. first second third fourth fifth sixth', 'One. first second third …'],
    'is cut anywhere else': ['x'.repeat(50), `${'x'.repeat(28)} …`],
    'that fits stays': ['Thirty characters are allowed.', 'Thirty characters are allowed.'],
  };
  for (const [rule, [description, fitted]] of Object.entries(cases)) {
    it(rule, () => assert.deepEqual(fittedTo(description, 30), [fitted, fitted === description ? 0 : 1]));
  }

  it('stays where there is no limit', () => {
    const description = 'A sentence. '.repeat(300).trim();
    assert.deepEqual(fittedTo(description), [description, 0]);
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
