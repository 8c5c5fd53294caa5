import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { newResultId } from '../../../../src/assets/store.ts';
import { assetName } from '../../../../src/base/assetNames.ts';
import {
  findAssetReferences,
  parseReference,
  renderFileReference,
} from '../../../../src/mcp/fileArguments/reference.ts';
import {
  expectedFiles,
  planFileArguments,
  ReferencedFiles,
} from '../../../../src/mcp/fileArguments/referencedFiles.ts';
import type { FileSource } from '../../../../src/ports/document.ts';
import { ASSET, BASE64, NAME, PATH, resolve, SOURCE, taking } from './referenced.ts';

describe('references are found at any depth', () => {
  it('nested in objects and lists, by the schema of their place', async () => {
    const parts = { type: 'array', items: { $ref: '#/$defs/file' } };
    const file = {
      type: 'object',
      properties: { path: { type: 'string' }, data: { type: 'string' }, parts },
    };
    const schema = taking('files', parts, { $defs: { file } });
    const args = { files: [{ path: ASSET, data: ASSET, parts: [{ data: ASSET }, ASSET] }, ASSET], n: 1 };
    assert.deepEqual(await resolve(args, schema), {
      files: [{ path: PATH, data: BASE64, parts: [{ data: BASE64 }, { data: BASE64 }] }, { data: BASE64 }],
      n: 1,
    });
  });

  it('a list of references becomes a list of files, and other text stays', async () => {
    const schema = taking('files', { type: 'array', items: { type: 'string', format: 'byte' } });
    assert.deepEqual(await resolve({ files: [ASSET, 'x', 'file:a'] }, schema), {
      files: [BASE64, 'x', BASE64],
    });
  });

  it('many files in a long list take as long as the list', async () => {
    const schema = taking('files', { type: 'array', items: { type: 'string', format: 'byte' } });
    const files = Array.from({ length: 100_000 }, (_, at) => (at % 101 === 0 ? ASSET : 'x'));
    const expected = files.map((each) => (each === ASSET ? BASE64 : each));
    assert.deepEqual(await resolve({ files }, schema), { files: expected });
  });

  it('an object in a union uses the member for objects', async () => {
    const schema = taking('x', {
      anyOf: [{ type: 'string' }, { type: 'object', properties: { y: { format: 'path' } } }],
    });
    assert.deepEqual(await resolve({ x: { y: ASSET } }, schema), { x: { y: PATH } });
  });

  it('names such as __proto__ are allowed', async () => {
    const args = JSON.parse(`{"__proto__": {"data": "${ASSET}"}}`);
    const resolved = await resolve(args, {});
    assert.equal(JSON.stringify(resolved), `{"__proto__":{"data":"${BASE64}"}}`);
    assert.equal(({} as Record<string, unknown>)['data'], undefined);
  });

  it('the given arguments are not changed', async () => {
    const args = { x: [ASSET] };
    await resolve(args, {});
    assert.deepEqual(args, { x: [ASSET] });
  });
});

describe('text that is not a reference is unchanged', () => {
  const phrases = 'file: see below|file:|asset:|asset: my house|file:fix the door';
  const names = 'asset:4711|asset:chart.png|asset://shop/4711|FILE:x|profile:x|files:x|file:a\nb';
  const texts = [
    ...`${phrases}|${names}`.split('|'),
    `see ${ASSET}`,
    `${ASSET} `,
    `file:${'x'.repeat(5000)}`,
  ];
  for (const text of texts) {
    it(JSON.stringify(text.slice(0, 30)), async () => {
      assert.deepEqual(await resolve({ x: text }, taking('x', { type: 'string' })), { x: text });
    });
  }

  it('a choice that looks like one', async () => {
    assert.deepEqual(await resolve({ x: 'file:a' }, taking('x', { enum: ['file:a'] })), { x: 'file:a' });
  });
});

describe('a reference that must not be followed is refused with its reason', () => {
  const cases: Readonly<Record<string, readonly string[]>> = {
    'not the name of an asset': [
      ...'asset:../secret asset:.. asset:/etc/passwd asset:C:\\x'.split(' '),
      ...[`cmdassets/${NAME}`, `../${NAME}`, `%2e%2e%2f${NAME}`, `${NAME}\u0000.png`, `${NAME}:stream`].map(
        (name) => `asset:${name}`,
      ),
    ],
    'percent-encoded dots': 'file:%2e%2e/secret file:a%2F..%2Fb file:a%5cb file:a%00.png'.split(' '),
    'control characters': ['file:a\u0000.png', 'file:a%0Ab'],
    backslash: ['file:..\\secret', 'file:C:\\x'],
    'drive letter': ['file:C:/x'],
    'another computer': ['file://server/share', 'file://C:/x', 'file:////server/share'],
    '~ is not expanded': ['file:~/.ssh/id_rsa'],
  };
  for (const [reason, texts] of Object.entries(cases)) {
    for (const text of texts) {
      it(`${reason}: ${JSON.stringify(text)}`, async () => {
        const message = String(await resolve({ a: [{ b: text }] }, {}));
        assert.ok(message.includes(reason), message);
        assert.match(
          message,
          /^The file “.*” in the argument a\[0\]\.b was not used: .*\. No tool was called\.$/s,
        );
      });
    }
  }

  it('if the schema asks for a file, a foreign asset name is refused', async () => {
    assert.match(String(await resolve({ data: 'asset:chart.png' }, {})), /not the name of an asset/);
  });

  it('a reference where the tool accepts no file is refused', async () => {
    for (const schema of [{ type: 'integer' }, { type: 'object', properties: { id: {} } }, { enum: ['a'] }]) {
      assert.match(String(await resolve({ x: ASSET }, taking('x', schema))), /does not accept a file there/);
    }
  });

  it('the reason of the source is shown with the place', async () => {
    const source: FileSource = { find: () => Promise.reject(new Error('it is too large')) };
    assert.deepEqual(await new ReferencedFiles(source).prepare({ data: ASSET }, {}), {
      ok: false,
      message: `The file “${ASSET}” in the argument data was not used: it is too large. No tool was called.`,
    });
  });

  it('files that are too large for one call are refused before they are read', async () => {
    const large = { size: 200 * 1024 ** 2, read: () => assert.fail() };
    const big: FileSource = { find: async (...asked) => ({ ...(await SOURCE.find(...asked)), ...large }) };
    const files = new ReferencedFiles(big);
    const prepared = await files.prepare({ data: [ASSET, ASSET] }, {});
    assert.match(
      prepared.ok ? '' : prepared.message,
      /total 419\.4 MB, but one call can send at most 268\.4 MB/,
    );
    assert.equal((await files.prepare({ path: [ASSET, ASSET] }, {})).ok, true);
  });
});

describe('the notes for the user', () => {
  it('name the argument, the form, the file and its size', async () => {
    const schema = taking('file', { type: 'object', properties: { name: {}, data: {} } });
    const prepared = await new ReferencedFiles(SOURCE).prepare(
      { file: ASSET, paths: ['file:a.csv'] },
      schema,
    );
    assert.deepEqual(prepared.ok && prepared.notes, [
      `file: ${ASSET} → an object (name, data) with the bytes of ${PATH} (3 bytes, application/pdf)`,
      'paths[0]: file:a.csv → the path of /real/a.csv (3 bytes, application/pdf)',
    ]);
  });

  it('show invisible characters', async () => {
    const prepared = await new ReferencedFiles(SOURCE).prepare({ 'a\n\u202eb': ASSET }, {});
    assert.match((prepared.ok && prepared.notes[0]) || '', /^a⟦U\+000A⟧⟦U\+202E⟧b: /);
  });
});

describe('for any input', () => {
  it('every generated name can be read', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('image' as const, 'audio' as const, 'file' as const),
        fc.date({ min: new Date(2000, 0), max: new Date(2100, 0), noInvalidDate: true }),
        fc.integer({ min: 1, max: 99999 }),
        fc.constantFrom('png', '7z', 'sqlite', 'parquet', 'bin'),
        (kind, time, number, extension) => {
          const name = assetName({ kind, time, number, extension, resultId: newResultId() });
          assert.deepEqual(parseReference(`asset:${name}`), {
            kind: 'reference',
            reference: { kind: 'asset', name },
          });
        },
      ),
    );
  });

  it('every path that we write is read back', () => {
    const segment = fc
      .string({ unit: 'grapheme', minLength: 1 })
      .filter((each) => !/[/\\\u0000-\u001f\u007f]|^~$|^[A-Za-z]:/.test(each) && each.isWellFormed());
    fc.assert(
      fc.property(fc.array(segment, { minLength: 1, maxLength: 4 }), (segments) => {
        const path = segments.join('/');
        assert.deepEqual(parseReference(renderFileReference(path)), {
          kind: 'reference',
          reference: { kind: 'file', path },
        });
      }),
    );
  });

  it('no schema and no arguments cause an exception', () => {
    const text = fc.constantFrom(ASSET, 'file:a', 'asset:../x', 'x', 'file:%');
    const args = fc.dictionary(fc.string(), fc.anything({ values: [text, fc.integer()], maxDepth: 4 }));
    const keywords = 'type items properties anyOf oneOf allOf $ref description format enum a';
    const keyword = fc.constantFrom(...keywords.split(' '));
    const { schema } = fc.letrec((tie) => ({
      schema: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom('string', 'array', 'object', '#', '#/properties/a', null, true, 'Path'),
        fc.dictionary(keyword, tie('schema')),
        fc.array(tie('schema'), { maxLength: 3 }),
      ),
    }));
    fc.assert(
      fc.property(args, schema, (given, inputSchema) => {
        const plan = planFileArguments(given, inputSchema);
        assert.equal(typeof plan.ok, 'boolean');
        for (const name of Object.keys(given)) expectedFiles(inputSchema, name);
      }),
      { numRuns: 400 },
    );
  });

  it('arguments as deep as JSON allows, and schemas that are circles', () => {
    const deep = JSON.parse(`{"a": ${'['.repeat(5000)}"${ASSET}"${']'.repeat(5000)}}`);
    assert.deepEqual(planFileArguments(deep, {}), { ok: true, uses: [] });
    const circle: Record<string, unknown> = { type: 'array' };
    circle['items'] = circle;
    assert.equal(planFileArguments({ a: ASSET }, taking('a', circle)).ok, false);
    assert.equal(planFileArguments({ a: ASSET }, taking('a', { $ref: '#/properties/a' })).ok, true);
  });
});

const IMAGE = 'tool-image-20261116-093012-V1StGXR8a0-1.png';

/** The text with each reference in angle brackets. */
function marked(text: string): string {
  let out = '';
  let from = 0;
  for (const { start, end, name } of findAssetReferences(text)) {
    assert.equal(text.slice(start, end), `asset:${name}`);
    out += `${text.slice(from, start)}<${name}>`;
    from = end;
  }
  return out + text.slice(from);
}

describe('references to assets in a text', () => {
  const cases: readonly [text: string, expected: string][] = [
    [`{"image": "asset:${IMAGE}"}`, `{"image": "<${IMAGE}>"}`],
    [`See asset:${IMAGE}.`, `See <${IMAGE}>.`],
    [`[image P, image/png, 1 KB, asset:${IMAGE}]`, `[image P, image/png, 1 KB, <${IMAGE}>]`],
    [`asset:${IMAGE} asset:${IMAGE}`, `<${IMAGE}> <${IMAGE}>`],
    [`asset:../${IMAGE}`, `asset:../${IMAGE}`],
    [`asset:sub/${IMAGE}`, `asset:sub/${IMAGE}`],
    [`asset:..${IMAGE}`, `asset:..${IMAGE}`],
    ['asset:4711 and asset://shop/4711', 'asset:4711 and asset://shop/4711'],
    [`myasset:${IMAGE}`, `myasset:${IMAGE}`],
    [`https://example.com/asset:${IMAGE}`, `https://example.com/asset:${IMAGE}`],
    [`asset:${IMAGE}.exe`, `asset:${IMAGE}.exe`],
  ];
  for (const [text, expected] of cases) it(text, () => assert.equal(marked(text), expected));

  it('a long word that is not a reference is skipped', () => {
    assert.deepEqual(findAssetReferences(`asset:${'a-'.repeat(500_000)}`), []);
  });
});
