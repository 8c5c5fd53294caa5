import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { UriTemplate } from '@modelcontextprotocol/server';
import fc from 'fast-check';
import {
  type Address,
  ASSET_TEMPLATE,
  type AssetEntry,
  addressUri,
  CHAT_TEMPLATE,
  type ChatEntry,
  chatIdProblem,
  describeEntry,
  entryMeta,
  entryTitle,
  readAddress,
  readingCost,
} from '../../../src/catalog/entry.ts';
import { anySign } from '../../kit/anySign.ts';

const ASSET = 'tool-image-20261116-093012-V1StGXR8a0-1.png';

describe('an address', () => {
  for (const [address, uri] of [
    [{ kind: 'chat', chat: 'sales.chat.md' }, 'filechat://sales.chat.md'],
    [{ kind: 'chat', chat: 'notes/sales.chat.md' }, 'filechat://notes%2Fsales.chat.md'],
    [
      { kind: 'asset', chat: 'notes/sales.chat.md', asset: ASSET },
      `filechat://notes%2Fsales.chat.md/${ASSET}`,
    ],
    [{ kind: 'asset', chat: 'cmdassets', asset: ASSET }, `filechat://cmdassets/${ASSET}`],
    [{ kind: 'asset', chat: 'a/cmdassets', asset: ASSET }, `filechat://a%2Fcmdassets/${ASSET}`],
    [
      { kind: 'chat', chat: 'C# (100%) & Ärger!.chat.md' },
      'filechat://C%23%20%28100%25%29%20%26%20%C3%84rger%21.chat.md',
    ],
  ] as const satisfies readonly (readonly [Address, string])[]) {
    it(`${uri} is written and read`, () => {
      assert.equal(addressUri(address), uri);
      assert.deepEqual(readAddress(uri), { ok: true, address });
    });
  }

  for (const [form, uri] of [
    ['the scheme in capitals', 'FileChat://notes%2Fsales.chat.md'],
    ['small letters after percent signs', 'filechat://notes%2fsales.chat.md'],
    ['more percent signs than necessary', 'filechat://%6eotes%2Fsales%2Echat.m%64'],
  ] as const) {
    it(`may have ${form}`, () => {
      assert.deepEqual(readAddress(uri), {
        ok: true,
        address: { kind: 'chat', chat: 'notes/sales.chat.md' },
      });
    });
  }

  it('may have letters and spaces as they are', () => {
    assert.deepEqual(readAddress('filechat://ä b.chat.md'), {
      ok: true,
      address: { kind: 'chat', chat: 'ä b.chat.md' },
    });
  });
});

const chats = fc
  .tuple(
    fc.array(fc.string({ unit: anySign, minLength: 1, maxLength: 12 }), { maxLength: 4 }),
    fc.oneof(
      fc.string({ unit: anySign, minLength: 1, maxLength: 20 }).map((name) => `${name}.chat.md`),
      fc.constant('cmdassets'),
    ),
  )
  .map(([folders, last]) => [...folders, last].join('/'))
  .filter((id) => chatIdProblem(id) === undefined);
const addresses = fc.oneof(
  chats.filter((chat) => chat.endsWith('.chat.md')).map((chat): Address => ({ kind: 'chat', chat })),
  chats.map((chat): Address => ({ kind: 'asset', chat, asset: ASSET })),
);

describe('every address', () => {
  it('is read back as it was', () => {
    fc.assert(
      fc.property(addresses, (address) =>
        assert.deepEqual(readAddress(addressUri(address)), { ok: true, address }),
      ),
      { numRuns: 400 },
    );
  });

  it('is unchanged by URL, and matches the announced template', () => {
    const templates = { asset: new UriTemplate(ASSET_TEMPLATE), chat: new UriTemplate(CHAT_TEMPLATE) };
    fc.assert(
      fc.property(addresses, (address) => {
        const uri = addressUri(address);
        assert.equal(new URL(uri).href, uri);
        const found = templates[address.kind].match(uri);
        assert.equal(decodeURIComponent(String(found?.['chat'])), address.chat);
      }),
      { numRuns: 400 },
    );
  });

  it('equals the expanded template', () => {
    fc.assert(
      fc.property(addresses, (address) => {
        const template = new UriTemplate(address.kind === 'chat' ? CHAT_TEMPLATE : ASSET_TEMPLATE);
        const { kind: _, ...values } = address;
        assert.deepEqual(readAddress(template.expand(values)), { ok: true, address });
      }),
      { numRuns: 150 },
    );
  });
});

const REFUSED: readonly (readonly [uri: string, reason: RegExp])[] = [
  ['', /begin with filechat/],
  ['file:///etc/passwd', /begin with filechat/],
  ['C:\\notes\\a.chat.md', /begin with filechat/],
  ['filechat:a.chat.md', /begin with filechat/],
  ['filechat://', /empty/],
  ['filechat:///etc/passwd', /more than two|empty/],
  ['filechat:///a.chat.md', /empty/],
  ['filechat://notes/sales.chat.md/x', /%2F/],
  ['filechat://a.chat.md/', /name of an asset/],
  [`filechat://a.chat.md/${ASSET}/`, /more than two/],
  [`filechat://a.chat.md//${ASSET}`, /more than two/],
  ['filechat://..%2Fa.chat.md', /begins with a dot/],
  ['filechat://%2e%2e%2Fa.chat.md', /begins with a dot/],
  ['filechat://%2E.%2Fa.chat.md', /begins with a dot/],
  ['filechat://.%2Fa.chat.md', /begins with a dot/],
  ['filechat://.git%2Fa.chat.md', /begins with a dot/],
  ['filechat://...%2Fa.chat.md', /begins with a dot/],
  ['filechat://%252e%252e%252Fa.chat.md', /twice/],
  ['filechat://a%252Fb.chat.md', /twice/],
  ['filechat://a%2500.chat.md', /twice/],
  ['filechat://%2Fetc%2Fa.chat.md', /empty/],
  ['filechat://a%2F%2Fb.chat.md', /empty/],
  ['filechat://a.chat.md%2F', /empty/],
  ['filechat://..%5Ca.chat.md', /dot|backslash/],
  ['filechat://a%5Cb.chat.md', /backslash/],
  ['filechat://a\\b.chat.md', /backslash/],
  ['filechat://a%00.chat.md', /characters/],
  ['filechat://a\0.chat.md', /characters/],
  ['filechat://a%0Ab.chat.md', /characters/],
  ['filechat://a%C2%85b.chat.md', /characters/],
  ['filechat://a\ud800.chat.md', /characters/],
  ['filechat://C%3A%2Fa.chat.md', /colon/],
  ['filechat://a.chat.md:80', /colon/],
  ['filechat://a.chat.md%3A%3A$DATA', /colon/],
  ['filechat://user@a.chat.md', /user/],
  ['filechat://a.chat.md?b', /query/],
  ['filechat://a.chat.md#b', /fragment/],
  ['filechat://a.%2Fb.chat.md', /ends with a dot/],
  ['filechat://a%20%2Fb.chat.md', /ends with a dot or a space/],
  ['filechat://a.chat.md.', /ends with a dot/],
  ['filechat://a.chat.md%20', /space/],
  ['filechat://~%2Fa.chat.md', /tilde/],
  ['filechat://~root%2Fa.chat.md', /tilde/],
  ['filechat://con.chat.md', /device/],
  ['filechat://AUX%2Fa.chat.md', /device/],
  ['filechat://Lpt1%2Fa.chat.md', /device/],
  ['filechat://com%C2%B9.chat.md', /device/],
  ['filechat://node_modules%2Fa.chat.md', /node_modules/],
  ['filechat://cmdassets%2Fa.chat.md', /cmdassets/],
  ['filechat://cmdassets', /folder of assets/],
  ['filechat://CMDASSETS', /ends with/],
  ['filechat://a.CHAT.MD', /ends with/],
  ['filechat://.chat.md', /begins with a dot/],
  ['filechat://a.md', /ends with/],
  ['filechat://a%.chat.md', /percent/],
  ['filechat://a%zz.chat.md', /percent/],
  ['filechat://a%C0%AE.chat.md', /percent/],
  ['filechat://a%ED%A0%80.chat.md', /percent/],
  ['filechat://a.chat.md/..', /name of an asset/],
  ['filechat://a.chat.md/%2e%2e%2Fb', /name of an asset/],
  ['filechat://a.chat.md/passwd', /name of an asset/],
  [`filechat://a.chat.md/${ASSET}::$DATA`, /colon/],
  [`filechat://a.chat.md/${ASSET}%3A%3A%24DATA`, /name of an asset/],
  [`filechat://a.chat.md/${ASSET}%00`, /name of an asset/],
  [`filechat://a.chat.md/${ASSET}.`, /name of an asset/],
  [`filechat://a.chat.md/${ASSET.toUpperCase()}`, /name of an asset/],
  [`filechat://a.chat.md/..%2F${ASSET}`, /name of an asset/],
  [`filechat://a.chat.md/tool-file-20261116-093012-${'A'.repeat(300)}-1.png`, /name of an asset/],
  [`filechat://${'a'.repeat(300)}.chat.md`, /longer/],
  [`filechat://${'a%2F'.repeat(20)}b.chat.md`, /too many/],
  [`filechat://${'a%2F'.repeat(600)}b.chat.md`, /longer/],
  [`filechat://${'a'.repeat(20_000)}`, /longer/],
];

describe('refused, with a reason', () => {
  for (const [uri, reason] of REFUSED) {
    it(JSON.stringify(uri.slice(0, 80)), () => {
      const read = readAddress(uri);
      assert.ok(!read.ok, JSON.stringify(read));
      assert.match(read.reason, reason);
      assert.match(read.reason, /^This is not the address .*\.$/);
    });
  }

  it('any text gets an answer, and accepted addresses stay inside a folder', () => {
    const pieces = fc.constantFrom(
      ...'.. . / // \\ %2e %252e %2F %252F %5c %00 \0 % : ::$DATA ~ filechat:// file: C: con cmdassets a é'.split(
        ' ',
      ),
      ...'\ud800 %C0%AE %ED%A0%80 \u202e .chat.md ? # @ [ node_modules notes %20 %E2%80%AE \u2028'.split(' '),
      ...[' ', '\n', ASSET],
    );
    const ends = fc.constantFrom('', '.chat.md', `.chat.md/${ASSET}`);
    const hostile = fc
      .tuple(fc.array(pieces, { maxLength: 6 }), ends)
      .map(([each, end]) => `filechat://${each.join('')}${end}`);
    let accepted = 0;
    fc.assert(
      fc.property(fc.oneof({ weight: 9, arbitrary: hostile }, fc.string({ unit: anySign })), (uri) => {
        const read = readAddress(uri);
        if (!read.ok) return assert.ok(read.reason.length > 0);
        accepted += 1;
        const names = [
          ...read.address.chat.split('/'),
          ...(read.address.kind === 'asset' ? [read.address.asset] : []),
        ];
        for (const name of names) {
          assert.doesNotMatch(name, /^\.|^~|^$|[\\:/\p{Cc}]|[. ]$|%[0-9a-f]{2}/iu);
          assert.doesNotMatch(name, /^(?:con(?:\.|$)|node_modules$)/);
        }
      }),
      { numRuns: 2_000 },
    );
    assert.ok(accepted > 10, `${accepted} were accepted, too few to say something of them`);
  });
});

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
