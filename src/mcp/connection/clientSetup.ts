import {
  Client,
  type ClientCapabilities,
  type Implementation,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/client';
import { messageOf } from '../../base/errors.ts';
import { defined } from '../../base/json.ts';
import type { ServerAbout, ServerChange, ServerOffers, ServerRequests } from '../../ports/servers.ts';
import { APPS_EXTENSION } from '../apps/app.ts';
import { pickIcon } from '../lists/pages.ts';
import { readElicitation, writeElicitationAnswer } from '../requests/elicitation.ts';
import { readSampling, writeSamplingAnswer } from '../requests/sampling.ts';
import { oneLine } from './failure.ts';
import type { RequestTimers } from './requestTimers.ts';

export interface SdkClientOptions {
  readonly name: string;
  readonly clientInfo: Implementation;
  readonly requests: ServerRequests;
  /** True when MCP apps can be shown. */
  readonly apps: boolean;
  /** The chats with pending calls, the latest first. */
  readonly chats: () => readonly string[];
  readonly onChange: (what: ServerChange) => void;
  readonly onUpdated: (uri: string) => void;
}

interface ClientSetup extends SdkClientOptions {
  readonly timers: RequestTimers;
  readonly onLog: (level: Level, message: string) => void;
  readonly onElicitationDone: (id: string) => void;
}

export type Level = 'debug' | 'info' | 'warn' | 'error';

const LEVELS: ReadonlyMap<string, Level> = new Map([
  ['debug', 'debug'],
  ['warning', 'warn'],
  ['error', 'error'],
  ['critical', 'error'],
  ['alert', 'error'],
  ['emergency', 'error'],
]);

/** The SDK's client with handlers for the requests and notifications of servers. */
export function createClient(setup: ClientSetup): Client {
  const client = new Client(setup.clientInfo, { capabilities: capabilitiesOf(setup) });
  handleRequests(client, setup);
  handleNotifications(client, setup);
  return client;
}

function capabilitiesOf({ requests, apps }: ClientSetup): ClientCapabilities {
  return {
    ...(requests.elicit && { elicitation: { form: {}, url: {} } }),
    ...(requests.sample && { sampling: { tools: {} } }),
    ...(requests.roots && { roots: { listChanged: true } }),
    ...(apps && { extensions: APPS_EXTENSION }),
  };
}

function handleRequests(client: Client, { name, requests, chats, timers }: ClientSetup): void {
  const { elicit, sample, roots } = requests;
  const askedBy = () => ({ server: name, chats: chats() });
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
  client.setNotificationHandler('notifications/message', ({ params: { level, data } }) =>
    onLog(LEVELS.get(level) ?? 'info', oneLine(typeof data === 'string' ? data : JSON.stringify(data))),
  );
  client.setNotificationHandler('notifications/tools/list_changed', () => onChange('tools'));
  client.setNotificationHandler('notifications/prompts/list_changed', () => onChange('prompts'));
  client.setNotificationHandler('notifications/resources/list_changed', () => onChange('resources'));
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => onUpdated(params.uri));
  client.setNotificationHandler('notifications/elicitation/complete', ({ params }) =>
    onElicitationDone(params.elicitationId),
  );
}

export function aboutServer(client: Client): ServerAbout {
  const { name, version, title, icons } = client.getServerVersion() ?? { name: '', version: '' };
  return {
    name: oneLine(name),
    version: oneLine(version),
    protocol: client.getNegotiatedProtocolVersion() ?? '',
    offers: offersOf(client),
    ...defined({
      title: title === undefined ? undefined : oneLine(title),
      instructions: client.getInstructions(),
      icon: pickIcon(icons),
    }),
  };
}

export function offersOf(client: Client): ServerOffers {
  const { tools, resources, prompts, completions, logging } = client.getServerCapabilities() ?? {};
  return {
    tools: tools !== undefined,
    resources: resources !== undefined,
    subscriptions: resources?.subscribe === true,
    prompts: prompts !== undefined,
    completions: completions !== undefined,
    logging: logging !== undefined,
  };
}
