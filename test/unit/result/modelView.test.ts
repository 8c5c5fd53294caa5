import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { MAX_SCALED_BYTES } from '../../../src/media/imageLimits.ts';
import type { ResultPart } from '../../../src/ports/results.ts';
import {
  MAX_SUMMARY_TOKENS,
  type ModelViewOptions,
  summarize,
  tokensAtMost,
  toModelParts,
} from '../../../src/result/modelView.ts';

const NAME = '20261116-093012-V1StGXR8ab-1';
const asset = (kind: 'image' | 'audio' | 'file', extension: string, name?: string): ResultPart => ({
  kind: 'asset',
  asset: {
    kind,
    number: 1,
    path: `cmdassets/tool-${kind}-${NAME}.${extension}`,
    ...(name === undefined ? {} : { name }),
  },
});
const about = (size: number, mimeType: string) => ({ about: () => ({ size, mimeType }) });
const SMALL_PNG = about(12_345, 'image/png');

/** Text as itself, images in angle brackets. */
function view(parts: readonly ResultPart[], options: ModelViewOptions = { about: () => undefined }) {
  return toModelParts({ isError: false, parts }, options).map((part) =>
    part.kind === 'text' ? part.text : `<${part.mimeType} ${part.path}>`,
  );
}

describe('the model gets', () => {
  const cases: Readonly<Record<string, [ResultPart[], string[], Partial<ModelViewOptions>?]>> = {
    'text in order': [
      [
        { kind: 'text', text: 'a' },
        { kind: 'data', json: '{}' },
        { kind: 'text', text: 'b', source: { uri: 'x://b' } },
      ],
      ['a', '{}', 'From x://b:\nb'],
    ],
    'a small image as an image': [
      [asset('image', 'png')],
      [`<image/png cmdassets/tool-image-${NAME}.png>`],
      SMALL_PNG,
    ],
    'a large image as a line': [
      [asset('image', 'png')],
      [`[image 1, image/png, 52.4 MB, asset:tool-image-${NAME}.png]`],
      about(MAX_SCALED_BYTES + 1, 'image/png'),
    ],
    'no image when images are disabled': [
      [asset('image', 'png')],
      [`[image 1, image/png, 12.3 KB, asset:tool-image-${NAME}.png]`],
      { ...SMALL_PNG, sendImages: 'never' },
    ],
    'no image of a type that not every model accepts': [
      [asset('image', 'avif')],
      [`[image 1, image/avif, 12.3 KB, asset:tool-image-${NAME}.avif]`],
      about(12_345, 'image/avif'),
    ],
    'no image that is gone': [
      [asset('image', 'png')],
      [`[image 1, image/png, asset:tool-image-${NAME}.png]`],
    ],
    'a file by its name': [
      [asset('file', 'pdf', 'report.pdf')],
      [`[file report.pdf, application/pdf, 500.0 KB, asset:tool-file-${NAME}.pdf]`],
      about(500_000, 'application/pdf'),
    ],
    'an office file by its short type': [
      [asset('file', 'xlsx', 'a.xlsx')],
      [`[file a.xlsx, xlsx, asset:tool-file-${NAME}.xlsx]`],
    ],
    'long text as a line and its preview': [
      [{ ...asset('file', 'txt'), preview: 'head\n…\ntail' } as ResultPart],
      [`[file 1, text/plain, asset:tool-file-${NAME}.txt]`, 'head\n…\ntail'],
    ],
    'a resource by its address': [
      [{ kind: 'link', uri: 'x://a/b', name: 'b', mimeType: 'text/csv', size: 10 }],
      ['[resource b, text/csv, 10 bytes, x://a/b]'],
    ],
    'a problem as it is': [[{ kind: 'problem', message: 'It is gone.' }], ['⚠ It is gone.']],
    'nothing that is for the user only': [
      [
        { kind: 'text', text: 'secret', audience: 'user' },
        { ...asset('image', 'png'), audience: 'user' },
        { kind: 'text', text: 'open' },
      ],
      ['open'],
      SMALL_PNG,
    ],
    'no letters that only a model can read': [[{ kind: 'text', text: 'a\u{e0041}\u{e0042}b' }], ['ab']],
  };
  for (const [name, [parts, expected, options]] of Object.entries(cases)) {
    it(name, () => assert.deepEqual(view(parts, { about: () => undefined, ...options }), expected));
  }

  it('at most sixty tokens for a file that is not sent, whatever its name', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 200 }),
        fc.string({ maxLength: 200 }),
        fc.string({ unit: 'grapheme', maxLength: 4000 }),
        fc.nat(),
        (name, mimeType, uri, size) => {
          const parts: ResultPart[] = [
            asset('file', 'bin', name),
            { kind: 'link', uri, name, mimeType, size },
          ];
          for (const line of view(parts, about(size, mimeType))) {
            assert.ok(tokensAtMost(line) <= MAX_SUMMARY_TOKENS, line);
            assert.doesNotMatch(line, /\n/);
          }
        },
      ),
      { numRuns: 150 },
    );
  });

  it('the reference whole, however long the name', () => {
    const [line = ''] = view([asset('file', 'pdf', 'n'.repeat(80))], about(1, 'application/pdf'));
    assert.ok(line.endsWith(`…, application/pdf, 1 bytes, asset:tool-file-${NAME}.pdf]`), line);
  });

  it('a line by a template, within the limit also when the template is too long', () => {
    const values = { kind: 'file', name: 'a', size: '1 KB', type: 'text/plain', ref: 'asset:a.txt' };
    assert.equal(summarize(values, 'blah '.repeat(500)), '[file a, text/plain, 1 KB, asset:a.txt]');
    assert.equal(
      summarize(values, '{name} of {size} ({type}): {ref}'),
      'a of 1 KB (text/plain): asset:a.txt',
    );
  });
});
