/** The turn loop while the user types: any schedule of replies, typing and lost connections. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parseChat } from '../../../src/chat/format/parse.ts';
import type { ModelEvent } from '../../../src/ports/models.ts';
import { failure, finish, type MemoryDocument, scene, text } from './scriptedChat.ts';

type Step =
  /** The model sends a word; the schedule may wait until it is in the document. */
  | { readonly kind: 'say'; readonly gap: string; readonly isAwaited: boolean }
  | { readonly kind: 'type'; readonly place: Place; readonly share: number; readonly words: string }
  /** The connection is lost, and the model continues. */
  | { readonly kind: 'break' };

const PLACES = ['above', 'inside', 'before the cursor', 'behind the cursor', 'below', 'at the end'] as const;
type Place = (typeof PLACES)[number];

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('say' as const),
      gap: fc.constantFrom(' ', '\n', '\n\n', ' , '),
      isAwaited: fc.boolean(),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('type' as const),
      place: fc.constantFrom(...PLACES),
      share: fc.double({ min: 0, max: 1, noNaN: true }),
      words: fc.constantFrom('', ' hm', '\n', '\n\n', '`', '<!--', '\n- a\n'),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'break' as const }) },
);

const CURSOR = /<!-- filechat:writing [a-z0-9]+ -->/;

/** Types between unique signs. Before the reply has begun there is only “above” and “at the end”. */
function type(document: MemoryDocument, { place, share, words }: Extract<Step, { kind: 'type' }>): void {
  document.type((chat) => {
    const eol = chat.includes('\r\n') ? '\r\n' : '\n';
    const at = placeOf(chat, place, share);
    // The reply continues above the line of the cursor, so the typed text must be one line.
    const isAtCursor = /^[^\n]*<!-- filechat:writing/.test(chat.slice(at));
    const typed = isAtCursor ? words.replaceAll('\n', ' ') : words.replaceAll('\n', eol);
    return `${chat.slice(0, at)}«${typed}»${chat.slice(at)}`;
  });
}

function placeOf(chat: string, place: Place, share: number): number {
  const cursor = CURSOR.exec(chat);
  const within = (from: number, to: number) => {
    const at = from + Math.floor((to - from) * share);
    return chat[at - 1] === '\r' && chat[at] === '\n' ? at - 1 : at;
  };
  if (place === 'at the end') return chat.length;
  if (place === 'above' || !cursor) return within(chat.indexOf('q'), chat.indexOf('n'));
  const lineStart = chat.lastIndexOf('\n', cursor.index) + 1;
  const body = chat.indexOf('\n', chat.lastIndexOf('# %% assistant', cursor.index)) + 1;
  if (place === 'inside') return within(body, lineStart);
  if (place === 'before the cursor') return cursor.index;
  if (place === 'behind the cursor') return cursor.index + cursor[0].length;
  return chat.indexOf('\n', cursor.index) + 1 || chat.length;
}

function withoutTyping(chat: string): string {
  for (let rest = chat; ; ) {
    const less = rest.replace(/«[^«»]*»/, '');
    if (less === rest) return rest;
    rest = less;
  }
}

/** White space and a user marker may be added around typed text; words may not change. */
const wordsOf = (chat: string) =>
  chat
    .replaceAll('# %% user', '')
    .split(/\s+/)
    .filter((word) => word !== '');

/** The schedule as responses of a model, a new one after each lost connection. */
function play(schedule: readonly Step[], said: string[]) {
  const queue = [...schedule, { kind: 'say' as const, gap: ' ', isAwaited: true }];
  return async function* ({ document }: { document: MemoryDocument }): AsyncIterable<ModelEvent> {
    for (let next = queue.shift(); next; next = queue.shift()) {
      if (next.kind === 'break') throw failure({ retryAfterMs: 0 });
      if (next.kind === 'type') type(document, next);
      else {
        const word = `m${said.length}.`;
        const gap = said.length === 0 ? '' : next.gap;
        said.push(gap + word);
        yield text(gap + word);
        if (next.isAwaited) await document.holds(word);
      }
    }
    yield finish();
  };
}

/** A reply that breaks off more often is not retried. */
function withTwoBreaks(schedule: readonly Step[]): readonly Step[] {
  let breaks = 0;
  return schedule.filter(({ kind }) => {
    if (kind === 'break') breaks += 1;
    return kind !== 'break' || breaks <= 2;
  });
}

describe('typing during a reply', () => {
  it('loses no text of the user or the model, wherever and whenever it happens', async () => {
    const schedules = fc.array(step, { maxLength: 14 }).map(withTwoBreaks);
    await fc.assert(
      fc.asyncProperty(schedules, fc.boolean(), fc.boolean(), async (schedule, crlf, hasTurnBelow) => {
        const chat = `# %% user\nquestion\n${hasTurnBelow ? '\n# %% user\n' : ''}`;
        const said: string[] = [];
        const answer = play(schedule, said);
        const { document, listener, model, rescued } = scene(
          crlf ? chat.replaceAll('\n', '\r\n') : chat,
          Array(20).fill(answer),
        );
        const outcome = await listener.run();
        const after = document.text();
        assert.deepEqual([outcome.ok, outcome.error, rescued], [true, undefined, []]);
        assert.equal(model.asked.length, 1 + schedule.filter(({ kind }) => kind === 'break').length);
        assert.equal(after.includes('filechat:'), false, 'the cursor is gone');
        const typed = schedule.filter(({ kind }) => kind === 'type').length;
        assert.equal(after.split('«').length - 1, typed);
        assert.deepEqual(
          wordsOf(withoutTyping(after)),
          wordsOf(`# %% user\nquestion\n# %% assistant\n${said.join('')}\n# %% user\n`),
        );
        const roles = parseChat(after).turns.map(({ role }) => role);
        assert.deepEqual(
          roles.filter((role, at) => role !== roles[at - 1]),
          ['user', 'assistant', 'user'],
        );
        if (crlf) assert.equal(after.replaceAll('\r\n', '').includes('\n'), false, 'line ends stay');
      }),
      { numRuns: 150 },
    );
  });
});
