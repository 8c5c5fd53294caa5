import {
  Client,
  type ClientCapabilities,
  type Implementation,
  type JSONRPCMessage,
  ProtocolError,
  ProtocolErrorCode,
  type RequestId,
} from '@modelcontextprotocol/client';
import { messageOf } from '../../base/errors.ts';
import { field, isObject } from '../../base/json.ts';
import type { AskedBy, ServerRequests } from '../../ports/requests.ts';
import type { ServerChange } from '../../ports/servers.ts';

import { APPS_EXTENSION } from '../apps/app.ts';
import { readElicitation, writeElicitationAnswer } from '../requests/elicitation.ts';
import { readSampling, writeSamplingAnswer } from '../requests/sampling.ts';
import type { Asking } from './clocks.ts';

export interface ClientSetup {
  readonly clientInfo: Implementation;
  readonly requests: ServerRequests;
  /** Whether apps of servers can be shown. */
  readonly apps: boolean;
  readonly askedBy: () => AskedBy;
  readonly asking: Asking;
  readonly onLog: (level: string, message: string) => void;
  readonly onChange: (what: ServerChange) => void;
  readonly onUpdated: (uri: string) => void;
  readonly onElicitationDone: (id: string) => void;
}

/** The SDK's client with everything that servers may ask of it or tell it. */
export function createClient(setup: ClientSetup): Client {
  const client = new Client(setup.clientInfo, { capabilities: capabilitiesOf(setup) });
  answerRequests(client, setup);
  hearNotifications(client, setup);
  return client;
}

function capabilitiesOf({ requests, apps }: ClientSetup): ClientCapabilities {
  return {
    ...(requests.elicit ? { elicitation: { form: {}, url: {} } } : {}),
    ...(requests.sample ? { sampling: { tools: {} } } : {}),
    ...(requests.roots ? { roots: { listChanged: true } } : {}),
    ...(apps ? { extensions: APPS_EXTENSION } : {}),
  };
}

function answerRequests(client: Client, { requests, askedBy, asking }: ClientSetup): void {
  const { elicit, sample, roots } = requests;
  if (elicit) {
    client.setRequestHandler('elicitation/create', async ({ params }, { mcpReq }) => {
      const elicitation = read(() => readElicitation(params));
      const signal = AbortSignal.any([mcpReq.signal, asking.signal]);
      const answer = await asking.whileAsking(elicit.call(requests, elicitation, askedBy(), signal));
      return writeElicitationAnswer(answer, elicitation);
    });
  }
  if (sample) {
    client.setRequestHandler('sampling/createMessage', async ({ params }, { mcpReq }) => {
      const request = read(() => readSampling(params));
      try {
        const signal = AbortSignal.any([mcpReq.signal, asking.signal]);
        const answer = await asking.whileAsking(sample.call(requests, request, askedBy(), signal));
        return writeSamplingAnswer(answer);
      } catch (error) {
        throw new ProtocolError(USER_REJECTED, messageOf(error));
      }
    });
  }
  if (roots) {
    client.setRequestHandler('roots/list', async () => ({ roots: [...(await roots.call(requests))] }));
  }
}

/** What the protocol has for a person who says no. */
const USER_REJECTED = -1;

function read<T>(reader: () => T): T {
  try {
    return reader();
  } catch (error) {
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, (error as Error).message);
  }
}

function hearNotifications(client: Client, setup: ClientSetup): void {
  const { onLog, onChange, onUpdated, onElicitationDone } = setup;
  client.setNotificationHandler('notifications/message', ({ params }) =>
    onLog(params.level, typeof params.data === 'string' ? params.data : JSON.stringify(params.data)),
  );
  client.setNotificationHandler('notifications/tools/list_changed', () => onChange('tools'));
  client.setNotificationHandler('notifications/prompts/list_changed', () => onChange('prompts'));
  client.setNotificationHandler('notifications/resources/list_changed', () => onChange('resources'));
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => onUpdated(params.uri));
  client.setNotificationHandler('notifications/elicitation/complete', ({ params }) =>
    onElicitationDone(params.elicitationId),
  );
}

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

/**
 * The SDK checks results of the revision 2026-07-28 against the whole schema, so that one bad block would lose all
 * others. So an empty result of the same kind takes the place of what came, and carries it under this key, which is
 * a symbol so that no server can make it up.
 */
const RAW = Symbol('filechat.raw');

/** What an empty result of a method looks like. */
const EMPTY: ReadonlyMap<string, Readonly<Record<string, unknown>>> = new Map([
  ['tools/call', { content: [] }],
  ['tools/list', { tools: [] }],
  ['resources/list', { resources: [] }],
  ['resources/templates/list', { resourceTemplates: [] }],
  ['resources/read', { contents: [] }],
  ['prompts/list', { prompts: [] }],
  ['prompts/get', { messages: [] }],
  ['completion/complete', { completion: { values: [] } }],
]);

/** Puts an empty result in the place of one that the SDK might judge. */
export function loosenResult(message: JSONRPCMessage, method: string | undefined): void {
  const empty = EMPTY.get(method ?? '');
  if (empty === undefined || !('result' in message) || !isObject(message.result)) return;
  const raw = message.result;
  // One that does not say what it is, is complete.
  if ((field(raw, 'resultType') ?? 'complete') !== 'complete') return;
  Object.assign(message, {
    result: { resultType: 'complete', ttlMs: 0, cacheScope: 'private', ...empty, [RAW]: raw },
  });
}

/** The result as it came. */
export function rawResult(result: unknown): unknown {
  return isObject(result) && RAW in result ? result[RAW] : result;
}
