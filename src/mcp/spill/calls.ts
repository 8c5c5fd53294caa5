import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { describeSize } from '../../base/size.ts';
import { loosenResult } from '../connection/clientSetup.ts';
import type { SpillTables } from './jsonFilter.ts';
import { SpillTable } from './table.ts';

/**
 * Under this key a request's parameters carry its table to the transport, which alone knows the request's id.
 * A symbol, so that it is copied with the parameters and never becomes JSON.
 */
const TABLE = Symbol('filechat.spills');

/** The parameters of a request whose answer may spill. */
export function withSpills(
  params: Readonly<Record<string, unknown>>,
  spills: SpillTable | undefined,
): Record<string, unknown> {
  return spills === undefined ? { ...params } : { ...params, [TABLE]: spills };
}

/** The requests under way on one connection, and the tables of those that have one. */
export class PendingRequests implements SpillTables {
  readonly #tables = new Map<number, SpillTable>();
  /** The methods of the requests under way, by their ids. */
  readonly #methods = new Map<number, string>();

  /** Must see every message that is sent. */
  sent(message: JSONRPCMessage): void {
    // The SDK's own requests, of which the ids are strings, never spill.
    if (!('method' in message) || !('id' in message) || typeof message.id !== 'number') return;
    const { id } = message;
    const table = (message.params as { [TABLE]?: unknown } | undefined)?.[TABLE];
    this.#methods.set(id, message.method);
    if (table instanceof SpillTable) this.#tables.set(id, table);
  }

  /**
   * Must see every message that has come, before the SDK does. A call that was given up stays until its late answer has come: its table
   * is disposed, and what is spilled to such a table goes nowhere.
   */
  received(message: JSONRPCMessage): void {
    if ('method' in message) return;
    const id = Number(message.id);
    loosenResult(message, this.#methods.get(id));
    this.#tables.delete(id);
    this.#methods.delete(id);
  }

  /** The request that an answer without an id must be for: the only one there is. */
  get only(): number | undefined {
    return this.#methods.size === 1 ? [...this.#methods.keys()][0] : undefined;
  }

  /** So much of the answer to a request has come; of one without an id yet, if it can be for one request only. */
  arrived(id: number | undefined, bytes: number): void {
    const of = id ?? this.only;
    if (of !== undefined) this.#tables.get(of)?.onBytes?.(bytes);
  }

  tableFor(id: number | undefined): SpillTable | undefined {
    if (id !== undefined) return this.#tables.get(id);
    const live = [...this.#tables.values()].find((table) => !table.disposed);
    return live?.another();
  }

  async assign(id: number | undefined, table: SpillTable): Promise<void> {
    const owner = id === undefined ? undefined : this.#tables.get(id);
    await (owner === undefined ? table.dispose() : owner.adopt(table));
  }
}

/** What stands for an answer that is too large to be read. */
export function tooLargeAnswer(id: number, maxBytes: number): JSONRPCMessage {
  const message = `its answer has more than ${describeSize(maxBytes)} of text. Ask the tool for less at a time`;
  return { jsonrpc: '2.0', id, error: { code: TOO_LARGE, message } };
}

/** Of the range that the protocol leaves to implementations. */
const TOO_LARGE = -32_010;

/** Less comes at once, and nobody has to be told. */
const MIN_TOLD_BYTES = 1_000_000;
const TELL_EVERY_MS = 250;

/** Tells whoever waits for a long answer how much of it has come, a few times a second. */
export class Arrival {
  readonly #calls: Pick<PendingRequests, 'arrived'>;
  readonly #id: () => number | undefined;
  #bytes = 0;
  /** There while nothing more is told; at its end the last count is. */
  #rest: NodeJS.Timeout | undefined;
  #told = 0;

  /** `id` is asked for the request that the message under way answers, as far as it is known. */
  constructor(calls: Pick<PendingRequests, 'arrived'>, id: () => number | undefined) {
    this.#calls = calls;
    this.#id = id;
  }

  add(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes >= MIN_TOLD_BYTES && this.#rest === undefined) this.#tell();
  }

  /** The message has ended, or will not end. */
  end(): void {
    clearTimeout(this.#rest);
    this.#rest = undefined;
    this.#bytes = 0;
    this.#told = 0;
  }

  #tell(): void {
    this.#told = this.#bytes;
    this.#rest = setTimeout(() => {
      this.#rest = undefined;
      // Whoever sends nothing more for a while has still sent all this.
      if (this.#bytes > this.#told) this.#tell();
    }, TELL_EVERY_MS).unref();
    this.#calls.arrived(this.#id(), this.#bytes);
  }
}
