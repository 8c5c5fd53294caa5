import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, describe, it } from 'node:test';
import { processMixedToolResult } from '../../../src/mcpClient.ts';
import { cleanText } from '../../../src/result/blocks.ts';
import { renderToolResult } from '../../../src/result/markdown.ts';
import { joined, windowsOf } from '../../../src/result/textWindows.ts';
import { temporaryFolder } from '../../kit/folder.ts';
import { FileSpills } from './fileSpills.ts';
import { MemoryAssets } from './memoryAssets.ts';
import { png } from './samples.ts';

const spills = new FileSpills(temporaryFolder({ after }));

function pieces(text: string, size = 48_001) {
  return async function* () {
    for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size);
  };
}

const spilled = (text: string) =>
  spills.put(Buffer.from(text), { pieces: pieces(text), textHash: String(Math.random()) });

/** What is written into the chat, and the files. */
async function process(result: object) {
  const assets = new MemoryAssets();
  const shown = renderToolResult(await processMixedToolResult(result, assets, { spills }));
  const files = assets.saved.map(({ bytes, extension }) => {
    const content = bytes instanceof Uint8Array ? bytes : readFileSync(bytes.path);
    return { extension, content: Buffer.from(content).toString('latin1') };
  });
  return { shown, files };
}

const PROSE = 'Wörter, words and more 中文 😀.\n';
const PICTURE = png(9, 9).toString('base64');
const HUGE = png(400, 400, Buffer.alloc(1_200_000, 7)).toString('base64');
const WRAPPED =
  png(40, 40, Buffer.alloc(9000, 7))
    .toString('base64')
    .match(/.{1,76}/g)
    ?.join('\n') ?? '';
const fill = (unit: string, chars = 1_500_000) => unit.repeat(Math.ceil(chars / unit.length));

describe('a long text that went to a file', () => {
  const texts: Readonly<Record<string, string>> = {
    prose: fill(PROSE),
    'one line': fill('words and more words, again '),
    'lines of hashes': fill(
      `${PROSE.repeat(200)}${'0123456789abcdef'.repeat(4)}\n${'abcdef'.repeat(20)} a.txt\n`,
    ),
    'paths of one word': fill(`/${'usr/lib/'.repeat(9)}`),
    'line breaks and colors': fill('\u001b[31mred\u001b[0m\r\n\u001b]0;title\u0007black\r'),
    'images in it': `${fill(PROSE)}An image: ![a b](data:image/png;base64,${PICTURE} "t") and\n${WRAPPED}\nend.`,
    'images everywhere': fill(`${PROSE.repeat(2000)}![the label](data:image/png;base64,${PICTURE}) `),
    'images with captions, and more text': fill(`Picture: ${PICTURE}\n${PROSE.repeat(40)}`),
    JSON: `[${fill('{"a":"b c","n":[1,2]},')}0]`,
    'JSON with images': `[${fill('{"a":"b c"},')}{"p":"${PICTURE}"}]`,
    'long JSON': `[${fill(`{"a":"${'b c '.repeat(50)}"},`, 9_000_000)}{"p":"${PICTURE}"}]`,
    'no JSON after all': `[${fill('a b c, ')}`,
    'a page': `<html>${fill('<p>words</p>\n')}<img src="data:image/png;base64,${PICTURE}"></html>`,
    'blank edges': `${'\n'.repeat(9000)}${fill(PROSE)}${' \n'.repeat(9000)}`,
  };
  for (const [name, text] of Object.entries(texts)) {
    it(`gives the same chat and files as one in memory: ${name}`, async () => {
      const block = (value: string) => ({ content: [{ type: 'text', text: value }] });
      const expected = await process(block(text));
      const found = await process(block(await spilled(text)));
      assert.equal(found.shown, expected.shown);
      assert.deepEqual(
        found.files.map(({ extension }) => extension),
        expected.files.map(({ extension }) => extension),
      );
      assert.ok(found.files.every(({ content }, at) => content === expected.files[at]?.content));
    });
  }

  const prose = fill(PROSE);
  const other: Readonly<Record<string, (text: string) => object>> = {
    'of a resource': (text) => ({
      content: [{ type: 'resource', resource: { uri: 'x://a.csv', mimeType: 'text/csv', text } }],
    }),
    'that is repeated by structured content': (text) => ({
      content: [{ type: 'text', text }],
      structuredContent: { result: text },
    }),
    'in structured content, with more': (text) => ({
      content: [{ type: 'text', text }],
      structuredContent: { text, more: 1 },
    }),
    'in place of the blocks': (content) => ({ content }),
    'in structured content alone': (text) => ({ content: [], structuredContent: { text } }),
    'in an unknown block': (text) => ({ content: [{ type: 'odd', text }] }),
    'in place of data': (data) => ({ content: [{ type: 'image', mimeType: 'image/png', data }] }),
    'that is the source of an image': (text) => ({
      content: [
        {
          type: 'resource',
          resource: { uri: 'x://a.svg', mimeType: 'image/svg+xml', text: `<svg>${text}</svg>` },
        },
        { type: 'image', mimeType: 'image/svg+xml', data: `<svg>${text}</svg>` },
      ],
    }),
  };
  for (const [name, result] of Object.entries(other)) {
    it(`gives the same chat and files as one in memory: ${name}`, async () => {
      const placeholders = new Map<string, string>();
      const spill = async (value: unknown): Promise<unknown> => {
        if (Array.isArray(value)) return Promise.all(value.map(spill));
        if (typeof value === 'object' && value !== null) {
          const entries = Object.entries(value).map(async ([key, each]) => [key, await spill(each)]);
          return Object.fromEntries(await Promise.all(entries));
        }
        if (typeof value !== 'string' || value.length < 1000) return value;
        if (!placeholders.has(value)) placeholders.set(value, await spilled(value));
        return placeholders.get(value);
      };
      const expected = await process(result(prose));
      const found = await process((await spill(result(prose))) as object);
      assert.equal(found.shown, expected.shown);
      assert.ok(found.files.every(({ content }, at) => content === expected.files[at]?.content));
      assert.equal(found.files.length, expected.files.length);
    });
  }
});

it('structured content that repeats a text with images is left out', async () => {
  const text = await spilled(`![a](data:image/png;base64,${HUGE})\nand words`);
  const { shown, files } = await process({
    content: [{ type: 'text', text }],
    structuredContent: { result: text },
  });
  assert.match(shown, /^\[image 1 “a”: see below\]\s+and words\s+!\[.*\]\(.*\)\s*$/);
  assert.equal(files.length, 1);
});

it('windows have the cleaned text, at any size of the pieces', async () => {
  const text = fill('ab\r\n\u001b[1mc\u001b]0;t\u001b\\d\u001b[0m 😀 \u001b', 20_000);
  for (const size of [1, 2, 3, 1000])
    assert.equal(await joined(windowsOf(pieces(text, size)())), cleanText(text));
});
