import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ReferencedFiles } from '../../../../src/mcp/fileArguments/files.ts';
import type { FileSource } from '../../../../src/ports/document.ts';
import { ASSET, BASE64, NAME, PATH, resolve, SOURCE, taking } from './referenced.ts';

describe('references are found wherever they stand', () => {
  it('nested in objects and lists, by the schema of their place', async () => {
    const schema = taking(
      'files',
      {
        type: 'array',
        items: { $ref: '#/$defs/file' },
      },
      {
        $defs: {
          file: {
            type: 'object',
            properties: {
              path: { type: 'string' },
              data: { type: 'string' },
              parts: { type: 'array', items: { $ref: '#/$defs/file' } },
            },
          },
        },
      },
    );
    const args = { files: [{ path: ASSET, data: ASSET, parts: [{ data: ASSET }, ASSET] }, ASSET], n: 1 };
    assert.deepEqual(await resolve(args, schema), {
      files: [{ path: PATH, data: BASE64, parts: [{ data: BASE64 }, { data: BASE64 }] }, { data: BASE64 }],
      n: 1,
    });
  });

  it('a list of references becomes a list of files, and what is none stays', async () => {
    const schema = taking('files', { type: 'array', items: { type: 'string', format: 'byte' } });
    assert.deepEqual(await resolve({ files: [ASSET, 'x', 'file:a'] }, schema), {
      files: [BASE64, 'x', BASE64],
    });
  });

  it('an object in a union is walked by the member that is about objects', async () => {
    const schema = taking('x', {
      anyOf: [{ type: 'string' }, { type: 'object', properties: { y: { format: 'path' } } }],
    });
    assert.deepEqual(await resolve({ x: { y: ASSET } }, schema), { x: { y: PATH } });
  });

  it('names such as __proto__ are ordinary', async () => {
    const args = JSON.parse(`{"__proto__": {"data": "${ASSET}"}}`);
    const resolved = await resolve(args, {});
    assert.equal(JSON.stringify(resolved), `{"__proto__":{"data":"${BASE64}"}}`);
    assert.equal(({} as Record<string, unknown>)['data'], undefined);
  });

  it('the arguments that were given are not changed', async () => {
    const args = { x: [ASSET] };
    await resolve(args, {});
    assert.deepEqual(args, { x: [ASSET] });
  });
});

describe('text that is not a reference is unchanged', () => {
  const texts = [
    'file: see below',
    'file:',
    'asset:',
    'asset: my house',
    'file:fix the door',
    `see ${ASSET}`,
    `${ASSET} `,
    'asset:4711',
    'asset:chart.png',
    'asset://shop/4711',
    'FILE:x',
    'profile:x',
    'files:x',
    'file:a\nb',
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
  const cases: readonly (readonly [text: string, reason: RegExp])[] = [
    ['asset:../secret', /not the name of an asset/],
    ['asset:..', /not the name of an asset/],
    ['asset:/etc/passwd', /not the name of an asset/],
    [`asset:cmdassets/${NAME}`, /not the name of an asset/],
    [`asset:../${NAME}`, /not the name of an asset/],
    [`asset:%2e%2e%2f${NAME}`, /not the name of an asset/],
    [`asset:${NAME}\u0000.png`, /not the name of an asset/],
    ['asset:C:\\x', /not the name of an asset/],
    [`asset:${NAME}:stream`, /not the name of an asset/],
    ['file:%2e%2e/secret', /percent-encoded dots/],
    ['file:a%2F..%2Fb', /percent-encoded dots/],
    ['file:a%5cb', /percent-encoded dots/],
    ['file:a%00.png', /percent-encoded dots/],
    ['file:a\u0000.png', /control characters/],
    ['file:a%0Ab', /control characters/],
    ['file:..\\secret', /backslash/],
    ['file:C:\\x', /backslash/],
    ['file:C:/x', /drive/],
    ['file://server/share', /another computer/],
    ['file://C:/x', /another computer/],
    ['file:////server/share', /another computer/],
    ['file:~/.ssh/id_rsa', /~ is not expanded/],
  ];
  for (const [text, reason] of cases) {
    it(JSON.stringify(text), async () => {
      const message = await resolve({ a: [{ b: text }] }, {});
      assert.equal(typeof message, 'string');
      assert.match(String(message), reason);
      assert.match(
        String(message),
        /^The file “.*” in the argument a\[0\]\.b was not used: .*\. Nothing was called\.$/s,
      );
    });
  }

  it('if the schema asks for a file, a foreign asset name is refused', async () => {
    assert.match(String(await resolve({ data: 'asset:chart.png' }, {})), /not the name of an asset/);
  });

  it('where no file can be, it is said', async () => {
    for (const schema of [{ type: 'integer' }, { type: 'object', properties: { id: {} } }, { enum: ['a'] }]) {
      assert.match(String(await resolve({ x: ASSET }, taking('x', schema))), /does not accept a file there/);
    }
  });

  it('what the source refuses is told with its place', async () => {
    const source: FileSource = { find: () => Promise.reject(new Error('it is too large')) };
    assert.deepEqual(await new ReferencedFiles(source).prepare({ data: ASSET }, {}), {
      ok: false,
      message: `The file “${ASSET}” in the argument data was not used: it is too large. Nothing was called.`,
    });
  });

  it('more than fits into one call is refused before anything is read', async () => {
    const big: FileSource = {
      find: async (reference, wanted) => ({
        ...(await SOURCE.find(reference, wanted)),
        size: 200 * 1024 ** 2,
        read: () => assert.fail(),
      }),
    };
    const files = new ReferencedFiles(big);
    const prepared = await files.prepare({ data: [ASSET, ASSET] }, {});
    assert.match(
      prepared.ok ? '' : prepared.message,
      /total 419\.4 MB, but one call can send at most 268\.4 MB/,
    );
    assert.equal((await files.prepare({ path: [ASSET, ASSET] }, {})).ok, true);
  });
});

describe('what the user is told', () => {
  it('where the file goes, as what, which file it is, and its size', async () => {
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

  it('nothing hides in it', async () => {
    const prepared = await new ReferencedFiles(SOURCE).prepare({ 'a\n\u202eb': ASSET }, {});
    assert.match((prepared.ok && prepared.notes[0]) || '', /^a⟦U\+000A⟧⟦U\+202E⟧b: /);
  });
});
