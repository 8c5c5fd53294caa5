import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
import type { ResolvedServer } from '../../../../src/mcp/config/inputs.ts';
import type { ServerConfig } from '../../../../src/mcp/config/types.ts';

import type { Connection } from '../../../../src/mcp/connection/connection.ts';
import { ProtocolMismatch } from '../../../../src/mcp/connection/failure.ts';
import { InMemoryProtocols, type KnownProtocol } from '../../../../src/mcp/connection/knownProtocols.ts';
import { openServer } from '../../../../src/mcp/pool/open.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const NOW_MS = 30 * DAY_MS;
const STDIO: ServerConfig = { kind: 'stdio', command: 'c', args: [], env: {} };
const HTTP: ServerConfig = { kind: 'http', url: 'http://127.0.0.1/mcp', headers: {} };
const LEGACY: KnownProtocol = { era: 'legacy', sse: false, atMs: NOW_MS };
const SSE: KnownProtocol = { era: 'legacy', sse: true, atMs: NOW_MS };

/** One that is `slow` knows the newer revision, and said so too late. */
type Ending = 'legacy' | 'modern' | 'slow' | Error;

const because = (cause: unknown) => new Error('it could not be opened', { cause });
const ENDED_AT_PROBE = because(new SdkError(SdkErrorCode.EraNegotiationFailed, 'closed'));
const status = (code: number) =>
  because(new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, 'no', { status: code, statusText: '' }));

/** Each attempt ends as it is told; what was tried is told as `kind`, `kind known` with a known protocol, or `patient`. */
function world(config: ServerConfig, ...endings: Ending[]) {
  const knownProtocols = new InMemoryProtocols();
  const tried: string[] = [];
  let closed = 0;
  let isWanted = true;
  const open = () =>
    openServer({
      server: Promise.resolve({ config, secrets: [] }),
      knownProtocols,
      fingerprint: 'f',
      nowMs: NOW_MS,
      timeoutMs: 1000,
      isWanted: () => isWanted,
      connect: ({ config: { kind } }, known) => {
        tried.push(known === undefined ? kind : `${kind} known`);
        const ending = endings.shift() ?? assert.fail('nobody expected another try');
        const connection: Pick<Connection, 'open' | 'close' | 'era' | 'isSlowModern'> = {
          era: ending === 'modern' ? 'modern' : 'legacy',
          isSlowModern: ending === 'slow',
          open: async ({ isPatient }) => {
            if (isPatient) tried.push('patient');
            if (ending instanceof Error) throw ending;
          },
          close: async () => {
            closed += 1;
          },
        };
        return connection as Connection;
      },
    });
  return {
    knownProtocols,
    tried,
    open,
    closed: () => closed,
    giveUp: () => {
      isWanted = false;
    },
  };
}

describe('what is found out about a server', () => {
  const cases: readonly (readonly [
    name: string,
    config: ServerConfig,
    known: KnownProtocol | undefined,
    endings: readonly Ending[],
    tried: readonly string[],
    kept: KnownProtocol | undefined,
  ])[] = [
    ['an old one is kept as such', STDIO, undefined, ['legacy'], ['stdio'], LEGACY],
    ['a new one needs no note', STDIO, undefined, ['modern'], ['stdio'], undefined],
    ['what is known is used', STDIO, LEGACY, ['legacy'], ['stdio known'], LEGACY],
    [
      'what is known too long is found out anew',
      STDIO,
      { ...LEGACY, atMs: NOW_MS - 7 * DAY_MS },
      ['legacy'],
      ['stdio'],
      LEGACY,
    ],
    [
      'what is known does not become younger by being used',
      STDIO,
      { ...LEGACY, atMs: NOW_MS - DAY_MS },
      ['legacy'],
      ['stdio known'],
      { ...LEGACY, atMs: NOW_MS - DAY_MS },
    ],
    [
      'one that ends at the new question is asked the old one',
      STDIO,
      undefined,
      [ENDED_AT_PROBE, 'legacy'],
      ['stdio', 'stdio known'],
      LEGACY,
    ],
    [
      'a slow one that is greeted in the old way is asked anew the next time',
      STDIO,
      undefined,
      ['slow'],
      ['stdio'],
      undefined,
    ],
    [
      'a slow one that wants only the new greeting is given the time for it',
      STDIO,
      undefined,
      [because(new ProtocolMismatch('modern', {})), 'modern'],
      ['stdio', 'stdio', 'patient'],
      undefined,
    ],
    [
      'a slow one that ends at the new question is asked the old one',
      STDIO,
      undefined,
      [because(new ProtocolMismatch('legacy', {})), 'legacy'],
      ['stdio', 'stdio known'],
      LEGACY,
    ],
    [
      'an address without the newer way of HTTP is tried in the older one',
      HTTP,
      undefined,
      [status(405), 'legacy'],
      ['http', 'sse known'],
      SSE,
    ],
    ['the older way of HTTP is known', HTTP, SSE, ['legacy'], ['sse known'], SSE],
  ];
  for (const [name, config, known, endings, tried, kept] of cases) {
    test(name, async () => {
      const { knownProtocols, open, ...seen } = world(config, ...endings);
      knownProtocols.write('f', known);
      await open();
      assert.deepEqual(seen.tried, tried);
      assert.deepEqual(knownProtocols.read('f'), kept);
      assert.equal(seen.closed(), endings.length - 1, 'what did not work is closed');
    });
  }
});

describe('a server that cannot be opened', () => {
  test('in the way that is known is asked anew at once', async () => {
    const { knownProtocols, open, tried } = world(STDIO, because(new Error('x')), 'modern');
    knownProtocols.write('f', LEGACY);
    await open();
    assert.deepEqual(tried, ['stdio known', 'stdio']);
  });

  test('in the way that is known because it is silent is asked anew the next time', async () => {
    const silence = new DOMException('late', 'AbortError');
    const { knownProtocols, open, tried } = world(STDIO, because(silence), 'modern');
    knownProtocols.write('f', LEGACY);
    await assert.rejects(open(), /it could not be opened/);
    await open();
    assert.deepEqual(tried, ['stdio known', 'stdio']);
  });

  test('for another reason is not tried in another way', async () => {
    for (const cause of [new Error('no such command'), new SdkError(SdkErrorCode.RequestTimeout, 'late')]) {
      const { open, tried, closed } = world(STDIO, because(cause));
      await assert.rejects(open(), /it could not be opened/);
      assert.deepEqual([tried, closed()], [['stdio'], 1]);
    }
  });

  for (const code of [401, 403, 429, 500]) {
    test(`because of the status ${code} is not taken for one of the older way`, async () => {
      const { open, tried } = world(HTTP, status(code));
      await assert.rejects(open());
      assert.deepEqual(tried, ['http']);
    });
  }

  test('in either way of HTTP is told as it is configured', async () => {
    const { open, knownProtocols } = world(HTTP, status(404), new Error('no events either'));
    await assert.rejects(open(), /^Error: it could not be opened$/);
    assert.equal(knownProtocols.read('f'), undefined);
  });

  test('that nobody wants any more is not tried again', async () => {
    const { open, tried, giveUp } = world(STDIO, ENDED_AT_PROBE);
    const opening = assert.rejects(open());
    await Promise.resolve();
    giveUp();
    await opening;
    assert.ok(tried.length <= 1);
  });

  test('because its inputs were not given is not started', async () => {
    const { knownProtocols } = world(STDIO);
    const given = Promise.reject<ResolvedServer>(new Error('the user gave no key'));
    const connect = () => assert.fail('it must not start');
    const opening = openServer({
      server: given,
      knownProtocols,
      fingerprint: 'f',
      nowMs: 0,
      timeoutMs: 1,
      isWanted: () => true,
      connect,
    });
    await assert.rejects(opening, /the user gave no key/);
  });
});
