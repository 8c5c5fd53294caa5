import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type RequestHead, refuseRequest } from '../../../../src/assetsServer/transport/http.ts';

const OPTIONS = { port: 8123, token: 'secret-token', path: '/mcp' };
const GOOD = { host: '127.0.0.1:8123', authorization: 'Bearer secret-token' };

const LET_IN: readonly [name: string, asked: RequestHead][] = [
  ['POST', { method: 'POST', url: '/mcp', headers: GOOD }],
  ['GET', { method: 'GET', url: '/mcp', headers: GOOD }],
  ['DELETE with a query', { method: 'DELETE', url: '/mcp?a=1', headers: GOOD }],
  ['localhost', { method: 'POST', url: '/mcp', headers: { ...GOOD, host: 'localhost:8123' } }],
  ['LOCALHOST', { method: 'POST', url: '/mcp', headers: { ...GOOD, host: 'LOCALHOST:8123' } }],
  ['[::1]', { method: 'POST', url: '/mcp', headers: { ...GOOD, host: '[::1]:8123' } }],
  [
    'a page of this machine',
    { method: 'POST', url: '/mcp', headers: { ...GOOD, origin: 'http://localhost:6274' } },
  ],
  [
    'bearer in small letters',
    { method: 'POST', url: '/mcp', headers: { ...GOOD, authorization: 'bearer secret-token' } },
  ],
];

const HOSTS = [
  undefined,
  '',
  'evil.example',
  'evil.example:8123',
  '127.0.0.1',
  '127.0.0.1:80',
  '127.0.0.1:8123@evil.example',
  'localhost.evil.example:8123',
  '127.0.0.2:8123',
  '0.0.0.0:8123',
  '127.0.0.1:08123',
  '127.0.0.1:8123, evil.example',
];
const ORIGINS = [
  'null',
  '',
  'http://evil.example',
  'http://localhost.evil.example',
  'file://',
  'vscode-webview://x',
];
const AUTHORIZATIONS = [
  undefined,
  '',
  'Bearer',
  'Bearer ',
  'Bearer wrong',
  'Bearer secret-toke',
  'Bearer secret-token2',
  'Bearer secret-token x',
  'Basic c2VjcmV0LXRva2Vu',
  'secret-token',
];

describe('the guard in front of HTTP', () => {
  for (const [name, asked] of LET_IN) {
    it(`lets in: ${name}`, () => assert.equal(refuseRequest(asked, OPTIONS), undefined));
  }
  for (const host of HOSTS) {
    it(`refuses the Host ${JSON.stringify(host)}`, () => {
      const headers = { ...GOOD, host };
      assert.equal(refuseRequest({ method: 'POST', url: '/mcp', headers }, OPTIONS)?.status, 403);
    });
  }
  for (const origin of ORIGINS) {
    it(`refuses the Origin ${JSON.stringify(origin)}`, () => {
      const headers = { ...GOOD, origin };
      assert.equal(refuseRequest({ method: 'POST', url: '/mcp', headers }, OPTIONS)?.status, 403);
    });
  }
  for (const authorization of AUTHORIZATIONS) {
    it(`asks for the token after ${JSON.stringify(authorization)}`, () => {
      const headers = { ...GOOD, authorization };
      const refused = refuseRequest({ method: 'POST', url: '/mcp', headers }, OPTIONS);
      assert.equal(refused?.status, 401);
      assert.equal(refused?.headers['www-authenticate'], 'Bearer');
    });
  }
  it('reveals paths and methods only to clients with the token', () => {
    const asked = { method: 'PUT', url: '/other' };
    assert.equal(refuseRequest({ ...asked, headers: { host: GOOD.host } }, OPTIONS)?.status, 401);
    assert.equal(refuseRequest({ ...asked, headers: GOOD }, OPTIONS)?.status, 404);
    assert.equal(refuseRequest({ ...asked, url: '/mcp', headers: GOOD }, OPTIONS)?.status, 405);
    assert.equal(refuseRequest({ method: 'POST', url: '/mcp/', headers: GOOD }, OPTIONS)?.status, 404);
  });
});
