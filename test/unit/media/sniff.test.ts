import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { detectMediaType, type MediaClues } from '../../../src/media/sniff.ts';
import { MEDIA_TYPES } from '../../../src/media/table.ts';

const text = (value: string) => new TextEncoder().encode(value);
const hex = (value: string) => Buffer.from(value.replaceAll(' ', ''), 'hex');
const PNG = hex(
  '89504e470d0a1a0a 0000000d49484452 00000001 00000001 0802000000 907753de 0000000049454e44ae426082',
);
const JPEG = hex('ffd8ffe000104a46494600010100000100010000ffd9');
const WEBM = hex(
  '1a45dfa3 a3 4286 81 01 42f7 81 01 42f2 81 04 42f3 81 08 4282 84 7765626d 4287 81 04 4285 81 02',
);
const EXE = hex(`4d5a${'00'.repeat(64)}`);
const UNKNOWN = hex('0001020304050607');

describe('the type of some bytes', () => {
  const cases: Record<string, [clues: MediaClues, kind: string, extension: string]> = {
    'bytes win over the declared type': [
      { bytes: JPEG, declared: 'image/png', block: 'image' },
      'image',
      'jpg',
    ],
    'bytes win over the block': [{ bytes: PNG, declared: 'audio/wav', block: 'audio' }, 'image', 'png'],
    'bytes win over the URI': [{ bytes: PNG, uri: 'a://b/c.txt', block: 'file' }, 'image', 'png'],
    'bytes that only begin like a PNG are taken at their word': [
      { bytes: hex(`89504e470d0a1a0a${'07'.repeat(100)}`), declared: 'image/png', block: 'image' },
      'image',
      'png',
    ],
    'octets are no claim': [
      { bytes: text('a,b'), declared: 'application/octet-stream', uri: 'x://t.csv', block: 'file' },
      'file',
      'csv',
    ],
    'the declared type wins over the URI': [
      { bytes: text('a,b'), declared: 'text/csv', uri: 'x://t.md', block: 'file' },
      'file',
      'csv',
    ],
    'parameters and case do not matter': [
      { bytes: text('x'), declared: 'Text/Markdown; charset=UTF-8', block: 'file' },
      'file',
      'md',
    ],
    'audio/mpeg is .mp3': [{ bytes: UNKNOWN, declared: 'audio/mpeg', block: 'audio' }, 'audio', 'mp3'],
    'sound in a film container is sound, if it is declared so': [
      { bytes: WEBM, declared: 'audio/webm', block: 'audio' },
      'audio',
      'weba',
    ],
    'a film is a file': [{ bytes: WEBM, declared: 'video/webm', block: 'file' }, 'file', 'webm'],
    'SVG is a file, whatever it claims': [
      {
        bytes: text('<?xml version="1.0"?><!-- x --><svg onload="x"/>'),
        declared: 'image/png',
        block: 'image',
      },
      'file',
      'svg',
    ],
    'a page that claims to be a picture is just bytes': [
      { bytes: text('<!DOCTYPE html><script>'), declared: 'image/png', block: 'image' },
      'file',
      'bin',
    ],
    'a page that says so is a page': [
      { bytes: text('<html><body>'), declared: 'text/html', block: 'file' },
      'file',
      'html',
    ],
    'a program that claims to be a picture is just bytes': [
      { bytes: EXE, declared: 'image/png', block: 'image' },
      'file',
      'bin',
    ],
    'a picture of an unknown type is .png': [
      { bytes: UNKNOWN, declared: 'image/x-new', block: 'image' },
      'image',
      'png',
    ],
    'a picture without a type is .png': [{ bytes: UNKNOWN, block: 'image' }, 'image', 'png'],
    'a path in the type is no type': [
      { bytes: UNKNOWN, declared: 'image/../../x', block: 'image' },
      'file',
      'bin',
    ],
    'an endless type is no type': [
      { bytes: UNKNOWN, declared: `image/${'x'.repeat(1e6)}`, block: 'image' },
      'file',
      'bin',
    ],
    'an unknown file is .bin': [{ bytes: UNKNOWN, uri: 'x://a.exe', block: 'file' }, 'file', 'bin'],
    'nothing at all is .bin': [{ bytes: new Uint8Array(), block: 'file' }, 'file', 'bin'],
    'TIFF, which no preview shows, is a file': [
      { bytes: UNKNOWN, declared: 'image/tiff', block: 'image' },
      'file',
      'tif',
    ],
  };
  for (const [name, [clues, kind, extension]] of Object.entries(cases)) {
    it(name, async () => {
      const judged = await detectMediaType(clues);
      assert.deepEqual([judged.kind, judged.extension], [kind, extension]);
    });
  }

  it('is always one of the table', async () => {
    const known = new Set([...MEDIA_TYPES.map(({ extension }) => extension), 'bin']);
    await fc.assert(
      fc.asyncProperty(fc.uint8Array(), fc.string(), fc.string(), async (bytes, declared, uri) => {
        assert.ok(known.has((await detectMediaType({ bytes, declared, uri, block: 'file' })).extension));
      }),
    );
  });
});

it('the table has each extension and each type once', () => {
  const names = MEDIA_TYPES.flatMap(({ extension, types }) => [`.${extension}`, ...types]);
  assert.equal(new Set(names).size, names.length);
});
