/** A call is sent only once, however the process ends. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nextAction } from '../../../src/chat/format/nextAction.ts';
import { call, HI, makes, play, result, says, scene } from './scriptedChat.ts';
import { CALL, OK } from './words.ts';

const UNKNOWN = /^> ⚠ The outcome of this call is unknown: .* it was not sent again\.$/m;

/** The chat as the next process finds it after a kill while the tool runs. */
async function killedWhileItWorks(chat: string, answers: Parameters<typeof scene>[1]): Promise<string> {
  let found = '';
  const { document, listener } = scene(chat, answers, {
    callTool: async () => {
      found ||= document.saved;
      return result('done');
    },
  });
  await listener.run();
  assert.doesNotMatch(document.text(), /filechat:sent/);
  return found;
}

describe('a call whose run was killed', () => {
  it('of the model is not sent again: the model learns that the outcome is unknown', async () => {
    const found = await killedWhileItWorks(HI, [makes(call('a__write')), says('.')]);
    const { outcome, after, model, called } = await play(found, [says('I see.')]);
    assert.deepEqual([outcome, called.length], [OK, 0]);
    assert.match(after, UNKNOWN);
    assert.doesNotMatch(after, /filechat:sent/);
    assert.match(JSON.stringify(model.asked[0]?.request.messages), /outcome of this call is unknown/);
  });

  it('of the user is not sent again: the user learns that the outcome is unknown', async () => {
    const found = await killedWhileItWorks(`# %% user\n${CALL('write', 'c1')}`, []);
    const { outcome, after, called } = await play(found, []);
    assert.match(outcome.error ?? '', /^The outcome of this call is unknown/);
    assert.equal(called.length, 0);
    assert.match(after, UNKNOWN);
    assert.ok(after.endsWith('\n# %% user\n'));
  });

  it('does not prevent the calls after it', async () => {
    const found = await killedWhileItWorks(`# %% user\n${CALL('write', 'c1')}\n${CALL('write', 'c2')}`, []);
    const { after, called } = await play(found, []);
    assert.deepEqual(
      called.map(({ id }) => id),
      ['c2'],
    );
    assert.match(after, /# %% tool a\.write c1\n> ⚠ [^#]*\n# %% tool a\.write c2\n```\n/);
  });
});

it('a call is not sent when the chat cannot be saved, and stays pending', async () => {
  const { document, listener, called } = scene(HI, [makes(call('a__write')), says('never')]);
  document.refusesToSave = true;
  const outcome = await listener.run();
  assert.deepEqual([outcome.ok, outcome.cancelled, called.length], [false, true, 0]);
  assert.match(outcome.error ?? '', /not sent, because the chat could not be saved/);
  const action = nextAction(document.text());
  assert.deepEqual(action.kind === 'runTools' && action.calls.map(({ id }) => id), ['c1']);
});
