import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { type IncomingHttpHeaders, request } from 'node:http';
import { connect } from 'node:net';
import { before, describe, it } from 'node:test';
import {
  assetsServerFile,
  CHAT_URI,
  cleanUpLast,
  connectOverHttp,
  createNotes,
  ERAS,
  type HttpServer,
  startOverHttp,
} from '../helpers/assetsServer.ts';

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
});

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

interface Asked {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

describe('the assets server over HTTP', () => {
  const cleanup = cleanUpLast();
  let server: HttpServer;
  before(async () => {
    server = await startOverHttp(cleanup, ['--max-upload-bytes', '1000', createNotes(cleanup).path]);
  });

  /** A valid request, except for the given overrides. */
  function ask({
    method = 'POST',
    path = '/mcp',
    headers = {},
    body = INITIALIZE,
  }: Asked = {}): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const asked = request(
        {
          host: '127.0.0.1',
          port: server.url.port,
          method,
          path,
          headers: {
            'content-type': 'application/json',
            accept: 'application/json, text/event-stream',
            authorization: `Bearer ${server.token}`,
            ...headers,
          },
        },
        async (response) => {
          let text = '';
          for await (const chunk of response) text += chunk;
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
        },
      );
      asked.on('error', reject);
      asked.end(method === 'GET' ? undefined : body);
    });
  }

  it('a client may be idle for minutes, and its next request does not hit a closing connection', async () => {
    const session = String((await ask()).headers['mcp-session-id']);
    const body = '{"jsonrpc":"2.0","method":"notifications/initialized"}';
    const { status, headers } = await ask({ headers: { 'mcp-session-id': session }, body });
    assert.deepEqual([status, headers['keep-alive']], [202, 'timeout=600']);
  });

  it('accepts a client with the token', async () => {
    const { status, headers } = await ask();
    assert.equal(status, 200);
    assert.ok(headers['mcp-session-id']);
  });

  const port = () => server.url.port;
  const REFUSED: readonly [name: string, asked: () => Asked, status: number][] = [
    ['no token', () => ({ headers: { authorization: '' } }), 401],
    [
      'a token in the address',
      () => ({ path: `/mcp?token=${server.token}`, headers: { authorization: '' } }),
      401,
    ],
    ['a name that was bound to this machine', () => ({ headers: { host: `evil.example:${port()}` } }), 403],
    ['another Origin', () => ({ headers: { origin: 'http://evil.example' } }), 403],
    [
      'a preflight of another page',
      () => ({ method: 'OPTIONS', headers: { origin: 'http://evil.example' } }),
      403,
    ],
    ['another path', () => ({ path: '/' }), 404],
    ['another method', () => ({ method: 'PUT' }), 405],
    ['a body that is not JSON', () => ({ body: 'hello' }), 400],
    ['another type of content', () => ({ headers: { 'content-type': 'text/plain' } }), 415],
    ['a request before initialize', () => ({ body: PING }), 400],
    ['an unknown session', () => ({ headers: { 'mcp-session-id': 'x' }, body: PING }), 404],
    ['a stream without a session', () => ({ method: 'GET' }), 400],
  ];
  for (const [name, asked, status] of REFUSED) {
    it(`refuses ${name} with ${status}`, async () => {
      const answer = await ask(asked());
      assert.equal(answer.status, status, answer.text);
      assert.equal(answer.headers['access-control-allow-origin'], undefined);
      if (status === 401) assert.equal(answer.headers['www-authenticate'], 'Bearer');
      assert.doesNotMatch(answer.text, /\/tmp|node_modules|at /);
    });
  }

  it('refuses two Host headers, which are ambiguous', async () => {
    const socket = connect(Number(server.url.port), '127.0.0.1');
    const lines = [
      'POST /mcp HTTP/1.1',
      `Host: 127.0.0.1:${port()}`,
      'Host: evil.example',
      'Content-Length: 0',
    ];
    socket.write(`${lines.join('\r\n')}\r\n\r\n`);
    let text = '';
    for await (const chunk of socket) text += chunk;
    assert.match(text, /^HTTP\/1\.1 (?:400|403|401) /);
  });

  it('refuses a body that is too large, with or without a Content-Length', async () => {
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'ping',
      params: { x: 'x'.repeat(2_000_000) },
    });
    for (const headers of [{}, { 'transfer-encoding': 'chunked' }]) {
      // The server may hang up before everything is sent.
      const answer = await ask({ body, headers }).catch((error: NodeJS.ErrnoException) => error.code);
      if (typeof answer === 'object') assert.equal(answer.status, 413);
      else assert.match(String(answer), /EPIPE|ECONNRESET/);
    }
    assert.equal((await ask()).status, 200);
  });

  it('does not read the body of a request without a token', async () => {
    const socket = connect(Number(server.url.port), '127.0.0.1');
    const lines = ['POST /mcp HTTP/1.1', `Host: 127.0.0.1:${port()}`, 'Content-Length: 1000000000'];
    socket.write(`${lines.join('\r\n')}\r\n\r\n{"js`);
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    assert.match(chunk.toString(), /^HTTP\/1\.1 401 /);
    socket.destroy();
  });

  it('ends a session when its client requests it', async () => {
    const { headers } = await ask();
    const session = { 'mcp-session-id': String(headers['mcp-session-id']) };
    assert.equal((await ask({ headers: session, body: PING })).status, 200);
    assert.equal((await ask({ method: 'DELETE', headers: session, body: '' })).status, 200);
    assert.equal((await ask({ headers: session, body: PING })).status, 404);
  });

  it('takes the token of the environment, and listens only on this machine', async (t) => {
    const own = await startOverHttp(t, [createNotes(t).path], {
      env: { FILECHAT_ASSETS_TOKEN: 'my-own-token' },
    });
    assert.equal(own.token, 'my-own-token');
    assert.equal(own.url.hostname, '127.0.0.1');
    for (const era of ERAS) {
      const client = await connectOverHttp(t, era, own);
      assert.equal((await client.readResource({ uri: CHAT_URI })).contents.length, 1);
    }
  });
});

describe('the command line', () => {
  const run = (...args: string[]) =>
    new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
      execFile(process.execPath, [assetsServerFile(), ...args], (error, stdout, stderr) =>
        resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
      );
    });

  it('prints its usage, and exits with 2 for invalid arguments', async (t) => {
    const notes = createNotes(t);
    assert.match((await run('--help')).stdout, /^Usage:/);
    assert.match((await run('--version')).stdout, /^\d+\.\d+\.\d+\n$/);
    for (const args of [
      [],
      ['--what', notes.path],
      [`${notes.path}/none`],
      [`${notes.path}/ideas.chat.md`],
    ]) {
      const { code, stdout, stderr } = await run(...args);
      assert.equal(code, 2, stderr);
      assert.equal(stdout, '');
      assert.match(stderr, /Usage:/);
    }
    const server = await startOverHttp(t, [notes.path]);
    const taken = await run('--http', server.url.port, notes.path);
    assert.equal(taken.code, 1);
    assert.match(taken.stderr, /EADDRINUSE/);
  });
});
