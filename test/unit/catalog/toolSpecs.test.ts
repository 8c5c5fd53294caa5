import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type * as z from 'zod';
import { type AssetEntry, CatalogRefusal, type ChatEntry } from '../../../src/catalog/entry.ts';
import {
  BUILT_IN_SPECS,
  inputSchema,
  readArguments,
  SERVER_SPECS as TOOL_SPECS,
} from '../../../src/catalog/toolSpecs.ts';
import {
  listOutput,
  listText,
  readOutput,
  readText,
  saveOutput,
  saveText,
  searchText,
} from '../../../src/catalog/tools/texts.ts';
import type { FileWindow } from '../../../src/catalog/windows.ts';
import { tokensAtMost } from '../../../src/result/modelView.ts';
import { anySign } from '../../kit/anySign.ts';

const ASSET: AssetEntry = {
  kind: 'asset',
  assetKind: 'file',
  uri: 'filechat://notes%2Fsales.chat.md/tool-file-20261116-093012-V1StGXR8a0-1.pdf',
  chat: 'notes/sales.chat.md',
  asset: 'tool-file-20261116-093012-V1StGXR8a0-1.pdf',
  name: 'quarterly.pdf',
  size: 1200,
  changed: new Date('2026-11-16T09:30:12Z'),
  mimeType: 'application/pdf',
  tool: 'charts.report',
};
const CHAT: ChatEntry = {
  kind: 'chat',
  uri: 'filechat://a.chat.md',
  chat: 'a.chat.md',
  title: 'Sales',
  size: 10,
  changed: new Date(0),
  mimeType: 'text/markdown',
};
const LISTED = {
  uri: ASSET.uri,
  name: 'quarterly.pdf',
  asset: ASSET.asset,
  chat: 'notes/sales.chat.md',
  kind: 'file',
  mimeType: 'application/pdf',
  size: 1200,
  lastModified: '2026-11-16T09:30:12.000Z',
  estimatedTokens: 800,
  autoReadSafe: true,
  largeFileWarning: false,
  tool: 'charts.report',
};
const WINDOW: FileWindow = {
  mimeType: 'text/csv',
  totalBytes: 100,
  start: 10,
  byteCount: 20,
  nextStart: 30,
  body: { kind: 'text', text: 'x'.repeat(20) },
};

describe('the arguments of a tool', () => {
  const specs = TOOL_SPECS;
  const refused: readonly (readonly [name: keyof typeof specs, value: unknown, words: RegExp])[] = [
    ['list_assets', { limit: '5' }, /list_assets are invalid: limit must be a whole number from 1 to 200\.$/],
    ['list_assets', { limit: 0 }, /limit must be/],
    ['list_assets', { sort: 'date' }, /sort must be one of changed, name, size/],
    ['list_assets', { filter: ['a'] }, /filter must be a string/],
    ['list_assets', { kind: 1, order: 'up' }, /kind must be one of .*; order must be one of/],
    ['list_assets', 'all', /the arguments must be an object/],
    ['list_assets', [], /the arguments must be an object/],
    ['read_asset', {}, /uri must be a string/],
    ['read_asset', { uri: 'a', start: 1.5 }, /start must be a whole number, 0 or more/],
    ['read_asset', { uri: 'a', start: -1 }, /start must be a whole number, 0 or more/],
    ['read_asset', { uri: 'a', start: 2 ** 60 }, /start must be a whole number/],
    ['read_asset', { uri: 'a', maxBytes: 5_000_000 }, /maxBytes must be a whole number from 1 to 4194304/],
    ['read_asset', { uri: 'a', as: 'hex' }, /as must be one of auto, image, audio, resource, bytes, text/],
    ['search_chats', { query: '' }, /query must contain a word/],
    ['search_chats', { query: 'x'.repeat(1001) }, /query must have at most 1000 characters/],
    ['search_chats', { query: 'a', limit: 101 }, /limit must be a whole number from 1 to 100/],
    ...[-1, 1.5, Number.NaN, 2 ** 53, Number.POSITIVE_INFINITY].flatMap((value) => [
      ['list_assets', { limit: value }, /limit must be a whole number/] as const,
      ['search_chats', { query: 'a', limit: value }, /limit must be a whole number/] as const,
      ['read_asset', { uri: 'a', start: value }, /start must be a whole number/] as const,
      ['read_asset', { uri: 'a', maxBytes: value }, /maxBytes must be a whole number/] as const,
    ]),
    ['read_asset', { uri: 'a', maxBytes: 0 }, /maxBytes must be a whole number/],
    ['save_asset', { text: 'a' }, /name must be a string/],
    ['save_asset', { name: 'a', data: 5 }, /data must be a string/],
  ];
  for (const [name, value, words] of refused) {
    it(`are refused in words that name them: ${name} ${JSON.stringify(value).slice(0, 40)}`, () => {
      const spec: { readonly name: string; readonly input: z.ZodType } = specs[name];
      assert.throws(
        () => readArguments(spec, value),
        (error: Error) => error instanceof CatalogRefusal && words.test(error.message),
      );
    });
  }

  it('may include unknown ones, and null for omitted ones', () => {
    const given = { uri: 'a', start: null, reason: 'I want to', as: 'bytes' };
    assert.deepEqual(readArguments(specs.read_asset, given), { uri: 'a', as: 'bytes', maxBytes: 65_536 });
    assert.deepEqual(readArguments(specs.list_assets, undefined), {});
    assert.deepEqual(readArguments(specs.list_assets, null), {});
  });

  it('take the address of a chat, or of an asset in it, for the chat', () => {
    const { list_assets: list } = TOOL_SPECS;
    const chat = 'notes/sales.chat.md';
    for (const written of [
      chat,
      'filechat://notes%2Fsales.chat.md',
      'filechat://notes%2Fsales.chat.md/tool-image-20261116-093012-V1StGXR8a0-1.png',
    ])
      assert.equal(readArguments(list, { chat: written }).chat, chat);
    assert.equal(readArguments(list, { chat: 'filechat://..' }).chat, 'filechat://..');
  });

  it('are fewer bytes in our own chats', () => {
    const { read_asset } = BUILT_IN_SPECS;
    assert.equal(readArguments(read_asset, { uri: 'a' }).maxBytes, 8192);
    assert.throws(() => readArguments(read_asset, { uri: 'a', maxBytes: 32_769 }), /from 1 to 32768/);
    assert.match(read_asset.description, /default 8192/);
  });

  it('have a schema that every provider accepts', () => {
    const schema = inputSchema(TOOL_SPECS.read_asset);
    assert.deepEqual(Object.keys(schema).sort(), ['properties', 'required', 'type']);
    assert.equal(schema['type'], 'object');
    assert.deepEqual(schema['required'], ['uri']);
    for (const spec of Object.values(TOOL_SPECS))
      assert.doesNotMatch(JSON.stringify(inputSchema(spec)), /anyOf|\$ref|null/);
  });
});

describe('the descriptions of tools', () => {
  it('is short, and changes nothing but where something is saved', () => {
    for (const [name, spec] of Object.entries(TOOL_SPECS)) {
      assert.equal(spec.name, name);
      assert.ok(tokensAtMost(spec.description) < 130, name);
      assert.equal(spec.annotations.readOnlyHint, name !== 'save_asset');
      assert.equal(spec.annotations.destructiveHint, false);
      assert.equal(spec.annotations.openWorldHint, false);
    }
    assert.equal(TOOL_SPECS.save_asset.annotations.idempotentHint, false);
  });
});

describe('the answers of tools', () => {
  it('are plain JSON that their schemas describe', () => {
    const list = listOutput({ assets: [ASSET], total: 3, nextCursor: 'abc', notes: ['x'] });
    assert.deepEqual(list, { assets: [LISTED], total: 3, nextCursor: 'abc', notes: ['x'] });
    const read = readOutput(ASSET, WINDOW);
    assert.deepEqual(read, {
      uri: ASSET.uri,
      name: 'quarterly.pdf',
      mimeType: 'text/csv',
      content: 'text',
      totalBytes: 100,
      start: 10,
      byteCount: 20,
      nextStart: 30,
      lastModified: '2026-11-16T09:30:12.000Z',
      estimatedTokens: 25,
      autoReadSafe: true,
      largeFileWarning: false,
    });
    const hit = { uri: CHAT.uri, chat: CHAT.chat, title: 'Sales', line: 1, start: 0, snippet: '' };
    const search = { hits: [hit, { ...hit, role: 'user' }], more: false };
    const save = saveOutput({ entry: ASSET, markdown: '[a](b)' });
    assert.deepEqual(save, { ...LISTED, markdown: '[a](b)' });
    for (const [spec, answer] of [
      [TOOL_SPECS.list_assets, list],
      [TOOL_SPECS.list_assets, listOutput({ assets: [], total: 0, notes: [] })],
      [TOOL_SPECS.read_asset, read],
      [TOOL_SPECS.search_chats, search],
      [TOOL_SPECS.save_asset, save],
    ] as const) {
      assert.deepEqual(spec.output.parse(answer), answer);
      assert.deepEqual(JSON.parse(JSON.stringify(answer)), answer);
    }
  });

  it('call an asset by its file where nothing else is known', () => {
    const { name: _name, tool: _tool, ...entry } = ASSET;
    const { assets } = listOutput({ assets: [entry], total: 1, notes: [] });
    assert.equal(assets[0]?.name, ASSET.asset);
    assert.ok(assets[0] && !('tool' in assets[0]));
    assert.equal(readOutput(CHAT, WINDOW).name, 'Sales');
  });

  it('are short text too', () => {
    const list = listOutput({ assets: [ASSET], total: 3, nextCursor: 'abc', notes: ['Too\nmany.'] });
    assert.equal(
      listText(list),
      [
        '1 of 3 assets:',
        'In notes/sales.chat.md:',
        '- quarterly.pdf (1.2 KB, ~800 tokens, charts.report): asset:tool-file-20261116-093012-V1StGXR8a0-1.pdf',
        'There are more. For the next page, pass cursor: abc',
        'Note: Too many.',
      ].join('\n'),
    );
    assert.equal(listText(listOutput({ assets: [], total: 0, notes: [] })), 'No matching assets.');
    assert.equal(
      readText(readOutput(ASSET, WINDOW)),
      'Bytes 10 to 29 of quarterly.pdf (text/csv, 100 bytes). There is more: continue with start 30.',
    );
    const { nextStart: _next, ...last } = WINDOW;
    const at = (start: number, byteCount: number) =>
      readText(readOutput(ASSET, { ...last, start, byteCount }));
    assert.equal(at(0, 100), 'All of quarterly.pdf (text/csv, 100 bytes).');
    assert.equal(
      at(100, 0),
      'There is nothing at byte 100 of quarterly.pdf (text/csv, 100 bytes): the file ends there.',
    );
    const hit = { uri: CHAT.uri, chat: CHAT.chat, title: 'Sales', line: 1, start: 0, snippet: '' };
    const hits = [hit, { ...hit, role: 'user', line: 5, start: 40, snippet: 'the needle' } as const];
    assert.equal(
      searchText({ hits, more: true }),
      [
        'Sales: filechat://a.chat.md',
        '- line 1, start 0: the title',
        '- line 5, start 40, user: the needle',
        'There are more. Use more words, or a higher limit.',
      ].join('\n'),
    );
    assert.equal(searchText({ hits: [], more: false }), 'No turn in these chats contains all the words.');
    assert.match(
      saveText(saveOutput({ entry: ASSET, markdown: '[a](b)' })),
      /^Saved quarterly\.pdf .*\nAddress: filechat:.*\nLink for the chat: \[a\]\(b\)$/,
    );
  });

  it('have one line of at most 60 tokens for an asset, with the reference whole', () => {
    const anyWords = fc.string({ unit: anySign, maxLength: 80 });
    fc.assert(
      fc.property(anyWords, anyWords, anyWords, fc.nat(2 ** 40), (name, tool, chat, size) => {
        const mimeType = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
        const { assets } = listOutput({
          assets: [{ ...ASSET, name, tool, chat, size, mimeType }],
          total: 1,
          notes: [],
        });
        const [, , line = '', ...more] = listText({ assets, total: 1 }).split('\n');
        assert.deepEqual(more, []);
        assert.ok(tokensAtMost(line) <= 60, line);
        assert.ok(line.endsWith(`: asset:${ASSET.asset}`));
      }),
    );
  });

  it('have whole addresses for two assets of one name', () => {
    const other = { ...ASSET, chat: 'b.chat.md', uri: `filechat://b.chat.md/${ASSET.asset}` };
    const text = listText(listOutput({ assets: [ASSET, other], total: 2, notes: [] }));
    assert.ok(text.includes(`: ${ASSET.uri}\n`) && text.endsWith(`: ${other.uri}`));
  });
});
