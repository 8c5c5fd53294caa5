/**
 * The hostile side, in a process of its own. `enemy.ts stdio CASE RECORD` is an MCP server over stdio. Otherwise it
 * serves every case below `/ID/` over HTTP: `mcp`, `sse`, and the models below `v1`; `case` and `report` are for the
 * attack itself. Its second port is the canary, which nothing may ask for.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { type Answer, type Case, type Delivery, type Places, SECRET, toText, write } from './spec.ts';

interface Request {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: { readonly protocolVersion?: string; readonly name?: string };
}

export interface EnemyReport {
  /** The addresses below the canary that were asked for. */
  readonly canary: readonly string[];
  /** Where the secret was seen. */
  readonly leaks: readonly string[];
  /** The tools that were called. */
  readonly calls: readonly string[];
  /** The processes of a server over stdio. */
  readonly pids: readonly number[];
}

export interface ServedCase {
  readonly attack: Case;
  readonly places: Places;
}

const DEFAULTS: Readonly<Record<string, (request: Request) => object>> = {
  initialize: ({ params }) => ({
    protocolVersion: params?.protocolVersion ?? '2025-06-18',
    capabilities: { tools: {}, resources: {}, prompts: {}, logging: {} },
    serverInfo: { name: 'bad', version: '1' },
  }),
  'tools/list': () => ({ tools: [{ name: 't0', inputSchema: { type: 'object' } }] }),
  'tools/call': () => ({ content: [{ type: 'text', text: 'ok' }] }),
  'resources/list': () => ({ resources: [{ uri: 'x://r', name: 'r' }] }),
  'resources/templates/list': () => ({ resourceTemplates: [] }),
  'resources/read': () => ({ contents: [{ uri: 'x://r', text: 'ok' }] }),
  'prompts/list': () => ({ prompts: [] }),
};

/** The text of the response to a request; undefined if it has none. */
function answerTo(
  request: Request,
  { attack, places }: ServedCase,
): { text: string; answer: Answer } | undefined {
  const { id, method = '' } = request;
  if (id === undefined) return undefined;
  const own = attack.answers[method];
  const usual = DEFAULTS[method]?.(request);
  const error = { error: { code: -32601, message: 'Method not found' } };
  const answer: Answer = own ?? { message: usual ? { result: usual as never } : error };
  const written = write(answer.message, places);
  const start = `{"jsonrpc":"2.0","id":${JSON.stringify(id)}`;
  const text = written.startsWith('{') && written !== '{}' ? `${start},${written.slice(1)}` : written;
  return { text, answer };
}

/** Writes as the delivery says, no faster than it is read; ends the connection where it says so. */
async function deliver(
  body: string,
  as: Delivery,
  places: Places,
  out: NodeJS.WritableStream & { destroyed?: boolean },
) {
  const plain = Buffer.from(toText(as.before ?? '', places) + body + toText(as.after ?? '', places));
  const whole = as.bomb ? bomb() : as.gzip ? gzipSync(plain) : plain;
  const bytes = as.cut === undefined ? whole : whole.subarray(0, as.cut);
  const size = Math.max(as.piece ?? bytes.length, Math.ceil(bytes.length / MAX_PIECES), 1);
  for (let at = 0; at < bytes.length && !out.destroyed; at += size) {
    await new Promise<void>((resolve) => {
      out.once('close', resolve);
      out.write(bytes.subarray(at, at + size), () => resolve());
    });
    out.removeAllListeners('close');
  }
}

const MAX_PIECES = 200;
const BOMB_BYTES = 500 * 1024 * 1024;
let packed: Buffer | undefined;

function bomb(): Buffer {
  packed ??= gzipSync(Buffer.alloc(BOMB_BYTES, ' '), { level: 1 });
  return packed;
}

function note(record: Record_, request: Request, raw: string): void {
  if (request.method === 'tools/call') record.calls.push(String(request.params?.name));
  if (raw.includes(SECRET)) record.leaks.push(`a message ${request.method}`);
}

type Record_ = {
  -readonly [Key in keyof EnemyReport]: EnemyReport[Key] extends readonly (infer T)[] ? T[] : never;
};
const newRecord = (): Record_ => ({ canary: [], leaks: [], calls: [], pids: [] });

function serveStdio(file: string, recordFile: string): void {
  const served = JSON.parse(readFileSync(file, 'utf8')) as ServedCase;
  const save = (record: Partial<EnemyReport>) => appendFileSync(recordFile, `${JSON.stringify(record)}\n`);
  save({ pids: [process.pid] });
  // It does not end with its input: it has to be told to.
  setInterval(() => undefined, 2 ** 30);
  let rest = '';
  process.stdin.setEncoding('utf8').on('data', async (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const request = JSON.parse(line) as Request;
      const record = newRecord();
      note(record, request, line);
      if (record.calls.length + record.leaks.length > 0) save(record);
      const answered = answerTo(request, served);
      if (answered?.answer.as?.silent) process.on('SIGTERM', () => undefined);
      if (!answered || answered.answer.as?.silent) continue;
      const { text, answer } = answered;
      const { cut, ...as } = answer.as ?? {};
      if (as.crash) process.exit(139);
      const first = (answer.first ?? []).map((each) => `${write(each, served.places)}\n`).join('');
      await deliver(
        `${first}${text}\n`,
        cut === undefined ? as : { ...as, cut },
        served.places,
        process.stdout,
      );
      if (cut !== undefined) process.exit(1);
    }
  });
}

type Site = { readonly served: ServedCase; readonly record: Record_; replies: number; sse?: ServerResponse };

async function respond(
  site: Site,
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
): Promise<void> {
  const { served, record } = site;
  const { attack, places } = served;
  const body = await readText(request);
  if (body.includes(SECRET) || JSON.stringify(request.headers).includes(SECRET)) record.leaks.push(path);
  if (path === 'sse' && request.method === 'GET') {
    site.sse = response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`event: endpoint\ndata: ${toText(attack.endpoint ?? `/${places['ID']}/sse`, places)}\n\n`);
    return;
  }
  if (path !== 'mcp' && path !== 'sse') return reply(site, path, response);
  if (request.method !== 'POST') return void response.writeHead(405).end();
  const message = JSON.parse(body) as Request;
  note(record, message, '');
  const answered = answerTo(message, served);
  if (!answered) return void response.writeHead(202).end();
  const { text, answer } = answered;
  const as = answer.as ?? {};
  if (as.silent) return;
  if (as.crash) return void response.destroy();
  const isSse = path === 'sse';
  const out = isSse ? site.sse : response;
  if (isSse) response.writeHead(202).end();
  if (!out) return;
  const isStream = isSse || answer.stream === true;
  const first = isStream
    ? (answer.first ?? []).map((each) => `data: ${write(each, places)}\n\n`).join('')
    : '';
  if (!isSse)
    response.writeHead(
      as.status ?? 200,
      headersOf(as, isStream ? 'text/event-stream' : 'application/json', places),
    );
  await deliver(isStream ? `${first}event: message\ndata: ${text}\n\n` : text, as, places, out);
  if (as.cut !== undefined) out.destroy();
  else if (!isSse) out.end();
}

async function reply(site: Site, path: string, response: ServerResponse): Promise<void> {
  const { attack, places } = site.served;
  const isFile = /files|containers/.test(path);
  const at = isFile ? 0 : site.replies++;
  // The last one is repeated, so that a run comes to its end.
  const { events, as = {} } = attack.replies[at] ?? attack.replies.at(-1) ?? { events: DONE };
  if (as.silent) return;
  if (as.crash) return void response.destroy();
  response.writeHead(as.status ?? 200, headersOf(as, 'text/event-stream', places));
  await deliver(events.map((event) => `data: ${write(event, places)}\n\n`).join(''), as, places, response);
  if (as.cut !== undefined) response.destroy();
  else response.end();
}

const DONE = [{ choices: [{ index: 0, delta: { content: 'Done.' }, finish_reason: 'stop' }] }];

function headersOf(as: Delivery, type: string, places: Places): Record<string, string> {
  const own = Object.entries(as.headers ?? {}).map(([name, value]) => [name, toText(value, places)]);
  return {
    'content-type': type,
    ...((as.gzip || as.bomb) && { 'content-encoding': 'gzip' }),
    ...(/^3/.test(String(as.status)) && { location: `${places['CANARY']}/redirect` }),
    ...Object.fromEntries(own),
  };
}

function serveHttp(): void {
  const sites = new Map<string, Site>();
  const enemy = createServer(async (request, response) => {
    const [, id = '', ...rest] = (request.url ?? '').split('/');
    const path = rest.join('/');
    response.on('error', () => undefined);
    if (path === 'case') {
      const served = JSON.parse(await readText(request)) as ServedCase;
      sites.set(id, { served, record: newRecord(), replies: 0 });
      return void response.end();
    }
    const site = sites.get(id);
    if (path === 'report') {
      site?.sse?.destroy();
      sites.delete(id);
      return void response.end(JSON.stringify(site?.record ?? newRecord()));
    }
    if (!site) return void response.writeHead(410).end();
    await respond(site, request, response, path).catch(() => response.destroy());
  });
  const canary = createServer((request, response) => {
    const id = (request.url ?? '').split('/')[1] ?? '';
    sites.get(id)?.record.canary.push(`${request.method} ${request.url}`);
    response.end();
  });
  const portOf = (server: typeof enemy) => (server.address() as AddressInfo).port;
  enemy.listen(0, '127.0.0.1', () =>
    canary.listen(0, '127.0.0.1', () => process.send?.({ enemy: portOf(enemy), canary: portOf(canary) })),
  );
  process.once('disconnect', () => process.exit());
}

const [way, file = '', recordFile = ''] = process.argv.slice(2);
if (way === 'stdio') serveStdio(file, recordFile);
else serveHttp();
