/** Twenty servers, three of which hang: the others neither wait for them nor lose anything to them. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServerConfig } from '../../../src/mcp/config/types.ts';
import { hostileProcess, openAll } from '../helpers/hostile.ts';
import { TIMEOUT_MS } from '../helpers/serving.ts';

const HANGING = {
  /** Reads everything and answers nothing. */
  mute: hostileProcess('silent'),
  /** Never reads what it is sent. */
  deaf: hostileProcess('deaf'),
  /** Writes to both its outputs without an end, and never an answer. */
  flood: hostileProcess('flood'),
};
const HEALTHY = Array.from({ length: 17 }, (_, at) => `s${at}`);
const SERVERS: ReadonlyMap<string, ServerConfig> = new Map([
  ...Object.entries(HANGING),
  ...HEALTHY.map((name) => [name, hostileProcess('plain')] as const),
]);

test('seventeen servers answer while three have not started', async (t) => {
  const { connections, text } = openAll(t, SERVERS);
  const abort = new AbortController();
  const settled: string[] = [];
  const stuck = Object.keys(HANGING).map(async (name) => {
    await assert.rejects(
      connections.callToolRaw(
        { id: 'c1', server: name, tool: 'fine', arguments: {} },
        { signal: abort.signal },
      ),
      /^Error: enough$/,
    );
    settled.push(name);
  });
  const answers = await Promise.all(HEALTHY.map((name) => text(name, 'fine')));
  assert.deepEqual(
    answers,
    HEALTHY.map(() => 'fine'),
  );
  const lists = await Promise.all(HEALTHY.map((name) => connections.listTools(name)));
  assert.ok(lists.every(({ tools, failures }) => tools.length > 0 && failures.length === 0));
  const pids = await Promise.all(HEALTHY.map((name) => text(name, 'pid')));
  assert.equal(new Set(pids).size, HEALTHY.length, 'each is its own process, and still the same');
  assert.deepEqual(settled, [], 'nobody gave up on the three meanwhile');
  const states = await connections.states();
  assert.deepEqual(
    Object.keys(HANGING).map((name) => states.get(name)?.kind),
    ['starting', 'starting', 'starting'],
  );
  abort.abort(new Error('enough'));
  await Promise.all(stuck);
});

test('a list of all tools has those of the seventeen, and names the three', async (t) => {
  const opened = openAll(t, SERVERS);
  const { connections, text } = opened;
  await Promise.all(HEALTHY.map((name) => text(name, 'fine')));
  // Only those that have not started yet are given this time to do so, and the others all that they need.
  opened.timeoutMs = 2000;
  let starts = 0;
  connections.onDidChange((_server, what) => {
    if (what === 'state') starts += 1;
    if (starts === Object.keys(HANGING).length) opened.timeoutMs = TIMEOUT_MS;
  });
  const { tools, failures } = await connections.listTools();
  assert.deepEqual(failures.map(({ server }) => server).sort(), ['deaf', 'flood', 'mute']);
  for (const { reason } of failures)
    assert.match(reason, /could not be started: there was no answer for 2 s/);
  assert.deepEqual(new Set(tools.map(({ server }) => server)), new Set(HEALTHY));
});
