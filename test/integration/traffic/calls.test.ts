/** How many requests a call costs, and how many calls run at a time. */

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { temporaryFolder } from '../../kit/folder.ts';
import { until } from '../../kit/until.ts';
import { textResult } from '../helpers/legacySite.ts';
import { serve } from '../helpers/serving.ts';
import { openStream, scriptServer, sendEvent, serveSite } from './site.ts';

const CHANGED = { method: 'notifications/tools/list_changed' };
const FOLLOWED = { tools: { listChanged: true } };

describe('the list of tools', () => {
  test('of a process that reports changes is requested again only after one', async (t) => {
    const script = await scriptServer(
      t,
      `let lists = 0;
      let extra = [];
      on('tools/list', () => {
        lists += 1;
        return { tools: ['add', 'lists', ...extra].map((name) => ({ name, inputSchema: { type: 'object' } })) };
      });
      on('tools/call', ({ name }) => {
        if (name === 'lists') return text(lists);
        extra = ['added'];
        send(${JSON.stringify(CHANGED)});
        return text('added');
      });`,
    );
    const { client, text } = serve(t, { a: script });
    const names = async () => (await client.listTools('a')).tools.map(({ tool }) => tool);
    for (const _ of [1, 2, 3]) assert.deepEqual(await names(), ['add', 'lists']);
    assert.equal(await text('a.lists'), '1');
    await text('a.add');
    for (const _ of [1, 2]) assert.deepEqual(await names(), ['add', 'lists', 'added']);
    assert.equal(await text('a.lists'), '2');
  });

  test('of a process that reports no changes is requested each time', async (t) => {
    const { config, methods } = await serveSite(t, { tools: [{ name: 'a' }] });
    const { client } = serve(t, { web: config });
    for (const _ of [1, 2, 3]) await client.listTools('web');
    assert.deepEqual(methods(), ['tools/list', 'tools/list', 'tools/list']);
  });

  test('over HTTP is kept while the stream for changes is open, and no longer', async (t) => {
    const streams: ServerResponse[] = [];
    const { config, methods } = await serveSite(t, {
      tools: [{ name: 'a' }],
      capabilities: FOLLOWED,
      on: {
        GET: (_params, { response }) => {
          openStream(response);
          streams.push(response);
          return 'taken';
        },
      },
    });
    const { client, text } = serve(t, { web: config });
    // A call waits for the stream.
    await text('web.a');
    for (const _ of [1, 2, 3]) await client.listTools('web');
    assert.deepEqual(methods(), ['tools/list', 'tools/call', 'tools/list']);
    const [stream] = streams;
    if (stream) sendEvent(stream, CHANGED);
    const changed = Promise.withResolvers<void>();
    client.onDidChange((_server, what) => what === 'tools' && changed.resolve());
    await changed.promise;
    await client.listTools('web');
    await client.listTools('web');
    assert.equal(methods().length, 4);
    stream?.end();
    await until(async () => {
      await client.listTools('web');
      return methods().length > 4;
    });
  });

  test('over HTTP is requested each time if the server has no stream for changes', async (t) => {
    const { config, methods } = await serveSite(t, { tools: [{ name: 'a' }], capabilities: FOLLOWED });
    const { client } = serve(t, { web: config });
    for (const _ of [1, 2]) await client.listTools('web');
    assert.deepEqual(methods(), ['tools/list', 'tools/list']);
  });

  test('of a server of 2026-07-28 is kept while its subscription is open', async (t) => {
    const opened = Promise.withResolvers<{ readonly response: ServerResponse; readonly id: unknown }>();
    const about = (id: unknown) => ({ _meta: { 'io.modelcontextprotocol/subscriptionId': id } });
    const { config, methods } = await serveSite(t, {
      tools: [{ name: 'a' }],
      capabilities: FOLLOWED,
      isModern: true,
      on: {
        'subscriptions/listen': (_params, { response, id }) => {
          openStream(response);
          const params = { ...about(id), notifications: { toolsListChanged: true } };
          sendEvent(response, { method: 'notifications/subscriptions/acknowledged', params });
          opened.resolve({ response, id });
          return 'taken';
        },
      },
    });
    const { client } = serve(t, { web: config });
    await client.listTools('web');
    const { response, id } = await opened.promise;
    // The acknowledgement is read before the response to a later request.
    await client.listTools('web');
    const before = methods().length;
    for (const _ of [1, 2, 3]) await client.listTools('web');
    assert.ok(methods().length <= before + 1, methods().join());
    const listed = methods().length;
    const changed = Promise.withResolvers<void>();
    client.onDidChange((_server, what) => what === 'tools' && changed.resolve());
    sendEvent(response, { ...CHANGED, params: about(id) });
    await changed.promise;
    await client.listTools('web');
    await client.listTools('web');
    assert.equal(methods().length, listed + 1);
  });
});

describe('calls of one server', () => {
  test('run side by side up to the limit, and the others in their order; other servers are not affected', async (t) => {
    const held: { readonly n: unknown; readonly release: () => void }[] = [];
    let arrived = Promise.withResolvers<void>();
    const { config } = await serveSite(t, {
      tools: [{ name: 'hold' }],
      on: {
        'tools/call': async (params) => {
          const { n } = params['arguments'] as { readonly n: number };
          const released = Promise.withResolvers<void>();
          held.push({ n, release: released.resolve });
          arrived.resolve();
          await released.promise;
          return textResult(n);
        },
      },
    });
    const other = await serveSite(t, { tools: [{ name: 'ping' }] });
    const { call, text } = serve(t, { web: config, other: other.config }, { maxParallelCalls: () => 2 });
    const stop = new AbortController();
    const calls = [1, 2, 3, 4, 5].map((n) =>
      call('web.hold', { n }, n === 4 ? { signal: stop.signal } : {}).catch((error: Error) => error.message),
    );
    const seen = () => held.map(({ n }) => n);
    while (held.length < 2) {
      await arrived.promise;
      arrived = Promise.withResolvers();
    }
    assert.equal(await text('other.ping'), 'ping');
    assert.deepEqual(new Set(seen()), new Set([1, 2]));
    stop.abort(new Error('stopped while it waited'));
    for (let at = 0; at < 4; at += 1) {
      while (held[at] === undefined) await new Promise(setImmediate);
      assert.ok(held.length - at <= 2, `${held.length - at} at a time`);
      held[at]?.release();
    }
    await Promise.all(calls);
    assert.equal(await calls[3], 'stopped while it waited');
    assert.deepEqual(seen().slice(2), [3, 5], 'a call that was stopped is never sent');
  });
});

describe('a process that could not be started', () => {
  test('is started again when the user says so or its configuration changes, and not by the next use', async (t) => {
    const record = join(temporaryFolder(t), 'starts.txt');
    const script = await scriptServer(
      t,
      `import { appendFileSync, existsSync } from 'node:fs';
      const record = ${JSON.stringify(record)};
      appendFileSync(record, 'start\\n');
      if (!existsSync(record + '.ok')) throw new Error('no licence');
      tools('a');
      on('tools/call', () => text('fine'));`,
    );
    const { client, call, text, servers } = serve(t, { a: script });
    const starts = () => readFileSync(record, 'utf8').split('start').length;
    await assert.rejects(call('a.a'), /could not be started: its process ended\. Error: no licence\.$/);
    const once = starts();
    const refused =
      /Server a could not be started: .*no licence\. Fix the cause, then run “Filechat: Restart Server”\.$/;
    for (const _ of [1, 2]) await assert.rejects(call('a.a'), refused);
    assert.match((await client.listTools('a')).failures[0]?.reason ?? '', refused);
    assert.equal(starts(), once, 'no use has started it again');
    await assert.rejects(client.restart('a'), /no licence/);
    assert.ok(starts() > once);
    servers.set('a', { ...script, env: { CHANGED: 'yes' } });
    await assert.rejects(call('a.a'), /could not be started: its process ended\. Error: no licence\.$/);
    writeFileSync(`${record}.ok`, '');
    await client.start('a');
    assert.equal(await text('a.a'), 'fine');
  });
});
