import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { imageSize } from '../../../src/media/measure.ts';
import { orientationOf } from '../../../src/media/tiff.ts';
import { makeBmp, withOrientation } from '../../kit/documents.ts';

const JPEG = Buffer.from('ffd8ffe000104a46494600010100000100010000ffda', 'hex');

/** A TIFF with its size as 32 and as 16 bits. */
const TIFF = Buffer.from(
  '49492a00080000000200' + '000104000100000020030000' + '010103000100000058020000' + '00000000',
  'hex',
);

describe('the orientation', () => {
  for (const orientation of [1, 6, 8])
    it(`${orientation} of a JPEG is found`, () =>
      assert.equal(orientationOf(withOrientation(JPEG, orientation)), orientation));

  it('of a file without one, or with an invalid one, is 1', () => {
    for (const bytes of [JPEG, withOrientation(JPEG, 9), new Uint8Array(), Buffer.from('ffd8', 'hex'), TIFF])
      assert.equal(orientationOf(bytes), 1);
  });
});

it('the size of a TIFF and of a BMP is found', () => {
  assert.deepEqual(imageSize(TIFF), { width: 800, height: 600 });
  assert.deepEqual(imageSize(makeBmp(40, 30)), { width: 40, height: 30 });
});

it('a cut or changed file never throws', () => {
  for (const whole of [TIFF, Buffer.from(withOrientation(JPEG, 6)), Buffer.from(makeBmp(2, 2))]) {
    for (let at = 0; at < whole.length; at += 1) {
      const changed = Buffer.from(whole);
      changed[at] = 0xff;
      for (const bytes of [changed, whole.subarray(0, at)]) {
        orientationOf(bytes);
        imageSize(bytes);
      }
    }
  }
});
