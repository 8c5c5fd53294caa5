import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type AssetEntry,
  type ChatEntry,
  describeEntry,
  entryMeta,
  entryTitle,
  readingCost,
} from '../../../src/catalog/entry.ts';

const changed = new Date('2026-11-16T09:30:12.000Z');
const CHAT: ChatEntry = {
  kind: 'chat',
  uri: 'filechat://notes%2Fsales.chat.md',
  chat: 'notes/sales.chat.md',
  title: 'Sales',
  size: 4_000,
  changed,
  mimeType: 'text/markdown',
};
const CHART: AssetEntry = {
  kind: 'asset',
  uri: 'filechat://notes%2Fsales.chat.md/tool-image-20261116-093012-V1StGXR8a0-1.png',
  chat: 'notes/sales.chat.md',
  asset: 'tool-image-20261116-093012-V1StGXR8a0-1.png',
  assetKind: 'image',
  size: 12_300,
  changed,
  mimeType: 'image/png',
  tool: 'charts.bar',
};

describe('the cost of reading', () => {
  for (const [mimeType, size, estimatedTokens, autoReadSafe] of [
    ['text/csv', 40_000, 10_000, true],
    ['text/csv', 40_001, 10_001, false],
    ['application/json', 400, 100, true],
    ['image/svg+xml', 400, 100, true],
    ['image/png', 12_300, 400, true],
    ['image/png', 1_048_576, 1_500, true],
    ['image/png', 1_048_577, 1_500, false],
    ['application/pdf', 3_000, 2_000, true],
    ['application/pdf', 15_000, 10_000, true],
    ['application/pdf', 15_001, 10_002, false],
    ['video/mp4', 1_000_000_000, 666_666_668, false],
    ['application/octet-stream', 0, 0, true],
  ] as const) {
    it(`${size} bytes of ${mimeType}: ${estimatedTokens} tokens`, () => {
      assert.deepEqual(readingCost({ mimeType, size }), {
        estimatedTokens,
        autoReadSafe,
        largeFileWarning: !autoReadSafe,
      });
    });
  }
});

describe('the description of an entry', () => {
  for (const [entry, words] of [
    [CHART, 'PNG image, 12.3 KB, about 400 tokens. Returned by charts.bar in notes/sales.chat.md.'],
    [{ ...CHART, tool: undefined }, 'PNG image, 12.3 KB, about 400 tokens. Of notes/sales.chat.md.'],
    [
      { ...CHART, chat: 'notes/cmdassets', tool: undefined },
      'PNG image, 12.3 KB, about 400 tokens. In notes/cmdassets; no chat mentions it.',
    ],
    [
      { ...CHART, mimeType: 'text/csv', size: 1_400_000 },
      'CSV file, 1.4 MB. Returned by charts.bar in notes/sales.chat.md. ' +
        'Large file: about 350,000 tokens. Read it in windows with read_asset.',
    ],
    [
      { ...CHART, mimeType: 'application/octet-stream', size: 3, chat: 'a\u202e\nb.chat.md' },
      'File of an unknown type, 3 bytes, about 2 tokens. Returned by charts.bar in a b.chat.md.',
    ],
    [CHAT, 'Chat, 4.0 KB, about 1,000 tokens.'],
  ] as const) {
    it(words, () => {
      const { tool, ...rest } = { tool: undefined, ...entry };
      assert.equal(describeEntry({ ...rest, ...(tool && { tool }) } as typeof CHART), words);
    });
  }

  it('the title is the name in the chat, or the file name', () => {
    assert.equal(entryTitle(CHAT), 'Sales');
    assert.equal(entryTitle(CHART), CHART.asset);
    assert.equal(entryTitle({ ...CHART, name: 'bar.png' }), 'bar.png');
  });

  it('programs get the same facts', () => {
    assert.deepEqual(entryMeta(CHART), {
      size: 12_300,
      mimeType: 'image/png',
      lastModified: '2026-11-16T09:30:12.000Z',
      estimatedTokens: 400,
      autoReadSafe: true,
      largeFileWarning: false,
    });
  });
});
