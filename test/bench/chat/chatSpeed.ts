import MarkdownIt from 'markdown-it';
import { nextAction } from '../../../src/chat/format/nextAction.ts';
import { ChatReader, parseChat } from '../../../src/chat/format/parse.ts';
import { ReplyEscaper } from '../../../src/chat/reply/escapeReply.ts';
import { InlineReasoning } from '../../../src/chat/reply/incoming.ts';
import { appendToReply, openReply } from '../../../src/chat/reply/place.ts';
import { estimateRequest } from '../../../src/model/request/estimate.ts';
import { buildRequest } from '../../../src/model/request/request.ts';
import type { TextEdit } from '../../../src/ports/document.ts';
import { planLenses } from '../../../src/vscode/run/lensPlan.ts';
import { measureMs, median } from '../frame.ts';
import type { ChatRow, Target } from './chatReport.ts';
import { flatten, makeChat } from './chatTexts.ts';

const TURNS = [10, 1_000, 10_000];
const ROUNDS = 7;
/** Shorter work is repeated until it has taken this long. */
const MIN_MS = 20;
const REPLY_CHARS = 400_000;
const AFTER_EDIT: Target = { kind: 'maxShare', share: 0.05 };

/** Work on the text of a chat, relative to markdown-it, which parses the same text in the same rounds. */
export async function measureSpeed(): Promise<readonly ChatRow[]> {
  const rows: ChatRow[] = [];
  for (const turns of TURNS) rows.push(...(await measureChat(turns, turns === TURNS.at(-1))));
  return rows;
}

interface Task {
  readonly what: string;
  readonly target?: Target | undefined;
  readonly work: () => unknown;
}

async function measureChat(turns: number, isLargest: boolean): Promise<readonly ChatRow[]> {
  const text = makeChat(turns);
  const name = `${turns.toLocaleString('en')} turns`;
  const tasks = [...readingTasks(text, isLargest), ...(isLargest ? heavyTasks(text) : [])];
  const markdown = new MarkdownIt();
  const times = new Map<Task, number[]>(tasks.map((task) => [task, []]));
  const theirs: number[] = [];
  // The round before the first warms up.
  for (let round = -1; round < ROUNDS; round += 1) {
    const theirMs = await time(() => markdown.parse(text, {}));
    if (round >= 0) theirs.push(theirMs);
    for (const [task, taken] of times) {
      const ms = await time(task.work);
      if (round >= 0) taken.push(ms);
    }
  }
  const against = { unit: 'ms', against: 'markdown-it', theirs: median(theirs) } as const;
  return [...times].map(([{ what, target }, taken]) => ({
    what: `${name}: ${what}`,
    ours: median(taken),
    ...against,
    target,
  }));
}

function readingTasks(text: string, isLargest: boolean): readonly Task[] {
  return [
    { what: 'parse and next action', work: () => nextAction(text, parseChat(text)) },
    {
      what: 'the same after an edit at the end',
      work: editing(text, text.length, (reader, edited) => nextAction(edited, reader.read(edited))),
      target: isLargest ? AFTER_EDIT : undefined,
    },
  ];
}

/** The work of the editor for each keystroke, each batch of a reply, and each pause. */
function heavyTasks(text: string): readonly Task[] {
  const lenses = (reader: ChatReader, edited: string) => planLenses(edited, reader.read(edited), false);
  const middle = text.indexOf('# %% user', text.length / 2) + 20;
  const oneLine = text.slice(0, REPLY_CHARS).replaceAll('\n', ' ');
  const open = flatten(apply(text, openReply(text, 'bench')));
  return [
    { what: 'one keystroke at the end, with lenses', work: editing(text, text.length, lenses) },
    { what: 'one keystroke in the middle, with lenses', work: editing(text, middle, lenses) },
    { what: 'one keystroke in the first turn, with lenses', work: editing(text, 20, lenses) },
    { what: 'where the next words of a reply go', work: () => appendToReply(open, 'bench', 'word') },
    { what: 'a reply of 400 KB in tokens', work: () => streamTokens(text.slice(0, REPLY_CHARS)) },
    { what: 'the same on one line', work: () => streamTokens(oneLine) },
    { what: 'the next request, and its tokens', work: () => estimate(text) },
  ];
}

/** Alternately adds and removes a letter. */
function editing(text: string, at: number, work: (reader: ChatReader, edited: string) => unknown) {
  const reader = new ChatReader();
  const texts = [flatten(`${text.slice(0, at)}x${text.slice(at)}`), text];
  let edits = 0;
  reader.read(text);
  return () => {
    const edited = texts[edits % 2] ?? text;
    edits += 1;
    return work(reader, edited);
  };
}

/** A model's text on its way to the file, in pieces of four characters. */
function streamTokens(text: string): string {
  const reasoning = new InlineReasoning(true);
  const escaper = new ReplyEscaper();
  let written = '';
  for (let at = 0; at < text.length; at += 4)
    for (const event of reasoning.read({ kind: 'text', text: text.slice(at, at + 4) }))
      if (event.kind === 'text') written += escaper.push(event.text);
  return written + escaper.end();
}

async function estimate(text: string) {
  const nothing = { find: () => Promise.reject(new Error('there are no files')) };
  const model = { name: 'bench', accepts: () => true };
  return estimateRequest((await buildRequest(text, { model, tools: [], attachments: nothing })).request);
}

function apply(text: string, edit: TextEdit | undefined): string {
  if (!edit) throw new Error('The reply has no place in the chat.');
  return text.slice(0, edit.start) + edit.text + text.slice(edit.end);
}

/** The average time of one run in milliseconds. */
async function time(work: () => unknown): Promise<number> {
  let total = 0;
  for (let times = 1; ; times += 1) {
    total += await measureMs(work);
    if (total >= MIN_MS) return total / times;
  }
}
