import type { EditorResults, Gesture } from './editor.ts';
import { ASSETS, TURNS } from './editorChat.ts';
import { LONG_MS } from './editorTrace.ts';
import { alignColumns } from './report.ts';

export function renderEditorReport({ machine, activation, withFilechat, without }: EditorResults): string {
  const bare = new Map(without.map((gesture) => [gesture.what, gesture]));
  const { loadMs, callMs, finishMs, event } = activation;
  const size = `${TURNS.toLocaleString('en')} turns and ${ASSETS} assets`;
  return [
    `The editor with a chat of ${size}, on ${machine}:`,
    `longest task of the page, tasks over ${LONG_MS} ms, longest block of the extension host; then the same without Filechat`,
    '',
    alignColumns([
      ['', 'longest', `> ${LONG_MS} ms`, 'host', 'without:', 'longest', `> ${LONG_MS} ms`, 'host'],
      ...withFilechat.map((gesture) => {
        const other = bare.get(gesture.what);
        return [gesture.what, ...figures(gesture), '', ...(other ? figures(other) : ['–', '–', '–'])];
      }),
    ]),
    '',
    `Opening a plain Markdown file starts Filechat (${event}): ${loadMs} ms to load its code, ${callMs} ms to start, ${finishMs} ms until that has settled.`,
    '',
  ].join('\n');
}

function figures({ longestMs, long, hostMs }: Gesture): string[] {
  return [`${longestMs.toFixed(0)} ms`, String(long), `${hostMs.toFixed(0)} ms`];
}
