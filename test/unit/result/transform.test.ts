import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, describe, it } from 'node:test';
import fc from 'fast-check';
import { normalizeResult } from '../../../src/content/normalizeResult.ts';
import { DEFAULT_LIMITS, processMixedToolResult } from '../../../src/mcpClient.ts';
import type { AssetBytes } from '../../../src/ports/results.ts';
import { renderToolResult } from '../../../src/result/markdown.ts';
import { applyTransform, type Transform } from '../../../src/result/transform.ts';
import { temporaryFolder } from '../../kit/folder.ts';
import { FileSpills, MovingAssets, piecesOf } from './fileSpills.ts';
import { png } from './samples.ts';

const tool = { server: 'tableau', tool: 'download_workbook' };
const PDF = Buffer.concat([
  Buffer.from('%PDF-1.4\n'),
  Buffer.alloc(100_000, 'stream of a PDF '),
  Buffer.from('%%EOF\n'),
]);
const PICTURE = png(2, 2, Buffer.alloc(60_000, 3));
const LINK = (number = 1, name = '') =>
  `[Tool generated file ${number}${name && `: ${name}`}](cmdassets/tool-file-${number}.pdf)`;
const LEFT_OUT =
  '> ⚠ Your transformer omitted a file of the result of tableau.download_workbook. Here it is as the server sent it:';
const text = (value: string) => ({ type: 'text', text: value });
const spills = new FileSpills(temporaryFolder({ after }));
const spill = (bytes: Uint8Array, original = Buffer.from(bytes).toString('base64')) =>
  spills.put(bytes, { pieces: piecesOf(original) });

interface Workbook {
  readonly structuredContent: { readonly content: string; readonly name: string };
}
const workbook = async () => ({
  content: [],
  structuredContent: { content: await spill(PDF), name: 'Sales' },
});

async function show(result: object, transform: (result: never) => unknown) {
  const assets = new MovingAssets();
  const own = {
    spills,
    tool,
    transform: (given: unknown) => transform(given as never),
    limits: { ...DEFAULT_LIMITS, maxInlineChars: 1000 },
  };
  const shown = renderToolResult(await processMixedToolResult(result, assets, own));
  assert.doesNotMatch(shown, /filechat-spill/);
  return { shown, saved: await Promise.all(assets.saved.map(({ bytes }) => contents(bytes))) };
}

async function contents(bytes: AssetBytes): Promise<Uint8Array> {
  return bytes instanceof Uint8Array ? bytes : readFile(`${bytes.path}.saved`);
}

describe('what a transformer returns is read as the return value of a tool', () => {
  const decode = ({ structuredContent: { content } }: Workbook) => Buffer.from(content, 'base64');
  const cases: Readonly<Record<string, [transform: (result: Workbook) => unknown, shown: string]>> = {
    bytes: [decode, LINK(1, 'file.pdf')],
    'a promise of bytes': [async (result) => decode(result), LINK(1, 'file.pdf')],
    'the string itself': [(result) => result.structuredContent.content, LINK(1, 'file.pdf')],
    'a list with bytes': [(result) => ['Downloaded', decode(result)], `Downloaded\n\n${LINK(1, 'file.pdf')}`],
    'a list with promises': [
      (result) => [Promise.resolve({ summary: 'Downloaded' }), Promise.resolve(decode(result))],
      `\`\`\`json\n{\n  "summary": "Downloaded"\n}\n\`\`\`\n\n${LINK(1, 'file.pdf')}`,
    ],
    'a hint': [
      (result) => ({ type: 'binary', data: decode(result), name: 'Sales.pdf' }),
      LINK(1, 'Sales.pdf'),
    ],
    'a block': [
      (result) => ({
        type: 'resource',
        resource: { uri: 'x://a.pdf', blob: result.structuredContent.content },
      }),
      LINK(1, 'a.pdf'),
    ],
    'a list of blocks and bytes': [
      (result) => [text('Here:'), decode(result)],
      `Here:\n\n${LINK(1, 'file.pdf')}`,
    ],
    'a whole result with bytes in a block': [
      (result) => ({
        content: [text('Here:'), { type: 'resource', resource: { uri: 'x://a.pdf', blob: decode(result) } }],
      }),
      `Here:\n\n${LINK(1, 'a.pdf')}`,
    ],
    'a dictionary with the string': [
      ({ structuredContent: { content, name } }) => ({ pdf: content, name }),
      `\`\`\`json\n{\n  "pdf": "(application/pdf, ${PDF.length} bytes, saved as file 1)",\n  "name": "Sales"\n}\n\`\`\`\n\n${LINK(1, 'Sales')}`,
    ],
    'a text around the string': [
      (result) => `Made ${JSON.stringify(result.structuredContent)}`,
      `Made {"content":"[file 1: see below]","name":"Sales"}\n\n${LINK()}`,
    ],
    'the same string twice': [
      ({ structuredContent: { content } }) => [content, content],
      `${LINK(1, 'file.pdf')}\n\n${LINK(1, 'file.pdf')}`,
    ],
    'a dictionary without the file, which is kept': [
      ({ structuredContent: { name } }) => ({ summary: `Downloaded ${name}` }),
      `\`\`\`json\n{\n  "summary": "Downloaded Sales"\n}\n\`\`\`\n\n${LEFT_OUT}\n\n${LINK(1, 'Sales')}`,
    ],
    'a string without the file, which is kept': [
      () => 'Downloaded',
      `Downloaded\n\n${LEFT_OUT}\n\n${LINK(1, 'Sales')}`,
    ],
    'an error': [
      () => new Error('No such workbook'),
      `> ⚠ **The tool reported an error.**\n\nNo such workbook\n\n${LEFT_OUT}\n\n${LINK(1, 'Sales')}`,
    ],
  };
  for (const [name, [transform, expected]] of Object.entries(cases)) {
    it(name, async () => {
      const { shown, saved } = await show(await workbook(), transform);
      assert.equal(shown, expected);
      assert.equal(saved.length, 1);
      assert.equal(Buffer.compare(saved[0] ?? Buffer.alloc(0), PDF), 0);
    });
  }
});

it('a result that is returned as it was is shown as it would be without the transformer', async () => {
  const result = async () => ({
    content: [
      text('a'),
      { type: 'image', data: await spill(PICTURE), mimeType: 'image/png' },
      { type: 'image', data: 'not base64!' },
      { type: 'file', path: import.meta.filename },
      text(`<html><img src="data:image/png;base64,${PICTURE.toString('base64')}"></html>`),
      { type: 'resource', resource: { uri: 'x://report.pdf', blob: await spill(PDF) } },
      text(await spill(Buffer.from('ACGT'.repeat(200), 'base64'), 'ACGT'.repeat(200))),
      7,
    ],
    structuredContent: { n: 1, pdf: await spill(PDF) },
  });
  const expected = await show(await result(), () => undefined);
  assert.match(expected.shown, /saved as file 2/);
  assert.deepEqual(await show(await result(), (same) => same), expected);
  assert.deepEqual(await show(await result(), (same: object) => ({ ...same })), expected);
});

it('any result that is returned as it was', async () => {
  const anything = fc.record(
    { content: fc.anything({ maxDepth: 0 }), structuredContent: fc.jsonValue(), isError: fc.boolean() },
    { requiredKeys: [] },
  );
  const blocks = fc.record({ content: fc.array(fc.jsonValue()), structuredContent: fc.jsonValue() });
  await fc.assert(
    fc.asyncProperty(fc.oneof(anything, blocks), async (given) => {
      const result = JSON.parse(
        JSON.stringify(given, (_key, value) => (typeof value === 'bigint' ? 1 : value)),
      );
      assert.deepEqual(await show(result, (same) => same), await show(result, () => undefined));
    }),
  );
});

it('a file that is left out keeps the name and the kind that its block gives it', async () => {
  const content = [
    { type: 'image', data: await spill(PICTURE), mimeType: 'image/png' },
    { type: 'resource', resource: { uri: 'x://report.pdf', blob: await spill(PDF) } },
  ];
  const { shown } = await show({ content }, () => 'Nothing of it');
  assert.equal(
    shown,
    [
      'Nothing of it',
      LEFT_OUT.replace('a file', '2 files').replace('Here it is', 'Here they are').replace('it:', 'them:'),
      '![Tool generated image 1](cmdassets/tool-image-1.png)',
      LINK(1, 'report.pdf'),
    ].join('\n\n'),
  );
});

describe('a short file', () => {
  const icon = png(1, 1).toString('base64');
  const page = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>').toString('base64');
  const words = Buffer.from('Some plain words\r\nin lines. '.repeat(100)).toString('base64');
  const results: Readonly<Record<string, object>> = {
    'in an image block': { content: [{ type: 'image', data: icon, mimeType: 'image/png' }] },
    'in a block as text': { content: [{ type: 'image', data: page, mimeType: 'image/svg+xml' }] },
    'in a blob': { content: [{ type: 'resource', resource: { uri: 'x://a.png', blob: icon } }] },
    'in JSON': { content: [text(JSON.stringify({ icon }))] },
    'in structured content': { content: [], structuredContent: { icon } },
  };
  for (const [name, result] of Object.entries(results)) {
    it(`${name} is kept`, async () => {
      const { shown, saved } = await show(result, () => 'Done');
      assert.match(shown, /^Done\n\n> ⚠ Your transformer omitted a file [^\n]*\n\n!?\[Tool generated /);
      assert.equal(saved.length, 1);
      const omit = () => ({ content: [text('Done')], omitsFiles: true });
      assert.deepEqual(await show(result, omit), { shown: '```\nDone\n```', saved: [] });
    });
  }

  it('is not omitted if its text is shown', async () => {
    const decoded = Buffer.from(words, 'base64').toString();
    for (const returned of [
      `Here: ${decoded}`,
      { lines: decoded },
      { structuredContent: { lines: decoded } },
    ])
      assert.doesNotMatch((await show({ content: [text(words)] }, () => returned)).shown, /omitted/);
  });
});

it('a file that is returned as text is not left out', async () => {
  const csv = Buffer.from('a,b\n'.repeat(20_000));
  const content = [
    { type: 'resource', resource: { uri: 'x://a.csv', mimeType: 'text/csv', blob: await spill(csv) } },
  ];
  const decode = (result: { content: { resource: { blob: string } }[] }) =>
    Buffer.from(result.content[0]?.resource.blob ?? '', 'base64').toString();
  const { shown, saved } = await show({ content }, decode);
  assert.match(shown, /^\[Tool generated file 1.*\n\n```text preview\n/);
  assert.doesNotMatch(shown, /left out/);
  assert.deepEqual(saved.map(Buffer.from), [csv]);
});

describe('a string that is too long to be given', () => {
  const huge = async () => {
    const path = await spill(PDF);
    const known = spills.find(path);
    if (known?.kind !== 'bytes') assert.fail();
    // The size is what the budget counts; without the original there is nothing to restore.
    const { pieces: _, ...rest } = known;
    return { content: [text('a')], structuredContent: { content: spills.add(rest), name: 'Sales' } };
  };
  interface Long {
    readonly structuredContent: { readonly content: { readonly size: number; read(): Promise<Uint8Array> } };
  }
  const words = `{\n  "content": "(application/pdf, ${PDF.length} bytes, saved as file 1)",\n  "name": "Sales"\n}`;
  const cases: Readonly<Record<string, [transform: (result: Long) => unknown, shown: string]>> = {
    'is an object that reads the bytes': [
      async ({ structuredContent: { content } }) => [
        `${content.size} bytes`,
        Buffer.from(await content.read()),
      ],
      `${PDF.length} bytes\n\n${LINK(1, 'file.pdf')}`,
    ],
    'is the file again in the result': [
      (result) => result,
      `a\n\n\`\`\`json\n${words}\n\`\`\`\n\n${LINK(1, 'Sales')}`,
    ],
    'is the file again in a block': [
      ({ structuredContent: { content } }) => ({
        type: 'resource',
        resource: { uri: 'x://a.pdf', blob: content },
      }),
      LINK(1, 'a.pdf'),
    ],
    'is the file again in a text': [
      ({ structuredContent }) => JSON.stringify(structuredContent),
      `\`\`\`json formatted\n${words}\n\`\`\`\n\n${LINK(1, 'Sales')}`,
    ],
    'is kept if it is decoded as a string': [
      ({ structuredContent }) => Buffer.from(structuredContent.content as never, 'base64'),
      `> ⚠ Your transformer failed on tableau.download_workbook: The first argument must be of type string or an instance of Buffer, ArrayBuffer, or Array or an Array-like Object. Received an instance of LongString. The result is shown as the server sent it.\n\na\n\n\`\`\`json\n${words}\n\`\`\`\n\n${LINK(1, 'Sales')}`,
    ],
  };
  for (const [name, [transform, expected]] of Object.entries(cases)) {
    it(name, async () => {
      const { shown, saved } = await show(await huge(), transform);
      assert.equal(shown, expected);
      assert.equal(Buffer.compare(saved[0] ?? Buffer.alloc(0), PDF), 0);
    });
  }

  it('says why it was not kept', async () => {
    const data = spills.add({ kind: 'refused', size: 60_000_000 });
    const read = ({ content: [block] }: { content: { data: { read(): Promise<unknown> } }[] }) =>
      block?.data.read();
    const { shown } = await show({ content: [{ type: 'image', data }] }, read);
    assert.equal(
      shown,
      '> ⚠ Your transformer failed on tableau.download_workbook: it has 60.0 MB, more than filechat.results.maxAssetBytes allows. The result is shown as the server sent it.\n\n> ⚠ The image was not saved: it has 60.0 MB, and filechat.results.maxAssetBytes allows 52.4 MB.',
    );
  });
});

describe('a transformer that fails says why, and the result is the one that the server sent', () => {
  const cycle: Record<string, unknown> = {};
  Object.assign(cycle, { a: cycle, b: cycle });
  const deep = JSON.parse(`${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`);
  const bytes = 'there are bytes among other data. Return them as a Buffer of their own, or as base64';
  const cases: Readonly<
    Record<string, [transform: (result: { content: unknown[] }) => unknown, reason: string]>
  > = {
    'it throws': [
      (result) => {
        result.content.length = 0;
        throw new Error('no.');
      },
      'no',
    ],
    'it rejects': [() => Promise.reject(new Error('later\n# %% user')), 'later # %% user'],
    'it throws a string': [() => Promise.reject('no reason'), 'no reason'],
    'it hangs': [() => new Promise(() => undefined), 'it took longer than 0.2 seconds'],
    'it returns a list that hangs': [() => [new Promise(() => undefined)], 'it took longer than 0.2 seconds'],
    'it returns a cycle': [() => cycle, 'the result contains itself'],
    'it returns a cycle in structured content': [
      () => ({ structuredContent: cycle }),
      'the result contains itself',
    ],
    'it returns a cycle in a block': [
      () => ({ content: [{ type: 'text', text: 'a', _meta: cycle }] }),
      'the result contains itself',
    ],
    'it returns something deep': [() => deep, 'the result is nested too deeply'],
    'it returns 1 GB': [
      () => Array.from({ length: 64 }, () => Buffer.allocUnsafe(16 * 1024 * 1024)),
      'it returned more than 134.2 MB',
    ],
    'it returns 1 GB of text': [
      () => ({ content: Array(64).fill(text('x'.repeat(16 * 1024 * 1024))) }),
      'it returned more than 134.2 MB',
    ],
    'it returns an endless list': [
      () => ({ structuredContent: { list: new Array(2 ** 31) } }),
      'it returned more than 134.2 MB',
    ],
    'it returns a file over the limit': [
      () => Buffer.allocUnsafe(60_000_000),
      'File too large: 60000000 bytes (max: 52428800). Consider reducing image quality or splitting into smaller files',
    ],
    'it returns a path': [
      () => ({ type: 'file', path: import.meta.filename }),
      'it returned the path of a file. Return the bytes of the file instead',
    ],
    'it returns bytes in a dictionary': [() => ({ pdf: Buffer.from('a') }), `Invalid result: ${bytes}`],
    'it returns bytes in structured content': [
      () => ({ structuredContent: { pdf: Buffer.from('a') } }),
      bytes,
    ],
    'it returns bytes in the fields of a block': [
      () => ({ ...text('a'), _meta: { data: new Float32Array(1) } }),
      bytes,
    ],
    'it returns a bigint': [
      () => ({ structuredContent: { n: 1n } }),
      'the result has a bigint, which JSON cannot represent',
    ],
    'it returns a function': [
      () => () => 1,
      'Invalid result: a tool must return something, and this one returned nothing',
    ],
    'it returns a value that throws': [
      () => ({
        get content() {
          throw new Error('a getter');
        },
      }),
      'a getter',
    ],
  };
  const original = Object.freeze({ content: Object.freeze([text('a')]) });
  for (const [name, [transform, reason]] of Object.entries(cases)) {
    it(name, async () => {
      const read = () => assert.fail();
      const normalize = (value: unknown) =>
        normalizeResult(value, { maxBytes: DEFAULT_LIMITS.maxAssetBytes });
      const transformed = await applyTransform(original, transform as Transform, {
        tool,
        read,
        normalize,
        timeoutMs: 200,
      });
      assert.equal(transformed.result, original);
      assert.equal(
        transformed.problem,
        `Your transformer failed on tableau.download_workbook: ${reason}. The result is shown as the server sent it.`,
      );
    });
  }
});

it('an error of the server stays one, unless the transformer returns a whole result', async () => {
  const isError = async (transform: Transform) =>
    (
      await processMixedToolResult({ content: [text('no')], isError: true }, new MovingAssets(), {
        transform,
      })
    ).isError;
  assert.equal(await isError(() => 'words'), true);
  assert.equal(await isError(() => [text('words')]), true);
  assert.equal(await isError((result) => result), true);
  assert.equal(await isError(() => ({ content: [text('fine')] })), false);
});
