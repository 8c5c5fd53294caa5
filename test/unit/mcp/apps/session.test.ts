import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { App } from '@modelcontextprotocol/ext-apps';
import { AppSession, type AppSessionDeps, type AppTool } from '../../../../src/mcp/apps/session.ts';

type Message = Readonly<Record<string, unknown>>;

const TOOLS: readonly AppTool[] = [
  { server: 'weather', tool: 'forecast', inputSchema: { type: 'object' } },
  { server: 'weather', tool: 'secret', inputSchema: { type: 'object' }, notForApps: true },
  { server: 'other', tool: 'delete', inputSchema: { type: 'object' } },
];

type Scene = ReturnType<typeof scene>;

/** A session with the messages to the app, the actions of the host, and the log, in order. */
function scene(changes: Partial<AppSessionDeps> = {}) {
  const sent: Message[] = [];
  const done: string[] = [];
  const log: string[] = [];
  let agreed = true;
  const write = (line: string) => void log.push(line);
  const ask = async (words: string) => {
    done.push(words);
    return agreed;
  };
  const session = new AppSession({
    server: {
      name: 'weather',
      tools: async () => TOOLS,
      call: async (call) => {
        done.push(`called ${call.server}.${call.tool} ${JSON.stringify(call.arguments)}`);
        return { content: [{ type: 'text', text: 'sunny' }], structuredContent: { degrees: 20 } };
      },
      read: async (uri) => ({ contents: [{ uri, text: 'read' }] }),
      resources: async () => ({ resources: [{ uri: 'x://a', name: 'a' }] }),
    },
    user: {
      mayCall: (call) => ask(`may call ${call.tool}?`),
      openLink: (url) => ask(`open ${url.href}?`),
      addToChat: (text) => ask(`add ${JSON.stringify(text)}?`),
    },
    frame: {
      send: (message) => void sent.push(message),
      resize: (height) => void done.push(`height ${height}`),
      setMode: (mode) => void done.push(`mode ${mode}`),
      offerContext: (text) => void done.push(`offered ${JSON.stringify(text)}`),
      close: () => void done.push('closed'),
    },
    log: { info: write, warn: write, error: write },
    hostInfo: { name: 'filechat', version: '1.0.0' },
    app: {
      csp: { connectDomains: [], resourceDomains: [], baseUriDomains: [] },
      permissions: { clipboardWrite: true },
    },
    call: { server: 'weather', tool: 'forecast', id: 'c1', arguments: { city: 'Rome' } },
    result: { content: [{ type: 'text', text: 'rain' }], isError: false },
    context: () => ({ theme: 'dark', locale: 'en', containerDimensions: { width: 500, maxHeight: 20_000 } }),
    ...changes,
  });
  const answer = (yes: boolean) => {
    agreed = yes;
  };
  const notify = (method: string, params?: unknown) => session.receive({ jsonrpc: '2.0', method, params });
  return { session, sent, done, log, answer, notify };
}

async function begin(at: Scene): Promise<void> {
  await at.session.receive({ jsonrpc: '2.0', id: 'i', method: 'ui/initialize', params: {} });
  await at.notify('ui/notifications/initialized');
}

async function request(at: Scene, method: string, params?: unknown): Promise<Message> {
  await at.session.receive({ jsonrpc: '2.0', id: 7, method, params });
  return at.sent.findLast(({ id }) => id === 7) ?? {};
}

const codeOf = (message: Message) => (message['error'] as { code: number } | undefined)?.code;

test('an app of the MCP Apps SDK gets its call and its result, and can send requests', async () => {
  const at = scene();
  const transport: Transport = {
    start: async () => {},
    close: async () => {},
    send: (message) => at.session.receive(structuredClone(message)),
  };
  at.sent.push = (...messages) => {
    for (const message of messages) transport.onmessage?.(message as unknown as JSONRPCMessage);
    return 0;
  };
  const app = new App({ name: 'test', version: '1' }, {}, { autoResize: false });
  const shown: unknown[] = [];
  app.ontoolinput = (params) => void shown.push(params.arguments);
  app.ontoolresult = (params) => void shown.push(params.content);
  const lit = Promise.withResolvers<void>();
  app.onhostcontextchanged = ({ theme }) => void (theme === 'light' && lit.resolve());
  await app.connect(transport);
  assert.deepEqual(shown, [{ city: 'Rome' }, [{ type: 'text', text: 'rain' }]]);
  assert.deepEqual(app.getHostVersion(), { name: 'filechat', version: '1.0.0' });
  assert.equal(app.getHostContext()?.theme, 'dark');
  assert.deepEqual(app.getHostContext()?.availableDisplayModes, ['inline', 'fullscreen']);
  const called = await app.callServerTool({ name: 'forecast', arguments: { city: 'Oslo' } });
  assert.deepEqual(called.structuredContent, { degrees: 20 });
  assert.deepEqual(await app.requestDisplayMode({ mode: 'fullscreen' }), { mode: 'fullscreen' });
  assert.deepEqual(await app.requestDisplayMode({ mode: 'pip' }), { mode: 'fullscreen' });
  assert.deepEqual(await app.openLink({ url: 'https://example.com/a' }), {});
  await app.sendMessage({ role: 'user', content: [{ type: 'text', text: 'Hello' }] });
  await app.updateModelContext({ content: [{ type: 'text', text: 'B' }], structuredContent: { b: 1 } });
  await app.sendSizeChanged({ width: 10, height: 1e9 });
  await app.sendLog({ level: 'info', data: 'said' });
  at.session.contextChanged({ theme: 'light' });
  await lit.promise;
  assert.equal(app.getHostContext()?.theme, 'light');
  assert.deepEqual(at.done, [
    'may call forecast?',
    'called weather.forecast {"city":"Oslo"}',
    'mode fullscreen',
    'open https://example.com/a?',
    'add "Hello"?',
    'offered "B\\n\\n{\\n  \\"b\\": 1\\n}"',
    'height 20000',
  ]);
  assert.deepEqual(at.log, ['app of forecast: said']);
});

const LONG = [{ type: 'text', text: 'x'.repeat(100_001) }];
const REFUSED: readonly (readonly [string, string, unknown, number])[] = [
  ['an unknown method', 'ui/steal', {}, -32601],
  ['a method that every object has', 'constructor', {}, -32601],
  ['sampling', 'sampling/createMessage', {}, -32601],
  ['a download', 'ui/download-file', { contents: [] }, -32601],
  ['a second initialization', 'ui/initialize', {}, -32600],
  ['a tool of another server', 'tools/call', { name: 'delete' }, -32602],
  ['a tool of another server by its whole name', 'tools/call', { name: 'other.delete' }, -32602],
  ['a tool that is not for apps', 'tools/call', { name: 'secret' }, -32602],
  ['a tool without a name', 'tools/call', {}, -32602],
  ['arguments that are a list', 'tools/call', { name: 'forecast', arguments: [] }, -32602],
  ['a resource without an address', 'resources/read', { uri: 1 }, -32602],
  ['a script as a link', 'ui/open-link', { url: 'javascript:alert(1)' }, -32602],
  ['a file as a link', 'ui/open-link', { url: 'file:///etc/passwd' }, -32602],
  ['a command as a link', 'ui/open-link', { url: 'command:x' }, -32602],
  ['a link without encryption', 'ui/open-link', { url: 'http://example.com' }, -32602],
  ['a link that hides its host', 'ui/open-link', { url: 'https://good.example@evil.example' }, -32602],
  ['a link that is too long', 'ui/open-link', { url: `https://a.example/${'x'.repeat(2000)}` }, -32602],
  ['a message in the name of the model', 'ui/message', { role: 'assistant', content: [] }, -32602],
  ['an empty message', 'ui/message', { role: 'user', content: [] }, -32602],
  ['an image for the chat', 'ui/message', { role: 'user', content: [{ type: 'image' }] }, -32602],
  ['a message without blocks', 'ui/message', { role: 'user', content: 'x' }, -32602],
  ['a message that is too long', 'ui/message', { role: 'user', content: LONG }, -32602],
];
for (const [name, method, params, code] of REFUSED) {
  test(`an app is refused ${name} without a prompt, and it is logged`, async () => {
    const at = scene();
    await begin(at);
    assert.equal(codeOf(await request(at, method, params)), code);
    assert.deepEqual(at.done, []);
    assert.equal(at.log.length, 1);
    assert.match(at.log[0] ?? '', /^app of forecast: refused /);
  });
}

test('requests need an initialized app, and the call is sent after the initialization', async () => {
  const at = scene();
  assert.equal(codeOf(await request(at, 'tools/call', { name: 'forecast' })), -32600);
  await at.notify('ui/notifications/initialized');
  assert.equal(at.sent.length, 1);
  at.session.contextChanged({ theme: 'light' });
  assert.equal(at.sent.length, 1);
  assert.deepEqual((await request(at, 'ping'))['result'], {});
  await begin(at);
  assert.deepEqual(
    at.sent.slice(-2).map(({ method }) => method),
    ['ui/notifications/tool-input', 'ui/notifications/tool-result'],
  );
});

test('invalid messages are dropped', async () => {
  const at = scene();
  const id = { id: { toString: 1 }, method: 'ping', jsonrpc: '2.0' };
  for (const message of [undefined, null, 'x', 7, [], {}, { method: 'ping', id: 1 }, id]) {
    await at.session.receive(message);
  }
  assert.deepEqual(at.sent, []);
});

test('a declined call does not run; after three refusals the user is not asked again', async () => {
  const at = scene();
  await begin(at);
  at.answer(false);
  for (let times = 0; times < 5; times += 1) {
    assert.equal(codeOf(await request(at, 'tools/call', { name: 'forecast' })), -32000);
  }
  assert.deepEqual(at.done, ['may call forecast?', 'may call forecast?', 'may call forecast?']);
  assert.equal(codeOf(await request(at, 'ui/open-link', { url: 'https://a.example' })), -32000);
});

test('a declined link and a declined message fail', async () => {
  const at = scene();
  await begin(at);
  at.answer(false);
  const link = await request(at, 'ui/open-link', { url: 'https://a.example' });
  assert.deepEqual(link['result'], { isError: true });
  const said = await request(at, 'ui/message', { role: 'user', content: [{ type: 'text', text: 'x' }] });
  assert.deepEqual(said['result'], { isError: true });
});

test('the user gets one prompt at a time, and pending requests are limited', async () => {
  let asking = 0;
  let most = 0;
  const user = {
    mayCall: async () => {
      asking += 1;
      most = Math.max(most, asking);
      await new Promise(setImmediate);
      asking -= 1;
      return true;
    },
    openLink: async () => false,
    addToChat: async () => false,
  };
  const at = scene({ user });
  await begin(at);
  const ids = Array.from({ length: 20 }, (_, id) => id);
  const call = { method: 'tools/call', params: { name: 'forecast' } };
  await Promise.all(ids.map((id) => at.session.receive({ jsonrpc: '2.0', id, ...call })));
  const answers = ids.map((id) => at.sent.find((each) => each['id'] === id) ?? {});
  assert.equal(most, 1);
  assert.equal(answers.filter((each) => codeOf(each) === -32600).length, 4);
  assert.equal(answers.filter((each) => each['result'] !== undefined).length, 16);
});

test('a request with the id of a pending one is rejected, and the pending one is answered', async () => {
  const at = scene();
  await begin(at);
  const pending = request(at, 'tools/call', { name: 'forecast' });
  const { error } = await request(at, 'ping');
  assert.deepEqual(error, { code: -32600, message: 'A pending request already has this id.' });
  assert.ok((await pending)['result']);
  assert.deepEqual((await request(at, 'ping'))['result'], {});
});

test('sizes are clamped, and invalid sizes are ignored', async () => {
  const at = scene();
  for (const height of [-5, 300.4, Number.NaN, '9', undefined, 1e12]) {
    await at.notify('ui/notifications/size-changed', { height });
  }
  assert.deepEqual(at.done, ['height 40', 'height 300', 'height 20000']);
});

test('an app cannot fill the log or hide text in it', async () => {
  const at = scene();
  const data = `a\n\u202eb${'x'.repeat(9_000)}`;
  for (let times = 0; times < 99; times += 1) {
    await at.notify('notifications/message', { level: 'info', data });
  }
  assert.equal(at.log.length, 51);
  assert.match(at.log[0] ?? '', /^app of forecast: a ⟦U\+202E⟧bx+…$/);
  assert.equal(at.log.at(-1), 'app of forecast: further messages are not logged');
  assert.ok(at.log.every((line) => line.length < 600));
});

test('a closed app gets no response and no prompt', async () => {
  const at = scene();
  await begin(at);
  const before = at.sent.length;
  const waiting = request(at, 'tools/call', { name: 'forecast' });
  at.session.dispose();
  await waiting;
  await request(at, 'ping');
  assert.equal(at.sent.length, before);
  assert.deepEqual(at.done, []);
});

test('a call that the app cancels does not run, and gets no response', async () => {
  const at = scene();
  await begin(at);
  const waiting = request(at, 'tools/call', { name: 'forecast' });
  await at.notify('notifications/cancelled', { requestId: 7 });
  assert.deepEqual(await waiting, {});
  assert.deepEqual(at.done, ['may call forecast?']);
});

test('a result without blocks gets an empty list', async () => {
  for (const result of [undefined, 'x', { content: 'x' }]) {
    const at = scene({ result });
    await begin(at);
    const { params } = at.sent.at(-1) as { params: Message };
    assert.deepEqual(params['content'], []);
  }
});
