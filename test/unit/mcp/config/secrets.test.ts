import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createMask, looksSecret } from '../../../../src/mcp/config/secrets.ts';
import type { ServerConfig } from '../../../../src/mcp/config/types.ts';

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
    'no ordinary value': [
      stdio({
        NODE_ENV: 'production',
        ROOT: '/home/me/projects',
        MAX_TOKENS: '200000',
        AUTH_TYPE: 'oauth2-device',
      }),
      'production /home/me/projects 200000 oauth2-device',
      'production /home/me/projects 200000 oauth2-device',
    ],
    'no path, number or switch, even if its name says secret': [
      stdio({ CREDENTIALS: '/home/me/key.json', AUTH: 'false', TOKEN: '12345678', KEY: 'C:\\keys\\a.pem' }),
      '/home/me/key.json false 12345678 C:\\keys\\a.pem',
      '/home/me/key.json false 12345678 C:\\keys\\a.pem',
    ],
    'a value that looks generated, whatever its name': [
      stdio({ WORKSPACE: 'x9f3kq02mvb81zdd77', TEAM: '0b1c2d3e-1111-4222-8333-444455556666' }),
      'x9f3kq02mvb81zdd77 0b1c2d3e-1111-4222-8333-444455556666',
      '••• •••',
    ],
    'no long name that somebody chose': [
      stdio({ PROJECT: 'acme-reporting-production-2026', DATABASE: 'postgresql15primary' }),
      'acme-reporting-production-2026 postgresql15primary',
      'acme-reporting-production-2026 postgresql15primary',
    ],
    'only the credentials of an address': [
      stdio({ DATABASE_URL: 'postgres://app:hunter22@db.example/orders' }),
      'postgres://app:hunter22@db.example/orders',
      'postgres://app:•••@db.example/orders',
    ],
    'no header that says nothing secret': [
      remote({ headers: { Accept: 'application/json', 'X-Tenant': 'production' } }),
      'application/json production',
      'application/json production',
    ],
    'no ordinary parameter of a URL': [
      remote({ url: 'https://a.example/?mode=production' }),
      'production',
      'production',
    ],
    'no short word': [stdio({ DEBUG: 'true', PORT: '8080' }), 'true 8080', 'true 8080'],
    'a longer secret before its prefix': [
      stdio({ A_KEY: 'secret', B_KEY: 'secret-and-more' }),
      'secret-and-more',
      '•••',
    ],
    'a secret with special characters of patterns': [
      stdio({ A_KEY: 'a.b*c(d[e' }),
      'xa.b*c(d[ey aXb*c(d[e',
      'x•••y aXb*c(d[e',
    ],
    'a secret in a URL': [stdio({ A_KEY: 'p@ss/word' }), 'x?t=p%40ss%2Fword', 'x?t=•••'],
    'a secret in JSON': [stdio({ A_KEY: 'line1\n"line2"' }), '{"a":"line1\\n\\"line2\\""}', '{"a":"•••"}'],
    'a header': [remote({ headers: { 'X-Key': 'abc12345' } }), 'sent abc12345', 'sent •••'],
    'a bearer token of a header, also alone': [
      remote({ headers: { Authorization: 'Bearer tok.en-1' } }),
      'token tok.en-1',
      'token •••',
    ],
    'the password of a URL, but not its user': [
      remote({ url: 'https://somebody:pass%20word@a.example/mcp' }),
      'somebody pass%20word',
      'somebody •••',
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
    const mask = createMask(stdio({ A_KEY: 'hunter22' }));
    for (const piece of ['eyJ', 'eyJhbGciOiJI.', 'sk-', 'Bearer ', 'Bearer', 'hunter2', '_', ' ']) {
      const text = piece.repeat(Math.ceil(1e6 / piece.length));
      assert.ok(mask(`${text}hunter22`).endsWith('•••'), piece);
    }
  });
});

describe('a name says secret', () => {
  const words = (text: string) => text.trim().split(/\s+/);
  const yes = words(
    'API_KEY apikey X-Api-Key githubToken PGPASSWORD DB_PASS AUTH Authorization COOKIE clientSecret AWS_CREDENTIALS SENTRY_DSN',
  );
  const no = words(
    'NODE_ENV KEYBOARD AUTHOR MAX_TOKENS AUTH_TYPE TOKEN_URL KEY_FILE PASSENGERS PATH COMPASS',
  );
  for (const name of yes) it(name, () => assert.equal(looksSecret(name, 'something'), true));
  for (const name of no) it(`not ${name}`, () => assert.equal(looksSecret(name, 'something'), false));
});
