import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { expectedFiles, ReferencedFiles } from '../../../../src/mcp/fileArguments/referencedFiles.ts';
import type { FileSource } from '../../../../src/ports/document.ts';
import { ASSET, BASE64, NAME, PATH, resolve, SOURCE, taking } from './referenced.ts';

const DATA_URL = 'data:application/pdf;base64,YWJj';
const FILE_URL = pathToFileURL(PATH).href;

const string = (keywords: object = {}) => ({ type: 'string', ...keywords });
/** An object with strings under these names. */
const object = (names: string, keywords: object = {}) => ({
  type: 'object',
  properties: Object.fromEntries(names.split(' ').map((name) => [name, string()])),
  ...keywords,
});
const ANY_OBJECT = { name: NAME, mimeType: 'application/pdf', data: BASE64 };

describe('an asset becomes the form that the schema asks for', () => {
  const bytesNames = 'data bytes blob content base64 imageBase64 file_data b64_json fileContents';
  const pathNames = 'path file filename filepath input_file inputFile file-path file_name dataPath';
  const withSize = {
    properties: { ...object('filename mime_type content note').properties, size: { type: 'integer' } },
  };
  const constants = { type: { const: 'file' }, encoding: { enum: ['utf8', 'base64'] }, data: string() };
  const dataUrl = { url: string({ description: 'A data URL' }), name: string() };
  const pathOrData = { anyOf: [{ required: ['path'] }, { required: ['data'] }] };
  const cases: readonly (readonly [name: string, schema: unknown, becomes: unknown])[] = [
    // By keywords.
    ['x', string({ contentEncoding: 'base64' }), BASE64],
    ['x', string({ contentEncoding: 'base64', contentMediaType: 'image/png' }), BASE64],
    ['path', string({ contentEncoding: 'base64' }), BASE64],
    ...['byte', 'base64', 'binary'].map((format) => ['x', string({ format }), BASE64] as const),
    ['x', string({ contentMediaType: 'application/pdf' }), BASE64],
    ['x', string({ format: 'data-url' }), DATA_URL],
    ['x', string({ pattern: '^data:', contentMediaType: 'image/png' }), DATA_URL],
    ['x', string({ format: 'uri', description: 'A data URL of the picture.' }), DATA_URL],
    ['x', string({ format: 'uri' }), FILE_URL],
    ['x', string({ format: 'path' }), PATH],
    ['x', string({ format: 'uri-reference' }), PATH],
    // By names.
    ...bytesNames.split(' ').map((name) => [name, string(), BASE64] as const),
    ...pathNames.split(' ').map((name) => [name, string(), PATH] as const),
    ['url', string(), FILE_URL],
    // By descriptions.
    ['image', string({ description: 'The picture, base64-encoded.' }), BASE64],
    ['file', string({ description: 'Base64 of the file.' }), BASE64],
    ['image', string({ description: 'Base64 without the data: URL prefix' }), BASE64],
    ['image', string({ description: 'A data URI (data:image/png;base64,…)' }), DATA_URL],
    ['image', string({ description: 'Where it is: a path on this computer.' }), PATH],
    ['data', string({ description: 'Absolute path to the table.' }), PATH],
    ['content', string({ description: 'What to write to the path.' }), BASE64],
    ['image', string({ description: 'The raw bytes of the picture.' }), BASE64],
    // By default.
    ['x', string(), BASE64],
    ['x', {}, BASE64],
    ['x', true, BASE64],
    ['unknown to the schema', undefined, BASE64],
    // Unions and references.
    ['x', { anyOf: [string({ format: 'byte' }), { type: 'null' }] }, BASE64],
    ['x', { type: ['string', 'null'], format: 'path' }, PATH],
    ['x', { anyOf: [{ type: 'integer' }, string({ format: 'path' })] }, PATH],
    ['x', { anyOf: [string(), { type: 'array', items: string() }], description: 'File path' }, PATH],
    ['x', { $ref: '#/$defs/bytes' }, BASE64],
    ['x', { $ref: 'https://example.com/x.json' }, BASE64],
    // Objects.
    ['x', { type: 'object' }, ANY_OBJECT],
    ['x', { type: 'object', additionalProperties: string() }, ANY_OBJECT],
    ['x', withSize, { filename: NAME, mime_type: 'application/pdf', content: BASE64, size: 3 }],
    ['x', object('name type blob'), { name: NAME, type: 'application/pdf', blob: BASE64 }],
    ['x', { properties: constants }, { type: 'file', encoding: 'base64', data: BASE64 }],
    ['x', { properties: dataUrl }, { url: DATA_URL, name: NAME }],
    ['x', object('path data'), { data: BASE64 }],
    ['x', object('path data', { required: ['path'] }), { path: PATH }],
    ['x', object('data path', pathOrData), { path: PATH }],
    // Lists.
    ['files', { type: 'array', items: string({ format: 'byte' }) }, [BASE64]],
    ['files', { type: 'array', items: string(), description: 'Base64 of each file' }, [BASE64]],
    ['files', { type: 'array', items: string() }, [PATH]],
    ['x', { type: 'array' }, [BASE64]],
    ['x', { type: 'array', items: object('name data') }, [{ name: NAME, data: BASE64 }]],
  ];
  for (const [name, schema, becomes] of cases) {
    it(`${name}: ${JSON.stringify(schema)}`, async () => {
      const inputSchema = taking(name, schema, { $defs: { bytes: string({ format: 'byte' }) } });
      assert.deepEqual(await resolve({ [name]: ASSET }, inputSchema), { [name]: becomes });
    });
  }

  it('base64url has its own alphabet and no padding', async () => {
    const source: FileSource = {
      find: async (...asked) => ({ ...(await SOURCE.find(...asked)), read: async () => '+/+/+w==' }),
    };
    const schema = taking('x', { format: 'base64url' });
    const prepared = await new ReferencedFiles(source).prepare({ x: ASSET }, schema);
    assert.deepEqual(prepared.ok && (await prepared.resolve()), { ok: true, arguments: { x: '-_-_-w' } });
  });
});

describe('a file: reference becomes the form that the schema asks for', () => {
  const cases: readonly (readonly [schema: unknown, becomes: unknown])[] = [
    [{ type: 'string' }, '/real/a b/c.csv'],
    [{ type: 'string', format: 'byte' }, BASE64],
    [{ type: 'string', format: 'uri' }, pathToFileURL('/real/a b/c.csv').href],
    [object('name data'), { name: 'c.csv', data: BASE64 }],
  ];
  for (const [schema, becomes] of cases) {
    it(JSON.stringify(schema), async () => {
      assert.deepEqual(await resolve({ x: 'file:a%20b/c.csv' }, taking('x', schema)), { x: becomes });
    });
  }
});

describe('a file dialog is offered for arguments that expect files', () => {
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
