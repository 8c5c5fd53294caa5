import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DEFAULT_LIMITS, processMixedToolResult } from '../../../src/mcpClient.ts';
import { renderToolResult } from '../../../src/result/markdown.ts';
import { reportingLargeFiles } from '../../../src/result/saveBytes.ts';
import { PNG, PNG_BASE64 } from '../../kit/png.ts';
import { MemoryAssets } from './memoryAssets.ts';

const ZIP = Buffer.from('PK\x03\x04 and the rest of an archive').toString('base64');
const PDF = Buffer.from(`%PDF-1.7 ${'and the rest of a document. '.repeat(20)}`).toString('base64');
const IMAGE = '![Tool generated image 1](cmdassets/tool-image-1.png)';

const text = (value: string) => ({ type: 'text', text: value });
const blob = (name: string, data: string, mimeType?: string) => ({
  type: 'resource',
  resource: { uri: `x://${name}`, blob: data, mimeType },
});
const notSaved = (what: string, type: string, size: string, allowed = 'image/*') =>
  `> ⚠ The ${what} was not saved: it is ${type} (${size}), and filechat.results.allowedMimeTypes allows ${allowed.replace('*', '\\*')}.`;

describe('only allowed types are saved', () => {
  async function show(result: object, allowedMimeTypes: readonly string[] = ['image/*']) {
    const assets = new MemoryAssets();
    const limits = { ...DEFAULT_LIMITS, maxInlineChars: 2000, allowedMimeTypes };
    const parts = await processMixedToolResult(result, assets, { limits });
    return { pieces: renderToolResult(parts).split('\n\n'), saved: assets.saved.length };
  }

  type Row = readonly [content: readonly object[], pieces: readonly string[], saved: number];
  const cases: Readonly<Record<string, Row>> = {
    'a refused block leaves a line in its place, and the others are kept': [
      [text('Here:'), blob('a.zip', ZIP, 'application/zip'), { type: 'image', data: PNG_BASE64 }],
      ['Here:', notSaved('file a.zip', 'application/zip', '31 bytes'), IMAGE],
      1,
    ],
    'the type by the bytes counts, not the declared one': [
      [{ type: 'image', data: PDF, mimeType: 'image/png' }, blob('b.pdf', PNG_BASE64, 'application/pdf')],
      [notSaved('image', 'application/pdf', '569 bytes'), IMAGE],
      1,
    ],
    'bytes of an unknown type are application/octet-stream': [
      [blob('a', 'AAECAwQ=', 'application/x-own')],
      [notSaved('file a', 'application/octet-stream', '5 bytes')],
      0,
    ],
    'a file in a text is refused like a block': [
      [text(`Before data:application/pdf;base64,${PDF} after`)],
      ['```\nBefore [not saved: see below] after\n```', notSaved('data', 'application/pdf', '569 bytes')],
      0,
    ],
    'text that is written into the chat is not a file': [[text('words')], ['```\nwords\n```'], 0],
  };
  for (const [name, [content, pieces, saved]] of Object.entries(cases)) {
    it(name, async () => assert.deepEqual(await show({ content }), { pieces, saved }));
  }

  it('files in structured content are refused, once for the same bytes', async () => {
    const structuredContent = { n: 1, file: ZIP };
    const shown = await show({ content: [blob('a.zip', ZIP)], structuredContent });
    assert.deepEqual(shown, {
      pieces: [
        notSaved('file a.zip', 'application/zip', '31 bytes'),
        '```json\n{\n  "n": 1,\n  "file": "(31 bytes, not saved)"\n}\n```',
      ],
      saved: 0,
    });
  });

  const LONG = 'line\n'.repeat(1000);
  const JSON_TEXT = JSON.stringify({ rows: Array.from({ length: 500 }, (_, row) => `row ${row}`) });
  const longTexts: readonly (readonly [type: string, text: string, allowed: string, isSaved: boolean])[] = [
    ['text/plain', LONG, 'text/*', true],
    ['text/plain', LONG, 'text/plain', true],
    ['application/json', JSON_TEXT, 'application/json', true],
    ['application/json', JSON_TEXT, 'text/*', true],
    ['application/json', JSON_TEXT, 'text/plain', false],
    ['text/plain', LONG, 'image/*', false],
  ];
  for (const [type, long, allowed, isSaved] of longTexts) {
    it(`long ${type} with ${allowed} is ${isSaved ? 'a file' : 'a preview and a line'}`, async () => {
      const { pieces, saved } = await show({ content: [text(long)] }, [allowed]);
      assert.equal(saved, isSaved ? 1 : 0);
      const [first = '', last = ''] = [pieces[0], pieces.at(-1)];
      if (isSaved) return assert.match(first, /^\[Tool generated file 1\]/);
      assert.equal(last, notSaved('rest of this text', type, '5.0 KB', allowed).replace('5.0', kb(long)));
      const preview = pieces.slice(0, -1).join('\n\n');
      assert.ok(preview.startsWith(`\`\`\`\n${long.slice(0, 10)}`) && preview.length < 700, preview);
    });
  }
});

function kb(value: string): string {
  return (value.length / 1000).toFixed(1);
}

it('large files of a result are reported once, from 10 MiB, also when it fails', async () => {
  const store = { beginResult: () => new MemoryAssets() };
  const reports: string[] = [];
  const save = (sizes: readonly number[], end = () => 'done') =>
    reportingLargeFiles(
      store,
      (files) => reports.push(files),
      async (assets) => {
        for (const size of sizes)
          await assets.save({ kind: 'file', extension: 'bin', bytes: { path: '', size, head: PNG } });
        return end();
      },
    );
  const limit = 10 * 1024 * 1024;
  assert.equal(await save([1, limit - 1]), 'done');
  assert.deepEqual(reports, []);
  await save([limit, 5, 2 * limit]);
  await assert.rejects(
    save([limit], () => {
      throw new Error('stopped');
    }),
  );
  const [first, third] = ['cmdassets/tool-file-1.bin (10.5 MB)', 'cmdassets/tool-file-3.bin (21.0 MB)'];
  assert.deepEqual(reports, [`${first}, ${third}`, first]);
});

describe('all files of a result together', () => {
  const image = { type: 'image', data: PNG_BASE64 };
  const show = async (content: readonly object[], more: { maxFiles?: number; maxTotalBytes?: number }) => {
    const assets = new MemoryAssets();
    const limits = { ...DEFAULT_LIMITS, maxInlineChars: 2000, ...more };
    const parts = await processMixedToolResult({ content }, assets, { limits });
    return { pieces: renderToolResult(parts).split('\n\n'), saved: assets.saved.length };
  };

  it('have a limited number: each one more is a line in its place, and texts are kept', async () => {
    const { pieces, saved } = await show([image, text('between'), image, image, text('end')], {
      maxFiles: 2,
    });
    assert.deepEqual(pieces.slice(-2), [
      '> ⚠ The image was not saved: a result can have at most 2 files.',
      'end',
    ]);
    assert.equal(pieces[1], 'between');
    assert.equal(saved, 2);
  });

  it('have a limited size', async () => {
    const { pieces, saved } = await show([image, image, text('end')], { maxTotalBytes: PNG.length * 2 - 1 });
    assert.match(
      pieces[1] ?? '',
      /^> ⚠ The image was not saved: it has .*, and the files of a result can have at most .* in all\.$/,
    );
    assert.equal(pieces[2], 'end');
    assert.equal(saved, 1);
  });

  it('long texts count, too, and leave their beginning', async () => {
    const { pieces, saved } = await show([text('a'.repeat(3000)), text('b'.repeat(3000))], { maxFiles: 1 });
    assert.equal(saved, 1);
    assert.match(pieces.join('\n'), /The text was not saved: a result can have at most 1 files\./);
    assert.match(pieces.join('\n'), /bbbbb/);
  });

  it('what is too long for the chat is always saved', async () => {
    const { saved, pieces } = await show(
      Array.from({ length: 300 }, () => text('x '.repeat(900))),
      { maxFiles: 0 },
    );
    assert.equal(saved, 1);
    assert.ok(pieces.join('\n\n').length < 200_000);
  });
});
