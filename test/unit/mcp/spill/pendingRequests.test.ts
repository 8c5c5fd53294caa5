import assert from 'node:assert/strict';
import { EventEmitter, on } from 'node:events';
import { describe, test } from 'node:test';
import { Client, type JSONRPCMessage, type Transport } from '@modelcontextprotocol/client';
import { PendingRequests, type Ticket } from '../../../../src/mcp/spill/pendingRequests.ts';

const COMMON = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };

function send(requests: PendingRequests, ticket: Ticket, id: number, method = ticket.method): void {
  requests.run(ticket, () => requests.sent({ jsonrpc: '2.0', id, method }));
}

/** Sends a request with a ticket and receives this response. */
function exchange(method: string, response: object, responseId = 1) {
  const ticket: Ticket = { method };
  const requests = new PendingRequests();
  send(requests, ticket, 1);
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
});

test('a result that requires input is refused if it has more values than the SDK can validate quickly', () => {
  const messages = Array.from({ length: 4001 }, () => ({}));
  const inputRequests = {
    a: { method: 'sampling/createMessage', params: { messages: [messages, messages] } },
  };
  const { message } = exchange('tools/call', { result: { resultType: 'input_required', inputRequests } });
  const error = { code: -32_010, message: 'its response requires input with more than 8000 values' };
  assert.deepEqual(message, { jsonrpc: '2.0', id: 1, error });
});

test('a second response to the same request is not taken', () => {
  const ticket: Ticket = { method: 'tools/call' };
  const requests = new PendingRequests();
  send(requests, ticket, 1);
  const [first, second] = [{ content: ['first'] }, { content: ['second'] }];
  for (const result of [first, second]) requests.received({ jsonrpc: '2.0', id: 1, result });
  assert.equal(ticket.result, first);
});

test('a request of another method in the same context does not belong to the ticket', () => {
  const ticket: Ticket = { method: 'tools/call' };
  const requests = new PendingRequests();
  send(requests, ticket, 1, 'tools/list');
  requests.received({ jsonrpc: '2.0', id: 1, result: { tools: [] } });
  assert.ok(!('result' in ticket));
});

describe('bytes of a response', () => {
  const cases: readonly (readonly [name: string, pending: number, id: number | undefined, told: string[]])[] =
    [
      ['are reported to the request with its id', 2, 2, ['2: 500']],
      ['without an id belong to the only pending request', 1, undefined, ['1: 500']],
      ['without an id restart the timeouts of all pending requests', 2, undefined, ['1: 0', '2: 0']],
      ['of an unknown request are ignored', 1, 7, []],
    ];
  for (const [name, pending, id, told] of cases) {
    test(name, () => {
      const requests = new PendingRequests();
      const arrived: string[] = [];
      for (let n = 1; n <= pending; n++) {
        send(requests, { method: 'tools/list', onArrival: (bytes) => arrived.push(`${n}: ${bytes}`) }, n);
      }
      requests.arrived(id, 500);
      assert.deepEqual(arrived, told);
    });
  }
});

/** A server of revision 2026-07-28 that asks once for a retry, then returns a result that the SDK would refuse. */
class ModernServer implements Transport {
  onmessage?: (message: JSONRPCMessage) => void;
  readonly requests = new PendingRequests();
  readonly calls = new Map<unknown, number>();
  readonly #reader: 'one reader' | 'a reader per response';
  readonly #wire = new EventEmitter();

  constructor(reader: 'one reader' | 'a reader per response') {
    this.#reader = reader;
  }

  async start(): Promise<void> {
    void this.#read();
  }

  async close(): Promise<void> {}

  async send(message: JSONRPCMessage): Promise<void> {
    this.requests.sent(message);
    if (!('id' in message) || !('method' in message)) return;
    const response = { jsonrpc: '2.0', id: message.id, result: this.#answer(message) } as JSONRPCMessage;
    if (this.#reader === 'one reader') this.#wire.emit('response', response);
    else {
      this.requests.received(response);
      setImmediate(() => this.onmessage?.(response));
    }
  }

  async #read(): Promise<void> {
    for await (const [response] of on(this.#wire, 'response')) {
      this.requests.received(response, () => this.onmessage?.(response));
    }
  }

  #answer({ method, params }: { readonly method: string; readonly params?: object | undefined }): object {
    if (method === 'server/discover') return DISCOVERED;
    const name = (params as { readonly name: string }).name;
    const calls = (this.calls.get(name) ?? 0) + 1;
    this.calls.set(name, calls);
    return calls === 1 ? { resultType: 'input_required', requestState: 'round 1' } : resultOf(name);
  }
}

function resultOf(name: string) {
  return { resultType: 'complete', content: [{ type: 'hologram', name }, 7], extra: true };
}

const DISCOVERED = {
  ...COMMON,
  supportedVersions: ['2026-07-28'],
  capabilities: { tools: {} },
  _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'modern', version: '1' } },
};

for (const reader of ['one reader', 'a reader per response'] as const) {
  test(`with ${reader}, each ticket survives the retries of the SDK, and its result is not validated`, async (t) => {
    const server = new ModernServer(reader);
    const client = new Client({ name: 'test', version: '1' });
    t.after(() => client.close());
    client.setVersionNegotiation({ mode: 'auto' });
    await client.connect(server);
    assert.equal(client.getProtocolEra(), 'modern');
    const call = async (name: string) => {
      const ticket: Ticket = { method: 'tools/call' };
      await server.requests.run(ticket, () =>
        client.request(
          { method: 'tools/call', params: { name } },
          { '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) } },
        ),
      );
      return ticket.result;
    };
    assert.deepEqual(await Promise.all(['x', 'y'].map(call)), [resultOf('x'), resultOf('y')]);
    assert.deepEqual(
      [...server.calls],
      [
        ['x', 2],
        ['y', 2],
      ],
    );
  });
}
