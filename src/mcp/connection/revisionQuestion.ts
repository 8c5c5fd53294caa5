import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/client';

/** What a process has said to the question about the newer revision after it was greeted in the old way. */
export type LateAnswer = 'nothing' | 'yes' | 'no';

/**
 * Minds the question about the newer revision. A process that is slow to start is greeted in the old way while the
 * question still lies in its pipe, and answers it when nobody waits for that any more.
 */
export class RevisionQuestion {
  #id: RequestId | undefined;
  #late: LateAnswer | undefined;

  /** Undefined when the answer came in time, or nothing was asked. */
  get late(): LateAnswer | undefined {
    return this.#late;
  }

  /** Must see every message that is sent. */
  sent(message: JSONRPCMessage): void {
    if (!('method' in message) || !('id' in message)) return;
    if (message.method === 'server/discover') this.#id = message.id;
    else if (this.#id !== undefined) this.#late ??= 'nothing';
  }

  /** Whether the message is the late answer, which is for nobody else. Must see every message that has come. */
  takes(message: JSONRPCMessage): boolean {
    if ('method' in message || this.#id === undefined || message.id !== this.#id) return false;
    if (this.#late === undefined) {
      this.#id = undefined;
      return false;
    }
    this.#late = 'result' in message ? 'yes' : 'no';
    return true;
  }
}
