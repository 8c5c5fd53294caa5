import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ServerConfig } from '../../../../src/mcp/config/types.ts';

import { createMask } from '../../../../src/mcp/connection/stderr.ts';

const stdio = (env: Record<string, string> = {}): ServerConfig => ({
  kind: 'stdio',
  command: 'c',
  args: [],
  env,
});
const remote = (more: object = {}): ServerConfig => ({
  kind: 'http',
  url: 'https://a.example/',
  headers: {},
  ...more,
});

describe('what is hidden', () => {
  const cases: Readonly<Record<string, readonly [ServerConfig, string, string]>> = {
    'a value of the environment, wherever it stands': [
      stdio({ KEY: 'hunter22' }),
      'key=hunter22, hunter22!',
      'key=•••, •••!',
    ],
    'no short word': [stdio({ DEBUG: 'true', PORT: '8080' }), 'true 8080', 'true 8080'],
    'a longer secret before the one that begins it': [
      stdio({ A: 'secret', B: 'secret-and-more' }),
      'secret-and-more',
      '•••',
    ],
    'a secret with signs that patterns know': [
      stdio({ A: 'a.b*c(d[e' }),
      'xa.b*c(d[ey aXb*c(d[e',
      'x•••y aXb*c(d[e',
    ],
    'a secret as it stands in an address': [stdio({ A: 'p@ss/word' }), 'x?t=p%40ss%2Fword', 'x?t=•••'],
    'a secret as it stands in JSON': [
      stdio({ A: 'line1\n"line2"' }),
      '{"a":"line1\\n\\"line2\\""}',
      '{"a":"•••"}',
    ],
    'a header': [remote({ headers: { 'X-Key': 'abc12345' } }), 'sent abc12345', 'sent •••'],
    'what follows Bearer in a header, also alone': [
      remote({ headers: { Authorization: 'Bearer tok.en-1' } }),
      'token tok.en-1',
      'token •••',
    ],
    'user and password of an address': [
      remote({ url: 'https://somebody:pass%20word@a.example/mcp' }),
      'somebody pass%20word',
      '••• •••',
    ],
    'what an address asks with': [
      remote({ url: 'https://a.example/?key=s3cr3t99' }),
      'got s3cr3t99',
      'got •••',
    ],
    'the secret of a client': [
      remote({ oauth: { clientId: 'public-id', clientSecret: 'client-secret' } }),
      'public-id client-secret',
      'public-id •••',
    ],
    'what looks like a bearer token': [
      stdio(),
      'Authorization: bearer abcdef.123',
      'Authorization: bearer •••',
    ],
    'what looks like a key': [
      stdio(),
      'sk-ant-api03-abcdefghijkl ghp_abcdefghijklmnopqrst AKIAABCDEFGHIJKLMNOP xoxb-1234567890-a',
      '••• ••• ••• •••',
    ],
    'what looks like a signed token': [
      stdio(),
      'jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl end',
      'jwt ••• end',
    ],
    'nothing of ordinary words': [
      stdio(),
      'task-force-of-many-people-here risk_assessment bearer of news',
      'task-force-of-many-people-here risk_assessment bearer of news',
    ],
  };
  for (const [rule, [config, text, expected]] of Object.entries(cases)) {
    it(rule, () => assert.equal(createMask(config)(text), expected));
  }

  it('what is given besides', () => {
    assert.equal(createMask(stdio(), ['refresh-token', 'x'])('x refresh-token'), 'x •••');
  });

  it('everything in a long text', () => {
    const mask = createMask(stdio({ A: 'hunter22' }));
    for (const piece of ['eyJ', 'eyJhbGciOiJI.', 'sk-', 'Bearer ', 'Bearer', 'hunter2', '_', ' ']) {
      const text = piece.repeat(Math.ceil(1e6 / piece.length));
      assert.ok(mask(`${text}hunter22`).endsWith('•••'), piece);
    }
  });
});
