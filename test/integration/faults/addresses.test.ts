/** Fault 41: a server's metadata name addresses that are never opened and never requested. */

import assert from 'node:assert/strict';
import { after, describe, type TestContext, test } from 'node:test';
import { RemoteAuthorization } from '../../../src/mcp/oauth/authorization.ts';
import { MemoryStore, ScriptedBrowser } from '../../unit/mcp/oauth/parts.ts';
import { AuthServer, ProtectedServer, startSite } from '../helpers/authServer.ts';
import { startHostileSite } from '../helpers/hostile.ts';
import { http, serve } from '../helpers/serving.ts';

const good = await startHostileSite({ after }, 'plain');

describe('fault 41: addresses that are not allowed', () => {
  const LINK_LOCAL = 'https://169.254.169.254/latest';
  const cases: Readonly<Record<string, (auth: AuthServer, server: ProtectedServer) => void>> = {
    'a page that is a script': (auth) => {
      auth.metadata = { authorization_endpoint: 'javascript:alert(1)' };
    },
    'a page that is a file': (auth) => {
      auth.metadata = { authorization_endpoint: 'file:///etc/passwd' };
    },
    'a link-local page': (auth) => {
      auth.metadata = { authorization_endpoint: LINK_LOCAL };
    },
    'a link-local place for tokens': (auth) => {
      auth.metadata = { token_endpoint: LINK_LOCAL };
    },
    'a link-local place to register': (auth) => {
      auth.metadata = { registration_endpoint: LINK_LOCAL };
    },
    'a link-local authorization server': (_auth, server) => {
      server.metadata = { authorization_servers: ['https://169.254.169.254'] };
    },
    'link-local metadata': (_auth, server) => {
      server.metadataUrl = `${LINK_LOCAL}/metadata`;
    },
  };
  for (const [name, lead] of Object.entries(cases)) {
    test(`fault 41: ${name}`, async (t) => {
      const { client, text, browser, fetched } = await signInTo(t, lead);
      const { tools, failures } = await client.listTools();
      assert.equal(failures.length, 1);
      assert.match(
        failures[0]?.reason ?? '',
        /^Server notes could not be reached: .*( is not allowed: |metadata of the authorization server is invalid)/,
      );
      assert.deepEqual(
        fetched.filter((url) => !url.startsWith('http://127.0.0.1:')),
        [],
      );
      // A valid page may be shown before the invalid address is found.
      assert.ok(browser.visits.every(({ hostname }) => hostname === '127.0.0.1'));
      assert.ok(tools.some(({ server }) => server === 'good'));
      assert.equal(await text('good.fine'), 'fine');
    });
  }
});

async function signInTo(t: TestContext, lead: (auth: AuthServer, server: ProtectedServer) => void) {
  const auth = await startSite(t, (origin) => new AuthServer(origin));
  const server = await startSite(t, (origin) => new ProtectedServer(`${origin}/mcp`, auth));
  lead(auth, server);
  const fetched: string[] = [];
  const watched: typeof fetch = (input, init) => {
    fetched.push(String(input instanceof Request ? input.url : input));
    return fetch(input, init);
  };
  const browser = new ScriptedBrowser(fetch);
  const { client, text } = serve(
    t,
    { notes: http(server.url), good },
    {
      authorize: async ({ url: serverUrl }, name) =>
        new RemoteAuthorization({
          server: name,
          serverUrl,
          store: new MemoryStore(),
          browser,
          fetch: watched,
        }),
    },
  );
  return { client, text, browser, fetched };
}
