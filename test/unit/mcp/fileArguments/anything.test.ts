import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { newResultId } from '../../../../src/assets/store.ts';
import { assetName } from '../../../../src/base/names.ts';
import { expectedFiles, planFileArguments } from '../../../../src/mcp/fileArguments/plan.ts';
import { parseReference, renderFileReference } from '../../../../src/mcp/fileArguments/reference.ts';

const ASSET = 'asset:tool-file-20261116-093012-V1StGXR8a0-1.pdf';
const taking = (name: string, schema: unknown) => ({ type: 'object', properties: { [name]: schema } });

describe('for whatever comes', () => {
  it('every name that we give is one that we read', () => {
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

  it('no schema and no arguments make it throw', () => {
    const text = fc.constantFrom(ASSET, 'file:a', 'asset:../x', 'x', 'file:%');
    const args = fc.dictionary(fc.string(), fc.anything({ values: [text, fc.integer()], maxDepth: 4 }));
    const keyword = fc.constantFrom(
      'type',
      'items',
      'properties',
      'anyOf',
      'oneOf',
      'allOf',
      '$ref',
      'description',
      'format',
      'enum',
      'a',
    );
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
      { numRuns: 2000 },
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
