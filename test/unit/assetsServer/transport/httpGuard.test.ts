import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type RequestHead, refuseRequest } from '../../../../src/assetsServer/transport/http.ts';

const OPTIONS = {
  port: 8123,
  token: 'secret-token',
  path: '/mcp',
  maxMessageBytes: 1000,
  advice: 'Use less.',
};
const GOOD = { host: '127.0.0.1:8123', authorization: 'Bearer secret-token' };

const post = (headers: RequestHead['headers']): RequestHead => ({
  method: 'POST',
  url: '/mcp',
  headers: { ...GOOD, ...headers },
});
const statusOf = (asked: RequestHead) => refuseRequest(asked, OPTIONS)?.status;

const LET_IN: readonly [name: string, asked: RequestHead][] = [
  ['POST', post({})],
  ['GET', { ...post({}), method: 'GET' }],
  ['DELETE with a query', { ...post({}), method: 'DELETE', url: '/mcp?a=1' }],
  ['localhost', post({ host: 'localhost:8123' })],
  ['LOCALHOST', post({ host: 'LOCALHOST:8123' })],
  ['[::1]', post({ host: '[::1]:8123' })],
  ['a page of this machine', post({ origin: 'http://localhost:6274' })],
  ['bearer in small letters', post({ authorization: 'bearer secret-token' })],
];

const HOSTS = `
evil.example
evil.example:8123
127.0.0.1
127.0.0.1:80
127.0.0.1:8123@evil.example
localhost.evil.example:8123
127.0.0.2:8123
0.0.0.0:8123
127.0.0.1:08123
127.0.0.1:8123, evil.example`;
const ORIGINS = 'null|http://evil.example|http://localhost.evil.example|file://|vscode-webview://x|';
const AUTHORIZATIONS =
  '|Bearer|Bearer |Bearer wrong|Bearer secret-toke|Bearer secret-token2|Bearer secret-token x|Basic c2VjcmV0LXRva2Vu|secret-token';

describe('the guard in front of HTTP', () => {
  for (const [name, asked] of LET_IN) {
    it(`lets in: ${name}`, () => assert.equal(refuseRequest(asked, OPTIONS), undefined));
  }
  for (const host of [undefined, ...HOSTS.split('\n')]) {
    it(`refuses the Host ${JSON.stringify(host)}`, () => assert.equal(statusOf(post({ host })), 403));
  }
  for (const origin of ORIGINS.split('|')) {
    it(`refuses the Origin ${JSON.stringify(origin)}`, () => assert.equal(statusOf(post({ origin })), 403));
  }
  for (const authorization of [undefined, ...AUTHORIZATIONS.split('|')]) {
    it(`asks for the token after ${JSON.stringify(authorization)}`, () => {
      const refused = refuseRequest(post({ authorization }), OPTIONS);
      assert.equal(refused?.status, 401);
      assert.equal(refused?.headers['www-authenticate'], 'Bearer');
    });
  }
  it('reveals paths and methods only to clients with the token', () => {
    const asked = { method: 'PUT', url: '/other' };
    assert.equal(statusOf({ ...asked, headers: { host: GOOD.host } }), 401);
    assert.equal(statusOf({ ...asked, headers: GOOD }), 404);
    assert.equal(statusOf({ ...asked, url: '/mcp', headers: GOOD }), 405);
    for (const url of ['/mcp/', '/mcp/x']) assert.equal(statusOf({ ...post({}), url }), 404);
  });

  it('refuses a message that is too long before reading it, with advice', () => {
    assert.equal(statusOf(post({ 'content-length': '1000' })), undefined);
    const refused = refuseRequest(post({ 'content-length': '1001' }), OPTIONS);
    assert.equal(refused?.status, 413);
    assert.equal(refused?.message, 'The message is longer than 1000 bytes. Use less.');
  });
});
