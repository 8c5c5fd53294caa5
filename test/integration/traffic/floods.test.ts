/** Servers that send more than anybody can read. What reaches the listeners is counted. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ToolProgress } from '../../../src/ports/tools.ts';
import { serve } from '../helpers/serving.ts';
import { scriptServer } from './site.ts';

const SENT = 1000;

const SCRIPT = `
  tools('progress', 'changes', 'logs', 'ping');
  const many = (notify) => { for (let at = 1; at <= ${SENT}; at += 1) notify(at); };
  const CALLS = {
    ping: () => {},
    progress: ({ _meta }) => many((progress) => send({
      method: 'notifications/progress',
      params: { progressToken: _meta.progressToken, progress, total: ${SENT} },
    })),
    changes: () => many(() => send({ method: 'notifications/tools/list_changed' })),
    logs: () => many((at) => {
      send({ method: 'notifications/message', params: { level: 'info', data: 'message ' + at } });
      send({ method: 'notifications/message', params: { level: 'info', data: 'again ' + at } });
      process.stderr.write('line ' + at + '\\nagain ' + at + '\\n');
    }),
  };
  on('tools/call', (params) => {
    CALLS[params.name](params);
    return text('done');
  });
`;

describe('a flood', () => {
  test('of progress, in three calls of each of eight servers, reaches the listener in few reports, the last included', async (t) => {
    const script = await scriptServer(t, SCRIPT);
    const names = Array.from({ length: 8 }, (_, at) => `s${at}`);
    const { call, text } = serve(t, Object.fromEntries([...names, 'calm'].map((name) => [name, script])));
    const flooded = [...names, ...names, ...names].map(async (name) => {
      const seen: ToolProgress[] = [];
      await call(`${name}.progress`, {}, { onProgress: (progress) => seen.push(progress) });
      return [...seen];
    });
    assert.equal(await text('calm.ping'), 'done');
    for (const seen of await Promise.all(flooded)) {
      assert.deepEqual(seen.at(-1), { done: SENT, total: SENT }, 'the last is reported before the result');
      assert.ok(seen.length < SENT / 2, `${seen.length} of ${SENT} were reported`);
    }
  });

  test('of changed lists becomes a few changes, the last after all of them', async (t) => {
    const { client, text } = serve(t, { a: await scriptServer(t, SCRIPT) });
    await text('a.ping');
    let changes = 0;
    let changed = Promise.withResolvers<void>();
    client.onDidChange((_server, what) => {
      if (what !== 'tools') return;
      changes += 1;
      changed.resolve();
    });
    await text('a.changes');
    assert.ok(changes >= 1 && changes < SENT / 2, `${changes} of ${SENT}`);
    changed = Promise.withResolvers();
    await changed.promise;
  });

  test('of log messages and of stderr fills no log', async (t) => {
    const { logged, text } = serve(t, { a: await scriptServer(t, SCRIPT) });
    await text('a.logs');
    await text('a.ping');
    const count = (pattern: RegExp) => logged.filter((line) => pattern.test(line)).length;
    assert.ok(count(/message|again|line/) <= 2 * SENT, `${logged.length} lines`);
    assert.ok(count(/too much to log/) >= 1);
  });
});
