import { alignColumns } from '../report.ts';
import type { EditorResults, Gesture, Trial } from './editor.ts';
import { ASSETS, TURNS } from './editorChat.ts';
import { LONG_MS } from './editorTrace.ts';

/** What is told of each gesture, as the median of its trials and the most. */
const FIGURES: readonly (readonly [string, (trial: Trial) => number])[] = [
  ['workbench', ({ workbench }) => workbench.longestMs],
  ['CPU', ({ workbench }) => workbench.cpuMs],
  ['webview', ({ webviews }) => webviews.longestMs],
  ['CPU', ({ webviews }) => webviews.cpuMs],
  ['host', ({ host }) => host.longestMs],
  ['ours', ({ host }) => host.oursMs],
  ['all ours', ({ host }) => host.oursTotalMs],
];

export function renderEditorReport({ machine, activation, withFilechat, without }: EditorResults): string {
  const bare = new Map(without.map((gesture) => [gesture.what, gesture]));
  const { loadMs, callMs, finishMs, event } = activation;
  const size = `${TURNS.toLocaleString('en')} turns and ${ASSETS} assets`;
  return [
    `The editor with a chat of ${size}, on ${machine}.`,
    'In milliseconds, the median of the trials and the most: the longest task of the workbench and what it took of the',
    'processor, the same of the previews and galleries in it; the longest block of the extension host, the longest time',
    `of Filechat's code in it, and all of that. The last column counts the tasks over ${LONG_MS} ms of all trials.`,
    '',
    alignColumns([
      ['', ...FIGURES.map(([name]) => name), `> ${LONG_MS} ms`],
      ...withFilechat.flatMap((gesture) => {
        const other = bare.get(gesture.what);
        return [
          [gesture.what, ...figures(gesture)],
          ...(other ? [['  without Filechat', ...figures(other)]] : []),
        ];
      }),
    ]),
    '',
    `Opening a plain Markdown file starts Filechat (${event}): ${loadMs} ms to load its code, ${callMs} ms to start, ${finishMs} ms until that has settled.`,
    '',
  ].join('\n');
}

function figures({ trials }: Gesture): string[] {
  const long = trials.map(({ workbench, webviews }) => workbench.long + webviews.long);
  return [
    ...FIGURES.map(([, read]) => medianAndMost(trials.map((trial) => read(trial)))),
    String(long.reduce((sum, each) => sum + each, 0)),
  ];
}

function medianAndMost(times: readonly number[]): string {
  const inOrder = times.toSorted((a, b) => a - b);
  const median = inOrder[Math.floor(inOrder.length / 2)] ?? 0;
  return `${median.toFixed(0)} / ${(inOrder.at(-1) ?? 0).toFixed(0)}`;
}
