import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createWorld, needsScope, request } from './parts.ts';

const never = new AbortController().signal;
const scopeOf = (url: URL | undefined) => url?.searchParams.get('scope');

describe('signing in', () => {
  test('discovers, registers, sends the user to the browser, and exchanges the code', async () => {
    const world = createWorld();
    assert.equal((await request(world, world.authorization)).status, 200);
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
    const world = createWorld();
    await request(world, world.authorization);
    assert.equal((await request(world, world.create())).status, 200);
    assert.equal(world.browser.visits.length, 1);
  });

  test('is shared by concurrent requests', async () => {
    const world = createWorld();
    const responses = await Promise.all([1, 2, 3].map(() => request(world, world.authorization)));
    assert.deepEqual(
      responses.map(({ status }) => status),
      [200, 200, 200],
    );
    assert.equal(world.browser.visits.length, 1);
    assert.equal(world.auth.registrations.length, 1);
  });

  test('is silent when the token can be refreshed', async () => {
    const world = createWorld();
    await request(world, world.authorization);
    world.auth.revokeTokens();
    assert.equal((await request(world, world.authorization)).status, 200);
    assert.equal(world.browser.visits.length, 1);
    const grants = world.auth.tokenRequests.map(({ form }) => form.get('grant_type'));
    assert.deepEqual(grants, ['authorization_code', 'refresh_token']);
    assert.equal(world.auth.tokenRequests[1]?.form.get('resource'), 'https://mcp.example/mcp');
  });

  for (const refusal of ['invalid_grant', 'invalid_request', 'temporarily_unavailable', 'server_error']) {
    test(`asks the user when a refresh is refused with ${refusal}`, async (t) => {
      t.mock.method(console, 'warn', () => {});
      const world = createWorld();
      await request(world, world.authorization);
      world.auth.revokeTokens();
      world.auth.refusesRefresh = refusal;
      assert.equal((await request(world, world.authorization)).status, 200);
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

  test('starts over when the server moves to another authorization server, which sees nothing of the first', async () => {
    const world = createWorld();
    await request(world, world.authorization);
    world.server.auth = world.other;
    assert.equal((await request(world, world.authorization)).status, 200);
    assert.equal(world.browser.visits.length, 2);
    assert.equal(world.other.registrations.length, 1);
    const grants = world.other.tokenRequests.map(({ form }) => form.get('grant_type'));
    assert.deepEqual(grants, ['authorization_code']);
  });

  test('forgets everything when the user signs out', async () => {
    const world = createWorld();
    await request(world, world.authorization);
    await world.authorization.signOut();
    assert.deepEqual([...world.store.kept], []);
    await request(world, world.authorization);
    assert.equal(world.browser.visits.length, 2);
  });
});

describe('the client of a sign-in', () => {
  test('is the one that the user has registered', async () => {
    const world = createWorld({ settings: { clientId: 'mine', clientSecret: 'hush' } });
    assert.equal((await request(world, world.authorization)).status, 200);
    assert.deepEqual(world.auth.registrations, []);
    assert.equal(world.browser.visits[0]?.searchParams.get('client_id'), 'mine');
    assert.equal(world.auth.tokenRequests[0]?.authorization, `Basic ${btoa('mine:hush')}`);
  });

  test('keeps its secret from another authorization server', async () => {
    const world = createWorld({ settings: { clientId: 'mine', clientSecret: 'hush' } });
    await request(world, world.authorization);
    world.server.auth = world.other;
    await assert.rejects(request(world, world.authorization), {
      name: 'SignInError',
      message:
        'The sign-in to notes failed: its authorization server changed from https://auth.example to ' +
        'https://other.example, so your client secret was not sent. If the change is expected, sign out of ' +
        'the server and sign in again',
    });
    assert.deepEqual(world.other.tokenRequests, []);
    await world.authorization.signOut();
    assert.equal((await request(world, world.authorization)).status, 200);
  });

  test('is a page about it, where the authorization server reads such pages', async () => {
    const clientMetadataUrl = 'https://filechat.example/client.json';
    const world = createWorld({ settings: { clientMetadataUrl } });
    world.auth.metadata = { client_id_metadata_document_supported: true };
    assert.equal((await request(world, world.authorization)).status, 200);
    assert.deepEqual(world.auth.registrations, []);
    assert.equal(world.browser.visits[0]?.searchParams.get('client_id'), clientMetadataUrl);
  });

  test('is registered again when the redirect URL changes', async (t) => {
    t.mock.method(console, 'warn', () => {});
    const world = createWorld();
    await request(world, world.authorization);
    world.browser.redirect = 'http://127.0.0.1:4000/callback';
    world.auth.revokeTokens();
    world.auth.refusesRefresh = 'invalid_grant';
    assert.equal((await request(world, world.authorization)).status, 200);
    assert.equal(world.auth.registrations.length, 2);
    assert.equal(world.browser.visits[1]?.searchParams.get('redirect_uri'), world.browser.redirect);
    assert.match(world.browser.visits[1]?.searchParams.get('client_id') ?? '', /^client-/);
    assert.notEqual(
      world.browser.visits[1]?.searchParams.get('client_id'),
      world.browser.visits[0]?.searchParams.get('client_id'),
    );
  });

  test('stays the same for a refresh, wherever browsers would be sent back to', async () => {
    const world = createWorld();
    await request(world, world.authorization);
    world.browser.redirect = 'http://127.0.0.1:4000/callback';
    world.auth.revokeTokens();
    assert.equal((await request(world, world.authorization)).status, 200);
    assert.equal(world.auth.registrations.length, 1);
    assert.equal(world.browser.visits.length, 1);
  });
});

describe('the scope of a sign-in', () => {
  test('is what the server asks for and what the user has configured', async () => {
    const world = createWorld({ settings: { scopes: ['mine'] } });
    world.server.scope = 'read';
    await request(world, world.authorization);
    assert.equal(scopeOf(world.browser.visits[0]), 'mine read');
  });

  test('grows with what a call needs, without losing what was there', async () => {
    const world = createWorld();
    Object.assign(world.server, { scope: 'read', callScope: 'write' });
    await request(world, world.authorization);
    assert.equal((await request(world, world.authorization, 'tools/call')).status, 403);
    assert.equal(await world.authorization.stepUp(needsScope('write'), never), true);
    assert.equal(scopeOf(world.browser.visits[1]), 'read write');
    assert.equal((await request(world, world.authorization, 'tools/call')).status, 200);
  });

  test('is not asked for twice when that changes nothing', async () => {
    const world = createWorld();
    world.server.scope = 'read';
    await request(world, world.authorization);
    assert.equal(await world.authorization.stepUp(needsScope('read'), never), false);
    assert.equal(await world.authorization.stepUp(needsScope('admin'), never), true);
    assert.equal(await world.authorization.stepUp(needsScope('admin'), never), false);
    assert.equal(world.browser.visits.length, 2);
  });

  test('grows in the next session from what was given in this one', async () => {
    const world = createWorld();
    world.server.scope = 'read';
    await request(world, world.authorization);
    assert.equal(await world.create().stepUp(needsScope('write'), never), true);
    assert.equal(scopeOf(world.browser.visits[1]), 'read write');
  });
});
