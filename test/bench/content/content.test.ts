import assert from 'node:assert/strict';
import { it } from 'node:test';
import { isCutPng } from '../../../src/media/measure.ts';
import { sniffBytes } from '../../../src/media/sniff.ts';
import { judgeContent } from './content.ts';
import { noisyPng } from './contentTasks.ts';

const MB = 2 ** 20;

function judge(medianMs: number) {
  const peaks = { oursPeakBytes: 27 * MB, plainPeakBytes: 13 * MB };
  const row = { what: 'toImageContent', oursMs: 12, plainMs: 8, against: 'toString', medianMs: 15, ...peaks };
  return judgeContent([row, { ...row, medianMs }]);
}

it('the report has the time of each helper, its ratio to the bare work, its peak, and a verdict', () => {
  const { report } = judge(500);
  const same = 'toImageContent +12\\.0 ms +8\\.0 ms +toString +1\\.50× +27 MB +13 MB';
  assert.match(report, /^An image of 10 MB +Filechat +against/m);
  assert.match(report, new RegExp(`^${same} +15\\.0 ms +ok$`, 'm'));
  assert.match(report, new RegExp(`^${same} +500 ms +MISSED$`, 'm'));
});

it('a helper with a median of 500 ms fails the bench, and so does a bench without rows', () => {
  assert.deepEqual([judge(499).passed, judge(500).passed, judgeContent([]).passed], [true, false, false]);
});

it('the measured image is a whole PNG of the requested size', async () => {
  for (const bytes of [1_000, 65_536, 100_001]) {
    const png = noisyPng(bytes);
    assert.equal(png.length, bytes);
    assert.deepEqual((await sniffBytes(png))?.types[0], 'image/png');
    assert.equal(isCutPng(png), false);
  }
});
