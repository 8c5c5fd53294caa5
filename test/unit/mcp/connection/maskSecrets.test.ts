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

describe('the mask hides', () => {
  const cases: Readonly<Record<string, readonly [ServerConfig, string, string]>> = {
    'an environment variable, anywhere': [
      stdio({ KEY: 'hunter22' }),
      'key=hunter22, hunter22!',
      'key=•••, •••!',
    ],
    'no short word': [stdio({ DEBUG: 'true', PORT: '8080' }), 'true 8080', 'true 8080'],
    'a longer secret before its prefix': [
      stdio({ A: 'secret', B: 'secret-and-more' }),
      'secret-and-more',
      '•••',
    ],
    'a secret with special characters of patterns': [
      stdio({ A: 'a.b*c(d[e' }),
      'xa.b*c(d[ey aXb*c(d[e',
      'x•••y aXb*c(d[e',
    ],
    'a secret in a URL': [stdio({ A: 'p@ss/word' }), 'x?t=p%40ss%2Fword', 'x?t=•••'],
    'a secret in JSON': [stdio({ A: 'line1\n"line2"' }), '{"a":"line1\\n\\"line2\\""}', '{"a":"•••"}'],
    'a header': [remote({ headers: { 'X-Key': 'abc12345' } }), 'sent abc12345', 'sent •••'],
    'a bearer token of a header, also alone': [
      remote({ headers: { Authorization: 'Bearer tok.en-1' } }),
      'token tok.en-1',
      'token •••',
    ],
    'user and password of a URL': [
      remote({ url: 'https://somebody:pass%20word@a.example/mcp' }),
      'somebody pass%20word',
      '••• •••',
    ],
    'query parameters of a URL': [
      remote({ url: 'https://a.example/?key=s3cr3t99' }),
      'got s3cr3t99',
      'got •••',
    ],
    'an OAuth client secret': [
      remote({ oauth: { clientId: 'public-id', clientSecret: 'client-secret' } }),
      'public-id client-secret',
      'public-id •••',
    ],
    'text like a bearer token': [stdio(), 'Authorization: bearer abcdef.123', 'Authorization: bearer •••'],
    'text like an API key': [
      stdio(),
      'sk-ant-api03-abcdefghijkl ghp_abcdefghijklmnopqrst AKIAABCDEFGHIJKLMNOP xoxb-1234567890-a',
      '••• ••• ••• •••',
    ],
    'text like a signed token': [
      stdio(),
      'jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl end',
      'jwt ••• end',
    ],
    'no ordinary words': [
      stdio(),
      'task-force-of-many-people-here risk_assessment bearer of news',
      'task-force-of-many-people-here risk_assessment bearer of news',
    ],
  };
  for (const [rule, [config, text, expected]] of Object.entries(cases)) {
    it(rule, () => assert.equal(createMask(config)(text), expected));
  }

  it('extra secrets', () => {
    assert.equal(createMask(stdio(), ['refresh-token', 'x'])('x refresh-token'), 'x •••');
  });

  it('secrets in a long text, in linear time', () => {
    const mask = createMask(stdio({ A: 'hunter22' }));
    for (const piece of ['eyJ', 'eyJhbGciOiJI.', 'sk-', 'Bearer ', 'Bearer', 'hunter2', '_', ' ']) {
      const text = piece.repeat(Math.ceil(1e6 / piece.length));
      assert.ok(mask(`${text}hunter22`).endsWith('•••'), piece);
    }
  });
});
