import assert from 'node:assert/strict';
import { it } from 'node:test';
import { isCutPng } from '../../../src/media/measure.ts';
import { sniffBytes } from '../../../src/media/sniff.ts';
import { type ContentResults, isContentFastEnough, renderContentReport } from './contentReport.ts';
import { noisyPng } from './contentTasks.ts';

const MB = 2 ** 20;

function results(middleMs: number): ContentResults {
  const peaks = { oursPeakBytes: 27 * MB, plainPeakBytes: 13 * MB };
  const row = { what: 'toImageContent', oursMs: 12, plainMs: 8, against: 'toString', middleMs: 15, ...peaks };
  const about = { date: '2026-11-16', node: 'v24', machine: 'one', imageBytes: 10 * MB };
  return { ...about, rows: [row, { ...row, middleMs }] };
}

it('a helper is shown with its time, its ratio to the bare work, its peak, and whether it is fast enough', () => {
  const report = renderContentReport(results(500));
  const same = 'toImageContent +12\\.0 ms +8\\.0 ms +toString +1\\.50× +27 MB +13 MB';
  assert.match(report, /^An image of 10 MB +Filechat +against/m);
  assert.match(report, new RegExp(`^${same} +15\\.0 ms +ok$`, 'm'));
  assert.match(report, new RegExp(`^${same} +500 ms +MISSED$`, 'm'));
});

it('one helper that mostly takes 500 ms fails the bench, and so does a bench that measured nothing', () => {
  assert.equal(isContentFastEnough(results(499)), true);
  assert.equal(isContentFastEnough(results(500)), false);
  assert.equal(isContentFastEnough({ ...results(1), rows: [] }), false);
});

it('the image that is measured is a whole PNG of exactly the bytes that were asked for', async () => {
  for (const bytes of [1_000, 65_536, 100_001]) {
    const png = noisyPng(bytes);
    assert.equal(png.length, bytes);
    assert.deepEqual((await sniffBytes(png))?.types[0], 'image/png');
    assert.equal(isCutPng(png), false);
  }
});
