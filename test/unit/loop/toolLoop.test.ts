import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { strictest } from '../../../src/chat/format/frontMatter.ts';
import { nextAction } from '../../../src/chat/format/nextAction.ts';
import type { ModelEvent } from '../../../src/ports/models.ts';
import type { Approval } from '../../../src/ports/tools.ts';
import { showMessages } from '../model/request/requests.ts';
import { type Answer, call, HI, makes, play, result, says, scene } from './scriptedChat.ts';
import { CALL, NEXT, OK, RESULT, TURN } from './words.ts';

const secondRequest = ({ asked: [, second] }: ReturnType<typeof scene>['model']) =>
  second ? showMessages(second.request) : '';

describe('tool calls of the model', () => {
  it('run in parallel if they are read-only, with results in the order of the calls', async () => {
    const begun = { read: Promise.withResolvers<void>(), look: Promise.withResolvers<void>() };
    const { document, listener, called } = scene(
      HI,
      [makes(call('a__read', '{"n":1}'), call('a__look', '{"n":2}')), says('Both.')],
      {
        // Neither returns before both have begun, and the first one returns last.
        callTool: async ({ tool }) => {
          if (tool === 'read') {
            begun.read.resolve();
            await begun.look.promise;
            await document.holds('# %% tool a.look c2');
          } else {
            begun.look.resolve();
            await begun.read.promise;
          }
          return result(tool);
        },
      },
    );
    assert.deepEqual(await listener.run(), OK);
    assert.deepEqual(
      called.map(({ id }) => id),
      ['c1', 'c2'],
    );
    const calls = `${CALL('read', 'c1', '{"n": 1}')}\n${CALL('look', 'c2', '{"n": 2}')}`;
    const results = `${RESULT('read', 'c1', 'read')}${RESULT('look', 'c2', 'look')}`;
    assert.equal(document.text(), `${HI}\n# %% assistant\n${calls}${results}${TURN('Both.')}\n# %% user\n`);
  });

  it('wait for the calls before them if they are not read-only', async () => {
    const order: string[] = [];
    const { listener } = scene(
      HI,
      [makes(call('a__read'), call('a__write'), call('a__write', '{}', 'again')), says('Done.')],
      {
        callTool: async ({ tool, id }) => {
          order.push(`${tool} ${id} begins`);
          await setImmediate();
          order.push(`${tool} ${id} ends`);
          return result('ok');
        },
      },
    );
    assert.deepEqual(await listener.run(), OK);
    const calls = ['read c1', 'write c2', 'write c3'];
    assert.deepEqual(
      order,
      calls.flatMap((each) => [`${each} begins`, `${each} ends`]),
    );
  });

  it('are repaired before the user is asked, and the chat and the model see what was sent', async () => {
    const asked: unknown[] = [];
    const inputSchema = { type: 'object', properties: { n: { type: 'integer' } } };
    const { after, called, model } = await play(
      HI,
      [makes(call('functions.read', '{"n": "1",}')), says('OK.')],
      {
        toolInfo: { inputSchema },
        consent: (made) => {
          asked.push(made.arguments);
          return { kind: 'allow' };
        },
      },
    );
    assert.deepEqual([asked, called.map((each) => each.arguments)], [[{ n: 1 }], [{ n: 1 }]]);
    assert.match(
      after,
      /```tool_call a\.read c1\n\{"n": 1\}\n```\n<!-- filechat:repaired comments or trailing commas were removed; n: a string became a number -->\n\n# %% tool a\.read c1\n/,
    );
    assert.match(secondRequest(model), /call c1 a__read \{"n":1\}/);
  });

  const told: Record<string, [calls: readonly ModelEvent[], sees: RegExp, called: number]> = {
    'a tool that does not exist': [
      [call('a__nope')],
      /result c1 a__nope.*\n.*The server “a” has no tool “nope”\. No tool was called\. The tools of this chat: a__fail, a__look/,
      0,
    ],
    'a tool with an invalid name': [
      [call('make it so')],
      /result c1 .*\n.*(no tool|no server).*No tool was called/,
      0,
    ],
    'arguments that are not JSON': [
      [call('a__read', '{"n": ')],
      /result c1 a__read.*\n.*not valid JSON[\s\S]*The arguments were: \{"n":/,
      0,
    ],
    'arguments that are not an object': [
      [call('a__read', '[1]')],
      /result c1 a__read.*\n.*one JSON object/,
      0,
    ],
    'a tool that fails': [[call('a__fail')], /result c1 a__fail.*\n.*It failed: no paper\./, 1],
    'calls that share one id': [
      [call('a__read', '{"n":1}', 'same'), call('a__read', '{"n":2}', 'same')],
      /result c1 a__read\n.*\{"n":1\}\n *result c2 a__read\n.*\{"n":2\}/,
      2,
    ],
  };
  for (const [name, [calls, sees, times]] of Object.entries(told)) {
    it(`${name}: the model gets the result and continues`, async () => {
      const { outcome, after, called, model } = await play(HI, [makes(...calls), says('I see.')]);
      assert.deepEqual([outcome, called.length], [OK, times]);
      assert.match(secondRequest(model), sees);
      assert.ok(after.endsWith(`${TURN('I see.')}${NEXT}`), after);
    });
  }

  it('errors are marked as errors for the model', async () => {
    const { model } = await play(HI, [makes(call('a__fail'), call('a__nope')), says('I see.')]);
    const results = model.asked[1]?.request.messages.flatMap((each) =>
      each.role === 'tool' ? each.results : [],
    );
    assert.deepEqual(
      results?.map(({ isError }) => isError),
      [true, true],
    );
  });

  it('a declined call does not run, and the model gets the reason', async () => {
    const { outcome, called, model } = await play(HI, [makes(call('a__write')), says('Sorry.')], {
      consent: () => ({ kind: 'deny', reason: 'not on a Sunday' }),
    });
    assert.deepEqual([outcome, called.length], [OK, 0]);
    assert.match(secondRequest(model), /The user declined the call: not on a Sunday/);
  });

  it('a cancelled call stays pending, and nothing more runs', async () => {
    const answers = [makes(call('a__write'), call('a__read')), says('no')];
    const { outcome, after, called, model } = await play(HI, answers, {
      consent: () => ({ kind: 'cancel' }),
    });
    assert.deepEqual([outcome.ok, outcome.cancelled], [false, true]);
    assert.deepEqual([called.length, model.asked.length], [0, 1]);
    assert.equal(nextAction(after).kind, 'runTools');
  });

  it('a call whose question is withdrawn stays pending, and the chat is left as it is', async () => {
    const { outcome, after, called } = await play(HI, [makes(call('a__write'))], {
      consent: () => ({ kind: 'withdraw' }),
    });
    assert.deepEqual([outcome.ok, outcome.cancelled, outcome.untouched], [false, true, true]);
    assert.equal(called.length, 0);
    assert.equal(after, `${HI}\n# %% assistant\n${CALL('write', 'c1')}`);
  });

  it('a failed consent prompt does not lose the result of a parallel call', async () => {
    const { document, listener } = scene(HI, [makes(call('a__read', '{"n":1}'), call('a__write'))], {
      consent: ({ tool }) => {
        if (tool === 'write') throw new Error('There is no terminal to ask on.');
        return { kind: 'allow' };
      },
      callTool: async () => {
        await setImmediate();
        return result('precious');
      },
    });
    const outcome = await listener.run().catch((error: Error) => ({ ok: false, error: error.message }));
    assert.equal(outcome.error, 'There is no terminal to ask on.');
    assert.match(document.text(), /# %% tool a\.read c1\n```\nprecious/);
  });

  it('the chat’s approval mode reaches the consent prompt and can only be stricter', async () => {
    const { abouts } = await play(`---\napprove: ask\n---\n${HI}`, [makes(call('a__read')), says('.')]);
    assert.deepEqual(
      abouts.map((each) => each.approve),
      ['ask'],
    );
    const cases: readonly [user: Approval, chat: Approval | undefined, wanted: Approval][] = [
      ['auto', 'ask', 'ask'],
      ['auto', 'auto-readonly', 'auto-readonly'],
      ['ask', 'auto', 'ask'],
      ['auto', undefined, 'auto'],
    ];
    for (const [user, chat, wanted] of cases) assert.equal(strictest(user, chat), wanted);
  });

  it('a tool that the chat does not allow is not called, and the model learns why', async () => {
    const answers = [makes(call('a__write')), says('.')];
    const { called, model } = await play(`---\ntools: [a.read]\n---\n${HI}`, answers);
    assert.equal(called.length, 0);
    assert.match(secondRequest(model), /does not allow the tool a\.write/);
  });
});

describe('a run of many steps', () => {
  const loop: readonly Answer[] = Array.from({ length: 5 }, () => makes(call('a__read')));

  it('asks at the limit and continues with permission', async () => {
    const asked: number[] = [];
    const { outcome, model, called } = await play(HI, [...loop.slice(0, 3), says('Done.')], {
      maxSteps: 2,
      mayContinue: async (steps) => asked.push(steps) > 0,
    });
    assert.deepEqual([outcome, asked, model.asked.length, called.length], [OK, [2], 4, 3]);
  });

  it('ends at the limit without permission, and another run continues from there', async () => {
    const { document, listener, model, called } = scene(HI, [...loop.slice(0, 2), says('Done.')], {
      maxSteps: 2,
      mayContinue: async () => false,
    });
    const outcome = await listener.run();
    assert.match(outcome.error ?? '', /reached the limit of 2 steps/);
    assert.deepEqual([model.asked.length, called.length], [2, 1]);
    assert.equal(nextAction(document.text()).kind, 'runTools');
    assert.deepEqual(await listener.run(), OK);
    assert.deepEqual([model.asked.length, called.length], [3, 2]);
  });

  it('stops before the model gets a result that the user reviews first', async () => {
    const { document, listener, model } = scene(HI, [makes(call('a__read')), says('Seen.')], {
      reviewResults: true,
    });
    assert.deepEqual(await listener.run(), OK);
    assert.equal(model.asked.length, 1);
    assert.ok(document.text().endsWith(`${RESULT('read', 'c1', '{}')}${NEXT}`), document.text());
    // The user edits the result and runs again.
    document.type((chat) => chat.replace('```\n{}\n```', 'less'));
    assert.deepEqual(await listener.run(), OK);
    assert.match(secondRequest(model), /result c1 a__read\n.*less/);
  });
});

describe('the outcome of a run with several results', () => {
  it('is the withdrawn question rather than the failure of the call before', async () => {
    const { outcome } = await play(`# %% user\n${CALL('fail', 'c1')}\n${CALL('write', 'c2')}`, [], {
      consent: ({ tool }) => (tool === 'write' ? { kind: 'withdraw' } : { kind: 'allow' }),
    });
    assert.equal(outcome.untouched, true);
  });
});
