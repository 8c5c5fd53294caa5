import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Credentials } from '../../../../src/mcp/oauth/credentials.ts';
import { forgetCredentials, secretCredentials } from '../../../../src/vscode/servers/memory.ts';

test('forgetting deletes the credentials of all servers, and no other secret', async () => {
  const kept = new Map([['key openai', 'x']]);
  const secrets = {
    keys: async () => [...kept.keys()],
    get: async (key: string) => kept.get(key),
    store: async (key: string, value: string) => void kept.set(key, value),
    delete: async (key: string) => void kept.delete(key),
    onDidChange: () => ({ dispose() {} }),
  };
  for (const server of ['https://a.example/mcp', 'https://b.example/mcp']) {
    const credentials = new Credentials(secretCredentials(secrets), server);
    await credentials.change('https://login.example', {
      tokens: { access_token: 't', token_type: 'Bearer' },
    });
    assert.equal((await credentials.tokens())?.access_token, 't');
  }
  assert.equal(kept.size, 5);
  await forgetCredentials(secrets);
  assert.deepEqual([...kept.keys()], ['key openai']);
});
