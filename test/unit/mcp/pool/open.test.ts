import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
import type { ResolvedServer } from '../../../../src/mcp/config/inputs.ts';
import type { ServerConfig } from '../../../../src/mcp/config/types.ts';
import type { Connection } from '../../../../src/mcp/connection/connection.ts';
import { ProtocolMismatch } from '../../../../src/mcp/connection/explainFailure.ts';
import { InMemoryProtocols, type KnownProtocol } from '../../../../src/mcp/connection/knownProtocols.ts';
import { openServer } from '../../../../src/mcp/pool/open.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const NOW_MS = 30 * DAY_MS;
const STDIO: ServerConfig = { kind: 'stdio', command: 'c', args: [], env: {} };
const HTTP: ServerConfig = { kind: 'http', url: 'http://127.0.0.1/mcp', headers: {} };
const LEGACY: KnownProtocol = { era: 'legacy', sse: false, atMs: NOW_MS };
const SSE: KnownProtocol = { era: 'legacy', sse: true, atMs: NOW_MS };

/** `slow` supports the newer revision, but reported it too late. */
type Ending = 'legacy' | 'modern' | 'slow' | Error;

const because = (cause: unknown) => new Error('it could not be opened', { cause });
const ENDED_AT_PROBE = because(new SdkError(SdkErrorCode.EraNegotiationFailed, 'closed'));
const status = (code: number) =>
  because(new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, 'no', { status: code, statusText: '' }));

/** Each attempt ends as given. `tried` has `kind`, `kind known` with a known protocol, or `patient`. */
function world(config: ServerConfig, ...endings: Ending[]) {
  const knownProtocols = new InMemoryProtocols();
  const tried: string[] = [];
  let closed = 0;
  const stopped = new AbortController();
  const open = () =>
    openServer({
      server: Promise.resolve({ config, secrets: [] }),
      knownProtocols,
      fingerprint: 'f',
      nowMs: NOW_MS,
      timeoutMs: 1000,
      signal: stopped.signal,
      connect: ({ config: { kind } }, known) => {
        tried.push(known === undefined ? kind : `${kind} known`);
        const ending = endings.shift() ?? assert.fail('unexpected attempt');
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
    stop: () => stopped.abort(new Error('it was stopped')),
  };
}

describe('negotiation', () => {
  const cases: readonly (readonly [
    name: string,
    config: ServerConfig,
    known: KnownProtocol | undefined,
    endings: readonly Ending[],
    tried: readonly string[],
    kept: KnownProtocol | undefined,
  ])[] = [
    ['an older server is remembered', STDIO, undefined, ['legacy'], ['stdio'], LEGACY],
    ['a newer server is not remembered', STDIO, undefined, ['modern'], ['stdio'], undefined],
    ['a known protocol is used', STDIO, LEGACY, ['legacy'], ['stdio known'], LEGACY],
    [
      'an expired protocol is negotiated again',
      STDIO,
      { ...LEGACY, atMs: NOW_MS - 7 * DAY_MS },
      ['legacy'],
      ['stdio'],
      LEGACY,
    ],
    [
      'using a known protocol does not renew it',
      STDIO,
      { ...LEGACY, atMs: NOW_MS - DAY_MS },
      ['legacy'],
      ['stdio known'],
      { ...LEGACY, atMs: NOW_MS - DAY_MS },
    ],
    [
      'a server that exits at the probe gets the older handshake',
      STDIO,
      undefined,
      [ENDED_AT_PROBE, 'legacy'],
      ['stdio', 'stdio known'],
      LEGACY,
    ],
    [
      'a slow server that accepted the older handshake is probed the next time',
      STDIO,
      undefined,
      ['slow'],
      ['stdio'],
      undefined,
    ],
    [
      'a slow server that supports only the newer revision gets more time',
      STDIO,
      undefined,
      [because(new ProtocolMismatch('modern', {})), 'modern'],
      ['stdio', 'stdio', 'patient'],
      undefined,
    ],
    [
      'a slow server that exits at the probe gets the older handshake',
      STDIO,
      undefined,
      [because(new ProtocolMismatch('legacy', {})), 'legacy'],
      ['stdio', 'stdio known'],
      LEGACY,
    ],
    [
      'an address without streamable HTTP is tried with SSE',
      HTTP,
      undefined,
      [status(405), 'legacy'],
      ['http', 'sse known'],
      SSE,
    ],
    ['SSE is remembered', HTTP, SSE, ['legacy'], ['sse known'], SSE],
  ];
  for (const [name, config, known, endings, tried, kept] of cases) {
    test(name, async () => {
      const { knownProtocols, open, ...seen } = world(config, ...endings);
      knownProtocols.write('f', known);
      await open();
      assert.deepEqual(seen.tried, tried);
      assert.deepEqual(knownProtocols.read('f'), kept);
      assert.equal(seen.closed(), endings.length - 1, 'failed attempts are closed');
    });
  }
});

describe('a server that cannot be opened', () => {
  test('with its known protocol is negotiated again at once', async () => {
    const { knownProtocols, open, tried } = world(STDIO, because(new Error('x')), 'modern');
    knownProtocols.write('f', LEGACY);
    await open();
    assert.deepEqual(tried, ['stdio known', 'stdio']);
  });

  test('with its known protocol because of a timeout is negotiated the next time', async () => {
    const silence = new DOMException('late', 'AbortError');
    const { knownProtocols, open, tried } = world(STDIO, because(silence), 'modern');
    knownProtocols.write('f', LEGACY);
    await assert.rejects(open(), /it could not be opened/);
    await open();
    assert.deepEqual(tried, ['stdio known', 'stdio']);
  });

  test('for another reason is not tried with another protocol', async () => {
    for (const cause of [new Error('no such command'), new SdkError(SdkErrorCode.RequestTimeout, 'late')]) {
      const { open, tried, closed } = world(STDIO, because(cause));
      await assert.rejects(open(), /it could not be opened/);
      assert.deepEqual([tried, closed()], [['stdio'], 1]);
    }
  });

  for (const code of [401, 403, 429, 500]) {
    test(`because of status ${code} is not tried with SSE`, async () => {
      const { open, tried } = world(HTTP, status(code));
      await assert.rejects(open());
      assert.deepEqual(tried, ['http']);
    });
  }

  test('with either HTTP transport fails with the first error', async () => {
    const { open, knownProtocols } = world(HTTP, status(404), new Error('no events either'));
    await assert.rejects(open(), /^Error: it could not be opened$/);
    assert.equal(knownProtocols.read('f'), undefined);
  });

  test('and was stopped is not tried again', async () => {
    const { open, tried, stop } = world(STDIO, ENDED_AT_PROBE);
    const opening = assert.rejects(open());
    await Promise.resolve();
    stop();
    await opening;
    assert.ok(tried.length <= 1);
  });

  test('without its inputs is not started', async () => {
    const { knownProtocols } = world(STDIO);
    const given = Promise.reject<ResolvedServer>(new Error('the user gave no key'));
    const connect = () => assert.fail('it must not be started');
    const opening = openServer({
      server: given,
      knownProtocols,
      fingerprint: 'f',
      nowMs: 0,
      timeoutMs: 1,
      signal: new AbortController().signal,
      connect,
    });
    await assert.rejects(opening, /the user gave no key/);
  });
});
