import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { base64ToBuffer, normalizeResult } from '../../../src/content/index.ts';
import { anySign } from '../../kit/anySign.ts';
import { temporaryFolder } from '../../kit/folder.ts';
import { needsSymlinks } from '../../windows/needs.ts';
import * as sample from '../result/samples.ts';
import { BASE64_FORMS, SAMPLES } from './samples.ts';

const root = temporaryFolder({ after });
const folder = join(root, 'base');
mkdirSync(folder);
writeFileSync(join(folder, 'a.png'), SAMPLES.png());
writeFileSync(join(folder, 'notes.md'), '# Notes');
writeFileSync(join(folder, 'Makefile'), 'all:');
writeFileSync(join(root, 'secret.png'), SAMPLES.png());
if (!needsSymlinks.skip) symlinkSync(join(root, 'secret.png'), join(folder, 'outward.png'));

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
const text = (value: string) => ({ type: 'text', text: value });
const PNG = { type: 'image', data: base64(SAMPLES.png()), mimeType: 'image/png' };
const blocks = async (...given: Parameters<typeof normalizeResult>) =>
  (await normalizeResult(...given)).content;
const kinds = async (value: unknown) =>
  (await blocks(value)).map((block) =>
    block.type === 'resource' ? `${block.type} ${block.resource.mimeType}` : `${block.type}`,
  );

describe('bytes', () => {
  const cases: readonly (readonly [Uint8Array, string])[] = [
    [SAMPLES.png(), 'image'],
    [SAMPLES.jpg(), 'image'],
    [SAMPLES.gif(), 'image'],
    [SAMPLES.webp(), 'image'],
    [SAMPLES.mp3(), 'audio'],
    [SAMPLES.wav(), 'audio'],
    [SAMPLES.pdf(), 'resource application/pdf'],
    [SAMPLES.zip(), 'resource application/zip'],
    [Buffer.from([1, 2, 3]), 'resource application/octet-stream'],
    [Buffer.from('BMW is not a bitmap'), 'resource application/octet-stream'],
    // Many clients and models do not accept it as an image.
    [Buffer.from('<svg xmlns="x"/>'), 'resource image/svg+xml'],
    [sample.isoMedia('isom'), 'resource video/mp4'],
  ];
  for (const [bytes, kind] of cases) {
    it(`become ${kind}`, async () => assert.deepEqual(await kinds(bytes), [kind]));
  }

  it('of a declared type become the matching block', async () => {
    const options = { mimeType: 'audio/x-new', name: 'a.new' };
    assert.deepEqual(await blocks(Buffer.from([1, 2, 3]), options), [
      { type: 'audio', data: 'AQID', mimeType: 'audio/x-new' },
    ]);
  });
});

it('bytes of another realm, such as a test runner’s, are bytes', async () => {
  assert.deepEqual(await kinds(runInNewContext('new Uint8Array([1, 2, 3])')), [
    'resource application/octet-stream',
  ]);
});

describe('a string', () => {
  it('is text, to the letter', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.string({ unit: anySign }), fc.lorem(), fc.base64String(), fc.webUrl()),
        async (value) => {
          assert.deepEqual(await blocks(value), [text(value)]);
        },
      ),
    );
  });

  const words = [
    'data: 3 items, and more',
    'data:,',
    'data:image/png;base64,!!',
    `data:image/png;base64,${base64(SAMPLES.png())} is a picture`,
    `${base64(SAMPLES.png())}\nis a picture`,
    `${base64(Buffer.concat([SAMPLES.png(), Buffer.alloc(9000)]))}!`,
    // Without the spaces these would decode.
    'data:image/png;base64,AAAA word word',
    `${base64(Buffer.concat([sample.png(), Buffer.alloc(9000)]).subarray(0, 9000))} word word`,
    'iVBORw0KGgo=',
    'Qk0',
    '/9j/',
    'UEsDBA==',
    'R0lGODlh',
    `JVBERi0${'A'.repeat(40)}!`,
    `${'word '.repeat(40)}`,
  ];
  for (const value of words) {
    it(`such as ${JSON.stringify(value.slice(0, 30))} stays text`, async () =>
      assert.deepEqual(await blocks(value), [text(value)]));
  }

  for (const [name, write] of Object.entries(BASE64_FORMS).filter(([each]) => !each.includes('parameters'))) {
    it(`of an image in base64, ${name}, is the image`, async () =>
      assert.deepEqual(await blocks(write(SAMPLES.png())), [PNG]));
  }

  it('of a PDF in base64 is a resource', async () => {
    assert.deepEqual(await kinds(base64(SAMPLES.pdf())), ['resource application/pdf']);
  });

  it('is never a path without a folder: repeated input must not expose a file', async () => {
    for (const value of ['package.json', './package.json', join(folder, 'a.png'), '/etc/hosts.txt'])
      assert.deepEqual(await blocks(value), [text(value)]);
  });

  it('is a file if it names one in the given folder, otherwise text', async () => {
    assert.deepEqual(await blocks('a.png', folder), [PNG]);
    assert.deepEqual(await blocks('./a.png', { basePath: folder }), [PNG]);
    assert.deepEqual(await blocks(join(folder, 'a.png'), folder), [PNG]);
    const others = ['b.png', '../secret.png', 'outward.png', 'Makefile', 'See a.png', 'a.png\n', '..', '.'];
    for (const value of [...others, join(root, 'secret.png')])
      assert.deepEqual(await blocks(value, folder), [text(value)]);
  });
});

describe('a hint', () => {
  it('determines the block', async () => {
    assert.deepEqual(await blocks({ type: 'image', data: SAMPLES.png() }), [PNG]);
    assert.deepEqual(await blocks({ type: 'audio', data: SAMPLES.mp3(), mimeType: 'audio/mp3' }), [
      { type: 'audio', data: base64(SAMPLES.mp3()), mimeType: 'audio/mp3' },
    ]);
    assert.deepEqual(await kinds({ type: 'binary', data: SAMPLES.png() }), ['resource image/png']);
    assert.deepEqual(
      await blocks({ type: 'binary', data: 'AQID', mimeType: 'application/x-a', uri: 'a:b' }),
      [{ type: 'resource', resource: { uri: 'a:b', mimeType: 'application/x-a', blob: 'AQID' } }],
    );
  });

  it('names its file', async () => {
    const uris = async (hint: object) =>
      (await blocks({ type: 'binary', data: 'AQID', ...hint })).map(
        (block) => block.type === 'resource' && block.resource.uri.replace(/^.*\//, ''),
      );
    assert.deepEqual(await uris({ name: 'a b.x' }), ['a%20b.x']);
    assert.deepEqual(await uris({ filename: 'a b.x' }), ['a%20b.x']);
  });

  it('of a file becomes a block of the type of the file', async () => {
    assert.deepEqual(await blocks({ type: 'file', path: 'a.png' }, folder), [PNG]);
    const [block] = await blocks({ type: 'file', path: 'notes.md' }, folder);
    assert.equal(block?.type === 'resource' && 'text' in block.resource && block.resource.text, '# Notes');
    assert.deepEqual(await blocks({ type: 'file', path: join(root, 'secret.png') }), [PNG]);
    const outward = needsSymlinks.skip ? [] : ['outward.png'];
    for (const path of [join(root, 'secret.png'), '../secret.png', ...outward])
      await assert.rejects(normalizeResult({ type: 'file', path }, folder), /Path traversal detected/);
  });

  it('keeps its other fields', async () => {
    const annotations = { audience: ['user'] };
    assert.deepEqual(await blocks({ type: 'image', data: SAMPLES.png(), annotations }), [
      { ...PNG, annotations },
    ]);
  });
});

describe('a whole result', () => {
  it('keeps every block in its place, and everything beside them', async () => {
    const link = { type: 'resource_link', uri: 'a:b', name: 'b' };
    const embedded = { type: 'resource', resource: { uri: 'a:b', text: 'x' } };
    const future = { type: 'hologram', depth: 3 };
    const given = {
      content: [text('a'), PNG, link, embedded, future, text('b')],
      structuredContent: { a: 1 },
      isError: true,
      _meta: { b: 2 },
    };
    assert.deepEqual(await normalizeResult(given), given);
    assert.deepEqual(await normalizeResult({ content: [] }), { content: [] });
  });

  it('has its raw items converted in place', async () => {
    const found = await blocks(
      {
        content: [
          'a',
          SAMPLES.png(),
          { type: 'image', data: SAMPLES.gif() },
          { type: 'binary', data: SAMPLES.pdf() },
          { type: 'file', path: 'a.png' },
          { type: 'resource', resource: { uri: 'a:b', mimeType: 'a/b', blob: Buffer.from([1]) } },
          { n: 1 },
          'z',
        ],
      },
      folder,
    );
    assert.deepEqual(
      found.map(({ type }) => type),
      ['text', 'image', 'image', 'resource', 'image', 'resource', 'text', 'text'],
    );
    assert.deepEqual(found[5], { type: 'resource', resource: { uri: 'a:b', mimeType: 'a/b', blob: 'AQ==' } });
  });

  it('is refused for invalid base64', async () => {
    for (const block of [
      { ...PNG, data: '!!' },
      { type: 'resource', resource: { uri: 'a:b', blob: '!!' } },
    ])
      await assert.rejects(normalizeResult({ content: [block] }), /Invalid base64 data/);
    const [mended] = await blocks({ content: [{ ...PNG, data: `data:image/png;base64,${PNG.data}` }] });
    assert.deepEqual(mended, PNG);
  });

  it('with structured content alone gets its text', async () => {
    const structuredContent = { a: 1 };
    assert.deepEqual(await normalizeResult({ structuredContent }), {
      structuredContent,
      content: [text('{\n  "a": 1\n}')],
    });
  });

  it('does not apply per-item options to each item of a list', async () => {
    const found = await blocks([SAMPLES.pdf(), SAMPLES.zip()], { uri: 'a:b', mimeType: 'x/y', name: 'n' });
    assert.deepEqual(
      found.map((block) => block.type === 'resource' && block.resource.mimeType),
      ['application/pdf', 'application/zip'],
    );
  });
});

describe('other values', () => {
  it('of lists: content becomes several blocks, data stays together', async () => {
    assert.deepEqual(await kinds(['a', SAMPLES.png(), text('b')]), ['text', 'image', 'text']);
    assert.deepEqual(await blocks(['a', 'b']), [text('a'), text('b')]);
    assert.deepEqual(await blocks([1, null, { a: 2 }]), [text(JSON.stringify([1, null, { a: 2 }], null, 2))]);
    assert.deepEqual(await blocks([]), [text('[]')]);
    await assert.rejects(normalizeResult([SAMPLES.png(), null]), /Invalid result/);
  });

  it('are JSON', async () => {
    const objects = [
      { a: 1 },
      { type: 'person', name: 'Ada' },
      { type: 'image', url: 'x' },
      { content: 'x' },
    ];
    for (const value of [1, true, ...objects])
      assert.deepEqual(await blocks(value), [text(JSON.stringify(value, null, 2))]);
  });

  it('are refused where they cannot be sent', async () => {
    const round: { self?: unknown } = {};
    round.self = round;
    const bytes = [
      { a: Buffer.from('x') },
      [{ a: new ArrayBuffer(1) }],
      new Float32Array(2),
      new Blob(['a']),
    ];
    for (const value of [null, undefined, () => 1, Symbol('a'), 3n, round, ...bytes])
      await assert.rejects(normalizeResult(value), /^Error: Invalid result/);
  });

  it('are awaited', async () => {
    assert.deepEqual(await blocks(Promise.resolve(SAMPLES.png())), [PNG]);
    const list = [Promise.resolve('A picture:'), Promise.resolve(SAMPLES.png())];
    const expected = [text('A picture:'), PNG];
    assert.deepEqual(await blocks(list), expected);
    assert.deepEqual(await blocks({ content: list }), expected);
  });

  it('of an error are an error', async () => {
    assert.deepEqual(await normalizeResult(new Error('No paper.')), {
      content: [text('No paper.')],
      isError: true,
    });
  });
});

it('the bytes of any result are the bytes that were given', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ minLength: 1 }), async (bytes) => {
      const [block] = await blocks(bytes);
      const data =
        block?.type === 'resource' && 'blob' in block.resource
          ? block.resource.blob
          : block && 'data' in block
            ? block.data
            : '';
      assert.deepEqual(base64ToBuffer(data), Buffer.from(bytes));
    }),
  );
});
