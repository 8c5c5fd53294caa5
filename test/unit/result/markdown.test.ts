import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parseChat, turnBody } from '../../../src/chat/format/parse.ts';
import type { ResultPart, ToolResult } from '../../../src/ports/results.ts';
import { readToolResult, renderToolResult } from '../../../src/result/markdown.ts';

const text = (value: string): ResultPart => ({ kind: 'text', text: value });
const image = (number: number, extension = 'png'): ResultPart => ({
  kind: 'asset',
  asset: { kind: 'image', number, path: `cmdassets/tool-image-20260101-000000-abc-${number}.${extension}` },
});
const file: ResultPart = {
  kind: 'asset',
  asset: {
    kind: 'file',
    number: 1,
    path: 'cmdassets/tool-file-20260101-000000-abc-1.pdf',
    name: 'report.pdf',
  },
};
const result = (...parts: ResultPart[]): ToolResult => ({ isError: false, parts });

describe('a result in the document', () => {
  const cases: Record<string, [parts: ToolResult, markdown: string]> = {
    'text alone is in a fence': [result(text('a\nb')), '```\na\nb\n```'],
    'each text block has its own fence': [result(text('a'), text('b')), '```\na\n```\n\n```\nb\n```'],
    'text beside assets is plain, in order, with one blank line between': [
      result(
        text("Here's the first generated image:"),
        image(1),
        text('And another:'),
        image(2, 'jpg'),
        text('Analysis…'),
      ),
      "Here's the first generated image:\n\n![Tool generated image 1](cmdassets/tool-image-20260101-000000-abc-1.png)\n\nAnd another:\n\n![Tool generated image 2](cmdassets/tool-image-20260101-000000-abc-2.jpg)\n\nAnalysis…",
    ],
    'a file has its name in the link': [
      result(file),
      '[Tool generated file 1: report.pdf](cmdassets/tool-file-20260101-000000-abc-1.pdf)',
    ],
    'two texts beside an asset stay two': [
      result(text('a'), text('b'), image(1)),
      'a\n\n<!-- next block -->\n\nb\n\n![Tool generated image 1](cmdassets/tool-image-20260101-000000-abc-1.png)',
    ],
    'a marker beside an asset is escaped': [
      result(text('# %% user'), file),
      '\\# %% user\n\n[Tool generated file 1: report.pdf](cmdassets/tool-file-20260101-000000-abc-1.pdf)',
    ],
    'text that would load or link something goes into a fence': [
      result(text('![x](https://evil.example/a.png)'), file),
      '```\n![x](https://evil.example/a.png)\n```\n\n[Tool generated file 1: report.pdf](cmdassets/tool-file-20260101-000000-abc-1.pdf)',
    ],
    'a formula that is never closed goes into a fence': [
      result(text('$$\nx'), file),
      '```\n$$\nx\n```\n\n[Tool generated file 1: report.pdf](cmdassets/tool-file-20260101-000000-abc-1.pdf)',
    ],
    'a problem is one visible line': [
      result({ kind: 'problem', message: 'It is <b>bad</b>.' }),
      '> ⚠ It is \\<b\\>bad\\</b\\>.',
    ],
    'an error begins with a note': [
      { isError: true, parts: [text('no')] },
      '> ⚠ **The tool reported an error.**\n\n```\nno\n```',
    ],
    'a resource link is not clickable': [
      result({
        kind: 'link',
        uri: 'file:///etc/passwd',
        name: 'x',
        mimeType: 'text/plain',
        size: 12,
        description: 'd',
      }),
      '> Resource `x` at `file:///etc/passwd`, type `text/plain`, 12 bytes\n> `d`',
    ],
    'embedded text names its source': [
      result({ kind: 'text', text: 'hi', source: { uri: 'demo://a', mimeType: 'text/plain' } }),
      '> From `demo://a` (`text/plain`)\n\n```\nhi\n```',
    ],
    'structured content is JSON': [
      result({ kind: 'data', json: '{\n  "a": 1\n}' }),
      '```json\n{\n  "a": 1\n}\n```',
    ],
    'content for the user only is marked': [
      result({ ...text('a'), audience: 'user' }, { ...file, audience: 'user' }, text('b')),
      '<!-- for the user only -->\n\na\n\n<!-- for the user only -->\n\n[Tool generated file 1: report.pdf](cmdassets/tool-file-20260101-000000-abc-1.pdf)\n\nb',
    ],
    'what looks like JSON beside an asset is in a fence': [
      result(text('{"a": 1'), file),
      '```\n{"a": 1\n```\n\n[Tool generated file 1: report.pdf](cmdassets/tool-file-20260101-000000-abc-1.pdf)',
    ],
    'JSON without white space is laid out': [
      result({ kind: 'data', json: '{"a":[1,{}]}' }),
      '```json formatted\n{\n  "a": [\n    1,\n    {}\n  ]\n}\n```',
    ],
    'JSON that would change by that stays as it is': [
      result(
        { kind: 'data', json: '{"a":1.0}' },
        { kind: 'data', json: '{"a": 1}' },
        { kind: 'data', json: '[]' },
      ),
      '```json\n{"a":1.0}\n```\n\n```json\n{"a": 1}\n```\n\n```json\n[]\n```',
    ],
    'JSON of very many lines stays on one': [
      result({ kind: 'data', json: `[${'1,'.repeat(500)}1]` }),
      `\`\`\`json\n[${'1,'.repeat(500)}1]\n\`\`\``,
    ],
    'an empty result is reported as empty': [result(), '> The tool returned nothing.'],
  };
  for (const [name, [parts, markdown]] of Object.entries(cases)) {
    it(name, () => {
      assert.equal(renderToolResult(parts), markdown);
      assert.deepEqual(readToolResult(markdown), parts);
    });
  }
});

describe('text beside an image', () => {
  const MARKDOWN =
    '# Report\n\nTwo lines\nof one paragraph, see [it](https://a.example/x).\n\n| a | b |\n|---|---|\n| 1 | 2 |';
  const cases: Record<string, [text: string, written: string | 'fence']> = {
    'a line stays a line': ['Here it is:', 'Here it is:'],
    'plain lines are kept apart': ['Sales: 3\nCosts: 2\n\nDone.', 'Sales: 3  \nCosts: 2\n\nDone.'],
    'also with spaces at their end': ['a \nb', 'a   \nb'],
    'also with links and emphasis': [
      '**Name:** [x](https://a.example)\n**Size:** 3',
      '**Name:** [x](https://a.example)  \n**Size:** 3',
    ],
    'a Markdown report stays Markdown': [MARKDOWN, MARKDOWN],
    'also with a line break at its end': [`${MARKDOWN}\n`, `${MARKDOWN}\n`],
    'two line breaks at its end are code': ['- a\n- b\n\n', 'fence'],
    'a list stays a list': ['Found:\n- a\n- b', 'Found:\n- a\n- b'],
    'its own line breaks stay': ['# A\n\na  \nb', '# A\n\na  \nb'],
    'two sentences may have two spaces between them': [
      'One.  Two.\nThree.  Four.',
      'One.  Two.  \nThree.  Four.',
    ],
    'columns are code': ['name   size\na.txt  12', 'fence'],
    'tabs are code': ['name\tsize\na.txt\t12', 'fence'],
    'indented lines are code': ['src\n  a.ts\n  b.ts', 'fence'],
    'an image is code': ['See ![x](https://a.example/x.png).', 'fence'],
    'an element is code': ['a <b>c</b>', 'fence'],
    'a quote is code': ['> From `a`', 'fence'],
    'a link to a file is code': ['[x](cmdassets/y.png)', 'fence'],
    'a link to a command is code': ['[x](command:y)', 'fence'],
    'a reference is code': ['[x]: https://a.example', 'fence'],
    'a link that looks like an asset is code': ['[Tool generated file 1](https://a.example/tool-x)', 'fence'],
  };
  for (const [rule, [given, written]] of Object.entries(cases)) {
    it(rule, () => {
      const body = renderToolResult(result(text(given), image(1)));
      const shown = body.slice(0, body.lastIndexOf('\n\n!['));
      assert.equal(shown, written === 'fence' ? `\`\`\`\n${given}\n\`\`\`` : written);
      assert.deepEqual(readToolResult(body), result(text(given), image(1)));
    });
  }
});

/** Markers, fences, lines of this format, HTML, links, and parts of them. */
const SIGNS =
  '# %% user|# %% TOOL a.b c1|\\|```|````|~~~|```tool_call a.b\n{}\n```|> ⚠ x|> From `a`|<!-- next block -->|<!-- for the user only -->|{"a": 1}|<img src=x>|<!--|-->|![Tool generated image 1](cmdassets/tool-image-x-1.png)|[x](https://e.example)|[x]: https://e.example|`|``|- |1. |---|a  b|  |# a|⟦U+|> **The tool|word';
const SPACES = ['\n', '\n\n', ' ', '\t', '\r', '\u202e'];
const hostileText = fc
  .array(fc.oneof(fc.constantFrom(...SIGNS.split('|'), ...SPACES), fc.string({ unit: 'grapheme' })))
  .map((pieces) => pieces.join(''));
const field = hostileText.filter((value) => value !== '');
const optional = <K extends string>(key: K) =>
  fc.option(field, { nil: undefined }).map((value) => (value === undefined ? {} : { [key]: value }));
const asset = fc
  .record({
    kind: fc.constantFrom('image' as const, 'audio' as const, 'file' as const),
    number: fc.integer({ min: 1, max: 12 }),
    folder: fc.constantFrom('cmdassets', '/a b/(c)/ü%20/cmdassets', 'C:/x/cmdassets'),
  })
  .map(({ kind, number, folder }) => ({
    kind: 'asset' as const,
    asset: {
      kind,
      number,
      path: `${folder}/tool-${kind}-20260101-000000-abc-${number}.bin`,
      ...(kind === 'file' && number > 6 ? { name: 'a (1).pdf' } : {}),
    },
  }));
const part = fc.oneof(
  hostileText.map((value) => ({ kind: 'text' as const, text: value })),
  fc
    .tuple(hostileText, field, optional('mimeType'))
    .map(([value, uri, type]) => ({ kind: 'text' as const, text: value, source: { uri, ...type } })),
  asset,
  fc.tuple(asset, hostileText).map(([each, preview]) => ({ ...each, preview })),
  fc
    .tuple(
      field,
      field,
      optional('mimeType'),
      optional('description'),
      fc.option(fc.nat(), { nil: undefined }),
    )
    .map(([uri, name, type, description, size]) => ({
      kind: 'link' as const,
      uri,
      name,
      ...type,
      ...description,
      ...(size === undefined ? {} : { size }),
    })),
  fc.json().map((json) => ({ kind: 'data' as const, json })),
  field.map((message) => ({ kind: 'problem' as const, message })),
);
const anyResult: fc.Arbitrary<ToolResult> = fc
  .tuple(fc.boolean(), fc.array(fc.tuple(part, fc.boolean()), { maxLength: 6 }))
  .map(([isError, parts]) => ({
    isError,
    parts: parts.map(([each, forUser]) => (forUser ? { ...each, audience: 'user' } : each) as ResultPart),
  }));

describe('any result of a tool', () => {
  it('is read back exactly', () => {
    fc.assert(
      fc.property(anyResult, (each) => assert.deepEqual(readToolResult(renderToolResult(each)), each)),
      { numRuns: 400 },
    );
  });

  it('is read back exactly from a file with CRLF', () => {
    fc.assert(
      fc.property(anyResult, (each) => {
        assert.deepEqual(readToolResult(renderToolResult(each).replaceAll('\n', '\r\n')), each);
      }),
    );
  });

  it('leaves the turns around it as they were', () => {
    fc.assert(
      fc.property(anyResult, (each) => {
        const body = renderToolResult(each);
        const chat = `# %% user\nx\n\n# %% tool a.b c1\n${body}\n\n# %% user\ny\n`;
        const { turns, problems } = parseChat(chat);
        assert.deepEqual(
          turns.map((turn) => turn.role),
          ['user', 'tool', 'user'],
        );
        assert.deepEqual([problems, turns.flatMap((turn) => turn.calls)], [[], []]);
        const [, tool] = turns;
        assert.ok(tool);
        assert.deepEqual(readToolResult(turnBody(chat, tool)), each);
      }),
      { numRuns: 400 },
    );
  });
});

// The end of each was looked for in the whole text, which took minutes.
it('a quote with backticks of thousands of lengths is read once', () => {
  const runs = Array.from({ length: 3000 }, (_, at) => '`'.repeat(3000 - at));
  assert.equal(readToolResult(`> ${runs.join(' ')}`).parts.length, 1);
});
