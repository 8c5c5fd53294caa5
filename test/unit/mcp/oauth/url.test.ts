import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkAuthorizationUrl, guardFetch } from '../../../../src/mcp/oauth/signIn.ts';

/** URLs by the reason why they are refused. */
const REFUSED: Readonly<Record<string, string>> = {
  'only https is allowed': `
    javascript:alert(1) JaVaScRiPt:alert(1) file:///etc/passwd data:text/html,<script>alert(1)</script>
    vscode://publisher.extension/run ms-settings:privacy ftp://auth.example/ blob:https://auth.example/1`,
  'not a valid URL': '/authorize authorize',
  'not be encrypted': `
    http://auth.example/authorize http://192.168.1.10/authorize http://localhost.example/ http://127.0.0.1.example/`,
  // The address of the metadata service also as a number, and in octal and hexadecimal digits.
  'credentials of this machine': `
    http://0.0.0.0/ http://169.254.169.254/latest/meta-data/ https://169.254.169.254/ https://169.254.0.1/
    https://2852039166/ https://0251.0376.0251.0376/ https://0xa9.0xfe.0xa9.0xfe/ https://[fe80::1]/
    https://[febf::1]/ https://[::ffff:169.254.169.254]/ https://[::ffff:a9fe:a9fe]/ https://[::169.254.169.254]/
    https://[::ffff:0:a9fe:a9fe]/
    https://[64:ff9b::a9fe:a9fe]/ https://[::ffff:100.100.100.200]/ https://[64:ff9b::6464:64c8]/ https://[2002:a9fe:a9fe::]/ https://[fd00:ec2::254]/ https://100.100.100.200/
    https://metadata.google.internal/ https://METADATA.google.internal./ https://metadata/`,
  'contains a user name': 'https://bank.example@evil.example/ https://user:password@auth.example/',
};
const OPENED = `
  https://auth.example/authorize?client_id=1 https://auth.example:8443/ https://192.168.1.10/authorize
  https://metadata.example/authorize http://localhost:3000/authorize http://app.localhost/authorize
  http://127.0.0.1:8080/token http://127.9.9.9/token http://[::1]:8080/token`;
const wordsOf = (text: string) => text.trim().split(/\s+/);

describe('an address of a sign-in', () => {
  for (const url of wordsOf(OPENED)) {
    test(`is opened: ${url}`, () => assert.equal(checkAuthorizationUrl(url).href, new URL(url).href));
  }

  for (const [why, urls] of Object.entries(REFUSED)) {
    for (const url of wordsOf(urls)) {
      test(`is refused, because ${why}: ${url}`, () =>
        assert.throws(() => checkAuthorizationUrl(url), new RegExp(why)));
    }
  }

  test('is read at once, however many dots its host has', () =>
    assert.equal(checkAuthorizationUrl(`https://${'.'.repeat(200_000)}a/`).protocol, 'https:'));

  test('is refused if it is empty', () => assert.throws(() => checkAuthorizationUrl(''), /not a valid URL/));

  test('is shown in the refusal without its path, which may contain anything', () => {
    const url = `https://169.254.169.254/${'x'.repeat(9999)}`;
    const told =
      'The sign-in address https://169.254.169.254 is not allowed: it could expose the credentials of this machine.';
    assert.throws(() => checkAuthorizationUrl(url), { name: 'RefusedAddressError', message: told });
  });
});

describe('a request to an authorization server', () => {
  const never = new AbortController().signal;

  test('is not sent to a refused address', async () => {
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

  test('ends when the response is endless', async () => {
    let chunks = 0;
    const endless = new ReadableStream({
      pull: (controller) => {
        chunks += 1;
        controller.enqueue(new Uint8Array(100_000));
      },
    });
    const guarded = guardFetch(async () => new Response(endless), never);
    await assert.rejects((await guarded('https://auth.example/')).text(), /is larger than/);
    assert.ok(chunks < 100);
  });

  test('ends when the metadata have too many values', async () => {
    const metadata = `{"scopes_supported":[${'1,'.repeat(3_000_000)}1]}`;
    const guarded = guardFetch(async () => new Response(metadata), never);
    const response = await guarded('https://auth.example/');
    await assert.rejects(response.json(), /^BodyTooLargeError: The response has more than 8000 values\.$/);
  });

  test('returns the response unchanged', async () => {
    const guarded = guardFetch(async () => Response.json({ a: 1 }, { status: 201 }), never);
    const response = await guarded('https://auth.example/');
    assert.equal(response.status, 201);
    assert.deepEqual(await response.json(), { a: 1 });
  });
});
