import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkAuthorizationUrl, guardFetch } from '../../../../src/mcp/oauth/signIn.ts';

const OPENED = [
  'https://auth.example/authorize?client_id=1',
  'https://auth.example:8443/',
  'https://192.168.1.10/authorize',
  'https://metadata.example/authorize',
  'http://localhost:3000/authorize',
  'http://app.localhost/authorize',
  'http://127.0.0.1:8080/token',
  'http://127.9.9.9/token',
  'http://[::1]:8080/token',
];

const REFUSED: readonly (readonly [url: string, why: RegExp])[] = [
  ['javascript:alert(1)', /only https is allowed/],
  ['JaVaScRiPt:alert(1)', /only https is allowed/],
  ['file:///etc/passwd', /only https is allowed/],
  ['data:text/html,<script>alert(1)</script>', /only https is allowed/],
  ['vscode://publisher.extension/run', /only https is allowed/],
  ['ms-settings:privacy', /only https is allowed/],
  ['ftp://auth.example/', /only https is allowed/],
  ['blob:https://auth.example/1', /only https is allowed/],
  ['/authorize', /not a valid URL/],
  ['', /not a valid URL/],
  ['http://auth.example/authorize', /not be encrypted/],
  ['http://192.168.1.10/authorize', /not be encrypted/],
  ['http://0.0.0.0/', /credentials of this machine/],
  ['http://localhost.example/', /not be encrypted/],
  ['http://127.0.0.1.example/', /not be encrypted/],
  ['http://169.254.169.254/latest/meta-data/', /credentials of this machine/],
  ['https://169.254.169.254/', /credentials of this machine/],
  ['https://169.254.0.1/', /credentials of this machine/],
  // The same address, as a number, in octal and in hexadecimal digits.
  ['https://2852039166/', /credentials of this machine/],
  ['https://0251.0376.0251.0376/', /credentials of this machine/],
  ['https://0xa9.0xfe.0xa9.0xfe/', /credentials of this machine/],
  ['https://[fe80::1]/', /credentials of this machine/],
  ['https://[febf::1]/', /credentials of this machine/],
  ['https://[::ffff:169.254.169.254]/', /credentials of this machine/],
  ['https://[::ffff:a9fe:a9fe]/', /credentials of this machine/],
  ['https://[::169.254.169.254]/', /credentials of this machine/],
  ['https://[64:ff9b::a9fe:a9fe]/', /credentials of this machine/],
  ['https://[2002:a9fe:a9fe::]/', /credentials of this machine/],
  ['https://[fd00:ec2::254]/', /credentials of this machine/],
  ['https://100.100.100.200/', /credentials of this machine/],
  ['https://metadata.google.internal/', /credentials of this machine/],
  ['https://METADATA.google.internal./', /credentials of this machine/],
  ['https://metadata/', /credentials of this machine/],
  ['https://bank.example@evil.example/', /contains a user name/],
  ['https://user:password@auth.example/', /contains a user name/],
];

describe('an address of a sign-in', () => {
  for (const url of OPENED) {
    test(`is opened: ${url}`, () => assert.equal(checkAuthorizationUrl(url).href, new URL(url).href));
  }

  for (const [url, why] of REFUSED) {
    test(`is refused: ${url || 'nothing'}`, () => assert.throws(() => checkAuthorizationUrl(url), why));
  }

  test('is named in the refusal without its path, in which anything can stand', () => {
    const url = `https://169.254.169.254/${'x'.repeat(9999)}`;
    const told =
      'The sign-in address https://169.254.169.254 is not allowed: it could expose the credentials of this machine.';
    assert.throws(() => checkAuthorizationUrl(url), { name: 'RefusedAddressError', message: told });
  });
});

describe('a request to an authorization server', () => {
  const never = new AbortController().signal;

  test('is not made to an address that is refused', async () => {
    const asked: unknown[] = [];
    const guarded = guardFetch(async (url) => {
      asked.push(url);
      return new Response('');
    }, never);
    await assert.rejects(guarded('https://169.254.169.254/token'), /not allowed/);
    await assert.rejects(guarded(new URL('http://auth.example/token')), /not allowed/);
    assert.deepEqual(asked, []);
  });

  test('follows no redirect, and rejects one to a refused address', async () => {
    const guarded = (location: string) =>
      guardFetch(async (_url, init) => {
        assert.equal(init?.redirect, 'manual');
        return new Response('', { status: 302, headers: { location } });
      }, never)('https://auth.example/metadata');
    assert.equal((await guarded('/elsewhere')).status, 302);
    await assert.rejects(guarded('http://169.254.169.254/'), /not allowed/);
    await assert.rejects(guarded('//metadata.google.internal/'), /not allowed/);
    await assert.rejects(guarded('file:///etc/passwd'), /not allowed/);
  });

  test('ends when the answer does not', async () => {
    let chunks = 0;
    const endless = new ReadableStream({
      pull: (controller) => {
        chunks += 1;
        controller.enqueue(new Uint8Array(100_000));
      },
    });
    const guarded = guardFetch(async () => new Response(endless), never);
    await assert.rejects(guarded('https://auth.example/'), /too large/);
    assert.ok(chunks < 20);
  });

  test('gives the answer as it came', async () => {
    const guarded = guardFetch(async () => Response.json({ a: 1 }, { status: 201 }), never);
    const response = await guarded('https://auth.example/');
    assert.equal(response.status, 201);
    assert.deepEqual(await response.json(), { a: 1 });
  });
});
