import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ToolInfo } from '../../../../src/ports/tools.ts';
import {
  describeChange,
  fingerprintTool,
  summarizeTool,
} from '../../../../src/vscode/consent/callQuestion.ts';

const SCHEMA = {
  type: 'object',
  properties: { a: { type: 'string' }, b: { type: 'number' } },
  required: ['a'],
};
const TOOL: ToolInfo = {
  server: 's',
  tool: 't',
  title: 'Draw',
  description: 'Draws.',
  inputSchema: SCHEMA,
  outputSchema: { type: 'object' },
  readOnly: true,
};

describe('the fingerprint of a tool', () => {
  const changes: Record<string, Partial<ToolInfo>> = {
    'another name': { tool: 'u' },
    'another title': { title: 'Paint' },
    'another description': { description: 'Draws. ' },
    'another argument': {
      inputSchema: { ...SCHEMA, properties: { ...SCHEMA.properties, c: { type: 'string' } } },
    },
    'another output': { outputSchema: { type: 'array' } },
    'another hint': { destructive: true },
    'another app': { app: 'ui://x' },
  };
  for (const [name, change] of Object.entries(changes)) {
    it(`changes with ${name}`, () =>
      assert.notEqual(fingerprintTool({ ...TOOL, ...change }, 'p'), fingerprintTool(TOOL, 'p')));
  }

  it('changes with another server of the same name', () =>
    assert.notEqual(fingerprintTool(TOOL, 'p'), fingerprintTool(TOOL, 'q')));

  it('does not depend on the order of keys or the icon', () => {
    const { properties, ...rest } = SCHEMA;
    const same = { ...TOOL, inputSchema: { properties: { b: properties.b, a: properties.a }, ...rest } };
    assert.equal(
      fingerprintTool({ ...same, icon: 'data:image/png;base64,' }, 'p'),
      fingerprintTool(TOOL, 'p'),
    );
  });
});

describe('the description of a change', () => {
  const withArguments = (properties: object, required: readonly string[] = ['a']): Partial<ToolInfo> => ({
    inputSchema: { type: 'object', properties, required },
  });
  const { a, b } = SCHEMA.properties;
  const cases: readonly [name: string, change: Partial<ToolInfo>, expected: readonly string[]][] = [
    ['the title', { title: 'Paint' }, ['Its title was “Draw” and is “Paint”.']],
    ['the description', { description: 'Sends it away.' }, ['Its description was “Draws.”.']],
    ['a new argument', withArguments({ a, b, token: a }), ['New arguments: “token”.']],
    ['a removed argument', withArguments({ a }), ['Arguments that are gone: “b”.']],
    ['an argument of another kind', withArguments({ a: b, b }), ['Arguments that are other ones now: “a”.']],
    [
      'an argument that is needed now',
      withArguments({ a, b }, ['a', 'b']),
      ['Arguments that are other ones now: “b”.'],
    ],
    [
      'the hints',
      { readOnly: false, destructive: true },
      ['It no longer says that it only reads.', 'It says now that it may delete or overwrite.'],
    ],
    ['an invisible character', { title: 'Dr\u200baw' }, ['Its title was “Draw” and is “Dr⟦U+200B⟧aw”.']],
  ];
  for (const [name, change, expected] of cases) {
    it(name, () =>
      assert.deepEqual(describeChange(summarizeTool(TOOL), summarizeTool({ ...TOOL, ...change })), expected),
    );
  }

  it('has at least one line', () => {
    const [line, ...more] = describeChange(summarizeTool(TOOL), summarizeTool(TOOL));
    assert.match(line ?? '', /^Something else: /);
    assert.deepEqual(more, []);
  });

  it('stays short for any definition', () => {
    const names = Array.from({ length: 5_000 }, (_, at) => [`${'n'.repeat(500)}${at}`, {}] as const);
    const hostile: ToolInfo = {
      ...TOOL,
      title: 't'.repeat(9_000),
      description: 'd'.repeat(90_000),
      inputSchema: { properties: { ...Object.fromEntries(names), ...{ x: 1, y: 2 } } },
    };
    assert.ok(JSON.stringify(summarizeTool(hostile)).length < 6_000);
    assert.ok(describeChange(summarizeTool(hostile), summarizeTool(TOOL)).join('\n').length < 3_000);
  });

  for (const inputSchema of [undefined, null, true, [], { properties: [1] }, { properties: { a: null } }]) {
    it(`works for the schema ${JSON.stringify(inputSchema)}`, () =>
      assert.ok(describeChange(summarizeTool(TOOL), summarizeTool({ ...TOOL, inputSchema })).length > 0));
  }
});
