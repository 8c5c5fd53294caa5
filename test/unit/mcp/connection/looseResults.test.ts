import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { loosenResult, rawResult } from '../../../../src/mcp/connection/clientSetup.ts';

const answer = (result: unknown) => ({ jsonrpc: '2.0', id: 1, result }) as unknown as JSONRPCMessage;
const loosened = (result: unknown, method: string | undefined) => {
  const message = answer(result);
  loosenResult(message, method);
  return (message as unknown as { readonly result: unknown }).result;
};
const COMMON = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };

describe('a result', () => {
  const methods: Readonly<Record<string, object>> = {
    'tools/call': { content: [] },
    'tools/list': { tools: [] },
    'resources/list': { resources: [] },
    'resources/templates/list': { resourceTemplates: [] },
    'resources/read': { contents: [] },
    'prompts/list': { prompts: [] },
    'prompts/get': { messages: [] },
    'completion/complete': { completion: { values: [] } },
  };
  for (const [method, empty] of Object.entries(methods)) {
    test(`of ${method} looks empty to whoever judges it, and is there as it came`, () => {
      const raw = { resultType: 'complete', content: [{ type: 'hologram' }, 7], tools: 'none', extra: true };
      const result = loosened(raw, method);
      assert.deepEqual({ ...JSON.parse(JSON.stringify(result)) }, { ...COMMON, ...empty });
      assert.equal(rawResult(result), raw);
      assert.equal(rawResult({ ...(result as object) }), raw, 'also in a copy');
    });
  }
});

test('a result that does not say what it is counts as complete', () => {
  const raw = { content: [] };
  assert.equal(rawResult(loosened(raw, 'tools/call')), raw);
});

describe('what is left as it is', () => {
  const kept: readonly (readonly [name: string, result: unknown, method: string | undefined])[] = [
    ['a question in the place of a result', { resultType: 'input_required', content: [] }, 'tools/call'],
    ['the answer to another request', { resultType: 'complete' }, 'server/discover'],
    ['the answer to nothing that was asked', { resultType: 'complete' }, undefined],
    ['a result that is no object', 'text', 'tools/call'],
    ['a list as result', [{ resultType: 'complete' }], 'tools/call'],
  ];
  for (const [name, result, method] of kept) {
    test(name, () => {
      assert.equal(loosened(result, method), result);
      assert.equal(rawResult(result), result);
    });
  }

  test('an error', () => {
    const message = { jsonrpc: '2.0', id: 1, error: { code: 1, message: 'x' } } as const;
    loosenResult(message, 'tools/call');
    assert.deepEqual(message, { jsonrpc: '2.0', id: 1, error: { code: 1, message: 'x' } });
  });

  test('no server can make up the place where the raw result is', () => {
    const result = { 'Symbol(filechat.raw)': { content: ['forged'] }, 'filechat.raw': 1 };
    assert.equal(rawResult(result), result);
  });
});
