import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ImagePlan, imageLimits, planImage } from '../../../src/media/imageLimits.ts';

const anthropic = imageLimits('anthropic');

function plan(width: number, height: number, bytes = 100_000, mimeType = 'image/png'): ImagePlan {
  return planImage({ mimeType, bytes, size: { width, height } }, anthropic);
}

describe('an image', () => {
  it('within the limits is sent as it is', () => assert.deepEqual(plan(2000, 1500), { kind: 'keep' }));

  it('with a side over the limit is scaled to what models see', () => {
    assert.deepEqual(plan(4000, 3000), {
      kind: 'convert',
      size: { width: 1568, height: 1176 },
      boxes: [{ left: 0, top: 0, width: 1568, height: 1176 }],
    });
  });

  it('with too many bytes is encoded again, even if its sides are short', () => {
    const { kind, ...made } = plan(1200, 900, 4_000_000);
    assert.equal(kind, 'convert');
    assert.deepEqual(made, {
      size: { width: 1200, height: 900 },
      boxes: [{ left: 0, top: 0, width: 1200, height: 900 }],
    });
  });

  it('of a type that only we can read is converted, whatever its size', () => {
    assert.equal(plan(10, 10, 300, 'image/bmp').kind, 'convert');
    assert.equal(plan(10, 10, 300, 'image/tiff').kind, 'convert');
    assert.equal(plan(10, 10, 300, 'image/apng').kind, 'convert');
  });

  it('of a type that cannot be read is described', () => {
    for (const type of ['image/heic', 'image/avif', 'image/svg+xml']) {
      assert.deepEqual(plan(10, 10, 300, type), {
        kind: 'describe',
        reason: `${type} cannot be converted here`,
      });
    }
  });

  it('that claims to be huge is described before it is decoded', () => {
    assert.deepEqual(plan(20_000, 20_000, 5000), {
      kind: 'describe',
      reason: 'it has 20000 × 20000 pixels, and at most 50 million are decoded',
    });
  });

  it('that is a huge file is described', () => {
    const huge = plan(3000, 3000, 55_000_000);
    assert.deepEqual(huge, { kind: 'describe', reason: 'it has 55.0 MB, and at most 52.4 MB are read' });
  });

  it('without a readable header is left to the provider if it is small, and described otherwise', () => {
    const facts = { mimeType: 'image/png', bytes: 100, size: undefined };
    assert.deepEqual(planImage(facts, anthropic), { kind: 'keep' });
    assert.equal(planImage({ ...facts, bytes: 4_000_000 }, anthropic).kind, 'describe');
    assert.equal(planImage({ ...facts, mimeType: 'image/bmp' }, anthropic).kind, 'describe');
  });
});

describe('a very tall image', () => {
  it('is cut into slices at its own scale', () => {
    const made = plan(1440, 8570);
    assert.ok(made.kind === 'convert');
    assert.deepEqual(made.size, { width: 1440, height: 8570 });
    assert.equal(made.boxes.length, 6);
  });

  const sizes = [
    [1440, 8570],
    [8570, 1440],
    [1280, 30_000],
    [100, 4000],
    [2, 20_000],
    [3000, 9000],
    [1568, 3921],
    [1, 49_000],
  ] as const;
  for (const [width, height] of sizes) {
    it(`of ${width} × ${height} is covered by slices of at most 1,568 pixels that overlap`, () => {
      const made = plan(width, height);
      assert.ok(made.kind === 'convert');
      const isTall = height > width;
      const length = isTall ? made.size.height : made.size.width;
      let end = 0;
      for (const box of made.boxes) {
        const [from, size] = isTall ? [box.top, box.height] : [box.left, box.width];
        assert.ok(Math.max(box.width, box.height) <= 1568 && size > 0, JSON.stringify(box));
        assert.ok(end === 0 || from < end, 'neighbors overlap');
        end = from + size;
      }
      assert.equal(end, length);
      assert.ok(made.boxes.length <= 10);
    });
  }
});

it('every provider has limits, also one that is not in the table', () => {
  for (const provider of ['anthropic', 'openai', 'google', 'vscode', 'constructor'])
    assert.ok(imageLimits(provider).maxSide >= 1568);
});
