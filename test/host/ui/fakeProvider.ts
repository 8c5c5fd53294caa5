/** A provider of models on this machine: it lists models for the right key, and replies at once. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before } from 'node:test';
import { speak } from '../../integration/helpers/modelServer.ts';
import type { Evaluate } from '../bridge.ts';

interface FakeProviderOptions {
  /** Without it, no key is needed. */
  readonly key?: string;
  readonly models: readonly object[];
  readonly reply: string;
}

export interface FakeProvider {
  readonly url: string;
  /** The models that were asked for a reply, in order. */
  readonly asked: readonly string[];
}

/** Registers the server with the tests of one file. */
export function fakeProvider(options: FakeProviderOptions): FakeProvider {
  const asked: string[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { 'x-api-key': own, authorization = '' } = request.headers;
    const key = own ?? authorization.replace(/^Bearer /, '');
    const body = Buffer.concat((await request.toArray()) as Buffer[]).toString();
    if (options.key !== undefined && key !== options.key) return refuse(response);
    if (request.method === 'GET') return sendJson(response, 200, { data: options.models });
    asked.push((JSON.parse(body) as { model: string }).model);
    const wire = request.url?.endsWith('/messages') ? 'anthropic' : 'openai-compatible';
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(speak(wire, [options.reply]).join(''));
  };
  const server = createServer((request, response) => void answer(request, response));
  before(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening');
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    get url() {
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    },
    asked,
  };
}

function refuse(response: ServerResponse): void {
  sendJson(response, 401, {
    type: 'error',
    error: { type: 'authentication_error', message: 'invalid x-api-key' },
  });
}

function sendJson(response: ServerResponse, status: number, value: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}

/** Changes variables of the environment in which the extension runs. Null removes one. */
export async function setEnvironment(
  evaluate: Evaluate,
  variables: Readonly<Record<string, string | null>>,
): Promise<void> {
  await evaluate((_, values) => {
    for (const [name, value] of Object.entries(values)) {
      if (value === null) delete process.env[name];
      else process.env[name] = value;
    }
  }, variables);
}
