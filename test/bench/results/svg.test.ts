import assert from 'node:assert/strict';
import { test } from 'node:test';
import { drawChart, type Results } from './svg.ts';
import type { Cell, Outcome } from './types.ts';

function image(client: Cell['client'], mb: number, outcome: Outcome): Cell {
  return { way: 'stdio', load: { kind: 'image', mb }, client, outcome };
}

function took(ms: number): Outcome {
  return { kind: 'measured', runs: 1, ms, rssBytes: 0, loopDelayMs: 0 };
}

function results(...cells: Cell[]): Results {
  return { date: '2026-11-16T00:00:00.000Z', node: 'v24', machine: '<2> × "fast" & small', cells };
}

test('a longer time is drawn higher up, and a larger size further right', () => {
  const svg = drawChart(results(image('ours', 1, took(10)), image('ours', 8, took(100))));
  const [[x1, y1], [x2, y2]] = polylines(svg)[0] as [[number, number], [number, number]];
  assert.ok(x2 > x1 && y2 < y1, svg);
});

test('a client that was stopped ends with a cross at the limit; failed and skipped trials are not drawn', () => {
  const svg = drawChart(
    results(
      image('sdk1', 1, took(10)),
      image('sdk1', 8, { kind: 'tooSlow' }),
      image('sdk1', 32, { kind: 'skipped' }),
      image('ours', 32, { kind: 'failed', reason: 'no' }),
    ),
  );
  assert.deepEqual(
    polylines(svg).map((points) => points.length),
    [2, 0],
  );
  assert.match(svg, /l10 10m0-10l-10 10/);
});

test('the image is well-formed for any name of the machine', () => {
  const svg = drawChart(results(image('floor', 1, took(0.4))));
  assert.doesNotMatch(svg, /NaN|Infinity|undefined|<2>|& /);
  const opened = svg.match(/<[a-z]+[^>]*[^/]>/g)?.length;
  assert.equal(opened, svg.match(/<\//g)?.length);
});

function polylines(svg: string): number[][][] {
  return [...svg.matchAll(/<polyline points="([^"]*)"/g)].map(([, points = '']) =>
    points === '' ? [] : points.split(' ').map((point) => point.split(',').map(Number)),
  );
}
