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
import type { AskedBy, ServerRequests } from '../../ports/requests.ts';
import type { ServerChange } from '../../ports/servers.ts';

import { APPS_EXTENSION } from '../apps/app.ts';
import { readElicitation, writeElicitationAnswer } from '../requests/elicitation.ts';
import { readSampling, writeSamplingAnswer } from '../requests/sampling.ts';
import type { RequestTimers } from './requestTimers.ts';

export interface ClientSetup {
  readonly clientInfo: Implementation;
  readonly requests: ServerRequests;
  /** True when MCP apps can be shown. */
  readonly apps: boolean;
  readonly askedBy: () => AskedBy;
  readonly timers: RequestTimers;
  readonly onLog: (level: string, message: string) => void;
  readonly onChange: (what: ServerChange) => void;
  readonly onUpdated: (uri: string) => void;
  readonly onElicitationDone: (id: string) => void;
}

/** The SDK's client with handlers for the requests and notifications of servers. */
export function createClient(setup: ClientSetup): Client {
  const client = new Client(setup.clientInfo, { capabilities: capabilitiesOf(setup) });
  handleRequests(client, setup);
  handleNotifications(client, setup);
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

function handleRequests(client: Client, { requests, askedBy, timers }: ClientSetup): void {
  const { elicit, sample, roots } = requests;
  if (elicit) {
    client.setRequestHandler('elicitation/create', async ({ params }, { mcpReq }) => {
      const elicitation = read(() => readElicitation(params));
      const signal = AbortSignal.any([mcpReq.signal, timers.promptSignal]);
      const answer = await timers.pauseWhile(elicit.call(requests, elicitation, askedBy(), signal));
      return writeElicitationAnswer(answer, elicitation);
    });
  }
  if (sample) {
    client.setRequestHandler('sampling/createMessage', async ({ params }, { mcpReq }) => {
      const request = read(() => readSampling(params));
      try {
        const signal = AbortSignal.any([mcpReq.signal, timers.promptSignal]);
        const answer = await timers.pauseWhile(sample.call(requests, request, askedBy(), signal));
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

/** The protocol's error code for a request that the user rejected. */
const USER_REJECTED = -1;

function read<T>(reader: () => T): T {
  try {
    return reader();
  } catch (error) {
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, (error as Error).message);
  }
}

function handleNotifications(client: Client, setup: ClientSetup): void {
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

/** The answer to `server/discover` of a process that was sent `initialize` in the meantime. */
export type LateAnswer = 'pending' | 'supported' | 'unsupported';

/**
 * Tracks `server/discover`, which asks for the newer revision. A process that is slow to start finds both that request
 * and the older `initialize` in its pipe, and answers the first when the SDK no longer expects it.
 */
export class DiscoverProbe {
  #id: RequestId | undefined;
  #late: LateAnswer | undefined;

  /** Undefined when the answer arrived in time, or the request was not sent. */
  get lateAnswer(): LateAnswer | undefined {
    return this.#late;
  }

  /** Must be called for every sent message. */
  sent(message: JSONRPCMessage): void {
    if (!('method' in message) || !('id' in message)) return;
    if (message.method === 'server/discover') this.#id = message.id;
    else if (this.#id !== undefined) this.#late ??= 'pending';
  }

  /** True for the late answer, which must not reach the SDK. Must be called for every received message. */
  isLateAnswer(message: JSONRPCMessage): boolean {
    if ('method' in message || this.#id === undefined || message.id !== this.#id) return false;
    if (this.#late === undefined) {
      this.#id = undefined;
      return false;
    }
    this.#late = 'result' in message ? 'supported' : 'unsupported';
    return true;
  }
}
