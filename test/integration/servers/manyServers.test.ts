/** Twenty servers, three of which hang: the others neither wait for them nor lose anything. */

import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { hostileProcess } from '../helpers/hostile.ts';
import { serve, TIMEOUT_MS } from '../helpers/serving.ts';

const HANGING = {
  /** Reads everything and answers nothing. */
  mute: hostileProcess('silent'),
  /** Never reads its input. */
  deaf: hostileProcess('deaf'),
  /** Writes to both its outputs without an end, and never an answer. */
  flood: hostileProcess('flood'),
};
const HEALTHY = Array.from({ length: 17 }, (_, at) => `s${at}`);

describe('of twenty servers', { concurrency: 1 }, () => {
  const plain = HEALTHY.map((name) => [name, hostileProcess('plain')] as const);
  const serving = serve({ after }, { ...HANGING, ...Object.fromEntries(plain) });
  const { client, call, text } = serving;

  test('seventeen answer while three have not started', async () => {
    const abort = new AbortController();
    const settled: string[] = [];
    const stuck = Object.keys(HANGING).map(async (name) => {
      await assert.rejects(call(`${name}.fine`, {}, { signal: abort.signal }), /^Error: enough$/);
      settled.push(name);
    });
    const answers = await Promise.all(HEALTHY.map((name) => text(`${name}.fine`)));
    assert.deepEqual(
      answers,
      HEALTHY.map(() => 'fine'),
    );
    const lists = await Promise.all(HEALTHY.map((name) => client.listTools(name)));
    assert.ok(lists.every(({ tools, failures }) => tools.length > 0 && failures.length === 0));
    const pids = await Promise.all(HEALTHY.map((name) => text(`${name}.pid`)));
    assert.equal(new Set(pids).size, HEALTHY.length, 'each is a process of its own');
    assert.deepEqual(settled, [], 'the calls to the three are still pending');
    const states = await client.states();
    assert.deepEqual(
      Object.keys(HANGING).map((name) => states.get(name)?.kind),
      ['starting', 'starting', 'starting'],
    );
    abort.abort(new Error('enough'));
    await Promise.all(stuck);
  });

  test('a list of all tools has those of the seventeen, and names the three', async () => {
    await Promise.all(Object.keys(HANGING).map((name) => client.stop(name)));
    // The short timeout applies only to the three starts.
    serving.timeoutMs = 1000;
    let starts = 0;
    const listening = client.onDidChange((_server, what) => {
      if (what === 'state') starts += 1;
      if (starts === Object.keys(HANGING).length) serving.timeoutMs = TIMEOUT_MS;
    });
    const { tools, failures } = await client.listTools();
    listening.dispose();
    assert.deepEqual(failures.map(({ server }) => server).sort(), ['deaf', 'flood', 'mute']);
    for (const { reason } of failures)
      assert.match(reason, /could not be started: there was no response for 1 s/);
    assert.deepEqual(new Set(tools.map(({ server }) => server)), new Set(HEALTHY));
  });
});
