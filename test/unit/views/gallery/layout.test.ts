import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { layoutGrid, moveBy, scrollToRow, visibleRows } from '../../../../src/views/gallery/layout.ts';

const space = { minTileWidth: 100, tileHeight: 90, gap: 10 };

describe('the grid', () => {
  it('has as many columns as fit, and shares the rest', () => {
    const grid = layoutGrid({ ...space, width: 350, count: 10 });
    assert.deepEqual(grid, { columns: 3, rows: 4, tileWidth: 110, rowHeight: 100, height: 390 });
  });
  it('has one column where none fits, and no height without tiles', () => {
    assert.equal(layoutGrid({ ...space, width: 50, count: 3 }).columns, 1);
    assert.equal(layoutGrid({ ...space, width: 350, count: 0 }).height, 0);
  });
  it('shows few rows of many', () => {
    const grid = layoutGrid({ ...space, width: 350, count: 100_000 });
    assert.deepEqual(visibleRows(grid, { top: 0, height: 450 }), { start: 0, end: 7 });
    assert.deepEqual(visibleRows(grid, { top: 100_050, height: 450 }), { start: 998, end: 1007 });
    assert.deepEqual(visibleRows(grid, { top: 99_999_999, height: 450 }), {
      start: grid.rows,
      end: grid.rows,
    });
  });
  it('scrolls no further than needed', () => {
    const rows = { rowHeight: 100 };
    assert.equal(scrollToRow(rows, { top: 250, height: 400 }, 4), 250);
    assert.equal(scrollToRow(rows, { top: 250, height: 400 }, 1), 100);
    assert.equal(scrollToRow(rows, { top: 250, height: 400 }, 9), 600);
  });
});

describe('keys in a grid of 3 columns and 8 tiles', () => {
  const grid = { columns: 3, count: 8, pageRows: 2 };
  for (const [key, from, to] of [
    ['ArrowRight', 2, 3],
    ['ArrowRight', 7, 7],
    ['ArrowLeft', 0, 0],
    ['ArrowDown', 1, 4],
    ['ArrowDown', 5, 7],
    ['ArrowDown', 7, 7],
    ['ArrowUp', 4, 1],
    ['ArrowUp', 1, 1],
    ['PageDown', 1, 7],
    ['PageUp', 7, 1],
    ['Home', 5, 0],
    ['End', 0, 7],
    ['constructor', 1, undefined],
    ['Enter', 1, undefined],
  ] as const) {
    it(`${key} at ${from} → ${to}`, () => assert.equal(moveBy(key, from, grid), to));
  }
  it('lead nowhere where there is nothing', () =>
    assert.equal(moveBy('End', 0, { ...grid, count: 0 }), undefined));
});
