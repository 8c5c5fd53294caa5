import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { createSampleServer } from './server.ts';

const ADDRESS = '127.0.0.1';
const PATH = '/mcp';

type Sessions = Map<string, StreamableHTTPServerTransport>;

/** Serves Streamable HTTP to this machine only. Port 0 takes any free one. */
export async function serveHttp(port: number): Promise<{ readonly server: Server; readonly url: string }> {
  const sessions: Sessions = new Map();
  const server = createServer((request, response) => {
    answer(sessions, request, response).catch((error: unknown) => {
      console.error(error);
      response.destroy();
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, ADDRESS, resolve);
  });
  const { port: chosen } = server.address() as AddressInfo;
  return { server, url: `http://${ADDRESS}:${chosen}${PATH}` };
}

async function answer(sessions: Sessions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  // A page in a browser can reach this port under a name of its own, but cannot forge the Host header.
  if (!/^(127\.0\.0\.1|localhost):\d+$/.test(request.headers.host ?? ''))
    return refuse(response, 403, 'Invalid host.');
  if (request.url?.split('?')[0] !== PATH) return refuse(response, 404, `The server is at ${PATH}.`);
  const id = request.headers['mcp-session-id'];
  const transport = id === undefined ? await openSession(sessions) : sessions.get(String(id));
  if (!transport) return refuse(response, 404, 'This session has ended.');
  await transport.handleRequest(request, response);
}

function refuse(response: ServerResponse, status: number, reason: string): void {
  response.writeHead(status, { 'content-type': 'text/plain' }).end(reason);
}

/** A session keeps its own server, so that a cancellation reaches the call it means. */
async function openSession(sessions: Sessions): Promise<StreamableHTTPServerTransport> {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => {
      sessions.set(id, transport);
    },
    onsessionclosed: (id) => {
      sessions.delete(id);
    },
  });
  await createSampleServer().connect(transport);
  return transport;
}
