/** Models that think again when a reply is requested again. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ModelEvent } from '../../../src/ports/models.ts';
import { type Answer, breaksOff, call, failure, finish, HI, play, text } from './scriptedChat.ts';
import { CALL, NEXT, OK, TURN } from './words.ts';

const think = (words: string): ModelEvent => ({ kind: 'reasoning', text: words });
const sign = (signature: string): ModelEvent => ({
  kind: 'metadata',
  metadata: { anthropic: { signature } },
});
const BLOCK = (words: string) =>
  `<details><summary>Reasoning</summary>\n\n\`\`\`\`reasoning\n${words}\n\`\`\`\`\n\n</details>`;

/** Some events, then a lost connection once the document contains the words. */
const breaksAfter = (words: string, ...events: readonly ModelEvent[]): Answer =>
  async function* ({ document }) {
    yield* events;
    await document.holds(words);
    throw failure();
  };

describe('a reply that broke off in its reasoning', () => {
  it('has only the reasoning of the attempt that succeeds', async () => {
    const answers = [
      breaksAfter('Let me', think('Let me')),
      breaksAfter('So I', think('So I')),
      () => [think('It is easy.'), text('Yes.'), finish()],
    ];
    const { after, outcome } = await play(HI, answers);
    assert.deepEqual(outcome, OK);
    assert.equal(after, `${HI}${TURN(`${BLOCK('It is easy.')}\n\nYes.`)}${NEXT}`);
  });

  it('keeps its reasoning if no attempt brings more', async () => {
    const gone = failure({ retryable: false }, 'The model is gone.');
    const answers = [breaksAfter('Let me', think('Let me')), breaksOff([], gone)];
    const { after } = await play(HI, answers);
    assert.equal(after, `${HI}${TURN(`${BLOCK('Let me')}\n<!-- filechat:interrupted failed -->`)}${NEXT}`);
  });

  it('keeps reasoning that the user has changed', async () => {
    const changed: Answer = async function* ({ document }) {
      document.type((chat) => chat.replace('Let me', 'Let us'));
      yield* [think('It is easy.'), text('Yes.'), finish()];
    };
    const { after } = await play(HI, [breaksAfter('Let me', think('Let me')), changed]);
    assert.equal(after, `${HI}${TURN(`${BLOCK('Let us')}\n\n${BLOCK('It is easy.')}\n\nYes.`)}${NEXT}`);
  });
});

describe('a reply that broke off in its text', () => {
  const begun = breaksAfter('Hello', think('A greeting.'), text('Hello wor'));

  it('is not divided by the reasoning of the next attempt, and repeats nothing', async () => {
    for (const words of ['Hello world.', 'ld.']) {
      const answers = [begun, () => [think('Again.'), sign('S'), text(words), finish()]];
      const { after } = await play(HI, answers);
      assert.equal(after, `${HI}${TURN(`${BLOCK('A greeting.')}\n\nHello world.`)}${NEXT}`);
    }
  });

  it('has the reasoning that led to a call', async () => {
    const made = () => [think('Look it up.'), call('a__read'), finish('calls')];
    const { after } = await play(HI, [begun, made, () => [text('Done.'), finish()]]);
    const reply = `${BLOCK('A greeting.')}\n\nHello wor\n\n${BLOCK('Look it up.')}\n\n${CALL('read', 'c1').trimEnd()}`;
    assert.ok(after.startsWith(`${HI}${TURN(reply)}`), after);
  });
});
