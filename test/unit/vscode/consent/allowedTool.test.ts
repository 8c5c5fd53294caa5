import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { builtInTools } from '../../../../src/catalog/tools/builtIn.ts';
import { strictest } from '../../../../src/chat/format/frontMatter.ts';
import type { Approval, ToolCall, ToolInfo } from '../../../../src/ports/tools.ts';
import {
  type AllowedTool,
  describeChange,
  describeTool,
  fingerprintTool,
  isRedefined,
  type Judgement,
  judgeCall,
  renderDefinition,
  toolToRemember,
} from '../../../../src/vscode/consent/allowedTool.ts';

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
  const allowed = (print: string, always: boolean): AllowedTool => ({ print, always, at: '2026-05-03' });
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
    ['auto-readonly', true, undefined, true, ask],
    ['auto-readonly', true, SAME, true, ask],
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

describe('what is said about a tool', () => {
  it('begins with a change and a warning; the server’s text is last and short', () => {
    const before = { print: '', always: true, at: '2026-05-03T10:20:30.456Z', definition: '' };
    const tool = { ...TOOL, destructive: true, description: `a\u202eb${'y'.repeat(5_000)}` };
    const [change, warning, files, description, ...more] = describeTool(tool, {
      notes: ['image: a.png, 3 bytes'],
      before,
    });
    assert.equal(change, 'a.b has changed since it was allowed on 2026-05-03');
    assert.equal(warning, 'The server says that this tool may delete or overwrite data.');
    assert.equal(files, 'Files that the tool gets:\nimage: a.png, 3 bytes');
    assert.match(description ?? '', /^Description by the server: a⟦U\+202E⟧byyy/);
    assert.ok((description ?? '').length < 1_000);
    assert.deepEqual(more, []);
  });

  it('shows the whole description of a built-in tool as our own text', async () => {
    for (const tool of await builtInTools()) {
      assert.deepEqual(describeTool(tool), [`Description: ${tool.description}`]);
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

describe('the definition of a tool as text', () => {
  it('has one line for each fact, so that two of them can be compared', () => {
    assert.equal(
      renderDefinition({ ...DRAW, inputSchema: {}, description: 'Draws.\nSlowly.' }),
      [
        ...['Title: Draw', 'Read-only: yes', 'May delete or overwrite: not stated', ''],
        ...['Description:', 'Draws.', 'Slowly.', '', 'Arguments:', '{}', ''],
        ...['Results:', '{', '  "type": "object"', '}'],
      ].join('\n'),
    );
  });

  const changes: Record<string, Partial<ToolInfo>> = {
    'the title': { title: 'Paint' },
    'an invisible character': { title: 'Dr\u200baw' },
    'the description': { description: 'Sends it away.' },
    'an argument': { inputSchema: { ...SCHEMA, required: [] } },
    'a hint': { readOnly: false },
    'the end of a long description': { description: `${'d'.repeat(90_000)}e` },
  };
  const was = (tool: ToolInfo): AllowedTool => ({
    print: '',
    always: true,
    at: '2026-05-03',
    definition: renderDefinition(tool),
  });
  for (const [name, change] of Object.entries(changes)) {
    it(`shows a change of ${name}`, () => {
      const long = { ...DRAW, description: 'd'.repeat(90_001) };
      const before = name.includes('long') ? long : DRAW;
      assert.ok(isRedefined({ ...before, ...change }, was(before)));
    });
  }

  it('stays the same if only the server has changed', () => {
    assert.ok(!isRedefined(DRAW, was(DRAW)));
    const expected = 'The server of s.t has changed since it was allowed on 2026-05-03';
    assert.equal(describeChange(DRAW, was(DRAW)), expected);
  });

  it('stays short for any definition', () => {
    const hostile: ToolInfo = { ...DRAW, title: 't'.repeat(9_000), description: 'd'.repeat(90_000) };
    assert.ok(renderDefinition(hostile).length < 3_200);
  });

  for (const inputSchema of [undefined, null, true, [], { properties: [1] }]) {
    it(`works for the schema ${JSON.stringify(inputSchema)}`, () =>
      assert.ok(renderDefinition({ ...DRAW, inputSchema }).length > 0));
  }
});
