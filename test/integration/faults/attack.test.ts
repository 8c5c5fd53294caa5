/** Replays what `npm run attack` has found, each case with the checks of the attack. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { after, describe, it } from 'node:test';
import { Lane } from '../../attack/lane.ts';
import type { Case } from '../../attack/spec.ts';
import { root } from '../../runner/layers.ts';

/** Speed is measured by `npm run attack`, on a quiet machine. Here a case fails only if it stands still for long. */
process.env['ATTACK_STALL_MS'] = '1000';

const CASES = globSync('test/attack/found/*.json', { cwd: root }).sort();

describe('cases of an attack', { concurrency: 1 }, () => {
  const lane = new Lane();
  after(() => lane[Symbol.asyncDispose]());

  it('are there', () => assert.ok(CASES.length > 0));
  for (const file of CASES) {
    it(`${basename(file, '.json')} does no harm`, async () => {
      const attack = JSON.parse(readFileSync(join(root, file), 'utf8')) as Case;
      assert.deepEqual((await lane.shootSurely(attack)).failures, []);
    });
  }
});
