/** Servers and their requests when calls are cancelled, and servers are stopped, changed or removed. */

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { ServerConfig } from '../../../src/mcp/config/types.ts';
import { InMemoryProtocols } from '../../../src/mcp/connection/knownProtocols.ts';
import type { ElicitationAnswer, ServerRequests } from '../../../src/ports/servers.ts';
import { serveLegacy, textResult } from '../helpers/legacySite.ts';
import { firstText, fromNpm, http, isAlive, scripted, serve } from '../helpers/serving.ts';

const EVERYTHING = '@modelcontextprotocol/server-everything';

describe('a question of a server', () => {
  test('is cancelled with its call, and the timers run again', async (t) => {
    const asked = Promise.withResolvers<AbortSignal>();
    const elicit: ServerRequests['elicit'] = (_request, _by, signal) => {
      asked.resolve(signal);
      // A dialog that is never answered.
      return new Promise<ElicitationAnswer>(() => {});
    };
    const serving = serve(t, { all: fromNpm(EVERYTHING) }, { requests: { elicit } });
    const { call } = serving;
    const stop = new AbortController();
    const pending = call('all.trigger-elicitation-request', {}, { signal: stop.signal });
    const signal = await asked.promise;
    stop.abort(new Error('stopped'));
    await assert.rejects(pending, /^Error: stopped$/);
    assert.equal(signal.aborted, true);
    serving.timeoutMs = 300;
    await assert.rejects(
      call('all.trigger-long-running-operation'),
      /there was no response for 0\.3 s/,
      'no timer is paused for a cancelled question',
    );
  });
});

describe('a call', () => {
  test('is not repeated because of an error code that has a meaning only over HTTP', async (t) => {
    const { call } = serve(t, { a: scripted() });
    await assert.rejects(call('a.mismatch'), /the row is there already/);
    assert.equal(firstText(await call('a.mismatches')), '1');
  });

  test('that is rejected with an HTTP status ends no other call', async (t) => {
    const site = await startSite(t);
    const { call } = serve(t, { web: http(site.url) });
    const slow = call('web.slow');
    await site.waiting;
    await assert.rejects(call('web.tooLarge'), /HTTP status 413/);
    site.release();
    assert.equal(firstText(await slow), 'slow');
  });
});

describe('a server', () => {
  test('that is no longer configured is closed, even if no other is used', async (t) => {
    const { client, text, servers } = serve(t, { a: scripted() });
    const pid = Number(await text('a.pid'));
    servers.delete('a');
    await client.settle();
    await client.dispose();
    assert.equal(isAlive(pid), false);
  });

  test('whose configuration is unchanged keeps running', async (t) => {
    const { client, text } = serve(t, { a: scripted() });
    const before = await text('a.pid');
    await client.settle();
    assert.equal(await text('a.pid'), before);
  });

  test('is stopped without waiting for another that does not exit', async (t) => {
    const { client, call } = serve(t, { a: scripted(), b: scripted('stubborn') });
    await call('a.pid');
    await call('b.pid');
    const order: string[] = [];
    const stubborn = client.stop('b').then(() => order.push('b'));
    await client.stop('a').then(() => order.push('a'));
    await stubborn;
    assert.deepEqual(order, ['a', 'b']);
  });

  test('whose known protocol no longer works is negotiated again at once', async (t) => {
    const site = await startSite(t);
    const knownProtocols = new InMemoryProtocols();
    // It was reached over events once.
    const { call } = serve(
      t,
      { web: http(site.url) },
      {
        knownProtocols: {
          read: (print) => knownProtocols.read(print) ?? (site.isKnown ? undefined : SSE_ONCE),
          write: (print, known) => {
            site.isKnown = true;
            knownProtocols.write(print, known);
          },
        },
      },
    );
    assert.equal(firstText(await call('web.ping')), 'ping');
  });
});

test('a secret is in no message, wherever the server or its address has it', async (t) => {
  const secret = 'TOPSECRETVALUE123';
  const process: ServerConfig = { ...scripted('plain'), args: [...scripted('plain').args, secret] };
  const servers = { local: process, web: http(`http://127.0.0.1:9/s/${secret}/mcp`) };
  const resolve = async (_server: string, config: ServerConfig) => ({ config, secrets: [secret] });
  const { call, logged } = serve(t, servers, { resolve });
  const messages = await Promise.all(
    [call('local.secretive'), call('web.ping')].map((each) => each.catch((error: Error) => error.message)),
  );
  assert.match(String(messages[0]), /no access with •••/);
  assert.match(String(messages[1]), /127\.0\.0\.1:9\/s\/•••\/mcp/);
  assert.ok(![...messages, ...logged].join('\n').includes(secret));
});

const SSE_ONCE = { era: 'legacy', sse: true, atMs: Date.now() } as const;

/** A server of the older revision over HTTP that holds one call and refuses another. */
async function startSite(t: TestContext) {
  const [waiting, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const url = await serveLegacy(t, async ({ method, params, response }) => {
    if (method !== 'tools/call') return undefined;
    if (params?.name === 'tooLarge') {
      response.writeHead(413).end();
      return 'taken';
    }
    if (params?.name === 'slow') {
      waiting.resolve();
      await released.promise;
    }
    return textResult(params?.name);
  });
  return { url, waiting: waiting.promise, release: () => released.resolve(), isKnown: false };
}
