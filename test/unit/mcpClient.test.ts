import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DEFAULT_LIMITS, processMixedToolResult } from '../../src/mcpClient.ts';
import { renderToolResult } from '../../src/result/markdown.ts';
import { MemoryAssets } from './result/memoryAssets.ts';

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGNgYGAAAAAEAAH2FzhVAAAAAElFTkSuQmCC';
const PDF = Buffer.from('%PDF-1.4\n%%EOF\n').toString('base64');

async function markdown(
  content: unknown,
  more: object = {},
  assets = new MemoryAssets(),
  limits = DEFAULT_LIMITS,
) {
  return renderToolResult(await processMixedToolResult({ content, ...more }, assets, { limits }));
}

const pngNumber = (number: number) =>
  Buffer.concat([Buffer.from(PNG, 'base64'), Buffer.from([number])]).toString('base64');

it('a long text without a type gets the extension of its address', async () => {
  const resource = { uri: 'file:///notes/README.md', text: 'word '.repeat(2001) };
  const written = await markdown([{ type: 'resource', resource }]);
  assert.match(written, /^\[Tool generated file 1: README\.md\]\(cmdassets\/tool-file-1\.md\)\n/);
});

describe('blocks become parts, one for one', () => {
  const text = (value: string) => ({ type: 'text', text: value });
  const image = (data = PNG, mimeType: unknown = 'image/png') => ({ type: 'image', data, mimeType });
  const cases: Record<string, [content: unknown, expected: string, more?: object]> = {
    'the order is kept': [
      [text('a'), image(), text('b'), image(), text('c')],
      'a\n\n![Tool generated image 1](cmdassets/tool-image-1.png)\n\nb\n\n![Tool generated image 2](cmdassets/tool-image-2.png)\n\nc',
    ],
    'each kind is counted separately': [
      [
        { type: 'resource', resource: { uri: 'x://r/report.pdf', blob: PDF } },
        image(),
        { type: 'audio', data: 'AAEC', mimeType: 'audio/wav' },
      ],
      '[Tool generated file 1: report.pdf](cmdassets/tool-file-1.pdf)\n\n![Tool generated image 1](cmdassets/tool-image-1.png)\n\n[Tool generated audio 1](cmdassets/tool-audio-1.wav)',
    ],
    'invalid base64 affects only its block': [
      [text('a'), image('!!!!'), image()],
      'a\n\n> ⚠ The image could not be saved: its data is not base64.\n\n![Tool generated image 1](cmdassets/tool-image-1.png)',
    ],
    'an empty image is not saved': [[image('')], '> ⚠ The image could not be saved: it is empty.'],
    'missing data affects only its block': [
      [{ type: 'image' }, text('a')],
      '> ⚠ The image could not be saved: it has no data.\n\n```\na\n```',
    ],
    'an image with its bytes in another field is saved': [
      [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } }],
      '> ⚠ The image could not be saved: it has no data.\n\n```json\n{\n  "source": {\n    "type": "base64",\n    "media_type": "image/png",\n    "data": "(image/png, 69 bytes, saved as image 1)"\n  }\n}\n```\n\n![Tool generated image 1](cmdassets/tool-image-1.png)',
    ],
    'a resource without its wrapper is shown as JSON': [
      [{ type: 'resource', uri: 'file:///a.txt', text: 'Hi' }],
      '> ⚠ Resource block 1 of the result contains no resource.\n\n```json\n{\n  "uri": "file:///a.txt",\n  "text": "Hi"\n}\n```',
    ],
    'a data: URL as an address names no file': [
      [{ type: 'resource', resource: { uri: `data:application/pdf;base64,${PDF}`, blob: PDF } }],
      '[Tool generated file 1](cmdassets/tool-file-1.pdf)',
    ],
    'a text block with an object is shown as JSON': [
      [{ type: 'text', text: { sales: 5 } }],
      '> ⚠ Text block 1 of the result contains no text.\n\n```json\n{\n  "sales": 5\n}\n```',
    ],
    'a data: URL is decoded': [
      [image(`data:image/png;base64,${PNG}`, undefined)],
      '![Tool generated image 1](cmdassets/tool-image-1.png)',
    ],
    'an unknown block affects only itself': [
      [{ type: 'hologram' }, text('a')],
      '> ⚠ Block 1 of the result has an unknown type: “hologram”.\n\n```\na\n```',
    ],
    'a block that is not an object affects only itself': [
      [null, 7, text('a')],
      '> ⚠ Block 1 of the result is not an object.\n\n> ⚠ Block 2 of the result is not an object.\n\n```json\n7\n```\n\n```\na\n```',
    ],
    'a resource with text and bytes keeps both': [
      [{ type: 'resource', resource: { uri: 'x://a.txt', text: 'hi', blob: PDF } }],
      '> From `x://a.txt`\n\n```\nhi\n```\n\n[Tool generated file 1: a.txt](cmdassets/tool-file-1.pdf)',
    ],
    'a resource with neither is a problem': [
      [{ type: 'resource', resource: { uri: 'x://a' } }],
      '> ⚠ The resource “x://a” has neither text nor data.',
    ],
    'a link without a name shows its URI': [
      [{ type: 'resource_link', uri: 'x://a' }],
      '> Resource `x://a` at `x://a`',
    ],
    'colors of a terminal are removed': [
      [
        text(
          '\u001b[1;31mfailed\u001b[0m at \u001b]8;;file:///a\u0007a.ts\u001b]8;;\u0007\u001b[K\nkept: \u001b',
        ),
      ],
      '```\nfailed at a.ts\nkept: ⟦U+001B⟧\n```',
    ],
    'CRLF becomes LF': [[text('a\r\nb')], '```\na\nb\n```'],
    'blank lines around a text beside an image are removed': [
      [text('\na\n\n'), image()],
      'a\n\n![Tool generated image 1](cmdassets/tool-image-1.png)',
    ],
    'an error is reported as an error': [
      [text('no')],
      '> ⚠ **The tool reported an error.**\n\n```\nno\n```',
      { isError: true },
    ],
    'a result without content says so': [[], '> The tool returned nothing.'],
    'content that is not a list is a problem': [
      'hello',
      '> ⚠ The content of the result is not a list of blocks.\n\n```json\n"hello"\n```',
    ],
    'structured content that repeats the text is left out': [
      [text('{"a": [1]}')],
      '```json\n{"a": [1]}\n```',
      { structuredContent: { a: [1] } },
    ],
    'structured content that wraps the text is left out': [
      [text('hi')],
      '```\nhi\n```',
      { structuredContent: { result: 'hi' } },
    ],
    'structured content that says more is shown': [
      [text('done')],
      '```\ndone\n```\n\n```json\n{\n  "count": 3\n}\n```',
      { structuredContent: { count: 3 } },
    ],
    'structured content does not repeat the bytes of a block': [
      [image()],
      '![Tool generated image 1](cmdassets/tool-image-1.png)\n\n```json\n{\n  "png": "(image/png, 69 bytes, saved as image 1)",\n  "n": 1\n}\n```',
      { structuredContent: { png: PNG, n: 1 } },
    ],
  };
  for (const [name, [content, expected, more]] of Object.entries(cases)) {
    it(name, async () => assert.equal(await markdown(content, more), expected));
  }

  it('a response that is not a result is an error', async () => {
    for (const answer of [undefined, null, 'x', []]) {
      const { isError, parts } = await processMixedToolResult(answer, new MemoryAssets());
      assert.deepEqual([isError, parts.map(({ kind }) => kind)], [true, ['problem']]);
    }
  });

  it('ten thousand blocks stay in order', async () => {
    const content = Array.from({ length: 10_000 }, (_, at) => text(`block ${at}`));
    const { parts } = await processMixedToolResult({ content }, new MemoryAssets());
    assert.deepEqual(
      parts,
      content.map((block) => ({ kind: 'text', text: block.text })),
    );
  });

  const nine = Array.from({ length: 9 }, (_, at) => pngNumber(at));
  const counted: Record<string, [result: unknown, lastOf: [kind: string, last: number][]]> = {
    'nine images': [{ content: nine.map((data) => image(data)) }, [['image', 9]]],
    'ten images and a long text': [
      { content: [...[...nine, pngNumber(9)].map((data) => image(data)), text('long '.repeat(3000))] },
      [
        ['image', 10],
        ['file', 1],
      ],
    ],
    'ten images in one text': [
      { content: [text([...nine, pngNumber(9)].map((data) => `data:image/png;base64,${data} `).join(''))] },
      [['image', 10]],
    ],
    'nine images, and one more in the structured content': [
      { content: nine.map((data) => image(data)), structuredContent: { again: nine[0], more: pngNumber(9) } },
      [['image', 10]],
    ],
  };
  for (const [name, [result, kinds]] of Object.entries(counted)) {
    it(`every file knows how many of its kind there are: ${name}`, async () => {
      const assets = new MemoryAssets();
      await processMixedToolResult(result, assets);
      const found = new Map(assets.saved.map(({ kind, last }) => [kind, last]));
      assert.deepEqual([...found], kinds);
      for (const [kind, last] of kinds)
        assert.equal(assets.saved.filter((each) => each.kind === kind).length, last);
    });
  }

  it('a failed save leaves a note in its place', async () => {
    const content = [text('a'), image(), { type: 'audio', data: 'AAEC', mimeType: 'audio/wav' }];
    assert.equal(
      await markdown(content, {}, new MemoryAssets('image')),
      'a\n\n> ⚠ Could not save the image: the disk is full.\n\n[Tool generated audio 1](cmdassets/tool-audio-1.wav)',
    );
  });

  it('a block over the limit is refused with its size, and the others are saved', async () => {
    const assets = new MemoryAssets();
    const big = Buffer.alloc(3 * 1024 * 1024).toString('base64');
    const shown = await markdown([image(big), image()], {}, assets, {
      ...DEFAULT_LIMITS,
      maxAssetBytes: 1024 * 1024,
    });
    assert.equal(
      shown,
      '> ⚠ The image was not saved: it has 3.1 MB, and filechat.results.maxAssetBytes allows 1.0 MB.\n\n![Tool generated image 1](cmdassets/tool-image-1.png)',
    );
    assert.equal(assets.saved.length, 1);
  });

  it('the saved bytes are the sent bytes', async () => {
    const assets = new MemoryAssets();
    await markdown([image()], {}, assets);
    assert.equal(Buffer.from(assets.bytes(0)).toString('base64'), PNG);
  });
});

describe('text that is too long to show', () => {
  it('becomes a file with a preview of its head and tail', async () => {
    const assets = new MemoryAssets();
    const long = Array.from({ length: 2000 }, (_, at) => `line ${at}`).join('\n');
    const shown = await markdown([{ type: 'text', text: long }], {}, assets);
    assert.match(
      shown,
      /^\[Tool generated file 1\]\(cmdassets\/tool-file-1\.txt\)\n\n```text preview\nline 0\n[\s\S]+\n…\nline \d+\n[\s\S]+line 1999\n```$/,
    );
    assert.ok(shown.length < 800);
    assert.equal(Buffer.from(assets.bytes(0)).toString(), long);
  });

  it('gets the extension of its type', async () => {
    const assets = new MemoryAssets();
    const json = JSON.stringify(Array.from({ length: 5000 }, (_, at) => at));
    const csv = {
      type: 'resource',
      resource: { uri: 'x://t.csv', mimeType: 'text/csv', text: 'a,b\n'.repeat(5000) },
    };
    await markdown([{ type: 'text', text: json }, csv], {}, assets);
    assert.deepEqual(
      assets.saved.map(({ extension }) => extension),
      ['json', 'csv'],
    );
  });
});
