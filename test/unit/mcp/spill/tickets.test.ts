import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Client, type JSONRPCMessage, type Transport } from '@modelcontextprotocol/client';
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

/** A server of revision 2026-07-28 that asks once for a retry, then returns a result that the SDK would refuse. */
class ModernServer implements Transport {
  onmessage?: (message: JSONRPCMessage) => void;
  readonly requests = new PendingRequests();
  readonly calls: unknown[] = [];
  readonly #result: object;

  constructor(result: object) {
    this.#result = result;
  }

  async start(): Promise<void> {}

  async close(): Promise<void> {}

  async send(message: JSONRPCMessage): Promise<void> {
    this.requests.sent(message);
    if (!('id' in message) || !('method' in message)) return;
    const response = { jsonrpc: '2.0', id: message.id, result: this.#answer(message) } as JSONRPCMessage;
    this.requests.received(response);
    setImmediate(() => this.onmessage?.(response));
  }

  #answer({ method, params }: { readonly method: string; readonly params?: object | undefined }): object {
    if (method === 'server/discover') return DISCOVERED;
    this.calls.push(JSON.parse(JSON.stringify(params)));
    return this.calls.length === 1 ? { resultType: 'input_required', requestState: 'round 1' } : this.#result;
  }
}

const DISCOVERED = {
  ...COMMON,
  supportedVersions: ['2026-07-28'],
  capabilities: { tools: {} },
  _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'modern', version: '1' } },
};

test('a ticket survives the retries of the SDK, and its result is not validated', async (t) => {
  const raw = { resultType: 'complete', content: [{ type: 'hologram' }, 7], extra: true };
  const server = new ModernServer(raw);
  const client = new Client({ name: 'test', version: '1' });
  t.after(() => client.close());
  client.setVersionNegotiation({ mode: 'auto' });
  await client.connect(server);
  assert.equal(client.getProtocolEra(), 'modern');
  const ticket: Ticket = {};
  const params = withTicket({ name: 'x' }, ticket);
  await client.request(
    { method: 'tools/call', params },
    {
      '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) },
    },
  );
  assert.equal(ticket.result, raw);
  assert.equal(server.calls.length, 2);
});
