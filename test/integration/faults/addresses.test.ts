/** Fault 41: a server's metadata lead to addresses that are never opened and never asked. */

import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { ServerConfig } from '../../../src/mcp/config/types.ts';
import { RemoteAuthorization } from '../../../src/mcp/oauth/authorization.ts';
import { McpClient } from '../../../src/mcpClient.ts';
import { MemoryStore, ScriptedBrowser } from '../../unit/mcp/oauth/parts.ts';
import { AuthServer, ProtectedServer, startSite } from '../helpers/authServer.ts';
import { hostileProcess } from '../helpers/hostile.ts';
import { TIMEOUT_MS } from '../helpers/serving.ts';

describe('fault 41: addresses that nobody may be sent to', () => {
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
      const { connections, browser, fetched } = await signInTo(t, lead);
      const { tools, failures } = await connections.listTools();
      assert.equal(failures.length, 1);
      assert.match(
        failures[0]?.reason ?? '',
        /^Server notes could not be reached: .*( is not allowed: |metadata of the authorization server is invalid)/,
      );
      assert.deepEqual(
        fetched.filter((url) => !url.startsWith('http://127.0.0.1:')),
        [],
      );
      // A page may be shown before the way to the tokens turns out to be wrong, but only one that is right.
      assert.ok(browser.visits.every(({ hostname }) => hostname === '127.0.0.1'));
      assert.ok(tools.some(({ server }) => server === 'good'));
      const fine = await connections.callToolRaw({ id: 'c1', server: 'good', tool: 'fine', arguments: {} });
      assert.match(JSON.stringify(fine), /fine/);
    });
  }
});

async function signInTo(t: TestContext, lead: (auth: AuthServer, server: ProtectedServer) => void) {
  const onEnd = (stop: () => void) => t.after(stop);
  const auth = await startSite((origin) => new AuthServer(origin), onEnd);
  const server = await startSite((origin) => new ProtectedServer(`${origin}/mcp`, auth), onEnd);
  lead(auth, server);
  const fetched: string[] = [];
  const watched: typeof fetch = (input, init) => {
    fetched.push(String(input instanceof Request ? input.url : input));
    return fetch(input, init);
  };
  const browser = new ScriptedBrowser(fetch);
  const ignore = () => {};
  const servers = new Map<string, ServerConfig>([
    ['notes', { kind: 'http', url: server.url, headers: {} }],
    ['good', hostileProcess('plain')],
  ]);
  const connections = new McpClient({
    servers: async () => servers,
    log: { info: ignore, warn: ignore, error: ignore },
    timeoutMs: () => TIMEOUT_MS,
    clientInfo: { name: 'test', version: '1' },
    authorize: async ({ url }, name) =>
      new RemoteAuthorization({
        server: name,
        serverUrl: url,
        store: new MemoryStore(),
        browser,
        fetch: watched,
      }),
  });
  t.after(() => connections.dispose());
  return { connections, browser, fetched };
}
