/** Stop, retry and resume: nothing is lost or duplicated. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseChat } from '../../../src/chat/format/parse.ts';
import type { ModelEvent } from '../../../src/ports/models.ts';
import { showMessages } from '../model/request/requests.ts';
import {
  type Answer,
  breaksOff,
  call,
  failure,
  finish,
  HI,
  hang,
  hangsAfter,
  makes,
  meanwhile,
  play,
  result,
  says,
  scene,
  text,
} from './scriptedChat.ts';
import { CALL, NEXT, OK, RESULT, roles, TURN } from './words.ts';

const INTERRUPTED = (words: string, reason = 'stopped') =>
  TURN(`${words}\n<!-- filechat:interrupted ${reason} -->`);
const sent = (model: ReturnType<typeof scene>['model']) =>
  showMessages(model.asked.at(-1)?.request ?? assert.fail('The model was not asked.'));
const idsOf = (calls: readonly { readonly id: string }[]) => calls.map(({ id }) => id);

describe('a stop', () => {
  const stopped = { ok: false, error: 'Stopped.', cancelled: true, resumable: true, assets: [] };
  const endings: Record<string, [answer: Answer, words: string, after: string]> = {
    'in the middle, of a model that then fails, keeps the partial reply with a mark': [
      hangsAfter('Half a'),
      'Half a',
      INTERRUPTED('Half a'),
    ],
    'in the middle, of a model that then ends, keeps the partial reply with a mark': [
      async function* ({ signal }) {
        yield text('Half a');
        await hang(signal).catch(() => undefined);
      },
      'Half a',
      INTERRUPTED('Half a'),
    ],
    'in the middle of code closes the fence and marks the reply': [
      hangsAfter('So:\n```js\nlet a'),
      'let a',
      INTERRUPTED('So:\n```js\nlet a\n```', 'code: stopped'),
    ],
  };
  for (const [name, [answer, words, after]] of Object.entries(endings)) {
    it(name, async () => {
      const { document, listener, model } = scene(HI, [answer]);
      const running = listener.run();
      await document.holds(words);
      listener.stop();
      assert.deepEqual(await running, stopped);
      assert.equal(model.asked[0]?.signal.aborted, true);
      assert.equal(document.text(), `${HI}${after}${NEXT}`);
      assert.equal(listener.isRunning, false);
    });
  }

  it('before the first word leaves the document unchanged', async () => {
    const asked = Promise.withResolvers<void>();
    const { document, listener } = scene(HI, [
      async function* ({ signal }) {
        asked.resolve();
        await hang(signal);
        yield finish();
      },
    ]);
    const running = listener.run();
    await asked.promise;
    listener.stop();
    assert.deepEqual(await running, { ok: false, error: 'Stopped.', cancelled: true, assets: [] });
    assert.deepEqual([document.text(), document.edits], [HI, 0]);
  });

  const waits: Record<string, [words: string, after: string]> = {
    'ends the wait': ['Half a', INTERRUPTED('Half a')],
    'in the middle of code, closes the fence': [
      '```js\nlet a',
      INTERRUPTED('```js\nlet a\n```', 'code: stopped'),
    ],
  };
  for (const [name, [words, after]] of Object.entries(waits)) {
    it(`during the wait for a retry ${name}`, async () => {
      const { document, listener, model } = scene(
        HI,
        [breaksOff([words], failure({ status: 429, retryAfterMs: 60_000 })), says('never')],
        { onReply: ({ kind }) => kind === 'waiting' && listener.stop() },
      );
      assert.deepEqual(await listener.run(), stopped);
      assert.equal(model.asked.length, 1);
      assert.equal(document.text(), `${HI}${after}${NEXT}`);
    });
  }

  it('while a tool runs: no further request to the model', async () => {
    const { listener, model } = scene(HI, [makes(call('a__read')), says('never')], {
      callTool: async (_call, signal) => {
        listener.stop();
        throw signal?.reason;
      },
    });
    assert.equal((await listener.run()).ok, false);
    assert.equal(model.asked.length, 1);
  });
});

describe('a correction below a stopped reply', () => {
  it('is sent with the partial reply', async () => {
    const { document, listener, model } = scene(HI, [hangsAfter('One, two'), says('Three, two.')]);
    const running = listener.run();
    await document.holds('One, two');
    listener.stop();
    await running;
    document.type((chat) => `${chat}Count down, please.\n`);
    assert.deepEqual(await listener.run(), OK);
    assert.match(sent(model), /One, two[\s\S]*Count down, please\./);
    assert.doesNotMatch(sent(model), /last reply was interrupted|filechat:/);
    const after = document.text();
    assert.ok(after.endsWith(`Count down, please.\n${TURN('Three, two.')}${NEXT}`), after);
  });

  /** Stops while the first of two calls runs. */
  const stopInTool = async (more: readonly Answer[]) => {
    const calls = makes(call('a__write', '{"n":1}'), call('a__write', '{"n":2}', 'again'));
    const stage = scene(HI, [calls, ...more], {
      callTool: async ({ id }, signal) => {
        if (id !== 'c1') return result('done');
        stage.listener.stop();
        throw signal?.reason;
      },
    });
    const outcome = await stage.listener.run();
    assert.deepEqual([outcome.ok, outcome.cancelled], [false, true]);
    return stage;
  };
  const STOPPED = '> ⚠ The call was stopped before its result arrived.';

  it('is sent after a stop in a tool call, and no call runs again', async () => {
    const { document, listener, model, called } = await stopInTool([says('Sorry.')]);
    const chat = document.text();
    assert.ok(chat.endsWith(`\n# %% tool a.write c1\n${STOPPED}\n${NEXT}`), chat);
    document.type((before) => `${before}Only read.\n`);
    assert.deepEqual(await listener.run(), OK);
    assert.deepEqual(idsOf(called), ['c1']);
    assert.match(sent(model), /stopped before its result arrived[\s\S]*There is no result[\s\S]*Only read\./);
  });

  it('is optional: without one, only the pending calls run', async () => {
    const { document, listener, called } = await stopInTool([says('Both.')]);
    assert.deepEqual(await listener.run(), OK);
    assert.deepEqual(idsOf(called), ['c1', 'c2']);
    assert.deepEqual(roles(document.text()), ['user', 'assistant', 'tool', 'tool', 'assistant', 'user']);
  });

  it('is sent when the user cancels a call', async () => {
    const { document, listener, model, called } = scene(HI, [makes(call('a__write')), says('I see.')], {
      consent: () => ({ kind: 'cancel' }),
    });
    assert.equal((await listener.run()).cancelled, true);
    assert.equal(document.text(), `${HI}\n# %% assistant\n${CALL('write', 'c1')}${NEXT}`);
    document.type((chat) => `${chat}Tell me first.\n`);
    assert.deepEqual(await listener.run(), OK);
    assert.equal(called.length, 0);
    assert.match(sent(model), /Tell me first\./);
  });
});

describe('a transient failure', () => {
  it('429 with Retry-After: a countdown, then one reply', async () => {
    const waits: number[] = [];
    const limited = breaksOff([], failure({ status: 429, retryAfterMs: 5 }));
    const { outcome, after, model } = await play(HI, [limited, says('Hello.')], {
      onReply: (progress) => progress.kind === 'waiting' && waits.push(progress.ms),
    });
    assert.deepEqual([outcome, waits, model.asked.length], [OK, [5], 2]);
    assert.equal(after, `${HI}${TURN('Hello.')}${NEXT}`);
  });

  it('a Retry-After of more than a few minutes is reported instead', async () => {
    const { outcome, model } = await play(HI, [breaksOff([], failure({ retryAfterMs: 3_600_000 }))]);
    assert.match(outcome.error ?? '', /wait 60 minutes/);
    assert.equal(model.asked.length, 1);
  });

  const continuations: Record<string, string> = {
    'repeats all of it': 'Hello wonderful world.',
    'only continues': 'derful world.',
    'repeats the broken word': 'wonderful world.',
  };
  for (const [name, more] of Object.entries(continuations)) {
    it(`in the middle, and the model ${name}: no text is duplicated`, async () => {
      const { outcome, after, model } = await play(HI, [breaksOff(['Hello ', 'won']), says(...more)]);
      assert.deepEqual(outcome, OK);
      assert.equal(after, `${HI}${TURN('Hello wonderful world.')}${NEXT}`);
      const asked = JSON.stringify(model.asked[1]?.request.messages);
      assert.equal(asked.split('Hello won').length, 2, 'the partial reply is sent once');
    });
  }

  it('in the middle of code: the code continues in its fence', async () => {
    const answers = [breaksOff(['So:\n```js\nlet a']), says(' = 1;\n```\nThat is it.')];
    const { outcome, after } = await play(HI, answers);
    assert.deepEqual(outcome, OK);
    assert.equal(after, `${HI}${TURN('So:\n```js\nlet a = 1;\n```\nThat is it.')}${NEXT}`);
  });

  it('after a complete call: the call runs without a second request', async () => {
    const { outcome, after, model, called } = await play(HI, [
      function* () {
        yield text('I look.');
        yield call('a__read', '{"n":1}');
        throw failure();
      },
      says('Seen.'),
    ]);
    assert.deepEqual([outcome, called.length, model.asked.length], [OK, 1, 2]);
    const made = `I look.\n\n${CALL('read', 'c1', '{"n": 1}')}${RESULT('read', 'c1', '{"n":1}')}`;
    assert.equal(after, `${HI}\n# %% assistant\n${made}${TURN('Seen.')}${NEXT}`);
  });

  /** Text and the beginning of a call, then this failure. */
  const inCall = (error: Error): Answer =>
    meanwhile(
      'I look.',
      () => {},
      function* (): Iterable<ModelEvent> {
        yield { kind: 'callInput', key: 'k', name: 'a__read', text: '{"n":' };
        throw error;
      },
    );

  it('in the middle of a call: the partial call is not written if the retry completes it', async () => {
    const answers = [inCall(failure()), makes(call('a__read', '{"n":1}')), says('Seen.')];
    const { outcome, after, called } = await play(HI, answers);
    assert.deepEqual(outcome, OK);
    assert.deepEqual(
      called.map((each) => each.arguments),
      [{ n: 1 }],
    );
    assert.equal(after.includes('tool_call_partial'), false);
    assert.equal(after.split('tool_call a.read').length, 2);
  });

  const gone = failure({ retryable: false }, 'The server has gone.');
  const permanent: Record<string, readonly Answer[]> = {
    'permanent, in the middle of a call: the partial call is kept with a mark and does not run': [
      inCall(gone),
    ],
    'permanent after a retry: the partial call is still kept': [inCall(failure()), breaksOff([], gone)],
  };
  for (const [name, answers] of Object.entries(permanent)) {
    it(name, async () => {
      const { outcome, after, called } = await play(HI, answers);
      assert.deepEqual([outcome.error, outcome.resumable], ['The server has gone.', true]);
      assert.equal(called.length, 0);
      assert.match(
        after,
        /I look\.\n\n```tool_call_partial a__read\n\{"n":\n```\n<!-- filechat:interrupted failed -->\n\n# %% user\n$/,
      );
      assert.deepEqual(
        parseChat(after).turns.flatMap((turn) => turn.calls),
        [],
      );
    });
  }

  it('that persists ends after a few attempts', async () => {
    const { outcome, after, model } = await play(HI, Array(10).fill(breaksOff([])));
    assert.match(outcome.error ?? '', /overloaded\. Gave up after 3 attempts\./);
    assert.deepEqual([model.asked.length, after], [3, HI]);
  });

  const fails = () => {
    throw failure();
  };

  it('while the user has typed the next turn: the reply continues in its place', async () => {
    const { after } = await play(`${HI}${NEXT}`, [
      meanwhile('Hello won', (live) => live.type((chat) => `${chat}And then`), fails),
      says('Hello wonderful world.'),
      says('never'),
    ]);
    assert.equal(after, `${HI}${TURN('Hello wonderful world.')}${NEXT}And then`);
  });

  it('while the user types on the line of the cursor: the model continues after the typed text', async () => {
    const typed = (chat: string) => chat.replace('<!-- filechat:writing', 'mine <!-- filechat:writing');
    const answers = [meanwhile('One.', (live) => live.type(typed), fails), says('\nTwo.')];
    const { outcome, after, model } = await play(HI, answers);
    assert.deepEqual(outcome, OK);
    assert.match(JSON.stringify(model.asked[1]?.request), /last reply was interrupted/);
    assert.equal(after, `${HI}${TURN('One.\nmine \nTwo.')}${NEXT}`);
  });
});

describe('resume', () => {
  const CUT = (words: string, reason?: string) => `${HI}${INTERRUPTED(words, reason)}`;
  const resume = (chat: string, ...answers: Answer[]) => play(chat, answers, { how: 'resume' });
  const resumed: Record<string, [before: string, more: string, after: string]> = {
    'continues in place': [CUT('Hello wor'), 'ld.', 'Hello world.'],
    'drops repeated text': [CUT('Hello wor'), 'Hello world.', 'Hello world.'],
    'continues in code': [
      CUT('```js\nlet a\n```', 'code: stopped'),
      ' = 1;\n```\nSo.',
      '```js\nlet a = 1;\n```\nSo.',
    ],
    'continues the reply of an editor that was killed': [
      `${HI}${TURN('Hello wor\n<!-- filechat:writing abc123 -->')}`,
      'ld.',
      'Hello world.',
    ],
    'keeps the user’s turns below the reply': [`${CUT('Hello wor')}${NEXT}`, 'ld.', 'Hello world.'],
    'removes the mark of a complete reply when the model adds nothing': [
      CUT('Hello world.'),
      '',
      'Hello world.',
    ],
  };
  for (const [name, [before, more, after]] of Object.entries(resumed)) {
    it(name, async () => {
      const found = await resume(before, says(...more));
      assert.deepEqual([found.outcome, found.after], [OK, `${HI}${TURN(after)}${NEXT}`]);
    });
  }

  for (const [name, more] of Object.entries({ continues: 'Hello world.', 'has nothing to add': '' })) {
    it(`keeps a message that the user has begun, and does not send it: the model ${name}`, async () => {
      const { outcome, after, model } = await resume(`${CUT('Hello wor')}${NEXT}Wait, I`, says(more));
      assert.deepEqual([outcome, after], [OK, `${HI}${TURN(more || 'Hello wor')}${NEXT}Wait, I`]);
      assert.doesNotMatch(JSON.stringify(model.asked[0]?.request), /Wait, I/);
    });
  }

  for (const [name, words] of Object.entries({ '': 'All I need.', ', even if the model adds nothing': '' })) {
    it(`runs the calls that were complete before the interruption${name}`, async () => {
      const chat = CUT(`I look.\n\n${CALL('read', 'c1').trimEnd()}`);
      const { outcome, after, called } = await resume(chat, says(...words), says('Seen.'));
      assert.deepEqual([outcome, called.length], [OK, 1]);
      assert.ok(after.endsWith(`${TURN('Seen.')}${NEXT}`), after);
      assert.deepEqual(roles(after), ['user', 'assistant', 'tool', 'assistant', 'user']);
    });
  }

  it('that fails leaves the mark, so that it can be repeated', async () => {
    const before = CUT('Hello wor');
    const { outcome, after } = await resume(before, breaksOff([], failure({ retryable: false })));
    assert.deepEqual([outcome.ok, after], [false, `${before}${NEXT}`]);
  });

  const complete: Record<string, string> = {
    'of an interrupted reply with another reply below': `${CUT('Hello wor')}${NEXT}And?\n${TURN('Yes.')}`,
    'of a chat without an interrupted reply': HI,
  };
  for (const [name, chat] of Object.entries(complete)) {
    it(`${name} fails without a request`, async () => {
      const { outcome, model } = await resume(chat, says('never'));
      assert.match(outcome.error ?? '', /no interrupted reply to resume/);
      assert.equal(model.asked.length, 0);
    });
  }
});

describe('a reply that continues', () => {
  const cut = `${HI}${INTERRUPTED('Hello')}`;

  it('keeps its text before the call that follows', async () => {
    const { after } = await play(cut, [() => [text('Hell'), call('a__read'), finish('calls')], says('.')]);
    assert.ok(after.indexOf('HelloHell') < after.indexOf('```tool_call'), after);
  });

  it('and is stopped while it repeats itself has no duplicate text', async () => {
    const { document, listener } = scene(cut, [
      async function* ({ signal }) {
        yield text('Hel');
        listener.stop();
        await hang(signal);
      },
    ]);
    await listener.run();
    assert.equal(document.text().match(/Hel/g)?.length, 1);
  });
});
