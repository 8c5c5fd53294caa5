import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { PendingRequests, type Ticket, withTicket } from '../../../../src/mcp/spill/tickets.ts';

const COMMON = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };

/** Sends a request with a ticket and receives this response. */
function exchange(method: string, response: object, responseId = 1) {
  const ticket: Ticket = {};
  const requests = new PendingRequests();
  // The SDK copies the parameters.
  requests.sent({ jsonrpc: '2.0', id: 1, method, params: { ...withTicket({ name: 'x' }, ticket) } });
  const message = { jsonrpc: '2.0', id: responseId, ...response };
  requests.received(message as JSONRPCMessage);
  return { ticket, message };
}

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
    test(`of ${method} is empty for the SDK and unchanged in the ticket`, () => {
      const raw = { resultType: 'complete', content: [{ type: 'hologram' }, 7], tools: 'none', extra: true };
      const { ticket, message } = exchange(method, { result: raw });
      assert.deepEqual(message, { jsonrpc: '2.0', id: 1, result: { ...COMMON, ...empty } });
      assert.equal(ticket.result, raw);
    });
  }

  test('without a type counts as complete', () => {
    const raw = { content: [] };
    assert.equal(exchange('tools/call', { result: raw }).ticket.result, raw);
  });
});

describe('unchanged is', () => {
  const cases: readonly (readonly [name: string, method: string, response: object, id?: number])[] = [
    ['a request for input', 'tools/call', { result: { resultType: 'input_required', content: [] } }],
    ['the result of another method', 'server/discover', { result: { resultType: 'complete' } }],
    ['the response to an unknown request', 'tools/call', { result: { resultType: 'complete' } }, 2],
    ['a result that is not an object', 'tools/call', { result: 'text' }],
    ['a list as result', 'tools/call', { result: [{ resultType: 'complete' }] }],
    ['an error', 'tools/call', { error: { code: 1, message: 'x' } }],
  ];
  for (const [name, method, response, id = 1] of cases) {
    test(name, () => {
      const { ticket, message } = exchange(method, response, id);
      assert.deepEqual(message, { jsonrpc: '2.0', id, ...response });
      assert.ok(!('result' in ticket));
    });
  }

  test('the JSON of a request', () => {
    assert.equal(JSON.stringify(withTicket({ name: 'x' }, {})), '{"name":"x"}');
  });
});

test('a second response to the same request is not taken', () => {
  const ticket: Ticket = {};
  const requests = new PendingRequests();
  requests.sent({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: withTicket({}, ticket) });
  const [first, second] = [{ content: ['first'] }, { content: ['second'] }];
  for (const result of [first, second]) requests.received({ jsonrpc: '2.0', id: 1, result });
  assert.equal(ticket.result, first);
});
