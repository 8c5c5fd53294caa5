import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { builtInTools } from '../../../../src/catalog/tools/builtIn.ts';
import { strictest } from '../../../../src/chat/format/settings.ts';
import type { Approval, ToolCall, ToolInfo } from '../../../../src/ports/tools.ts';
import {
  type AllowedTool,
  describeCall,
  describeChange,
  fingerprintTool,
  type Judgement,
  judgeCall,
  summarizeTool,
  toolToRemember,
} from '../../../../src/vscode/consent/callQuestion.ts';

const TOOL: ToolInfo = { server: 'a', tool: 'b', inputSchema: {} };
const call = (value: string, id = 'c3'): ToolCall => ({ server: 'a', tool: 'b', id, arguments: { value } });

describe('a chat can only be stricter than the settings', () => {
  const cases: readonly [setting: Approval, chat: Approval | undefined, expected: Approval][] = [
    ['ask', undefined, 'ask'],
    ['ask', 'auto', 'ask'],
    ['ask', 'auto-readonly', 'ask'],
    ['auto-readonly', 'auto', 'auto-readonly'],
    ['auto-readonly', 'ask', 'ask'],
    ['auto', 'auto-readonly', 'auto-readonly'],
    ['auto', 'ask', 'ask'],
    ['auto', undefined, 'auto'],
  ];
  for (const [setting, chat, expected] of cases) {
    it(`${setting} and ${chat} is ${expected}`, () => assert.equal(strictest(setting, chat), expected));
  }
});

describe('how a call is judged', () => {
  const allowed = (print: string, always: boolean): AllowedTool => ({
    ...summarizeTool(TOOL),
    print,
    always,
    at: '2026-05-03',
  });
  const SAME = allowed('now', true);
  const ONCE = allowed('now', false);
  const OTHER = allowed('then', true);
  const setting: Judgement = { kind: 'allow', by: 'setting' };
  const remembered: Judgement = { kind: 'allow', by: 'remembered' };
  const ask: Judgement = { kind: 'ask' };
  const changed: Judgement = { kind: 'ask', before: OTHER };
  const cases: readonly [
    Approval,
    readOnly: boolean,
    known: AllowedTool | undefined,
    files: boolean,
    Judgement,
  ][] = [
    ['ask', true, undefined, false, ask],
    ['ask', false, ONCE, false, ask],
    ['ask', false, SAME, false, remembered],
    ['ask', false, SAME, true, ask],
    ['ask', true, OTHER, false, changed],
    ['auto-readonly', true, undefined, false, setting],
    ['auto-readonly', true, ONCE, false, setting],
    ['auto-readonly', false, undefined, false, ask],
    ['auto-readonly', true, OTHER, false, changed],
    ['auto-readonly', false, SAME, false, remembered],
    ['auto-readonly', false, OTHER, false, changed],
    ['auto', false, undefined, false, setting],
    ['auto', false, OTHER, true, setting],
  ];
  for (const [approval, readOnly, known, givesFiles, expected] of cases) {
    const words =
      known === undefined ? 'never allowed' : known === OTHER ? 'another one' : `always ${known.always}`;
    it(`${approval}, ${readOnly ? 'read-only' : 'writing'}, ${words}, ${givesFiles ? 'with' : 'no'} files`, () =>
      assert.deepEqual(
        judgeCall({ approval, tool: { ...TOOL, readOnly }, print: 'now', known, givesFiles }),
        expected,
      ));
  }
});

describe('the text of the dialog', () => {
  it('shows short arguments whole, before the files and the server’s text', () => {
    const tool = { ...TOOL, description: 'Draws.' };
    const text = describeCall(call('x'), tool, { notes: ['image: a.png, 3 bytes'] });
    assert.equal(
      text,
      'Arguments:\n{\n  "value": "x"\n}\n\nIt gets these files:\nimage: a.png, 3 bytes\n\nThe server says of it: Draws.',
    );
  });

  it('keeps short lists and objects inside the arguments on one line', () => {
    const args = { values: [3, 5], at: { x: 1, list: [] }, words: ['a '.repeat(40), '[ ]'], none: {} };
    const text = describeCall({ server: 'a', tool: 'b', id: 'c1', arguments: args }, TOOL);
    const words = `"words": [\n    ${JSON.stringify('a '.repeat(40))},\n    "[ ]"\n  ]`;
    assert.equal(
      text,
      `Arguments:\n{\n  "values": [3, 5],\n  "at": {"x": 1, "list": []},\n  ${words},\n  "none": {}\n}`,
    );
  });

  it('shows the start and the end of long arguments, and marks the omission twice', () => {
    const text = describeCall(call(`HEAD${'x'.repeat(9_000)}TAIL`), TOOL);
    assert.ok(text.length < 4_500, String(text.length));
    assert.match(text, /"HEADx/);
    assert.match(text, /xTAIL"/);
    assert.equal(
      text.match(/characters are not shown here\. All of them are in the chat, in the call c3/g)?.length,
      2,
    );
  });

  it('shows a call that is not in the chat yet whole at any length', () => {
    assert.ok(describeCall(call('x'.repeat(9_000), ''), TOOL).includes('x'.repeat(9_000)));
  });

  it('shows invisible characters, and the server’s text cannot push the arguments away', () => {
    const text = describeCall(call('a\u202eb'), { ...TOOL, description: 'y'.repeat(5_000) });
    assert.match(text, /a⟦U\+202E⟧b/);
    assert.ok(text.length < 1_000);
    assert.ok(text.indexOf('value') < text.indexOf('yyy'));
  });

  it('starts with the warning that a tool is destructive', () => {
    const text = describeCall(call('x'), { ...TOOL, destructive: true });
    assert.match(text, /^⚠ The server says that this tool may delete or overwrite\.\n\nArguments:/);
  });

  it('starts with a warning about a changed tool, and describes the change after the arguments', () => {
    const before = { ...summarizeTool(TOOL), print: '', always: true, at: '2026-05-03T10:20:30.456Z' };
    const text = describeCall(call('x'), { ...TOOL, title: 'Sums' }, { before });
    assert.equal(
      text,
      '⚠ This tool has changed since it was last allowed, on 2026-05-03. See below.\n\nArguments:\n{\n  "value": "x"\n}\n\nWhat has changed:\nIts title was none and is “Sums”.\n\nThe server says of it: Sums',
    );
  });

  it('shows the whole description of a built-in tool as our own text', async () => {
    for (const tool of await builtInTools()) {
      const text = describeCall({ ...call('x'), server: 'filechat', tool: tool.tool }, tool);
      assert.ok(text.endsWith(`\n\nWhat it does: ${tool.description}`), text);
    }
  });
});

describe('a permission to read from another server', () => {
  it('is for that server only, and never for a tool of that server', async () => {
    const tools = await builtInTools();
    const reader = tools.find(({ tool }) => tool === 'read_resource');
    assert.ok(reader);
    const remembered = (server: unknown) =>
      toolToRemember(
        { ...call('x'), server: 'filechat', tool: 'read_resource', arguments: { server } },
        reader,
      );
    assert.deepEqual(remembered('docs'), { ...reader, server: 'docs', tool: 'filechat.read_resource' });
    assert.notDeepEqual(remembered('docs'), remembered('other'));
    assert.equal(remembered(7), reader);
    assert.equal(toolToRemember(call('x'), TOOL), TOOL);
  });
});

const SCHEMA = {
  type: 'object',
  properties: { a: { type: 'string' }, b: { type: 'number' } },
  required: ['a'],
};
const DRAW: ToolInfo = {
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
      assert.notEqual(fingerprintTool({ ...DRAW, ...change }, 'p'), fingerprintTool(DRAW, 'p')));
  }

  it('changes with another server of the same name', () =>
    assert.notEqual(fingerprintTool(DRAW, 'p'), fingerprintTool(DRAW, 'q')));

  it('does not depend on the order of keys or the icon', () => {
    const { properties, ...rest } = SCHEMA;
    const same = { ...DRAW, inputSchema: { properties: { b: properties.b, a: properties.a }, ...rest } };
    assert.equal(
      fingerprintTool({ ...same, icon: 'data:image/png;base64,' }, 'p'),
      fingerprintTool(DRAW, 'p'),
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
      assert.deepEqual(describeChange(summarizeTool(DRAW), summarizeTool({ ...DRAW, ...change })), expected),
    );
  }

  it('has at least one line', () => {
    const [line, ...more] = describeChange(summarizeTool(DRAW), summarizeTool(DRAW));
    assert.match(line ?? '', /^Something else: /);
    assert.deepEqual(more, []);
  });

  it('stays short for any definition', () => {
    const names = Array.from({ length: 5_000 }, (_, at) => [`${'n'.repeat(500)}${at}`, {}] as const);
    const hostile: ToolInfo = {
      ...DRAW,
      title: 't'.repeat(9_000),
      description: 'd'.repeat(90_000),
      inputSchema: { properties: { ...Object.fromEntries(names), ...{ x: 1, y: 2 } } },
    };
    assert.ok(JSON.stringify(summarizeTool(hostile)).length < 6_000);
    assert.ok(describeChange(summarizeTool(hostile), summarizeTool(DRAW)).join('\n').length < 3_000);
  });

  for (const inputSchema of [undefined, null, true, [], { properties: [1] }, { properties: { a: null } }]) {
    it(`works for the schema ${JSON.stringify(inputSchema)}`, () =>
      assert.ok(describeChange(summarizeTool(DRAW), summarizeTool({ ...DRAW, inputSchema })).length > 0));
  }
});
