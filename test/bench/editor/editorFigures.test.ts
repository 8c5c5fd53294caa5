import assert from 'node:assert/strict';
import { it } from 'node:test';
import { oursIn } from './editorHost.ts';
import { summarize } from './editorTrace.ts';

it('a long task belongs to the document in which it spent the most time', () => {
  const event = (name: string, ts: number, more: object) => ({ pid: 1, tid: 2, name, ts, ...more });
  const task = (ts: number, ms: number) =>
    event('ThreadControllerImpl::RunTask', ts, { dur: ms * 1_000, tdur: ms * 500 });
  const call = (ts: number, ms: number, frame: string) =>
    event('FunctionCall', ts, { dur: ms * 1_000, args: { data: { frame } } });
  const frames = [
    { frame: 'page', url: 'http://localhost/' },
    { frame: 'outer', parent: 'page', url: 'http://localhost/index.html?extensionId=a.b' },
    { frame: 'inner', parent: 'outer', url: 'http://localhost/fake.html' },
  ];
  const busy = summarize([
    event('thread_name', 0, { args: { name: 'CrRendererMain' } }),
    event('TracingStartedInBrowser', 0, { args: { data: { frames } } }),
    task(0, 120),
    call(10, 100, 'page'),
    call(20, 10, 'inner'),
    task(200_000, 300),
    call(200_010, 200, 'inner'),
    task(900_000, 20),
    { ...task(900_000, 999), tid: 3 },
  ]);
  assert.deepEqual(busy, {
    workbench: { longestMs: 120, cpuMs: 60, long: 1 },
    webviews: { longestMs: 300, cpuMs: 150, long: 1 },
  });
});

it('Filechat’s share of the host includes the functions that it calls', () => {
  const urls = [
    '',
    'file:///extensions/filechat.filechat-1.0.0/dist/extension.js',
    'node:fs',
    'file:///other.js',
  ];
  const children = [[2, 4], [3], [], []];
  const nodes = urls.map((url, at) => ({ id: at + 1, children: children[at] ?? [], callFrame: { url } }));
  const found = oursIn({ nodes, samples: [2, 3, 4, 2], timeDeltas: [0, 1_000, 2_000, 4_000, 8_000] });
  assert.deepEqual(found, { oursMs: 8, oursTotalMs: 11 });
});
