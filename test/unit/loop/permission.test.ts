import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nextAction } from '../../../src/chat/format/nextAction.ts';
import type { AboutCall, ConsentAnswer, ToolCall } from '../../../src/ports/tools.ts';
import { showMessages } from '../model/request/requests.ts';
import { call, HI, makes, type SceneOptions, says, scene } from './scriptedChat.ts';
import { CALL, NEXT, OK, RESULT, TURN } from './words.ts';

interface Question {
  readonly call: ToolCall;
  readonly about: AboutCall;
  answer(answer: ConsentAnswer): void;
}

/** A chat whose questions stay open until the test answers them, in any order. */
function open(chat: string, answers: Parameters<typeof scene>[1], options: SceneOptions = {}) {
  const questions: Question[] = [];
  const waiters: (() => void)[] = [];
  const stage = scene(chat, answers, {
    asksTogether: true,
    consent: (made, about) => {
      const { promise, resolve } = Promise.withResolvers<ConsentAnswer>();
      about.signal?.addEventListener('abort', () => resolve({ kind: 'cancel' }), { once: true });
      questions.push({ call: made, about, answer: resolve });
      for (const waiter of waiters.splice(0)) waiter();
      return promise;
    },
    ...options,
  });
  const asked = async (count: number) => {
    while (questions.length < count) await new Promise<void>((resolve) => waiters.push(resolve));
    return questions;
  };
  return { ...stage, asked };
}

const ALLOW: ConsentAnswer = { kind: 'allow', by: 'asked' };
const THREE = makes(
  call('a__write', '{"n":1}', '1'),
  call('a__read', '{}', '2'),
  call('a__write', '{}', '3'),
);

describe('questions about the calls of a turn', () => {
  it('are open at the same time, can be answered in any order, and the calls run in theirs', async () => {
    const { listener, asked, called, model, document } = open(HI, [THREE, says('Done.')]);
    const running = listener.run();
    const [first, second, third] = await asked(3);
    third?.answer({ kind: 'deny', reason: 'no' });
    second?.answer(ALLOW);
    await document.holds('declined the call: no');
    assert.equal(called.length, 0);
    first?.answer(ALLOW);
    assert.deepEqual(await running, OK);
    assert.deepEqual(
      called.map(({ id }) => id),
      ['c1', 'c2'],
    );
    assert.match(showMessages(model.asked[1]?.request ?? assert.fail()), /declined the call: no/);
    const results = [...document.text().matchAll(/# %% tool a\.\w+ (c\d)/g)].map(([, id]) => id);
    assert.deepEqual(results, ['c1', 'c2', 'c3']);
  });

  it('are at most 50; the other calls are asked about when those have run', async () => {
    const many = Array.from({ length: 52 }, (_, at) => call('a__write', '{}', `${at}`));
    const { listener, asked, called } = open(HI, [makes(...many), says('Done.')]);
    const running = listener.run();
    for (const question of await asked(50)) question.answer(ALLOW);
    const [next] = (await asked(51)).slice(50);
    assert.equal(called.length, 50);
    next?.answer(ALLOW);
    (await asked(52)).at(-1)?.answer(ALLOW);
    assert.deepEqual(await running, OK);
  });

  it('name the chat and the arguments as they are written', async () => {
    const { listener, asked } = open(HI, [THREE], { chat: () => 'file:///a.chat.md' });
    const running = listener.run();
    const [first] = await asked(3);
    assert.deepEqual([first?.about.chat, first?.about.written], ['file:///a.chat.md', '{"n": 1}\n']);
    listener.stop();
    assert.equal((await running).cancelled, true);
  });

  it('are closed by Stop: nothing runs, and the calls stay pending', async () => {
    const { listener, asked, called, document } = open(HI, [THREE]);
    const running = listener.run();
    await asked(3);
    listener.stop();
    const outcome = await running;
    assert.deepEqual([outcome.ok, outcome.cancelled, called.length], [false, true, 0]);
    const next = nextAction(document.text());
    assert.equal(next.kind === 'runTools' && next.calls.length, 3);
  });

  it('of a call from the palette are closed by Stop, too', async () => {
    const { listener, asked, called } = open('# %% user\n', []);
    const running = listener.callTool({ server: 'a', tool: 'write', arguments: {} });
    await asked(1);
    listener.stop();
    assert.equal((await running).cancelled, true);
    assert.equal(called.length, 0);
  });

  it('are closed when the run ends because a call could not be sent', async () => {
    const { listener, asked, document } = open(HI, [THREE]);
    const running = listener.run();
    const [first, , third] = await asked(3);
    document.refusesToSave = true;
    first?.answer(ALLOW);
    assert.match((await running).error ?? '', /could not be saved/);
    assert.equal(third?.about.signal?.aborted, true);
  });
});

describe('a call that the user edits while it waits', () => {
  const ONE = [makes(call('a__write', '{"n":1}')), says('Done.')];
  const edit = (chat: string) => chat.replace('{"n": 1}', '{"n": 2}');

  it('is made with the arguments that were allowed', async () => {
    const { listener, asked, called, document } = open(HI, ONE);
    const running = listener.run();
    const [question] = await asked(1);
    document.type(edit);
    question?.answer({ ...ALLOW, edited: '{"n": 2}\n' });
    assert.deepEqual(await running, OK);
    assert.deepEqual(called[0]?.arguments, { n: 2 });
  });

  it('is asked about again if it was changed once more', async () => {
    const { listener, asked, called, document } = open(HI, ONE);
    const running = listener.run();
    const [question] = await asked(1);
    document.type((chat) => chat.replace('{"n": 1}', '{"n": 3}'));
    question?.answer({ ...ALLOW, edited: '{"n": 2}\n' });
    const [, again] = await asked(2);
    assert.deepEqual([again?.call.arguments, called.length], [{ n: 3 }, 0]);
    again?.answer(ALLOW);
    await running;
    assert.deepEqual(called[0]?.arguments, { n: 3 });
  });

  it('is asked about again if it sends files now', async () => {
    const given = [{ path: '/a.csv', bytes: 3, isContent: true }];
    const { listener, asked, called, document } = open(HI, ONE, {
      files: {
        prepare: async ({ n }) => ({
          ok: true,
          notes: n === 2 ? ['n: a.csv'] : [],
          files: [],
          given: n === 2 ? given : [],
          resolve: async () => ({ ok: true, arguments: { n: 'BYTES' } }),
        }),
      },
    });
    const running = listener.run();
    const [question] = await asked(1);
    document.type(edit);
    question?.answer({ ...ALLOW, edited: '{"n": 2}\n' });
    const [, again] = await asked(2);
    assert.deepEqual([again?.about.files, called.length], [given, 0]);
    again?.answer(ALLOW);
    assert.deepEqual(await running, OK);
  });

  it('never runs with other arguments than the allowed ones', async () => {
    const { listener, asked, called, document } = open(HI, ONE);
    const running = listener.run();
    const [question] = await asked(1);
    document.type(edit);
    question?.answer(ALLOW);
    await running;
    assert.equal(called.length, 0);
  });
});

describe('a question that is withdrawn', () => {
  it('because its call was deleted leaves the others open', async () => {
    const { listener, asked, called, document } = open(HI, [THREE, says('Done.')]);
    const running = listener.run();
    const [first, second, third] = await asked(3);
    document.type((chat) => chat.replace(CALL('write', 'c1', '{"n": 1}'), ''));
    first?.answer({ kind: 'withdraw' });
    second?.answer(ALLOW);
    third?.answer(ALLOW);
    assert.deepEqual(await running, OK);
    assert.deepEqual(
      called.map(({ id }) => id),
      ['c2', 'c3'],
    );
  });

  it('by Undo leaves the chat as it is', async () => {
    const { listener, asked, called, document } = open(HI, [THREE]);
    const running = listener.run();
    const questions = await asked(3);
    document.undo(() => HI);
    for (const each of questions) each.answer({ kind: 'withdraw' });
    const outcome = await running;
    assert.deepEqual([outcome.cancelled, outcome.untouched, called.length], [true, true, 0]);
    assert.equal(document.text(), HI);
  });
});

describe('a declined call without a reason', () => {
  it('ends the run after the other calls, with a turn for the reason, which the model reads', async () => {
    const { listener, asked, called, model, document } = open(HI, [THREE, says('I see.')]);
    const running = listener.run();
    const [first, second, third] = await asked(3);
    first?.answer({ kind: 'deny', endsRun: true });
    second?.answer(ALLOW);
    third?.answer(ALLOW);
    assert.deepEqual(await running, { ...OK, declined: true });
    assert.deepEqual([called.length, model.asked.length], [2, 1]);
    assert.ok(document.text().endsWith(`${RESULT('write', 'c3', '{}')}${NEXT}`), document.text());
    document.type((chat) => `${chat}It is too late for that.\n`);
    assert.deepEqual(await listener.run(), OK);
    const request = showMessages(model.asked[1]?.request ?? assert.fail());
    assert.match(request, /The user declined the call\.[\s\S]*It is too late for that\./);
    assert.ok(document.text().endsWith(`${TURN('I see.')}${NEXT}`));
  });
});
