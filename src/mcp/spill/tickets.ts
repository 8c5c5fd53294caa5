import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { field, isObject } from '../../base/json.ts';
import { describeSize } from '../../base/size.ts';
import type { SpillTable } from './table.ts';

/**
 * Accompanies one request through the SDK to the transport, which alone knows the request's id, and takes the result
 * there before the SDK validates it.
 */
export interface Ticket {
  /** Receives the long strings of the response. */
  readonly spills?: SpillTable | undefined;
  /** Called while a long response arrives, a few times a second with the number of bytes so far. */
  readonly onArrival?: ((bytes?: number) => void) | undefined;
  /** The result as the server sent it. Absent until the response has arrived, and for methods without an empty result. */
  result?: unknown;
}

/** A symbol is copied with the parameters and never becomes JSON. */
const TICKET = Symbol('filechat.ticket');

export function withTicket(
  params: Readonly<Record<string, unknown>>,
  ticket: Ticket,
): Record<string, unknown> {
  return { ...params, [TICKET]: ticket };
}

/** The requests of one connection that have no response yet. */
export class PendingRequests {
  readonly #pending = new Map<number, { readonly method: string; readonly ticket: Ticket | undefined }>();

  /** Must be called for every sent message. */
  sent(message: JSONRPCMessage): void {
    // String ids belong to the SDK's own requests, whose results are short.
    if (!('method' in message) || !('id' in message) || typeof message.id !== 'number') return;
    const ticket = (message.params as { readonly [TICKET]?: Ticket } | undefined)?.[TICKET];
    this.#pending.set(message.id, { method: message.method, ticket });
  }

  /**
   * Must be called for every received message, before the SDK gets it. A cancelled request stays pending until its late
   * response arrives: its table is disposed and discards what it gets.
   */
  received(message: JSONRPCMessage): void {
    if ('method' in message) return;
    const id = Number(message.id);
    const { method = '', ticket } = this.#pending.get(id) ?? {};
    if (ticket !== undefined) takeResult(message, method, ticket);
    this.#pending.delete(id);
  }

  /** Reports bytes of a response. Without an id they must belong to the only pending request. */
  arrived(id: number | undefined, bytes: number): void {
    const owner = id ?? this.#only;
    if (owner !== undefined) this.#pending.get(owner)?.ticket?.onArrival?.(bytes);
  }

  /** The ticket of a response. Until its id is known, a ticket with a table of its own, which `assign` hands over. */
  ticketFor(id: number | undefined): Ticket | undefined {
    if (id !== undefined) return this.#pending.get(id)?.ticket;
    for (const { ticket } of this.#pending.values()) {
      if (ticket?.spills?.disposed === false) return { ...ticket, spills: ticket.spills.createSibling() };
    }
    return undefined;
  }

  async assign(id: number | undefined, table: SpillTable): Promise<void> {
    const owner = id === undefined ? undefined : this.#pending.get(id)?.ticket?.spills;
    await (owner === undefined ? table.dispose() : owner.adopt(table));
  }

  /** The error response in place of one that is too large; undefined when its request is unknown. */
  tooLarge(id = this.#only): JSONRPCMessage | undefined {
    if (id === undefined) return undefined;
    const message = `its answer has more than ${describeSize(MAX_MESSAGE_BYTES)} of text. Ask the tool for less at a time`;
    return { jsonrpc: '2.0', id, error: { code: TOO_LARGE, message } };
  }

  get #only(): number | undefined {
    return this.#pending.size === 1 ? [...this.#pending.keys()][0] : undefined;
  }
}

/** The most text that a message may have besides its files. */
export const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
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
function takeResult(message: JSONRPCMessage, method: string, ticket: Ticket): void {
  const empty = EMPTY_RESULTS.get(method);
  if (empty === undefined || !('result' in message) || !isObject(message.result)) return;
  if ((field(message.result, 'resultType') ?? 'complete') !== 'complete') return;
  ticket.result = message.result;
  Object.assign(message, {
    result: { resultType: 'complete', ttlMs: 0, cacheScope: 'private', ...empty },
  });
}
