import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { AuthServer } from '../../../integration/helpers/authServer.ts';
import { createWorld, needsScope, request, signedIn, type World } from './parts.ts';

const never = new AbortController().signal;
const scopeOf = (url: URL | undefined) => url?.searchParams.get('scope');

describe('signing in', () => {
  test('discovers, registers, sends the user to the browser, and exchanges the code', async () => {
    const world = createWorld();
    assert.equal((await request(world)).status, 200);
    assert.deepEqual(world.asked, [
      'https://mcp.example/.well-known/oauth-protected-resource/mcp',
      'https://auth.example/.well-known/oauth-authorization-server',
      'https://auth.example/register',
      world.browser.visits[0]?.href,
      'https://auth.example/token',
    ]);
    const visited = Object.fromEntries(world.browser.visits[0]?.searchParams ?? []);
    assert.equal(visited['resource'], 'https://mcp.example/mcp');
    assert.equal(visited['code_challenge_method'], 'S256');
    assert.equal(visited['redirect_uri'], 'http://127.0.0.1:3000/callback');
    assert.match(visited['state'] ?? '', /^[\w-]{43}$/);
    assert.deepEqual(world.auth.registrations[0], {
      client_name: 'Filechat',
      redirect_uris: ['http://127.0.0.1:3000/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      application_type: 'native',
    });
  });

  test('is needed once: the next session finds the token', async () => {
    const world = await signedIn();
    assert.equal((await request(world, world.create())).status, 200);
    assert.equal(world.browser.visits.length, 1);
  });

  test('is shared by concurrent requests', async () => {
    const world = createWorld();
    const responses = await Promise.all([1, 2, 3].map(() => request(world)));
    assert.equal(responses.map(({ status }) => status).join(), '200,200,200');
    assert.equal(world.browser.visits.length, 1);
    assert.equal(world.auth.registrations.length, 1);
  });

  test('does not ask the user when the token can be refreshed', async () => {
    const world = await signedIn();
    world.auth.revokeTokens();
    assert.equal((await request(world)).status, 200);
    assert.equal(world.browser.visits.length, 1);
    const grants = world.auth.tokenRequests.map(({ form }) => form.get('grant_type'));
    assert.deepEqual(grants, ['authorization_code', 'refresh_token']);
    assert.equal(world.auth.tokenRequests[1]?.form.get('resource'), 'https://mcp.example/mcp');
  });

  for (const refusal of ['invalid_grant', 'invalid_request', 'temporarily_unavailable', 'server_error']) {
    test(`asks the user when a refresh is refused with ${refusal}`, async (t) => {
      t.mock.method(console, 'warn', () => {});
      const world = await signedIn();
      world.auth.revokeTokens();
      world.auth.refusesRefresh = refusal;
      assert.equal((await request(world)).status, 200);
      assert.equal(world.browser.visits.length, 2);
    });
  }

  test('is not needed when another window has signed in meanwhile', async () => {
    const world = createWorld();
    const here = world.authorization;
    const response = new Response('', { status: 401 });
    await here.provider.token();
    await request(world, world.create());
    const { fetchFn, server } = world;
    await here.provider.onUnauthorized?.({ response, serverUrl: new URL(server.url), fetchFn });
    assert.equal((await request(world, here)).status, 200);
    assert.equal(world.auth.tokenRequests.length, 1);
  });

  test('starts over when the server changes its authorization server, which gets nothing from the first', async () => {
    const world = await signedIn();
    world.server.auth = world.other;
    assert.equal((await request(world)).status, 200);
    assert.equal(world.browser.visits.length, 2);
    assert.equal(world.other.registrations.length, 1);
    const grants = world.other.tokenRequests.map(({ form }) => form.get('grant_type'));
    assert.deepEqual(grants, ['authorization_code']);
  });

  test('forgets everything when the user signs out', async () => {
    const world = await signedIn();
    await world.authorization.signOut();
    assert.deepEqual([...world.store.kept], []);
    await request(world);
    assert.equal(world.browser.visits.length, 2);
  });
});

describe('the client of a sign-in', () => {
  test('is the one that the user registered', async () => {
    const world = createWorld({ settings: { clientId: 'mine', clientSecret: 'hush' } });
    assert.equal((await request(world)).status, 200);
    assert.deepEqual(world.auth.registrations, []);
    assert.equal(world.browser.visits[0]?.searchParams.get('client_id'), 'mine');
    assert.equal(world.auth.tokenRequests[0]?.authorization, `Basic ${btoa('mine:hush')}`);
  });

  test('keeps its secret from another authorization server', async () => {
    const world = await signedIn({ settings: { clientId: 'mine', clientSecret: 'hush' } });
    world.server.auth = world.other;
    await assert.rejects(request(world), {
      name: 'SignInError',
      message:
        'The sign-in to notes failed: its authorization server changed from https://auth.example to ' +
        'https://other.example, so your client secret was not sent. If the change is expected, sign out of ' +
        'the server and sign in again',
    });
    assert.deepEqual(world.other.tokenRequests, []);
    await world.authorization.signOut();
    assert.equal((await request(world)).status, 200);
  });

  test('is its metadata document, if the authorization server supports that', async () => {
    const clientMetadataUrl = 'https://filechat.example/client.json';
    const world = createWorld({ settings: { clientMetadataUrl } });
    world.auth.metadata = { client_id_metadata_document_supported: true };
    assert.equal((await request(world)).status, 200);
    assert.deepEqual(world.auth.registrations, []);
    assert.equal(world.browser.visits[0]?.searchParams.get('client_id'), clientMetadataUrl);
  });

  test('is registered again when the redirect URL changes', async (t) => {
    t.mock.method(console, 'warn', () => {});
    const world = await signedIn();
    world.browser.redirect = 'http://127.0.0.1:4000/callback';
    world.auth.revokeTokens();
    world.auth.refusesRefresh = 'invalid_grant';
    assert.equal((await request(world)).status, 200);
    assert.equal(world.auth.registrations.length, 2);
    assert.equal(world.browser.visits[1]?.searchParams.get('redirect_uri'), world.browser.redirect);
    const [first, second] = world.browser.visits.map(({ searchParams }) => searchParams.get('client_id'));
    assert.match(second ?? '', /^client-/);
    assert.notEqual(second, first);
  });

  test('stays the same for a refresh, whatever the redirect URL', async () => {
    const world = await signedIn();
    world.browser.redirect = 'http://127.0.0.1:4000/callback';
    world.auth.revokeTokens();
    assert.equal((await request(world)).status, 200);
    assert.equal(world.auth.registrations.length, 1);
    assert.equal(world.browser.visits.length, 1);
  });
});

describe('the scope of a sign-in', () => {
  test('is the union of the required and the configured scopes', async () => {
    const world = createWorld({ settings: { scopes: ['mine'] } });
    world.server.scope = 'read';
    await request(world);
    assert.equal(scopeOf(world.browser.visits[0]), 'mine read');
  });

  test('grows with the scopes of a call, without losing the others', async () => {
    const world = createWorld();
    Object.assign(world.server, { scope: 'read', callScope: 'write' });
    await request(world);
    assert.equal((await request(world, undefined, 'tools/call')).status, 403);
    assert.equal(await world.authorization.stepUp(needsScope('write'), never), true);
    assert.equal(scopeOf(world.browser.visits[1]), 'read write');
    assert.equal((await request(world, undefined, 'tools/call')).status, 200);
  });

  test('is not requested twice if nothing would change', async () => {
    const world = createWorld();
    world.server.scope = 'read';
    await request(world);
    assert.equal(await world.authorization.stepUp(needsScope('read'), never), false);
    assert.equal(await world.authorization.stepUp(needsScope('admin'), never), true);
    assert.equal(await world.authorization.stepUp(needsScope('admin'), never), false);
    assert.equal(world.browser.visits.length, 2);
  });

  test('grows in the next session from the granted scopes', async () => {
    const world = createWorld();
    world.server.scope = 'read';
    await request(world);
    assert.equal(await world.create().stepUp(needsScope('write'), never), true);
    assert.equal(scopeOf(world.browser.visits[1]), 'read write');
  });
});

describe('a callback is rejected', () => {
  const ANSWERS: readonly (readonly [what: string, answer: AuthServer['answer'], told: RegExp])[] = [
    ['without our state', { state: undefined }, /does not match this request/],
    ['with another state', { state: 'x'.repeat(43) }, /does not match this request/],
    ['with an empty state', { state: '' }, /does not match this request/],
    [
      'from another issuer',
      { iss: 'https://other.example' },
      /does not come from .* https:\/\/auth\.example$/,
    ],
    [
      'without the announced issuer',
      { iss: undefined },
      /does not come from the expected authorization server/,
    ],
    ['with an issuer that only looks alike', { iss: 'https://auth.example/' }, /does not come from/],
    ['without a code', { code: undefined }, /sent no code/],
    ['with a wrong code', { code: 'code-0' }, /The sign-in to notes failed: /],
  ];
  for (const [what, answer, told] of ANSWERS) {
    test(`${what}, and no token is asked for with it`, async (t) => {
      t.mock.method(console, 'warn', () => {});
      const world = createWorld();
      world.auth.answer = answer;
      await assert.rejects(request(world), told);
      assert.equal(await world.authorization.provider.token(), undefined);
      if (answer['code'] === undefined) assert.deepEqual(world.auth.tokenRequests, []);
    });
  }

  test('with an error, which is shown on one line with invisible characters visible', async () => {
    const world = createWorld();
    const error_description = `Out of\n\n\u202eorder ${'x'.repeat(999)}`;
    world.auth.answer = { code: undefined, error: 'server_error', error_description };
    await assert.rejects(
      request(world),
      /^SignInError: The sign-in to notes failed: the authorization server returned an error: Out of ⟦U\+202E⟧order x{200,300}…$/,
    );
  });

  test('with an error from another issuer, which is not shown', async () => {
    const world = createWorld();
    const iss = 'https://other.example';
    world.auth.answer = { code: undefined, error: 'server_error', error_description: 'Call 555-0100', iss };
    await assert.rejects(request(world), (error: Error) => {
      assert.match(error.message, /does not come from the expected authorization server/);
      assert.doesNotMatch(error.message, /555|other/);
      return true;
    });
  });
});

describe('an address is neither opened nor fetched', () => {
  const metadata =
    (key: string) =>
    ({ auth }: World, url: string) =>
      Object.assign(auth.metadata, { [key]: url });
  const ADDRESSES: readonly (readonly [what: string, set: (world: World, url: string) => void])[] = [
    ['for the authorization', metadata('authorization_endpoint')],
    ['for the token', metadata('token_endpoint')],
    ['for the registration', metadata('registration_endpoint')],
    ['of an issuer', ({ server }, url) => Object.assign(server.metadata, { authorization_servers: [url] })],
    ['of the metadata', ({ server }, url) => Object.assign(server, { metadataUrl: url })],
  ];
  const urls = 'http://169.254.169.254/x https://[::ffff:169.254.169.254]/x http://evil.example/x';
  for (const url of urls.split(' ')) {
    for (const [what, set] of ADDRESSES) {
      test(`${what}: ${url}`, async () => {
        const world = createWorld();
        set(world, url);
        const { host } = new URL(url);
        await assert.rejects(request(world), /The sign-in to notes failed: /);
        const gone = [...world.asked, ...world.browser.visits].map((each) => new URL(each).host);
        assert.ok(!gone.includes(host), gone.join());
      });
    }
  }

  test('for the authorization: javascript', async () => {
    const world = createWorld();
    world.auth.metadata = { authorization_endpoint: 'javascript:alert(1)' };
    await assert.rejects(request(world), /The sign-in to notes failed: /);
    assert.deepEqual(world.browser.visits, []);
  });
});

describe('a user who declines', () => {
  const told = 'The sign-in to notes was cancelled; restart the server to try again';

  test('fails all waiting calls with a clear message, and is not asked again', async () => {
    const world = createWorld();
    world.browser.answer = async () => 'declined';
    const calls = await Promise.allSettled([1, 2].map(() => request(world)));
    for (const call of calls) assert.equal(call.status === 'rejected' && call.reason.message, told);
    await assert.rejects(request(world), { name: 'SignInError', message: told });
    assert.equal(world.browser.visits.length, 1);
  });

  test('may do so on the page of the authorization server', async () => {
    const world = createWorld();
    world.auth.answer = { code: undefined, error: 'access_denied' };
    await assert.rejects(request(world), { message: told });
    await assert.rejects(request(world), { message: told });
    assert.equal(world.browser.visits.length, 1);
  });

  test('is asked again on request', async () => {
    const world = createWorld();
    world.browser.answer = async () => 'declined';
    await assert.rejects(request(world));
    world.browser.answer = (url) => world.browser.follow(url);
    world.authorization.askAgain();
    assert.equal((await request(world)).status, 200);
  });

  test('more scopes keeps the granted ones, and the token is still refreshed silently', async () => {
    const world = createWorld();
    world.server.scope = 'read';
    await request(world);
    world.browser.answer = async () => 'declined';
    await assert.rejects(world.authorization.stepUp(needsScope('write'), never), { message: told });
    assert.equal(await world.authorization.stepUp(needsScope('write'), never), false);
    assert.equal((await request(world)).status, 200);
    world.auth.revokeTokens();
    assert.equal((await request(world)).status, 200);
    assert.equal(world.browser.visits.length, 2);
  });
});

describe('a visit that fails without the user', () => {
  const cases: readonly [string, () => Promise<never>, string][] = [
    [
      'because the port is in use',
      () => Promise.reject(new Error('The port is in use.', { cause: new Error('EADDRINUSE') })),
      'The sign-in to notes failed: The port is in use: EADDRINUSE',
    ],
    [
      'because the time is over',
      () => new Promise(() => {}),
      'The sign-in to notes failed: it was not completed within 15 minutes. Try again',
    ],
  ];
  for (const [why, answer, message] of cases) {
    test(`${why} is reported, and the next request opens the browser again`, async (t) => {
      const { timeout } = AbortSignal;
      t.mock.method(AbortSignal, 'timeout', (ms: number) => timeout(ms === 900_000 ? 1 : ms));
      // The timer of a signal does not keep the process alive.
      const alive = setTimeout(() => {}, 60_000);
      const world = createWorld();
      world.browser.answer = answer;
      await assert.rejects(request(world), { name: 'SignInError', message });
      clearTimeout(alive);
      t.mock.restoreAll();
      world.browser.answer = (url) => world.browser.follow(url);
      assert.equal((await request(world)).status, 200);
      assert.equal(world.browser.visits.length, 2);
    });
  }
});

describe('a sign-in in progress', () => {
  /** A user who keeps the page open until the sign-in is aborted. */
  const holdBrowser = (world: World) =>
    new Promise<AbortSignal>((resolve) => {
      world.browser.answer = (_url, signal) => {
        resolve(signal);
        return new Promise(() => {});
      };
    });

  test('ends when it is cancelled, and the user is asked again next time', async () => {
    const world = createWorld();
    const held = holdBrowser(world);
    const call = assert.rejects(request(world), {
      message: 'The sign-in to notes failed: it was cancelled',
    });
    const signal = await held;
    world.authorization.cancel();
    await call;
    assert.ok(signal.aborted);
    world.browser.answer = (url) => world.browser.follow(url);
    assert.equal((await request(world)).status, 200);
  });

  test('ends when the only call that waits for more scopes is stopped', async () => {
    const world = await signedIn();
    const held = holdBrowser(world);
    const stop = new AbortController();
    const call = assert.rejects(
      world.authorization.stepUp(needsScope('write'), stop.signal),
      /^Error: stopped$/,
    );
    const signal = await held;
    stop.abort(new Error('stopped'));
    await call;
    assert.ok(signal.aborted);
  });

  test('continues while another call waits for it', async () => {
    const world = await signedIn();
    const held = holdBrowser(world);
    const stop = new AbortController();
    const stopped = assert.rejects(world.authorization.stepUp(needsScope('write'), stop.signal), /stopped/);
    const signal = await held;
    world.auth.revokeTokens();
    const waits = request(world);
    await new Promise(setImmediate);
    stop.abort(new Error('stopped'));
    await stopped;
    assert.equal(signal.aborted, false);
    world.authorization.cancel();
    await assert.rejects(waits, /it was cancelled/);
  });

  test('pauses timeouts while the user is asked, and only then', async () => {
    const asked: number[] = [];
    const world = createWorld({
      onAsk: (work) => {
        asked.push(world.browser.visits.length);
        return work;
      },
    });
    await request(world);
    world.auth.revokeTokens();
    await request(world);
    assert.deepEqual(asked, [1]);
  });
});
