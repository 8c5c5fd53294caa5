import {
  Client,
  type ClientCapabilities,
  type Implementation,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/client';
import { messageOf } from '../../base/errors.ts';
import type { AskedBy, ServerChange, ServerRequests } from '../../ports/servers.ts';
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
