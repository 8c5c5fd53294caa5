import { AsyncLocalStorage } from 'node:async_hooks';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { BUDGET } from '../../base/budget.ts';
import { field, hasMoreValues, isObject } from '../../base/json.ts';
import { describeSize } from '../../base/size.ts';
import type { SpillTable } from './spillFiles.ts';

/** One request as the transport sees it. It takes the result before the SDK validates it. */
export interface Ticket {
  readonly method: string;
  /** Receives the long strings of the response. */
  readonly spills?: SpillTable | undefined;
  /** Called a few times a second while a response arrives, with its bytes so far; 0 if short or unassigned. */
  readonly onArrival?: ((bytes: number) => void) | undefined;
  /** The result as the server sent it. Absent until the response has arrived, and for methods without an empty result. */
  result?: unknown;
}

/** The requests of one connection that have no response yet. */
export class PendingRequests {
  readonly #pending = new Map<number, Ticket | undefined>();
  /** The SDK assigns the ids, and sends a request again when it requires input. Both happen in the context of `run`. */
  readonly #current = new AsyncLocalStorage<Ticket>();
  /** The connection is closed after this much of one message was dropped. */
  readonly maxDroppedBytes: number;

  constructor(maxDroppedBytes = BUDGET.droppedBytes) {
    this.maxDroppedBytes = maxDroppedBytes;
  }

  /** Every message of this method that `send` sends, now or later, belongs to the ticket. */
  run<T>(ticket: Ticket, send: () => T): T {
    return this.#current.run(ticket, send);
  }

  /** Whether the request that is being sent has a result that is saved. */
  get savesResult(): boolean {
    return this.#current.getStore()?.spills !== undefined;
  }

  /** Must be called for every sent message. */
  sent(message: JSONRPCMessage): void {
    // String ids belong to the SDK's own requests, whose results are short.
    if (!('method' in message) || !('id' in message) || typeof message.id !== 'number') return;
    const ticket = this.#current.getStore();
    this.#pending.set(message.id, ticket?.method === message.method ? ticket : undefined);
  }

  /**
   * Must be called for every received message, before the SDK gets it. A cancelled request stays pending until its late
   * response arrives: its table is disposed and discards what it gets. `deliver` runs in the context of the request; a
   * transport that reads each response in the context of its request does not need it.
   */
  received(message: JSONRPCMessage, deliver: () => void = () => {}): void {
    const id = 'method' in message ? undefined : Number(message.id);
    const ticket = id === undefined ? undefined : this.#pending.get(id);
    if (id !== undefined) this.#pending.delete(id);
    if (ticket !== undefined) {
      takeResult(message, ticket);
      this.run(ticket, deliver);
    } else deliver();
  }

  /** Reports bytes of a response. Until its id is known, it may be the response to any pending request. */
  arrived(id: number | undefined, bytes: number): void {
    const owner = id ?? this.#only;
    if (owner !== undefined) this.#pending.get(owner)?.onArrival?.(bytes);
    else for (const ticket of this.#pending.values()) ticket?.onArrival?.(0);
  }

  /** The table of a response. Until its id is known, a table of its own, which `assign` hands over. */
  tableFor(id: number | undefined): SpillTable | undefined {
    if (id !== undefined) return this.#pending.get(id)?.spills;
    const tables = [...this.#pending.values()].map((ticket) => ticket?.spills);
    return tables.find((table) => table?.disposed === false)?.createSibling();
  }

  async assign(id: number | undefined, table: SpillTable): Promise<void> {
    const owner = id === undefined ? undefined : this.#pending.get(id)?.spills;
    await (owner === undefined ? table.dispose() : owner.adopt(table));
  }

  /**
   * Lists may have more: they are only cut to their own budgets, so that their first items can be used. The SDK's own
   * requests have no ticket. It validates their results, which takes much longer than reading them.
   */
  maxValues(id = this.#only): number {
    const ticket = id === undefined ? undefined : this.#pending.get(id);
    if (ticket?.method.endsWith('/list')) return BUDGET.listValues;
    const isOwn = ticket === undefined && (id !== undefined || !this.#hasTickets);
    return isOwn ? BUDGET.requestValues : BUDGET.messageValues;
  }

  get #hasTickets(): boolean {
    for (const ticket of this.#pending.values()) if (ticket) return true;
    return false;
  }

  /** The error response in place of one that is too large, as JSON. Throws when its request is unknown. */
  tooLarge(id = this.#only): Buffer {
    const { messageBytes, messageKeys } = BUDGET;
    const limit = `more than ${describeSize(messageBytes)} of text, ${this.maxValues(id)} values, or ${messageKeys} different keys`;
    if (id === undefined) throw new Error(`A message with ${limit} was dropped.`);
    const message = `its response contains ${limit}. Request less at a time`;
    return Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, error: { code: TOO_LARGE, message } }));
  }

  /** In place of a request or a notification that is too large: a line in the log. */
  dropped(): Buffer {
    const data = `A message of the server with more than ${describeSize(BUDGET.messageBytes)} of text, or ${BUDGET.requestValues} values, was dropped.`;
    const params = { level: 'warning', data };
    return Buffer.from(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params }));
  }

  get #only(): number | undefined {
    return this.#pending.size === 1 ? [...this.#pending.keys()][0] : undefined;
  }
}

/** In the range that the protocol leaves to implementations. */
const TOO_LARGE = -32_010;

const EMPTY_RESULTS: ReadonlyMap<string, Readonly<Record<string, unknown>>> = new Map([
  ['tools/call', { content: [] }],
  ['tools/list', { tools: [] }],
  ['resources/list', { resources: [] }],
  ['resources/templates/list', { resourceTemplates: [] }],
  ['resources/read', { contents: [] }],
  ['prompts/list', { prompts: [] }],
  ['prompts/get', { messages: [] }],
  ['completion/complete', { completion: { values: [] } }],
]);

/**
 * Moves a result to its ticket and leaves an empty one in the message. The SDK validates results of revision 2026-07-28
 * against the whole schema, so one invalid block would lose all others.
 */
function takeResult(message: JSONRPCMessage, ticket: Ticket): void {
  const empty = EMPTY_RESULTS.get(ticket.method);
  if (empty === undefined || !('result' in message) || !isObject(message.result)) return;
  const type = field(message.result, 'resultType') ?? 'complete';
  // The SDK knows nothing of tasks.
  const isTask = type === 'task' && ticket.method === 'tools/call';
  if (type !== 'complete' && !isTask) {
    if (hasMoreValues(message.result, BUDGET.requestValues)) refuseInput(message);
    return;
  }
  ticket.result = message.result;
  Object.assign(message, {
    result: { resultType: 'complete', ttlMs: 0, cacheScope: 'private', ...empty },
  });
}

/** A result that requires input has requests of the server, which the SDK validates. */
function refuseInput(message: JSONRPCMessage): void {
  const reason = `its response requires input with more than ${BUDGET.requestValues} values`;
  Reflect.deleteProperty(message, 'result');
  Object.assign(message, { error: { code: TOO_LARGE, message: reason } });
}
