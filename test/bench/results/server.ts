/**
 * The bench's MCP server: `node server.ts stdio FOLDER` or `node server.ts http FOLDER`, where FOLDER has the
 * payloads. It does not use an SDK, so that it is fast and its memory stays small. It ends with its stdin.
 */
import { createReadStream } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { payloadPath, smallBlock } from './payload.ts';

interface Request {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: {
    readonly protocolVersion?: string;
    readonly name?: string;
    readonly arguments?: { readonly mb?: number; readonly count?: number };
  };
}

type Body = AsyncIterable<string | Buffer> | Iterable<string>;

const CHUNK_BYTES = 1024 * 1024;
const BLOCKS_PER_CHUNK = 100;

async function serveStdio(folder: string): Promise<void> {
  for await (const line of createInterface({ input: process.stdin })) {
    const request = JSON.parse(line) as Request;
    if (request.id === undefined) continue;
    await pipeline(Readable.from(answer(request, folder, ['', '\n'])), process.stdout, { end: false });
  }
}

async function serveHttp(folder: string): Promise<void> {
  const server = createServer((request, response) => {
    // A client that is stopped breaks its stream.
    answerHttp(request, response, folder).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
  process.stdin.on('end', () => process.exit()).resume();
}

async function answerHttp(request: IncomingMessage, response: ServerResponse, folder: string): Promise<void> {
  if (request.method !== 'POST') {
    response.writeHead(405).end();
    return;
  }
  const message = JSON.parse(await text(request)) as Request;
  if (message.id === undefined) {
    response.writeHead(202).end();
    return;
  }
  const events = request.url === '/sse';
  response.writeHead(200, { 'content-type': events ? 'text/event-stream' : 'application/json' });
  const around = events ? ['event: message\ndata: ', '\n\n'] : ['', ''];
  await pipeline(Readable.from(answer(message, folder, around)), response);
}

async function* answer(request: Request, folder: string, [before = '', after = '']: readonly string[]) {
  const id = JSON.stringify(request.id);
  const result = resultOf(request, folder);
  if (result === undefined) {
    yield `${before}{"jsonrpc":"2.0","id":${id},"error":{"code":-32601,"message":"Method not found"}}${after}`;
    return;
  }
  yield `${before}{"jsonrpc":"2.0","id":${id},"result":`;
  yield* result;
  yield `}${after}`;
}

function resultOf({ method, params }: Request, folder: string): Body | undefined {
  switch (method) {
    case 'initialize':
      return [
        JSON.stringify({
          protocolVersion: params?.protocolVersion ?? '2025-11-25',
          capabilities: { tools: {} },
          serverInfo: { name: 'bench', version: '1.0.0' },
        }),
      ];
    case 'ping':
      return ['{}'];
    case 'tools/list':
      return [JSON.stringify({ tools: [tool('image', 'mb'), tool('blocks', 'count')] })];
    case 'tools/call':
      return params?.name === 'blocks'
        ? blocksResult(params.arguments?.count ?? 0)
        : imageResult(payloadPath(folder, params?.arguments?.mb ?? 0));
    default:
      return undefined;
  }
}

function tool(name: string, argument: string) {
  return { name, inputSchema: { type: 'object', properties: { [argument]: { type: 'number' } } } };
}

async function* imageResult(path: string) {
  yield '{"content":[{"type":"image","mimeType":"image/png","data":"';
  yield* createReadStream(path, { highWaterMark: CHUNK_BYTES });
  yield '"}]}';
}

function* blocksResult(count: number) {
  yield '{"content":[';
  for (let from = 0; from < count; from += BLOCKS_PER_CHUNK) {
    const length = Math.min(BLOCKS_PER_CHUNK, count - from);
    const blocks = Array.from({ length }, (_, index) => JSON.stringify(smallBlock(from + index)));
    yield `${from === 0 ? '' : ','}${blocks.join(',')}`;
  }
  yield ']}';
}

const [way, folder = '.'] = process.argv.slice(2);
if (way === 'http') await serveHttp(folder);
// A client that is stopped during a response breaks the pipe.
else await serveStdio(folder).catch(() => process.exit());
