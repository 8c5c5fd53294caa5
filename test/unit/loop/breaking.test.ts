/** Stop, retry and resume: nothing is lost or duplicated. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseChat } from '../../../src/chat/format/parse.ts';
import { showMessages } from '../model/request/requests.ts';
import {
  type Answer,
  breaksOff,
  call,
  failure,
  finish,
  HI,
  hang,
  makes,
  result,
  says,
  scene,
  text,
} from './scriptedChat.ts';
import { CALL, NEXT, OK, RESULT, roles, TURN } from './words.ts';

describe('a stop', () => {
  const stopped = { ok: false, error: 'Stopped.', cancelled: true, resumable: true, assets: [] };
  const endings: Record<string, Answer> = {
    'of a model that fails then': async function* ({ signal }) {
      yield text('Half a');
      await hang(signal);
    },
    'of a model that just ends then': async function* ({ signal }) {
      yield text('Half a');
      await hang(signal).catch(() => undefined);
    },
  };
  for (const [name, answer] of Object.entries(endings)) {
    it(`in the middle ${name}: the signal is aborted, and the partial reply stays with a mark`, async () => {
      const { document, listener, model } = scene(HI, [answer]);
      const running = listener.run();
      await document.holds('Half a');
      listener.stop();
      assert.deepEqual(await running, stopped);
      assert.equal(model.asked[0]?.signal.aborted, true);
      assert.equal(document.text(), `${HI}${TURN('Half a\n<!-- filechat:interrupted stopped -->')}${NEXT}`);
      assert.equal(listener.isRunning, false);
    });
  }

  it('in the middle of code closes the fence and marks the reply', async () => {
    const { document, listener } = scene(HI, [
      async function* ({ signal }) {
        yield text('So:\n```js\nlet a');
        await hang(signal);
      },
    ]);
    const running = listener.run();
    await document.holds('let a');
    listener.stop();
    await running;
    assert.equal(
      document.text(),
      `${HI}${TURN('So:\n```js\nlet a\n```\n<!-- filechat:interrupted code: stopped -->')}${NEXT}`,
    );
  });

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

  it('during the wait for a retry ends the wait', async () => {
    const { document, listener, model } = scene(
      HI,
      [breaksOff(['Half a'], failure({ status: 429, retryAfterMs: 60_000 })), says('never')],
      { onReply: ({ kind }) => kind === 'waiting' && listener.stop() },
    );
    assert.deepEqual(await listener.run(), stopped);
    assert.equal(model.asked.length, 1);
    assert.equal(document.text(), `${HI}${TURN('Half a\n<!-- filechat:interrupted stopped -->')}${NEXT}`);
  });

  it('during the wait for a retry, in the middle of code, closes the fence', async () => {
    const { document, listener } = scene(
      HI,
      [breaksOff(['```js\nlet a'], failure({ retryAfterMs: 60_000 })), says('never')],
      { onReply: ({ kind }) => kind === 'waiting' && listener.stop() },
    );
    assert.deepEqual(await listener.run(), stopped);
    assert.equal(
      document.text(),
      `${HI}${TURN('```js\nlet a\n```\n<!-- filechat:interrupted code: stopped -->')}${NEXT}`,
    );
  });

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
  const asked = (model: ReturnType<typeof scene>['model']) =>
    showMessages(model.asked.at(-1)?.request ?? assert.fail('The model was not asked.'));

  it('is sent with the partial reply', async () => {
    const { document, listener, model } = scene(HI, [
      async function* ({ signal }) {
        yield text('One, two');
        await hang(signal);
      },
      says('Three, two.'),
    ]);
    const running = listener.run();
    await document.holds('One, two');
    listener.stop();
    await running;
    document.type((chat) => `${chat}Count down, please.\n`);
    assert.deepEqual(await listener.run(), OK);
    assert.match(asked(model), /One, two[\s\S]*Count down, please\./);
    assert.doesNotMatch(asked(model), /cut off on its way|filechat:/);
    assert.ok(
      document.text().endsWith(`Count down, please.\n${TURN('Three, two.')}${NEXT}`),
      document.text(),
    );
  });

  /** Stops while the first of two calls runs. */
  const stopInTool = async (more: readonly Answer[]) => {
    const stage = scene(
      HI,
      [makes(call('a__write', '{"n":1}'), call('a__write', '{"n":2}', 'again')), ...more],
      {
        callTool: async ({ id }, signal) => {
          if (id !== 'c1') return result('done');
          stage.listener.stop();
          throw signal?.reason;
        },
      },
    );
    const outcome = await stage.listener.run();
    assert.deepEqual([outcome.ok, outcome.cancelled], [false, true]);
    return stage;
  };
  const STOPPED = '> ⚠ The call was stopped before it answered.';

  it('is sent after a stop in a tool call, and no call runs again', async () => {
    const { document, listener, model, called } = await stopInTool([says('Sorry.')]);
    const chat = document.text();
    assert.ok(chat.endsWith(`\n# %% tool a.write c1\n${STOPPED}\n${NEXT}`), chat);
    document.type((before) => `${before}Only read.\n`);
    assert.deepEqual(await listener.run(), OK);
    assert.deepEqual(
      called.map(({ id }) => id),
      ['c1'],
    );
    assert.match(asked(model), /stopped before it answered[\s\S]*There is no result[\s\S]*Only read\./);
  });

  it('is optional: without one, only the pending calls run', async () => {
    const { document, listener, called } = await stopInTool([says('Both.')]);
    assert.deepEqual(await listener.run(), OK);
    assert.deepEqual(
      called.map(({ id }) => id),
      ['c1', 'c2'],
    );
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
    assert.match(asked(model), /Tell me first\./);
  });
});

describe('a transient failure', () => {
  it('429 with Retry-After: a countdown, then one reply', async () => {
    const waits: number[] = [];
    const { document, listener, model } = scene(
      HI,
      [breaksOff([], failure({ status: 429, retryAfterMs: 5 })), says('Hello.')],
      { onReply: (progress) => progress.kind === 'waiting' && waits.push(progress.ms) },
    );
    assert.deepEqual(await listener.run(), OK);
    assert.deepEqual([waits, model.asked.length], [[5], 2]);
    assert.equal(document.text(), `${HI}${TURN('Hello.')}\n# %% user\n`);
  });

  it('a Retry-After of more than a few minutes is reported instead', async () => {
    const { listener, model } = scene(HI, [breaksOff([], failure({ retryAfterMs: 3_600_000 }))]);
    assert.match((await listener.run()).error ?? '', /wait 60 minutes/);
    assert.equal(model.asked.length, 1);
  });

  const continuations: Record<string, string> = {
    'says all of it again': 'Hello wonderful world.',
    'only goes on': 'derful world.',
    'says the broken word again': 'wonderful world.',
  };
  for (const [name, more] of Object.entries(continuations)) {
    it(`in the middle, and the model ${name}: no text is duplicated`, async () => {
      const { document, listener, model } = scene(HI, [breaksOff(['Hello ', 'won']), says(...more)]);
      assert.deepEqual(await listener.run(), OK);
      assert.equal(document.text(), `${HI}${TURN('Hello wonderful world.')}\n# %% user\n`);
      const asked = JSON.stringify(model.asked[1]?.request.messages);
      assert.equal(asked.split('Hello won').length, 2, 'the partial reply is sent once');
    });
  }

  it('in the middle of code: the code continues in its fence', async () => {
    const { document, listener } = scene(HI, [
      breaksOff(['So:\n```js\nlet a']),
      says(' = 1;\n```\nThat is it.'),
    ]);
    assert.deepEqual(await listener.run(), OK);
    assert.equal(document.text(), `${HI}${TURN('So:\n```js\nlet a = 1;\n```\nThat is it.')}\n# %% user\n`);
  });

  it('after a complete call: the call runs without a second request', async () => {
    const { document, listener, model, called } = scene(HI, [
      function* () {
        yield text('I look.');
        yield call('a__read', '{"n":1}');
        throw failure();
      },
      says('Seen.'),
    ]);
    assert.deepEqual(await listener.run(), OK);
    assert.deepEqual([called.length, model.asked.length], [1, 2]);
    assert.equal(
      document.text(),
      `${HI}\n# %% assistant\nI look.\n\n${CALL('read', 'c1', '{"n": 1}')}${RESULT('read', 'c1', '{"n":1}')}${TURN('Seen.')}\n# %% user\n`,
    );
  });

  it('in the middle of a call: the partial call is not written if the retry completes it', async () => {
    const { document, listener, called } = scene(HI, [
      async function* ({ document: live }) {
        yield text('I look.');
        await live.holds('I look.');
        yield { kind: 'callInput', key: 'k', name: 'a__read', text: '{"n":' };
        throw failure();
      },
      makes(call('a__read', '{"n":1}')),
      says('Seen.'),
    ]);
    assert.deepEqual(await listener.run(), OK);
    assert.deepEqual(
      called.map((each) => each.arguments),
      [{ n: 1 }],
    );
    assert.equal(document.text().includes('tool_call_partial'), false);
    assert.equal(document.text().split('tool_call a.read').length, 2);
  });

  it('permanent, in the middle of a call: the partial call is kept with a mark and does not run', async () => {
    const { document, listener, called } = scene(HI, [
      function* () {
        yield text('I look.');
        yield { kind: 'callInput', key: 'k', name: 'a__read', text: '{"n":' };
        throw failure({ retryable: false }, 'The server has gone.');
      },
    ]);
    const outcome = await listener.run();
    assert.deepEqual([outcome.error, outcome.resumable], ['The server has gone.', true]);
    assert.equal(called.length, 0);
    assert.match(
      document.text(),
      /I look\.\n\n```tool_call_partial a__read\n\{"n":\n```\n<!-- filechat:interrupted failed -->\n\n# %% user\n$/,
    );
    assert.deepEqual(
      parseChat(document.text()).turns.flatMap((turn) => turn.calls),
      [],
    );
  });

  it('permanent after a retry: the partial call is still kept', async () => {
    const { document, listener, called } = scene(HI, [
      function* () {
        yield text('I look.');
        yield { kind: 'callInput', key: 'k', name: 'a__read', text: '{"n":' };
        throw failure();
      },
      breaksOff([], failure({ retryable: false }, 'The server has gone.')),
    ]);
    const outcome = await listener.run();
    assert.deepEqual([outcome.error, outcome.resumable], ['The server has gone.', true]);
    assert.equal(called.length, 0);
    assert.match(
      document.text(),
      /I look\.\n\n```tool_call_partial a__read\n\{"n":\n```\n<!-- filechat:interrupted failed -->\n\n# %% user\n$/,
    );
  });

  it('that persists ends after a few attempts', async () => {
    const { document, listener, model } = scene(HI, Array(10).fill(breaksOff([])));
    const outcome = await listener.run();
    assert.match(outcome.error ?? '', /overloaded\. Gave up after 6 attempts\./);
    assert.deepEqual([model.asked.length, document.text()], [6, HI]);
  });

  it('while the user has typed the next turn: the reply continues in its place', async () => {
    const { document, listener } = scene(`${HI}\n# %% user\n`, [
      async function* ({ document: live }) {
        yield text('Hello won');
        await live.holds('Hello won');
        live.type((chat) => `${chat}And then`);
        throw failure();
      },
      says('Hello wonderful world.'),
      says('(Nobody asked for this.)'),
    ]);
    await listener.run();
    assert.equal(document.text(), `${HI}${TURN('Hello wonderful world.')}\n# %% user\nAnd then`);
  });
});

describe('a transient failure while the user types on the line of the cursor', () => {
  it('the model continues after the typed text', async () => {
    const { document, listener, model } = scene(HI, [
      async function* ({ document: live }) {
        yield text('One.');
        await live.holds('One.');
        live.type((chat) => chat.replace('<!-- filechat:writing', 'mine <!-- filechat:writing'));
        throw failure();
      },
      says('\nTwo.'),
    ]);
    assert.deepEqual(await listener.run(), OK);
    assert.match(JSON.stringify(model.asked[1]?.request), /cut off on its way/);
    assert.equal(document.text(), `${HI}${TURN('One.\nmine \nTwo.')}\n# %% user\n`);
  });
});

describe('resume', () => {
  const CUT = (words: string, reason = 'stopped') =>
    `${HI}${TURN(`${words}\n<!-- filechat:interrupted ${reason} -->`)}`;
  const cut: Record<string, [before: string, more: string, after: string]> = {
    'goes on in place': [CUT('Hello wor'), 'ld.', 'Hello world.'],
    'drops what is said again': [CUT('Hello wor'), 'Hello world.', 'Hello world.'],
    'goes on in code': [
      CUT('```js\nlet a\n```', 'code: stopped'),
      ' = 1;\n```\nSo.',
      '```js\nlet a = 1;\n```\nSo.',
    ],
    'takes up what a killed editor left': [
      `${HI}${TURN('Hello wor\n<!-- filechat:writing abc123 -->')}`,
      'ld.',
      'Hello world.',
    ],
  };
  for (const [name, [before, more, after]] of Object.entries(cut)) {
    it(name, async () => {
      const { document, listener } = scene(before, [says(...more)]);
      assert.deepEqual(await listener.resume(), OK);
      assert.equal(document.text(), `${HI}${TURN(after)}\n# %% user\n`);
    });
  }

  it('keeps the user’s turns below the reply', async () => {
    const { document, listener } = scene(`${CUT('Hello wor')}\n# %% user\n`, [says('ld.')]);
    assert.deepEqual(await listener.resume(), OK);
    assert.equal(document.text(), `${HI}${TURN('Hello world.')}\n# %% user\n`);
  });

  for (const [name, more] of Object.entries({ 'goes on': 'Hello world.', 'has nothing to add': '' })) {
    it(`keeps a message that the user has begun, and does not send it: the model ${name}`, async () => {
      const { document, listener, model } = scene(`${CUT('Hello wor')}${NEXT}Wait, I`, [says(more)]);
      assert.deepEqual(await listener.resume(), OK);
      const whole = more === '' ? 'Hello wor' : more;
      assert.equal(document.text(), `${HI}${TURN(whole)}${NEXT}Wait, I`);
      assert.doesNotMatch(JSON.stringify(model.asked[0]?.request), /Wait, I/);
    });
  }

  it('of an interrupted reply with another reply below fails without a request', async () => {
    const { listener, model } = scene(`${CUT('Hello wor')}${NEXT}And?\n${TURN('Yes.')}`, [says('never')]);
    assert.match((await listener.resume()).error ?? '', /no interrupted reply to resume/);
    assert.equal(model.asked.length, 0);
  });

  it('runs the calls that were complete before the interruption', async () => {
    const { document, listener, called } = scene(CUT(`I look.\n\n${CALL('read', 'c1').trimEnd()}`), [
      says('That is all I need.'),
      says('Seen.'),
    ]);
    assert.deepEqual(await listener.resume(), OK);
    assert.equal(called.length, 1);
    assert.ok(document.text().endsWith(`${TURN('Seen.')}\n# %% user\n`), document.text());
    assert.deepEqual(roles(document.text()), ['user', 'assistant', 'tool', 'assistant', 'user']);
  });

  it('runs the calls that were complete before the interruption even if the model adds nothing', async () => {
    const { document, listener, called } = scene(CUT(`I look.\n\n${CALL('read', 'c1').trimEnd()}`), [
      says(),
      says('Seen.'),
    ]);
    assert.deepEqual(await listener.resume(), OK);
    assert.equal(called.length, 1);
    assert.ok(document.text().endsWith(`${TURN('Seen.')}\n# %% user\n`), document.text());
  });

  it('removes the mark of a complete reply when the model adds nothing', async () => {
    const { document, listener } = scene(CUT('Hello world.'), [says()]);
    await listener.resume();
    assert.equal(document.text(), `${HI}${TURN('Hello world.')}\n# %% user\n`);
  });

  it('that fails leaves the mark, so that it can be repeated', async () => {
    const before = CUT('Hello wor');
    const { document, listener } = scene(before, [breaksOff([], failure({ retryable: false }))]);
    assert.equal((await listener.resume()).ok, false);
    assert.equal(document.text(), `${before}${NEXT}`);
  });

  it('of a chat without an interrupted reply fails without a request', async () => {
    const { listener, model } = scene(HI, [says('never')]);
    assert.match((await listener.resume()).error ?? '', /no interrupted reply to resume/);
    assert.equal(model.asked.length, 0);
  });
});

describe('a reply that continues', () => {
  const cut = `${HI}\n# %% assistant\nHello\n<!-- filechat:interrupted stopped -->\n`;

  it('keeps its text before the call that follows', async () => {
    const { document, listener } = scene(cut, [
      () => [text('Hell'), call('a__read'), finish('calls')],
      says('.'),
    ]);
    await listener.run();
    const chat = document.text();
    assert.ok(chat.indexOf('HelloHell') < chat.indexOf('```tool_call'), chat);
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
