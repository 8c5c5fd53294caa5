import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { type Browser, RemoteAuthorization } from '../../../src/mcp/oauth/authorization.ts';
import { LoopbackBrowser } from '../../../src/mcp/oauth/loopbackBrowser.ts';
import { MemoryStore } from '../../unit/mcp/oauth/parts.ts';
import { AuthServer, ProtectedServer, startSite } from '../helpers/authServer.ts';
import { firstText, http, serve } from '../helpers/serving.ts';

/** Real servers on this machine, and a client of the protected one. */
async function start(t: TestContext, given?: Browser) {
  const auth = await startSite(t, (origin) => new AuthServer(origin));
  const server = await startSite(t, (origin) => new ProtectedServer(`${origin}/mcp`, auth));
  const pages: string[] = [];
  const browser =
    given ??
    new LoopbackBrowser({
      // A user who agrees: the redirect leads back to this process, and its page is kept.
      open: async (url) => void pages.push(await (await fetch(url)).text()),
    });
  const store = new MemoryStore();
  const connect = () =>
    serve(
      t,
      { notes: http(server.url, { 'x-key': 'for the server only' }) },
      {
        authorize: async ({ url }, name) =>
          new RemoteAuthorization({ server: name, serverUrl: url, store, browser }),
      },
    ).client;
  return { auth, server, pages, connect };
}

const CALL = { id: 'c1', server: 'notes', tool: 'whoami', arguments: {} };

describe('a server that requires a sign-in', () => {
  test('is listed and called after one sign-in, which the next session reuses', async (t) => {
    const { auth, pages, connect } = await start(t);
    const first = connect();
    assert.deepEqual((await first.listTools()).failures, []);
    assert.equal(firstText(await first.callToolRaw(CALL)), 'you');
    await first.dispose();
    assert.equal(firstText(await connect().callToolRaw(CALL)), 'you');
    assert.equal(auth.authorizations.length, 1);
    assert.equal(pages.length, 1);
    assert.match(pages[0] ?? '', /You can close this page/);
  });

  test('asks once for many concurrent calls', async (t) => {
    const { auth, connect } = await start(t);
    const client = connect();
    const results = await Promise.all([1, 2, 3, 4].map(() => client.callToolRaw(CALL)));
    assert.deepEqual(results.map(firstText), ['you', 'you', 'you', 'you']);
    assert.equal(auth.authorizations.length, 1);
  });

  test('refreshes an expired token without asking', async (t) => {
    const { auth, connect } = await start(t);
    const client = connect();
    await client.callToolRaw(CALL);
    auth.revokeTokens();
    assert.equal(firstText(await client.callToolRaw(CALL)), 'you');
    assert.equal(auth.authorizations.length, 1);
  });

  test('requests more scopes for a call that needs them', async (t) => {
    const { auth, server, connect } = await start(t);
    Object.assign(server, { scope: 'read', callScope: 'write' });
    assert.equal(firstText(await connect().callToolRaw(CALL)), 'you');
    const scopes = auth.authorizations.map((url) => url.searchParams.get('scope'));
    assert.deepEqual(scopes, ['read', 'read write']);
  });

  test('tells the user what to do after a cancelled sign-in', async (t) => {
    const { auth, connect } = await start(t, {
      redirectUrl: async () => 'http://127.0.0.1:3000/callback',
      visit: async () => 'declined',
    });
    const { failures } = await connect().listTools();
    assert.deepEqual(failures, [
      {
        server: 'notes',
        reason:
          'Server notes could not be reached: The sign-in to notes was cancelled; restart the server to try again.',
      },
    ]);
    assert.deepEqual(auth.tokenRequests, []);
  });

  test('is the only one that gets its headers', async (t) => {
    const { auth, connect } = await start(t);
    const keys: (string | null)[] = [];
    const handle = auth.handle.bind(auth);
    auth.handle = (request) => {
      keys.push(request.headers.get('x-key'));
      return handle(request);
    };
    await connect().callToolRaw(CALL);
    assert.deepEqual([...new Set(keys)], [null]);
  });
});

describe('the browser callback on the command line', () => {
  const never = new AbortController().signal;
  const address = (state: string) => new URL(`https://auth.example/authorize?state=${state}`);
  const isClosed = (url: string) => assert.rejects(fetch(url), TypeError);

  test('is open for one answer with our state, and for nothing else', async () => {
    const statuses: number[] = [];
    const browser = new LoopbackBrowser({
      open: async () => {
        const { origin } = new URL(await browser.redirectUrl());
        const visit = async (path: string, init?: RequestInit) =>
          statuses.push((await fetch(origin + path, init)).status);
        await visit('/');
        await visit('/callback');
        await visit('/callback?code=1&state=other');
        await visit('/other?code=1&state=ours');
        await visit('/callback?code=1&state=ours', { method: 'POST' });
        await visit('//evil.example/callback?code=1&state=ours');
        await visit('/callback?code=1&state=ours');
      },
    });
    const answer = await browser.visit(address('ours'), 'notes', never);
    assert.equal(answer.href, `${await browser.redirectUrl()}?code=1&state=ours`);
    assert.deepEqual(statuses, [404, 404, 404, 404, 404, 404, 200]);
    await isClosed(answer.href);
  });

  test('leads to a page without scripts', async () => {
    const headers: Headers[] = [];
    const texts: string[] = [];
    const browser = new LoopbackBrowser({
      open: async () => {
        const response = await fetch(`${await browser.redirectUrl()}?error=<script>&state=ours`);
        headers.push(response.headers);
        texts.push(await response.text());
      },
    });
    await browser.visit(address('ours'), 'notes', never);
    assert.match(headers[0]?.get('content-security-policy') ?? '', /^default-src 'none'/);
    assert.doesNotMatch(texts[0] ?? '', /script/);
  });

  test('is closed when no request waits, and when the address could not be opened', async () => {
    const stop = new AbortController();
    const browser = new LoopbackBrowser({ open: () => stop.abort(new Error('stopped')) });
    await assert.rejects(browser.visit(address('ours'), 'notes', stop.signal), /stopped/);
    await isClosed(await browser.redirectUrl());
    const mute = new LoopbackBrowser({ open: () => Promise.reject(new Error('no terminal')) });
    await assert.rejects(mute.visit(address('ours'), 'notes', never), /no terminal/);
    await isClosed(await mute.redirectUrl());
  });

  test('is the same for the whole session, because the client is registered with it', async () => {
    const browser = new LoopbackBrowser({
      open: async (url) => void (await fetch(`${await browser.redirectUrl()}${url.search}`)),
    });
    const url = await browser.redirectUrl();
    await browser.visit(address('first'), 'notes', never);
    await browser.visit(address('second'), 'notes', never);
    assert.equal(await browser.redirectUrl(), url);
  });
});
