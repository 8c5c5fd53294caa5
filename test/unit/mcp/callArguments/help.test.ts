import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ArgumentHelp, fixesFor } from '../../../../src/mcp/callArguments/help.ts';
import { argumentsSnippet } from '../../../../src/mcp/callArguments/schema.ts';
import { applyEdit } from '../../../kit/applyEdit.ts';

const SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    title: { type: 'string', description: 'What stands above it.' },
    values: { type: 'array', items: { type: 'number' } },
    style: { enum: ['bars', 'lines'] },
    image: { type: 'string', contentEncoding: 'base64', minLength: 40 },
    place: { $ref: '#/$defs/place' },
  },
  required: ['title', 'values'],
  additionalProperties: false,
  $defs: {
    place: {
      type: 'object',
      properties: { city: { type: 'string' }, kind: { enum: ['home', 'work'] } },
      required: ['city'],
    },
  },
};

async function helpFor(schema: unknown): Promise<ArgumentHelp> {
  const help = await ArgumentHelp.create(schema);
  assert.ok(help);
  return help;
}

async function problems(text: string, schema: unknown = SCHEMA): Promise<readonly string[]> {
  const found = await (await helpFor(schema)).check(text);
  return found.map(({ kind, subject, start, end }) =>
    `${kind} ${subject}@${text.slice(start, end)}`.replace(' @', '@'),
  );
}

async function labels(marked: string, schema: unknown = SCHEMA): Promise<readonly string[]> {
  const offset = marked.indexOf('‸');
  const items = await (await helpFor(schema)).complete(marked.replace('‸', ''), offset);
  return items.map(({ label }) => label).sort();
}

describe('arguments are checked', () => {
  const cases: Record<string, readonly string[]> = {
    '{"title": "a", "values": [1]}': [],
    '{}': ['missing title@{', 'missing values@{'],
    '': ['missing title@', 'missing values@'],
    ' \n': ['missing title@', 'missing values@'],
    '{"title": 1, "values": []}': ['type string@1'],
    '{\r\n"title": 1,\r\n"values": ["x"]\r\n}': ['type string@1', 'type number@"x"'],
    '{"title": "a", "values": ["x"]}': ['type number@"x"'],
    '{"title": "a", "values": [], "colour": 1}': ['unknown colour@"colour"'],
    '{"title": "a", "values": [], "style": "pie"}': ['choice@"pie"'],
    '{"title": "a", "values": [], "place": {}}': ['missing city@"place"'],
    '{"title": "a", "values": [], "place": {"city": "b", "kind": "x"}}': ['choice@"x"'],
    '{"title": "a", "values": [], "image": "abc"}': ['other@"abc"'],
    '{"title": "a", "values": [], "image": "asset:tool-image-20261116-093012-V1StGXR8-1.png"}': [],
    '{"title": "a", "values": "file:data.csv"}': [],
    '{"title": "a", "values": [1,]}': ['syntax@,'],
    '[1]': ['type object@[1]'],
    '{"$schema": "https://example.com/s", "title": "a", "values": []}': [],
  };
  for (const [text, expected] of Object.entries(cases)) {
    it(JSON.stringify(text), async () => assert.deepEqual(await problems(text), expected));
  }

  it('and while they are not valid JSON, missing arguments are not reported', async () => {
    assert.ok((await problems('{"title": ')).every((each) => each.startsWith('syntax')));
    assert.ok((await problems('{"title": // a\n 1}')).every((each) => each.startsWith('syntax')));
    assert.notDeepEqual(await problems('{"title": // a\n 1}'), []);
  });
});

describe('arguments are completed', () => {
  const cases: Record<string, readonly string[]> = {
    '{"title": "a", "‸"}': ['image', 'place', 'style', 'values'],
    '{"place": {‸}}': ['city', 'kind'],
    '{"style": ‸}': ['"bars"', '"lines"'],
    '{"place": {"kind": "‸"}}': ['"home"', '"work"'],
  };
  for (const [text, expected] of Object.entries(cases)) {
    it(`with missing names or listed values: ${text}`, async () =>
      assert.deepEqual(await labels(text), expected));
  }

  it('replacing the typed text', async () => {
    const help = await helpFor(SCHEMA);
    const [item] = await help.complete('{"ti"}', 4);
    assert.ok(item);
    assert.deepEqual([item.start, item.end, item.kind], [1, 5, 'property']);
    assert.match(item.snippet, /^"title": "\$\{?1/);
    assert.equal(item.documentation, 'What stands above it.');
  });

  it('never with snippets, variables or Markdown from the server', async () => {
    const hostile = {
      type: 'object',
      defaultSnippets: [{ label: 'own', bodyText: '$CLIPBOARD' }],
      properties: {
        [`\${CLIPBOARD}`]: { type: 'string', default: '$CLIPBOARD', markdownDescription: '[x](command:y)' },
        a: { defaultSnippets: [{ label: 'evil', bodyText: `\${CLIPBOARD}` }], enum: ['$TM_FILENAME'] },
      },
    };
    const help = await helpFor(hostile);
    for (const text of ['{"‸"}', '{"a": ‸}', '‸']) {
      const items = await help.complete(text.replace('‸', ''), text.indexOf('‸'));
      for (const { snippet, documentation = '' } of items) {
        assert.doesNotMatch(snippet.replace(/\\\$/g, ''), /\$\{?[A-Z]/);
        assert.doesNotMatch(documentation, /command:/);
      }
    }
  });
});

describe('the value at the cursor', () => {
  it('is found at the name of an argument and at its value', async () => {
    const help = await helpFor(SCHEMA);
    const text = '{"place": {"kind": "home"}, "values": [1, 2]}';
    assert.deepEqual(help.at(text, text.indexOf('kind'))?.steps, ['place', 'kind']);
    assert.deepEqual(help.at(text, text.indexOf('home'))?.choices, ['home', 'work']);
    assert.deepEqual(help.at(text, text.indexOf('2'))?.steps, ['values', 1]);
    assert.equal(help.at('', 0), undefined);
  });
});

describe('problems in arguments have quick fixes', () => {
  async function fixed(text: string): Promise<readonly string[]> {
    const help = await helpFor(SCHEMA);
    const found = await help.check(text);
    return found.flatMap((each) =>
      fixesFor(help, text, each, found).map(({ edit }) => applyEdit(text, edit)),
    );
  }

  const cases: Record<string, readonly string[]> = {
    '{}': ['{"title": "text", "values": [0]}', '{"title": "text", "values": [0]}'],
    '': ['{"title": "text", "values": [0]}\n', '{"title": "text", "values": [0]}\n'],
    '{"title": "a"}': ['{"title": "a", "values": [0]}'],
    '{\n  "title": "a"\n}': ['{\n  "title": "a",\n  "values": [0]\n}'],
    '{"title": "a", "values": [], "x": {"y": 1}}': ['{"title": "a", "values": []}'],
    '{"x": 1, "title": "a", "values": []}': ['{"title": "a", "values": []}'],
    '{"title": "a", "values": [], "place": {}}': ['{"title": "a", "values": [], "place": {"city": "text"}}'],
    '{"title": "a", "values": [], "style": "pie"}': [
      '{"title": "a", "values": [], "style": "bars"}',
      '{"title": "a", "values": [], "style": "lines"}',
    ],
    '{"title": 1, "values": []}': [],
  };
  for (const [text, expected] of Object.entries(cases)) {
    it(JSON.stringify(text), async () => assert.deepEqual(await fixed(text), expected));
  }
});

describe('hostile schemas', () => {
  it('take as long as their text, however many values are wrong', async () => {
    const wrong = `{"title": "a", "values": [${'"x",'.repeat(10_000)}"x"]}`;
    assert.equal((await problems(wrong)).length, 50);
  });

  it('are not used with external references', async () => {
    assert.equal(await ArgumentHelp.create({ type: 'object', $ref: 'https://example.com/x' }), undefined);
    assert.equal(await ArgumentHelp.create(null), undefined);
  });

  it('cannot run a pattern, which could hang', async () => {
    const hanging = '^(a+)+$';
    const a = { pattern: hanging, patternProperties: { [hanging]: {} }, additionalProperties: false };
    const value = JSON.stringify(`${'a'.repeat(50)}!`);
    assert.deepEqual(await problems(`{"a": ${value}}`, { properties: { a } }), []);
    assert.deepEqual(await problems(`{"a": {${value}: 1}}`, { properties: { a } }), []);
  });

  it('cannot make the check hang or throw', async () => {
    const branches = Array.from({ length: 20 }, () => ({ $ref: '#/$defs/node' }));
    const node = { type: 'object', properties: { a: { anyOf: branches } } };
    const help = await helpFor({ $ref: '#/$defs/node', $defs: { node } });
    const deep = `${'{"a": '.repeat(40)}1${'}'.repeat(40)}`;
    assert.deepEqual(await help.check(deep), []);
    assert.deepEqual(await help.complete(deep.replace('1', '{""}'), deep.indexOf('1') + 2), []);
    const itself = await helpFor({ anyOf: [{ $ref: '#' }, { $ref: '#' }] });
    assert.deepEqual(await itself.check('{}'), []);
  });

  it('may refer to themselves', async () => {
    const tree = {
      type: 'object',
      properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#' } } },
      required: ['name'],
    };
    assert.deepEqual(await problems('{"name": "a", "children": [{"name": "b", "children": [{}]}]}', tree), [
      'missing name@{',
    ]);
    assert.deepEqual(await labels('{"name": "a", "children": [{"‸"}]}', tree), ['children', 'name']);
  });

  it('work with arguments of any depth and length', async () => {
    const help = await helpFor(SCHEMA);
    await help.check('['.repeat(100_000));
    await help.check(`{"title": "${'x'.repeat(1_000_000)}"}`);
    await help.complete('{"a":'.repeat(20_000), 5);
    assert.doesNotThrow(() => help.at('['.repeat(100_000), 5));
  });
});

describe('the arguments of a new call', () => {
  const cases: Record<string, [schema: unknown, expected: string]> = {
    'without a schema': [undefined, '{$1}'],
    'without required arguments': [{ properties: { a: { type: 'string' } } }, '{$1}'],
    'the quotes of a string stay outside': [
      { properties: { a: { type: 'string' } }, required: ['a'] },
      `{"a": "\${1:text}"}`,
    ],
    'examples by type': [
      {
        properties: {
          a: { type: 'number' },
          b: { items: { type: 'integer' }, type: 'array' },
          c: { type: 'boolean' },
        },
        required: ['a', 'b', 'c'],
      },
      `{\n  "a": \${1:0},\n  "b": \${2:[0]},\n  "c": \${3:false}\n}`,
    ],
    'a choice': [{ properties: { a: { enum: ['x', 'y'] } }, required: ['a'] }, `{"a": "\${1|x,y|}"}`],
    'an object': [
      { properties: { a: { type: 'object', properties: { b: { type: 'string' } } } }, required: ['a'] },
      `{"a": \${1:{"b":"text"\\}}}`,
    ],
    'text from a server is never a variable': [
      {
        properties: { $HOME: { default: `\${CLIPBOARD}` }, b: { enum: [`\${X}`, '|,'] } },
        required: ['$HOME', 'b'],
      },
      `{"\\$HOME": "\${1:\\\${CLIPBOARD\\}}", "b": "\${2:\\\${X\\}}"}`,
    ],
  };
  for (const [name, [schema, expected]] of Object.entries(cases)) {
    it(name, () => assert.equal(argumentsSnippet(schema), expected));
  }
});
