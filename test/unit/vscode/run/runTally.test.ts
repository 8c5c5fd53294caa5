import assert from 'node:assert/strict';
import { it } from 'node:test';
import { RunTally } from '../../../../src/vscode/run/costText.ts';

it('a run counts the tokens of all its replies and calls', () => {
  let nowMs = 10_000;
  const tally = new RunTally(() => nowMs);
  assert.equal(tally.tokens, 0);
  tally.update({ kind: 'asking', model: 'm' });
  tally.update({ kind: 'writing', chars: 40 });
  tally.update({ kind: 'writing', chars: 80 });
  tally.update({ kind: 'calling', name: 'a.b', chars: 8 });
  tally.update({ kind: 'calling', name: 'a.b', chars: 12 });
  assert.equal(tally.tokens, 25);
  // The next reply starts.
  tally.update({ kind: 'writing', chars: 4 });
  assert.equal(tally.tokens, 26);
  nowMs = 22_900;
  assert.equal(tally.seconds, 12);
  nowMs = 9_000;
  assert.equal(tally.seconds, 0);
});
