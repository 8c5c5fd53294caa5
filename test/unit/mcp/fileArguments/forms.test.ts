import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { ReferencedFiles } from '../../../../src/mcp/fileArguments/files.ts';
import { expectedFiles } from '../../../../src/mcp/fileArguments/plan.ts';
import type { FileSource } from '../../../../src/ports/document.ts';
import { ASSET, BASE64, NAME, PATH, resolve, SOURCE, taking } from './referenced.ts';

const DATA_URL = 'data:application/pdf;base64,YWJj';
const FILE_URL = pathToFileURL(PATH).href;

describe('an asset becomes what the schema asks for', () => {
  const string = (keywords: object = {}) => ({ type: 'string', ...keywords });
  const cases: readonly (readonly [name: string, schema: unknown, becomes: unknown])[] = [
    // What keywords say.
    ['x', string({ contentEncoding: 'base64' }), BASE64],
    ['x', string({ contentEncoding: 'base64', contentMediaType: 'image/png' }), BASE64],
    ['path', string({ contentEncoding: 'base64' }), BASE64],
    ['x', string({ format: 'byte' }), BASE64],
    ['x', string({ format: 'base64' }), BASE64],
    ['x', string({ format: 'binary' }), BASE64],
    ['x', string({ contentMediaType: 'application/pdf' }), BASE64],
    ['x', string({ format: 'data-url' }), DATA_URL],
    ['x', string({ pattern: '^data:', contentMediaType: 'image/png' }), DATA_URL],
    ['x', string({ format: 'uri', description: 'A data URL of the picture.' }), DATA_URL],
    ['x', string({ format: 'uri' }), FILE_URL],
    ['x', string({ format: 'path' }), PATH],
    ['x', string({ format: 'uri-reference' }), PATH],
    // What names say.
    ...[
      'data',
      'bytes',
      'blob',
      'content',
      'base64',
      'imageBase64',
      'file_data',
      'b64_json',
      'fileContents',
    ].map((name) => [name, string(), BASE64] as const),
    ...[
      'path',
      'file',
      'filename',
      'filepath',
      'input_file',
      'inputFile',
      'file-path',
      'file_name',
      'dataPath',
    ].map((name) => [name, string(), PATH] as const),
    ['url', string(), FILE_URL],
    // What descriptions say.
    ['image', string({ description: 'The picture, base64-encoded.' }), BASE64],
    ['file', string({ description: 'Base64 of the file.' }), BASE64],
    ['image', string({ description: 'Base64 without the data: URL prefix' }), BASE64],
    ['image', string({ description: 'A data URI (data:image/png;base64,…)' }), DATA_URL],
    ['image', string({ description: 'Where it is: a path on this computer.' }), PATH],
    ['data', string({ description: 'Absolute path to the table.' }), PATH],
    ['content', string({ description: 'What to write to the path.' }), BASE64],
    ['image', string({ description: 'The raw bytes of the picture.' }), BASE64],
    // Nothing at all.
    ['x', string(), BASE64],
    ['x', {}, BASE64],
    ['x', true, BASE64],
    ['unknown to the schema', undefined, BASE64],
    // Written in other ways.
    ['x', { anyOf: [string({ format: 'byte' }), { type: 'null' }] }, BASE64],
    ['x', { type: ['string', 'null'], format: 'path' }, PATH],
    ['x', { anyOf: [{ type: 'integer' }, string({ format: 'path' })] }, PATH],
    ['x', { anyOf: [string(), { type: 'array', items: string() }], description: 'File path' }, PATH],
    ['x', { $ref: '#/$defs/bytes' }, BASE64],
    ['x', { $ref: 'https://example.com/x.json' }, BASE64],
    // Objects.
    ['x', { type: 'object' }, { name: NAME, mimeType: 'application/pdf', data: BASE64 }],
    [
      'x',
      { type: 'object', additionalProperties: string() },
      { name: NAME, mimeType: 'application/pdf', data: BASE64 },
    ],
    [
      'x',
      {
        type: 'object',
        properties: {
          filename: string(),
          mime_type: string(),
          content: string(),
          size: { type: 'integer' },
          note: string(),
        },
      },
      { filename: NAME, mime_type: 'application/pdf', content: BASE64, size: 3 },
    ],
    [
      'x',
      { properties: { name: string(), type: string(), blob: string() } },
      { name: NAME, type: 'application/pdf', blob: BASE64 },
    ],
    [
      'x',
      { properties: { type: { const: 'file' }, encoding: { enum: ['utf8', 'base64'] }, data: string() } },
      { type: 'file', encoding: 'base64', data: BASE64 },
    ],
    [
      'x',
      { properties: { url: string({ description: 'A data URL' }), name: string() } },
      { url: DATA_URL, name: NAME },
    ],
    ['x', { properties: { path: string(), data: string() } }, { data: BASE64 }],
    ['x', { properties: { path: string(), data: string() }, required: ['path'] }, { path: PATH }],
    [
      'x',
      {
        type: 'object',
        properties: { data: string(), path: string() },
        anyOf: [{ required: ['path'] }, { required: ['data'] }],
      },
      { path: PATH },
    ],
    // Lists.
    ['files', { type: 'array', items: string({ format: 'byte' }) }, [BASE64]],
    ['files', { type: 'array', items: string(), description: 'Base64 of each file' }, [BASE64]],
    ['files', { type: 'array', items: string() }, [PATH]],
    ['x', { type: 'array' }, [BASE64]],
    [
      'x',
      { type: 'array', items: { properties: { name: string(), data: string() } } },
      [{ name: NAME, data: BASE64 }],
    ],
  ];
  for (const [name, schema, becomes] of cases) {
    it(`${name}: ${JSON.stringify(schema)}`, async () => {
      const inputSchema = taking(name, schema, { $defs: { bytes: string({ format: 'byte' }) } });
      assert.deepEqual(await resolve({ [name]: ASSET }, inputSchema), { [name]: becomes });
    });
  }

  it('base64url has its own alphabet and no padding', async () => {
    const bytes: FileSource = {
      find: async (reference, wanted) => ({
        ...(await SOURCE.find(reference, wanted)),
        read: async () => '+/+/+w==',
      }),
    };
    const prepared = await new ReferencedFiles(bytes).prepare(
      { x: ASSET },
      taking('x', { format: 'base64url' }),
    );
    assert.deepEqual(prepared.ok && (await prepared.resolve()), { ok: true, arguments: { x: '-_-_-w' } });
  });
});

describe('a file: link becomes what the schema asks for', () => {
  const cases: readonly (readonly [schema: unknown, becomes: unknown])[] = [
    [{ type: 'string' }, '/real/a b/c.csv'],
    [{ type: 'string', format: 'byte' }, BASE64],
    [{ type: 'string', format: 'uri' }, pathToFileURL('/real/a b/c.csv').href],
    [
      { type: 'object', properties: { name: {}, data: {} } },
      { name: 'c.csv', data: BASE64 },
    ],
  ];
  for (const [schema, becomes] of cases) {
    it(JSON.stringify(schema), async () => {
      assert.deepEqual(await resolve({ x: 'file:a%20b/c.csv' }, taking('x', schema)), { x: becomes });
    });
  }
});

describe('whether a dialog for files helps', () => {
  const cases: readonly (readonly [name: string, schema: unknown, wanted: 'one' | 'many' | undefined])[] = [
    ['path', { type: 'string' }, 'one'],
    ['image', { type: 'string', format: 'byte' }, 'one'],
    ['file', { type: 'object', properties: { name: {}, data: {} } }, 'one'],
    ['files', { type: 'array', items: { type: 'string' } }, 'many'],
    ['title', { type: 'string' }, undefined],
    ['url', { type: 'string', format: 'uri' }, undefined],
    ['query', { type: 'string', description: 'Content to look for' }, undefined],
    ['options', { type: 'object' }, undefined],
    ['path', { type: 'number' }, undefined],
  ];
  for (const [name, schema, wanted] of cases) {
    it(`${name}: ${JSON.stringify(schema)} → ${wanted}`, () => {
      assert.equal(expectedFiles(taking(name, schema), name), wanted);
    });
  }
});
