import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Credentials } from '../../../../src/mcp/oauth/credentials.ts';
import { MemoryStore } from './parts.ts';

const A = 'https://a.example';
const B = 'https://b.example';
const SERVER = 'https://mcp.example/mcp';
const token = (access_token: string) => ({ tokens: { access_token, token_type: 'Bearer' } });

describe('credentials', () => {
  test('are stored by server and issuer, and no other issuer gets them', async () => {
    const credentials = new Credentials(new MemoryStore(), SERVER);
    await credentials.change(A, { ...token('t1'), client: { client_id: 'c1' } });
    assert.equal((await credentials.read(A)).tokens?.access_token, 't1');
    assert.deepEqual(await credentials.read(B), {});
    assert.deepEqual(await credentials.read(`${A}/`), {});
  });

  test('of two servers are separate, even if they have the same issuer', async () => {
    const store = new MemoryStore();
    await new Credentials(store, SERVER).change(A, token('t1'));
    assert.equal(await new Credentials(store, 'https://other.example/mcp').tokens(), undefined);
    assert.equal(await new Credentials(store, 'https://mcp.example/other').tokens(), undefined);
    assert.equal((await new Credentials(store, SERVER).tokens())?.access_token, 't1');
  });

  test('have the server and the issuer in their key', async () => {
    const store = new MemoryStore();
    await new Credentials(store, SERVER).change(A, token('t1'));
    assert.deepEqual([...store.kept.keys()], [`oauth ${SERVER}`, `oauth ${SERVER} ${A}`]);
  });

  test('in use are the last tokens; a registration alone changes nothing', async () => {
    const credentials = new Credentials(new MemoryStore(), SERVER);
    await credentials.change(A, token('t1'));
    await credentials.change(B, { client: { client_id: 'c2' } });
    assert.equal((await credentials.tokens())?.access_token, 't1');
    await credentials.change(B, token('t2'));
    assert.equal((await credentials.tokens())?.access_token, 't2');
    assert.equal(await credentials.issuer(), B);
  });

  test('of all issuers are deleted together', async () => {
    const store = new MemoryStore();
    const credentials = new Credentials(store, SERVER);
    await credentials.change(A, token('t1'));
    await credentials.change(B, { client: { client_id: 'c2' } });
    await credentials.forget();
    assert.deepEqual([...store.kept], []);
  });

  test('that cannot be read count as missing', async () => {
    const store = new MemoryStore();
    const credentials = new Credentials(store, SERVER);
    await credentials.change(A, token('t1'));
    for (const text of ['', '{', 'null', '[]', '1']) {
      await store.set(`oauth ${SERVER} ${A}`, text);
      assert.equal(await credentials.tokens(), undefined, text);
      await store.set(`oauth ${SERVER}`, text);
      assert.equal(await credentials.tokens(), undefined, text);
      await credentials.change(A, token('t1'));
    }
  });
});
