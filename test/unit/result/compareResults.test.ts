import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { ResultPart } from '../../../src/ports/results.ts';
import { renderToolResult } from '../../../src/result/markdown.ts';
import { temporaryFolder } from '../../kit/folder.ts';
import { PNG, PNG_BASE64 } from '../../kit/png.ts';
import { compareResult } from '../../servers/compare.ts';

const NAME = 'tool-image-20261116-093012-V1StGXR8-1.png';

/** `npm run servers` relies on this comparison, so it must find every kind of difference. */
describe('a recorded result and the chat', () => {
  const text = (words: string) => ({ type: 'text', text: words });
  const image = { type: 'image', data: PNG_BASE64, mimeType: 'image/png' };
  const asset: ResultPart = { kind: 'asset', asset: { kind: 'image', number: 1, path: `cmdassets/${NAME}` } };
  const words = (each: string): ResultPart => ({ kind: 'text', text: each });

  const cases: readonly (readonly [
    rule: string,
    sent: object,
    parts: readonly ResultPart[],
    found: { lost?: number; reordered?: number; changed?: number },
  ])[] = [
    ['are the same', { content: [text('a'), image, text('b')] }, [words('a'), asset, words('b')], {}],
    ['may have the same block twice', { content: [text('a'), text('a')] }, [words('a'), words('a')], {}],
    [
      'may have other line ends and no colors',
      { content: [text('\u001b[1ma\u001b[0m\r\nb')] },
      [words('a\nb')],
      {},
    ],
    ['differ by a lost block', { content: [text('a'), image] }, [words('a')], { lost: 1 }],
    ['differ by a lost copy', { content: [text('a'), text('a')] }, [words('a')], { lost: 1 }],
    ['differ by the order', { content: [text('a'), image] }, [asset, words('a')], { reordered: 1 }],
    ['differ by a text', { content: [text('a ')] }, [words('a')], { changed: 1 }],
    ['differ by bytes', { content: [{ ...image, data: 'AAAA' }] }, [asset], { changed: 1 }],
    [
      'differ by structured content',
      { content: [text('a')], structuredContent: { b: ['a', 'c'] } },
      [words('a')],
      { lost: 1 },
    ],
    [
      'may leave out structured content that repeats the blocks',
      { content: [image], structuredContent: { content: [image] } },
      [asset],
      {},
    ],
  ];
  for (const [rule, sent, parts, found] of cases) {
    it(rule, (t) => {
      const folder = temporaryFolder(t);
      mkdirSync(join(folder, 'cmdassets'));
      writeFileSync(join(folder, 'cmdassets', NAME), PNG);
      const { lost, reordered, changed } = compareResult(
        sent,
        renderToolResult({ isError: false, parts }),
        folder,
      );
      const counts = { lost: lost.length, reordered: reordered.length, changed: changed.length };
      assert.deepEqual(counts, { lost: 0, reordered: 0, changed: 0, ...found });
    });
  }
});
