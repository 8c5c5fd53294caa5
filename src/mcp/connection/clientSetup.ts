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
import { oneLine } from './explainFailure.ts';
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
  readonly answers: Answers;
  readonly timers: RequestTimers;
  readonly onLog: (level: Level, message: string) => void;
  readonly onElicitationDone: (id: string) => void;
}

const TASKS_EXTENSION = { 'io.modelcontextprotocol/tasks': {} };

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
  handleRequests(client, setup.answers);
  handleNotifications(client, setup);
  return client;
}

function capabilitiesOf({ requests, apps }: ClientSetup): ClientCapabilities {
  return {
    ...(requests.elicit && { elicitation: { form: {}, url: {} } }),
    ...(requests.sample && { sampling: { tools: {} } }),
    ...(requests.roots && { roots: { listChanged: true } }),
    extensions: { ...TASKS_EXTENSION, ...(apps && APPS_EXTENSION) },
  };
}

/** Answers to the requests that servers may send, by method. */
export type Answers = ReturnType<typeof createAnswers>;

type AnswerDeps = Pick<ClientSetup, 'name' | 'requests' | 'chats' | 'timers'>;

export function createAnswers({ name, requests, chats, timers }: AnswerDeps) {
  const { elicit, sample, roots } = requests;
  const askedBy = () => ({ server: name, chats: chats() });
  const prompt = <T>(given: AbortSignal, ask: (signal: AbortSignal) => Promise<T>) =>
    timers.pauseWhile(ask(AbortSignal.any([given, timers.promptSignal])));
  return {
    'elicitation/create':
      elicit &&
      (async (params: unknown, given: AbortSignal) => {
        const elicitation = read(() => readElicitation(params));
        const answer = await prompt(given, (signal) => elicit.call(requests, elicitation, askedBy(), signal));
        return writeElicitationAnswer(answer, elicitation);
      }),
    'sampling/createMessage':
      sample &&
      (async (params: unknown, given: AbortSignal) => {
        const request = read(() => readSampling(params));
        try {
          return writeSamplingAnswer(
            await prompt(given, (signal) => sample.call(requests, request, askedBy(), signal)),
          );
        } catch (error) {
          throw new ProtocolError(USER_REJECTED, messageOf(error));
        }
      }),
    'roots/list': roots && (async () => ({ roots: [...(await roots.call(requests))] })),
  };
}

function handleRequests(client: Client, answers: Answers): void {
  const { 'elicitation/create': elicit, 'sampling/createMessage': sample, 'roots/list': list } = answers;
  if (elicit) {
    client.setRequestHandler('elicitation/create', ({ params }, { mcpReq }) => elicit(params, mcpReq.signal));
  }
  if (sample) {
    client.setRequestHandler('sampling/createMessage', ({ params }, { mcpReq }) =>
      sample(params, mcpReq.signal),
    );
  }
  if (list) client.setRequestHandler('roots/list', list);
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
