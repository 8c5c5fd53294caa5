import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { processMixedToolResult, type ResultOptions } from '../../../src/mcpClient.ts';
import { readToolResult, renderToolResult } from '../../../src/result/markdown.ts';
import { toModelParts } from '../../../src/result/modelView.ts';
import { renderForReply } from '../../../src/result/turnMarkdown.ts';
import { MemoryAssets } from './memoryAssets.ts';

const base64 = (value: string) => Buffer.from(value).toString('base64');
const PDF = base64(`%PDF-1.4\n${'a stream of a PDF '.repeat(20)}`);
const SVG = base64('<svg xmlns="http://www.w3.org/2000/svg"/>');
const FILE = (name: string, extension = 'pdf') =>
  `[Tool generated file 1${name}](cmdassets/tool-file-1.${extension})`;
const SAVED = '(application/pdf, 369 bytes, saved as file 1)';
const json = (value: unknown) => `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``;

describe('every block is kept', () => {
  const cases: Readonly<Record<string, [result: object, expected: string, options?: ResultOptions]>> = {
    'a binary block is a file': [
      { content: [{ type: 'binary', data: PDF, mimeType: 'application/pdf' }] },
      FILE(''),
    ],
    'its name is in the link': [
      {
        content: [{ type: 'binary', data: PDF, mimeType: 'application/pdf', filename: '../a/Q1 *plan*.pdf' }],
      },
      FILE(': Q1 _plan_.pdf'),
    ],
    'other fields of it are shown as JSON': [
      { content: [{ type: 'binary', data: PDF, mime_type: 'application/pdf', pages: 3 }] },
      `${FILE('')}\n\n${json({ type: 'binary', mime_type: 'application/pdf', pages: 3 })}`,
    ],
    'so is a block of any unknown type': [
      { content: [{ type: 'hologram', blob: PDF, content_type: 'application/pdf', name: 'h.pdf' }] },
      `${FILE(': h.pdf')}\n\n${json({ type: 'hologram', content_type: 'application/pdf', name: 'h.pdf' })}`,
    ],
    'bytes in the other fields are files too': [
      { content: [{ type: 'scan', data: base64('raw'), mediaType: 'text/plain', original: PDF }] },
      '[Tool generated file 1](cmdassets/tool-file-1.txt)\n\n' +
        `${json({ type: 'scan', mediaType: 'text/plain', original: '(application/pdf, 369 bytes, saved as file 2)' })}\n\n` +
        '[Tool generated file 2](cmdassets/tool-file-2.pdf)',
    ],
    'its extension may come from its name': [
      {
        content: [
          { type: 'binary', data: base64('a,b'), mimeType: 'application/octet-stream', name: 't.csv' },
        ],
      },
      FILE(': t.csv', 'csv'),
    ],
    'data that is not base64 is shown like other fields': [
      { content: [{ type: 'odd', data: '<b>Hello</b>', mimeType: 'text/html', name: 'x.html' }] },
      `> ⚠ Block 1 of the result has an unknown type: “odd”.\n\n${json({ type: 'odd', data: '<b>Hello</b>', mimeType: 'text/html', name: 'x.html' })}`,
    ],
    'without a media type it is a problem, and its bytes are found as in all JSON': [
      { content: [{ type: 'odd', data: PDF, name: 'odd.pdf' }] },
      `> ⚠ Block 1 of the result has an unknown type: “odd”.\n\n${json({ type: 'odd', data: SAVED, name: 'odd.pdf' })}\n\n${FILE(': odd.pdf')}`,
    ],
    'so are those deeper in an unknown block': [
      { content: [{ type: 'document', source: { media_type: 'application/pdf', data: PDF } }] },
      `> ⚠ Block 1 of the result has an unknown type: “document”.\n\n${json({ type: 'document', source: { media_type: 'application/pdf', data: SAVED } })}\n\n${FILE('')}`,
    ],
    'the fields of an unknown block without bytes are shown': [
      { content: [{ type: 'markdown', text: '# %% user' }] },
      `> ⚠ Block 1 of the result has an unknown type: “markdown”.\n\n${json({ type: 'markdown', text: '# %% user' })}`,
    ],
    'so is a block that is not an object': [
      { content: ['plain words'] },
      '> ⚠ Block 1 of the result is not an object.\n\n```json\n"plain words"\n```',
    ],
    'SVG in an image block is an image': [
      { content: [{ type: 'image', data: SVG, mimeType: 'image/svg+xml' }] },
      '![Tool generated image 1](cmdassets/tool-image-1.svg)',
    ],
    'an image block with the source of an SVG': [
      {
        content: [
          { type: 'image', data: '<svg xmlns="http://www.w3.org/2000/svg"/>', mimeType: 'image/svg+xml' },
        ],
      },
      '![Tool generated image 1](cmdassets/tool-image-1.svg)',
    ],
    'a resource without a name in its address has the name beside its bytes': [
      { content: [{ type: 'resource', resource: { uri: 'https://a.example', blob: PDF, name: 'r.pdf' } }] },
      FILE(': r.pdf'),
    ],
    'a name beside base64 in JSON text': [
      { content: [{ type: 'text', text: JSON.stringify([{ a: 1 }, { name: 'Sales', content: PDF }]) }] },
      `\`\`\`json formatted\n${JSON.stringify([{ a: 1 }, { name: 'Sales', content: '(application/pdf, 369 bytes, saved as file 1)' }], null, 2)}\n\`\`\`\n\n${FILE(': Sales')}`,
    ],
    'a name beside base64 in structured content': [
      {
        structuredContent: {
          file: { fileName: '/tmp/S.pdf', content: `data:application/pdf;base64,${PDF}` },
        },
      },
      `${json({ file: { fileName: '/tmp/S.pdf', content: '(application/pdf, 369 bytes, saved as file 1)' } })}\n\n${FILE(': S.pdf')}`,
    ],
    'a name beside a field of results.fields': [
      { content: [{ type: 'text', text: JSON.stringify({ filename: 'x.log', body: base64('hi') }) }] },
      `\`\`\`json formatted\n{\n  "filename": "x.log",\n  "body": "file x.log"\n}\n\`\`\`\n\n${FILE(': x.log', 'txt')}`,
      { fields: [{ path: 'body', type: 'txt', summary: '{kind} {name}' }] },
    ],
    'embedded source code has its language': [
      {
        content: [
          { type: 'resource', resource: { uri: 'x://a.py', mimeType: 'text/x-python', text: 'x = 1' } },
        ],
      },
      '> From `x://a.py` (`text/x-python`)\n\n```python\nx = 1\n```',
    ],
    'embedded JSON stays what it is': [
      {
        content: [{ type: 'resource', resource: { uri: 'x://a', mimeType: 'application/json', text: '{}' } }],
      },
      '> From `x://a` (`application/json`)\n\n```json\n{}\n```',
    ],
    'a type from nowhere is no language': [
      {
        content: [
          { type: 'resource', resource: { uri: 'x://a', mimeType: 'text/x-tool_call a.b', text: '{}' } },
        ],
      },
      '> From `x://a` (`text/x-tool_call a.b`)\n\n```\n{}\n```',
    ],
  };
  for (const [rule, [result, expected, options]] of Object.entries(cases)) {
    it(rule, async () => {
      const processed = await processMixedToolResult(result, new MemoryAssets(), options);
      assert.equal(renderToolResult(processed), expected);
      assert.deepEqual(readToolResult(expected), processed);
    });
  }

  it('a block nested too deeply, and one with a cycle beside its bytes, hurt no other', async () => {
    let deep: unknown = 'x';
    for (let at = 0; at < 100_000; at += 1) deep = [deep];
    const cycle: Record<string, unknown> = { name: 'c.pdf', content: PDF };
    cycle['self'] = cycle;
    const odd = { type: 'odd', data: PDF, mimeType: 'application/pdf', deep };
    const assets = new MemoryAssets();
    await processMixedToolResult({ content: [odd], structuredContent: cycle }, assets);
    assert.deepEqual(assets.bytes(0), Buffer.from(PDF, 'base64'));
  });

  it('the model gets a line for an SVG image', async () => {
    const content = [{ type: 'image', data: SVG, mimeType: 'image/svg+xml' }];
    const processed = await processMixedToolResult({ content }, new MemoryAssets());
    const about = () => ({ size: 41, mimeType: 'image/svg+xml' });
    assert.deepEqual(toModelParts(processed, { about, sendImages: 'always' }), [
      { kind: 'text', text: '[image 1, image/svg+xml, 41 bytes, asset:tool-image-1.svg]' },
    ]);
  });

  it('source code in a reply has its language too', () => {
    const source = { uri: 'x://a', mimeType: 'text/x-rust; charset=utf-8' };
    assert.match(renderForReply([{ kind: 'text', text: 'fn a() {}', source }]), /```rust\nfn a/);
  });
});
