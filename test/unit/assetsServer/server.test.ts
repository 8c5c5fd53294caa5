import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { Client } from '@modelcontextprotocol/client';
import { InMemoryTransport } from '@modelcontextprotocol/server';
import { createServer } from '../../../src/assetsServer/server.ts';
import { createShared, type Shared } from '../../../src/assetsServer/shared.ts';
import { useTree } from '../catalog/tree.ts';

const SECRET = '/home/somebody/chats/private.chat.md';
const tree = useTree();
const OPTIONS = { folders: [], readOnly: false, maxUploadBytes: 1000, allowedTypes: [], version: '1' };

it('unexpected errors are logged, and not shown to clients', async (t) => {
  const logged: string[] = [];
  const shared = createShared({ ...OPTIONS, log: (message) => logged.push(message) });
  shared.catalog.snapshot = async () => {
    throw Object.assign(new Error(`EIO: i/o error, scandir '${SECRET}'`), { code: 'EIO' });
  };
  const client = await connect(t, shared);
  logged.length = 0;

  const failure = (asked: Promise<unknown>) =>
    asked.then(
      () => assert.fail('It was answered.'),
      (error: unknown) => error,
    );
  const ref = { type: 'ref/resource', uri: 'filechat://{chat}' } as const;
  const told: unknown[] = [
    await failure(client.listResources()),
    await failure(client.complete({ ref, argument: { name: 'chat', value: '' } })),
  ];
  for (const [name, args] of [
    ['list_assets', {}],
    ['search_chats', { query: 'x' }],
    ['read_asset', { uri: 'asset:tool-file-20261116-093012-V1StGXR8a0-1.png' }],
  ] as const) {
    const result = await client.callTool({ name, arguments: args });
    assert.equal(result.isError, true);
    told.push(result);
  }
  for (const each of told) {
    assert.doesNotMatch(`${each} ${JSON.stringify(each)}`, /somebody|EIO|scandir/);
    assert.match(`${each} ${JSON.stringify(each)}`, /failed inside the server/);
  }
  assert.equal(logged.filter((line) => line.includes(SECRET)).length, told.length);
});

it('the same bytes that come twice at once are one file', async (t) => {
  const client = await connect(t, createShared({ ...OPTIONS, folders: [tree.path], log: () => {} }));
  const save = () => client.callTool({ name: 'save_asset', arguments: { name: 'a.txt', text: 'the same' } });
  const [first, ...others] = await Promise.all(Array.from({ length: 5 }, save));
  for (const other of others) assert.deepEqual(other, first);
  // Ends its watch on the folder, which Windows would not remove before.
  await client.close();
});

async function connect(t: TestContext, shared: Shared): Promise<Client> {
  const [near, far] = InMemoryTransport.createLinkedPair();
  await createServer(shared, 'legacy').server.connect(far);
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(near);
  t.after(() => client.close());
  return client;
}
