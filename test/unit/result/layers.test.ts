import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { DEFAULT_LIMITS, processMixedToolResult, type ResultOptions } from '../../../src/mcpClient.ts';
import { readToolResult, renderToolResult } from '../../../src/result/markdown.ts';
import { tokensAtMost, toModelParts } from '../../../src/result/modelView.ts';
import { MemoryAssets } from './memoryAssets.ts';
import { png } from './samples.ts';

const text = (value: string) => ({ type: 'text', text: value });
const image = (data: string) => ({ type: 'image', data, mimeType: 'image/png' });
const PNG = png(2, 2, Buffer.alloc(300, 3)).toString('base64');
const PDF = Buffer.concat([Buffer.from('%PDF-1.4\n'), createHash('sha512').update('x').digest()]).toString(
  'base64',
);
const IMAGE = (number = 1) => `![Tool generated image ${number}](cmdassets/tool-image-${number}.png)`;
const FILE = (extension: string, number = 1, name = '') =>
  `[Tool generated file ${number}${name && `: ${name}`}](cmdassets/tool-file-${number}.${extension})`;

async function markdown(result: object, options: ResultOptions = {}, assets = new MemoryAssets()) {
  const parts = await processMixedToolResult(result, assets, options);
  const shown = renderToolResult(parts);
  assert.deepEqual(readToolResult(shown), parts);
  return shown;
}

describe('embedded bytes', () => {
  const cases: Readonly<Record<string, [result: object, expected: string, options?: ResultOptions]>> = {
    'a text that is base64 is its file': [
      { content: [text('a'), text(PDF), text('b')] },
      `a\n\n${FILE('pdf')}\n\nb`,
    ],
    'images in a text follow it, in their order': [
      {
        content: [
          text(`One ![A](data:image/png;base64,${PNG}) two ![](data:image/png;base64,${PNG}).`),
          text('b'),
        ],
      },
      `One [image 1 “A”: see below] two [image 2: see below].\n\n${IMAGE(1)}\n\n${IMAGE(2)}\n\nb`,
    ],
    'bytes in JSON leave words, and the JSON is laid out': [
      { content: [text(JSON.stringify({ title: 'kept', deep: [{ picture: PNG }] }))] },
      `\`\`\`json formatted\n{\n  "title": "kept",\n  "deep": [\n    {\n      "picture": "(image/png, 357 bytes, saved as image 1)"\n    }\n  ]\n}\n\`\`\`\n\n${IMAGE()}`,
    ],
    'JSON that would change by that is left as it is': [
      { content: [text(`{"id": 12345678901234567890, "p": "${PNG}"}`)] },
      `\`\`\`json\n{"id": 12345678901234567890, "p": "(image/png, 357 bytes, saved as image 1)"}\n\`\`\`\n\n${IMAGE()}`,
    ],
    'an embedded text that is base64 has the name of its resource': [
      { content: [{ type: 'resource', resource: { uri: 'x://a/report.pdf', text: PDF } }] },
      FILE('pdf', 1, 'report.pdf'),
    ],
    'an SVG in a data: URL is an image': [
      {
        content: [
          text(
            `A ![x](data:image/svg+xml;base64,${Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg">${' '.repeat(40)}</svg>`).toString('base64')})`,
          ),
        ],
      },
      'A [image 1 “x”: see below]\n\n![Tool generated image 1](cmdassets/tool-image-1.svg)',
    ],
    'a page keeps its images, as a file': [
      {
        content: [
          {
            type: 'resource',
            resource: {
              uri: 'ui://page',
              mimeType: 'text/html',
              text: `<html><img src="data:image/png;base64,${PNG}"></html>`,
            },
          },
        ],
      },
      `${FILE('html', 1, 'page')}\n\n\`\`\`text preview\n<html><img src="(357 bytes of base64)"></html>\n\`\`\``,
    ],
    'structured content holds words, and what it alone has follows it': [
      { content: [text('done')], structuredContent: { n: 1, p: PNG } },
      `done\n\n\`\`\`json\n{\n  "n": 1,\n  "p": "(image/png, 357 bytes, saved as image 1)"\n}\n\`\`\`\n\n${IMAGE()}`,
    ],
    'structured content refers to the bytes of a block, however they are written': [
      { content: [image(PNG)], structuredContent: { n: 1, p: `data:image/png;base64,${PNG}` } },
      `${IMAGE()}\n\n\`\`\`json\n{\n  "n": 1,\n  "p": "(image/png, 357 bytes, saved as image 1)"\n}\n\`\`\``,
    ],
    'structured content that repeats a JSON text with bytes is left out': [
      { content: [text(JSON.stringify({ p: PNG }))], structuredContent: { p: PNG } },
      `\`\`\`json formatted\n{\n  "p": "(image/png, 357 bytes, saved as image 1)"\n}\n\`\`\`\n\n${IMAGE()}`,
    ],
    'structured content that repeats the blocks is left out': [
      { content: [image(PNG)], structuredContent: { content: [image(PNG)] } },
      IMAGE(),
    ],
    'the same bytes twice in structured content are one file': [
      { content: [], structuredContent: { a: PNG, b: [PNG] } },
      `\`\`\`json\n{\n  "a": "(image/png, 357 bytes, saved as image 1)",\n  "b": [\n    "(image/png, 357 bytes, saved as image 1)"\n  ]\n}\n\`\`\`\n\n${IMAGE()}`,
    ],
    'the same image three times is three links': [
      { content: [image(PNG), image(PNG), image(PNG)] },
      [1, 2, 3].map(IMAGE).join('\n\n'),
    ],
    'a field of the settings needs no signature': [
      { content: [text('{"pdf_data": "AAECAw==", "view_name": "Revenue"}')] },
      `\`\`\`json\n{"pdf_data": "View 'Revenue', 4 bytes", "view_name": "Revenue"}\n\`\`\`\n\n${FILE('pdf')}`,
      { fields: [{ path: 'pdf_data', type: 'pdf', summary: 'View "{view_name}", {size}' }] },
    ],
    'a summary has the names of the saved file and of the fields beside it': [
      { content: [text('{"pdf": "AAECAw==", "filename": "Sales Report.pdf", "size": 7, "final": true}')] },
      `\`\`\`json\n{"pdf": "Downloaded PDF 'Sales Report.pdf' (4 bytes). Reference: asset:tool-file-1.pdf, 4 bytes, true", "filename": "Sales Report.pdf", "size": 7, "final": true}\n\`\`\`\n\n${FILE('pdf', 1, 'Sales Report.pdf')}`,
      {
        fields: [
          {
            path: 'pdf',
            type: 'pdf',
            summary:
              "Downloaded {content_type} '{filename}' ({size_human}). Reference: {artifact_id}, {size} bytes, {final}",
          },
        ],
      },
    ],
    'a summary without a name beside the bytes': [
      { content: [], structuredContent: { pdf: 'AAECAw==' } },
      `\`\`\`json\n{\n  "pdf": "PDF 'file-1.pdf' application/pdf"\n}\n\`\`\`\n\n${FILE('pdf')}`,
      { fields: [{ path: 'pdf', type: 'pdf', summary: "{content_type} '{filename}' {type}" }] },
    ],
    'an unknown name in a summary stays as it is, and is reported once': [
      { content: [text('{"a": "AAECAw=="}'), text('{"a": "AAECAw=="}')] },
      `\`\`\`json\n{"a": "Page {page}"}\n\`\`\`\n\n${FILE('csv')}\n\n\`\`\`json\n{"a": "Page {page}"}\n\`\`\`\n\n${FILE('csv', 2)}\n\n> ⚠ Check filechat.results.fields for s.t. The summary names {page}, which is neither a field beside the bytes nor one of {kind}, {name}, {filename}, {type}, {content_type}, {size}, {size_human}, {ref}, {artifact_id}.`,
      { fields: [{ path: 'a', type: 'csv', summary: 'Page {page}' }], tool: { server: 's', tool: 't' } },
    ],
    'a path that is not supported is reported': [
      { content: [text('a')] },
      '```\na\n```\n\n> ⚠ Check filechat.results.fields for s.t. The path “\\$..image” is not supported. Separate names with dots, and use \\[\\] for the items of a list, such as pages\\[\\].image.',
      { fields: [{ path: '$..image' }], tool: { server: 's', tool: 't' } },
    ],
    'a field of the settings in structured content': [
      { content: [], structuredContent: { pages: [{ data: 'AAECAw==' }] } },
      `\`\`\`json\n{\n  "pages": [\n    {\n      "data": "(text/csv, 4 bytes, saved as file 1)"\n    }\n  ]\n}\n\`\`\`\n\n${FILE('csv')}`,
      { fields: [{ path: 'pages[].data', type: 'text/csv' }] },
    ],
    'a field that is not base64 stays': [
      { content: [text('{"a":"not found"}')] },
      '```json formatted\n{\n  "a": "not found"\n}\n```',
      { fields: [{ path: 'a' }] },
    ],
    'the transformer comes first': [
      { content: [text('a')] },
      IMAGE(),
      { transform: () => ({ content: [image(PNG)] }) },
    ],
    'a failing transformer is reported, and the original is shown': [
      { content: [text('a')] },
      '> ⚠ Your transformer failed on s.t: no. The result is shown as the server sent it.\n\n```\na\n```',
      { transform: () => Promise.reject(new Error('no')), tool: { server: 's', tool: 't' } },
    ],
    'content for the user only is marked, with everything derived from it': [
      {
        content: [
          { ...text(PNG), annotations: { audience: ['user'] } },
          { ...text('b'), annotations: { audience: ['user', 'assistant'] } },
        ],
      },
      `<!-- for the user only -->\n\n${IMAGE()}\n\nb`,
    ],
    'a text that is still too long is a file, after its extracted content': [
      { content: [text(`${'word '.repeat(30)}data:image/png;base64,${PNG}`)] },
      `${IMAGE()}\n\n${FILE('txt')}\n\n\`\`\`text preview\n${'word '.repeat(30)}[image 1: see below]\n\`\`\``,
      { limits: { ...DEFAULT_LIMITS, maxInlineChars: 100 } },
    ],
  };
  for (const [name, [result, expected, options]] of Object.entries(cases)) {
    it(name, async () => assert.equal(await markdown(result, options), expected));
  }

  it('a failed save is reported in the text and after it', async () => {
    assert.equal(
      await markdown({ content: [text(`A data:image/png;base64,${PNG}`)] }, {}, new MemoryAssets('image')),
      '```\nA [not saved: see below]\n```\n\n> ⚠ Could not save the image: the disk is full.',
    );
  });

  it('structured content of any depth is shown or cut, and nothing breaks', async () => {
    const deep = JSON.parse(`${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`);
    const shown = await markdown({ content: [], structuredContent: deep });
    assert.match(shown, /^\[Tool generated file 1\]/);
  });

  it('JSON without bytes is unchanged', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.jsonValue(),
        fc.array(fc.stringMatching(/^[a-z]{100,300}$/)),
        async (value, words) => {
          const json = JSON.stringify({ value, words });
          const limits = { ...DEFAULT_LIMITS, maxInlineChars: 1e9 };
          const { parts } = await processMixedToolResult({ content: [text(json)] }, new MemoryAssets(), {
            limits,
          });
          assert.deepEqual(parts, [{ kind: 'data', json }]);
        },
      ),
    );
  });
});

it('the incident: 500 KB of PDF in a text block is one file, one link, at most 60 tokens', async () => {
  const bytes = Buffer.concat([
    Buffer.from('%PDF-1.4\n'),
    Buffer.alloc(500_000, 'stream of a PDF '),
    Buffer.from('%%EOF\n'),
  ]);
  const ways = [
    text(bytes.toString('base64')),
    text(JSON.stringify({ content: bytes.toString('base64'), name: 'Sales Dashboard', format: 'pdf' })),
  ];
  for (const [at, block] of ways.entries()) {
    const assets = new MemoryAssets();
    const result = await processMixedToolResult({ content: [block] }, assets);
    assert.deepEqual(
      assets.saved.map(({ extension }) => extension),
      ['pdf'],
    );
    assert.equal(Buffer.compare(assets.bytes(0), bytes), 0);
    assert.equal(renderToolResult(result).split('](cmdassets/').length, 2);
    const model = toModelParts(result, {
      about: () => ({ size: bytes.length, mimeType: 'application/pdf' }),
    });
    const said = model.map((part) => (part.kind === 'text' ? part.text : assert.fail()));
    const name = at === 0 ? '1' : 'Sales Dashboard';
    assert.equal(said.at(-1), `[file ${name}, application/pdf, 500.0 KB, asset:tool-file-1.pdf]`);
    assert.ok(tokensAtMost(said.at(-1) ?? '') <= 60);
    assert.ok(at === 1 || said.length === 1);
    assert.ok(said.join('\n').length < 250);
  }
});
