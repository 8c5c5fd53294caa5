/** The cases of each kind: valid messages, chats, configurations and folders, with hostile parts. */
import fc from 'fast-check';
import type { SdkProvider } from '../../src/model/providers/wire.ts';
import { CASES as MADE } from '../integration/helpers/madeWire.ts';
import { PROVIDERS, speak } from '../integration/helpers/modelServer.ts';
import { PNG_BASE64 } from '../kit/png.ts';
import { anyChat } from '../unit/chat/anyChat.ts';
import { hostileReply, inPieces } from '../unit/chat/hostileReply.ts';
import {
  type Answer,
  type Case,
  CHAT,
  type Delivery,
  KINDS,
  type Kind,
  type Spec,
  USER_TEXT,
} from './spec.ts';
import { longText, mutated, path, schema, text, upTo, value } from './values.ts';

const SERVERS = ['--servers', 'mcp.json', '--timeout', '10'];
const MODELS = ['--models', 'models.json', '--model', 'm'];
const CALL = ['call', 'bad.t0', '--chat', CHAT, ...SERVERS];
const RUN = ['run', CHAT, ...MODELS, ...SERVERS];
const AUTO = ['--approve', 'auto', '--max-steps', '3'];
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 });
/** Few are run by the bundle, which takes a process each. */
const built = fc.integer({ min: 0, max: 11 }).map((at) => at === 7);
const NONE = { files: {}, answers: {}, replies: [] };
const { $repeat: BIG } = { $repeat: ['AAAA', 5_000_000] } satisfies Spec;

/** A part that comes with the given chance of one in so many. */
const rarely = <T>(one: number, arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: one - 1, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });

const delivery: fc.Arbitrary<Delivery> = fc
  .record(
    {
      status: rarely(6, fc.constantFrom(204, 301, 307, 400, 401, 403, 404, 429, 500, 503, 529)),
      headers: rarely(
        4,
        fc.constantFrom<Record<string, string>>(
          { 'content-type': 'text/html' },
          { 'content-type': 'application/json; charset=utf-16' },
          { 'content-type': 'text/event-stream' },
          { location: '{CANARY}/redirect' },
          { 'retry-after': '3600' },
          { 'retry-after': 'never' },
          { 'mcp-session-id': 'x'.repeat(10_000) },
          { 'www-authenticate': 'Bearer resource_metadata="{CANARY}/metadata"' },
          { 'content-encoding': 'br' },
        ),
      ),
      piece: rarely(3, upTo(5000)),
      cut: rarely(6, upTo(20_000)),
      gzip: rarely(8, fc.constant(true)),
      before: rarely(
        6,
        fc.oneof<fc.Arbitrary<Spec>[]>(
          fc.constantFrom<Spec>(
            '\n',
            'Listening…\n',
            '\ufeff',
            'data: {"half":\n\n',
            ':\n',
            { $repeat: ['noise\n', 200_000] },
            { $repeat: ['x', 20_000_000] },
          ),
          longText(100_000),
        ),
      ),
      after: rarely(8, longText(100_000)),
      silent: rarely(30, fc.constant(true)),
      crash: rarely(20, fc.constant(true)),
    },
    { requiredKeys: [] },
  )
  .map((all) => Object.fromEntries(Object.entries(all).filter(([, each]) => each !== undefined)));

const MESSAGES: readonly Spec[] = [
  { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'error', data: 'log', logger: 'l' } },
  {
    jsonrpc: '2.0',
    method: 'notifications/progress',
    params: { progressToken: 1, progress: 1, total: 2, message: 'm' },
  },
  { jsonrpc: '2.0', method: 'notifications/tools/list_changed' },
  { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1, reason: 'x' } },
  { jsonrpc: '2.0', id: 1, method: 'roots/list' },
  { jsonrpc: '2.0', id: 'a', method: 'ping' },
  {
    jsonrpc: '2.0',
    id: 9,
    method: 'sampling/createMessage',
    params: { messages: [{ role: 'user', content: { type: 'text', text: 'x' } }], maxTokens: 9 },
  },
  {
    jsonrpc: '2.0',
    id: 10,
    method: 'elicitation/create',
    params: { message: 'm', requestedSchema: { type: 'object', properties: { a: { type: 'string' } } } },
  },
  {
    jsonrpc: '2.0',
    id: 11,
    method: 'elicitation/create',
    params: { mode: 'url', message: 'm', url: '{CANARY}/open', elicitationId: 'e' },
  },
  { jsonrpc: '2.0', id: 2, result: { content: [{ type: 'text', text: 'not asked for' }] } },
];
const first = fc.array(fc.oneof(...MESSAGES.map((message) => mutated(message))), { maxLength: 3 });

const BLOCKS: readonly Spec[] = [
  { type: 'text', text: 'x' },
  { type: 'image', data: PNG_BASE64, mimeType: 'image/png' },
  { type: 'audio', data: 'SUQz', mimeType: 'audio/mpeg' },
  { type: 'resource_link', uri: 'x://y', name: 'n', title: 't', description: 'd', mimeType: 'text/plain' },
  { type: 'resource', resource: { uri: 'file:///a.txt', text: 'x', mimeType: 'text/plain' } },
  { type: 'resource', resource: { uri: 'x://b.bin', blob: PNG_BASE64, mimeType: 'application/pdf' } },
  { type: 'hologram', data: PNG_BASE64, mimeType: 'image/png' },
  { type: 'text', text: `{"nested": {"image": "${PNG_BASE64}"}}` },
];
const block = fc.oneof(
  { weight: 8, arbitrary: fc.oneof(...BLOCKS.map((each) => mutated(each, fc.oneof(text, path, value)))) },
  { weight: 3, arbitrary: text.map((words) => ({ type: 'text', text: words })) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Spec>(
      { type: 'image', mimeType: 'image/png', data: { $repeat: BIG } },
      { type: 'text', text: { $repeat: BIG } },
    ),
  },
);
const content = fc.oneof(
  { weight: 6, arbitrary: fc.array(block, { maxLength: 4 }) as fc.Arbitrary<Spec> },
  { weight: 1, arbitrary: fc.tuple(block, upTo(3000)).map((many) => ({ $many: many })) },
);
const result = fc
  .record(
    { content, structuredContent: maybe(value), isError: maybe(fc.boolean()), _meta: maybe(value) },
    { requiredKeys: ['content'] },
  )
  .map(({ content: blocks, ...more }) => ({ content: blocks, ...defined(more) }));

const tool = fc
  .record({
    name: fc.oneof(fc.constant('t0'), fc.constant('t{AT}'), path, text),
    description: maybe(text),
    inputSchema: schema,
    outputSchema: maybe(schema),
    annotations: maybe(value),
  })
  .map(defined);
const tools = fc.oneof(
  fc.array(tool, { maxLength: 4 }) as fc.Arbitrary<Spec>,
  fc.tuple(tool, upTo(3000)).map((many) => ({ $many: many })),
);
const listed = (field: string, item: Spec): fc.Arbitrary<Spec> =>
  fc
    .tuple(mutated({ [field]: [item, item] }), rarely(3, fc.constant('again')))
    .map(([list, nextCursor]) =>
      nextCursor && typeof list === 'object' && !Array.isArray(list) ? { ...list, nextCursor } : list,
    );

const answered = (results: fc.Arbitrary<Spec>): fc.Arbitrary<Answer> =>
  fc
    .record({
      message: fc.oneof(
        { weight: 8, arbitrary: results.map((each) => ({ result: each })) },
        { weight: 1, arbitrary: mutated({ error: { code: 1, message: 'm', data: {} } }) },
        { weight: 1, arbitrary: value },
      ),
      as: maybe(delivery),
      stream: maybe(fc.boolean()),
      first: rarely(3, first),
    })
    .map(defined) as fc.Arbitrary<Answer>;

/** Only the methods that the command uses are hostile, and often one of them alone. */
const MCP: readonly (readonly [
  command: Case['command'],
  answers: Readonly<Record<string, fc.Arbitrary<Spec>>>,
])[] = [
  [CALL, { 'tools/call': result }],
  ['probe', { 'tools/list': tools.map((all) => ({ tools: all })) }],
  [
    ['tools', '--servers', 'mcp.json'],
    {
      'tools/list': tools.map((all) => ({ tools: all })),
      initialize: mutated({
        protocolVersion: '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: { name: 'b', version: '1' },
        instructions: 'x',
      }),
    },
  ],
  [
    ['resources', '--servers', 'mcp.json'],
    {
      'resources/list': listed('resources', {
        uri: 'x://y',
        name: 'n',
        title: 't',
        mimeType: 'text/plain',
        size: 1,
      }),
      'resources/templates/list': listed('resourceTemplates', { uriTemplate: 'x://{a}', name: 'n' }),
    },
  ],
  [
    ['read', 'bad', 'x://r', '--chat', CHAT, ...SERVERS],
    {
      'resources/read': fc
        .array(mutated({ uri: 'x://r', text: 'x', mimeType: 'text/plain' }, fc.oneof(text, value)))
        .map((contents) => ({ contents })),
    },
  ],
  [[...RUN, ...AUTO], { 'tools/list': tools.map((all) => ({ tools: all })), 'tools/call': result }],
];

function mcpCases(kind: 'stdio' | 'http' | 'sse'): fc.Arbitrary<Case> {
  const one = fc.oneof(
    ...MCP.map(([command, answers]) =>
      fc
        .record(
          Object.fromEntries(Object.entries(answers).map(([method, results]) => [method, answered(results)])),
        )
        .map((all) => ({ command, answers: all as Record<string, Answer> })),
    ),
  );
  return fc
    .tuple(one, built, rarely(4, fc.oneof(path, fc.constantFrom('{CANARY}/sse', '//127.0.0.1:1/x', ''))))
    .map(([attack, isBuilt, endpoint]) => ({
      kind,
      ...NONE,
      ...attack,
      ...(endpoint !== undefined && { endpoint }),
      ...(isBuilt && attack.command !== 'probe' && { built: true }),
      files: { 'mcp.json': config(kind), 'models.json': models('openai-compatible') },
      replies: attack.command.includes('run')
        ? [{ events: [CALLS], as: {} }, clean('openai-compatible')]
        : [],
    }));
}

const CALLS: Spec = {
  choices: [
    {
      index: 0,
      delta: {
        tool_calls: [{ index: 0, id: 'k', type: 'function', function: { name: 'bad__t0', arguments: '{}' } }],
      },
      finish_reason: 'tool_calls',
    },
  ],
};

function config(kind: Kind): Spec {
  if (kind !== 'stdio')
    return {
      servers: {
        bad: { type: kind === 'sse' ? 'sse' : 'http', url: kind === 'sse' ? '{ENEMY}/sse' : '{ENEMY}/mcp' },
      },
    };
  return {
    servers: {
      bad: {
        command: '{NODE}',
        args: ['--disable-warning=ExperimentalWarning', '{SERVER}', 'stdio', '{ROOT}/case', '{ROOT}/record'],
      },
    },
  };
}

const models = (provider: SdkProvider): Spec => ({
  models: { m: { provider, model: 'm', baseUrl: '{ENEMY}/v1' } },
});

const eventsOf = (provider: SdkProvider, words: readonly string[]): readonly Spec[] =>
  speak(provider, words).map((event) => JSON.parse(event.slice(event.indexOf('data: ') + 6)) as Spec);
const clean = (provider: SdkProvider) => ({ events: eventsOf(provider, ['Done.']) });

/** Replies in words, replies with files, and calls, with places changed. */
const modelCases: fc.Arbitrary<Case> = fc.constantFrom(...PROVIDERS).chain((provider) => {
  const made = Object.values(MADE)
    .filter((each) => each.provider === provider)
    .map(({ events }) => events as readonly Spec[]);
  const said = inPieces(fc.tuple(hostileReply, hostileReply).map((parts) => parts.join(''))).map((pieces) =>
    eventsOf(provider, pieces),
  );
  const long = fc.tuple(longText(100_000), upTo(4)).map(([words, times]) => {
    const events = eventsOf(provider, ['WORDS']);
    return events.flatMap((event) =>
      JSON.stringify(event).includes('WORDS')
        ? Array.from({ length: times }, () => replaceWords(event, words))
        : [event],
    );
  });
  const whole = fc
    .oneof(
      { weight: 6, arbitrary: said },
      { weight: 2, arbitrary: long },
      {
        weight: 3,
        arbitrary: fc
          .constantFrom(eventsOf(provider, ['Hi ', 'there.']), ...made)
          .chain((events) => mutated(events, fc.oneof(text, path, value)) as fc.Arbitrary<readonly Spec[]>),
      },
      ...(provider.startsWith('openai-')
        ? [
            {
              weight: 2,
              arbitrary: mutated([CALLS], fc.oneof(text, path, value)) as fc.Arbitrary<readonly Spec[]>,
            },
          ]
        : []),
    )
    .map((events) => (Array.isArray(events) ? events : [events]) as readonly Spec[]);
  return fc.tuple(whole, maybe(delivery), fc.boolean(), built).map(([events, as, isAuto, isBuilt]) => ({
    kind: 'model' as const,
    ...NONE,
    replies: [{ events, ...defined({ as }) }, clean(provider)],
    files: {
      'mcp.json': config('http'),
      'models.json': models(provider),
      [CHAT]: `# %% user\n${USER_TEXT}\n`,
    },
    command: isAuto ? [...RUN, ...AUTO] : RUN,
    ...(isBuilt && { built: true }),
  }));
});

function replaceWords(spec: Spec, words: Spec): Spec {
  if (spec === 'WORDS') return words;
  if (typeof spec !== 'object' || spec === null) return spec;
  if (Array.isArray(spec)) return (spec as readonly Spec[]).map((each) => replaceWords(each, words));
  return Object.fromEntries(Object.entries(spec).map(([key, each]) => [key, replaceWords(each, words)]));
}

const frontMatter = fc.oneof(
  fc.constant<Spec>(''),
  fc
    .tuple(fc.constantFrom('system', 'servers', 'tools', 'agent', 'approve', 'model', '__proto__', 'x'), text)
    .map(([key, words]) => ({ $join: [`---\n${key}: `, words, '\n---\n'] })),
  fc
    .tuple(
      fc.constantFrom('a: &a [*a]\n', '- ', '[', '{', 'a: {b: ', '? ', '&a ', '!!js/function x\n', '"'),
      upTo(40_000),
    )
    .map(([piece, size]) => ({
      $join: ['---\n', { $repeat: [piece, Math.ceil(size / piece.length)] }, '\n---\n'],
    })),
);
const turns = fc.array(
  fc.oneof(
    anyChat,
    hostileReply,
    longText(150_000),
    fc.tuple(anyChat, upTo(2000)).map((many): Spec => ({ $repeat: many })),
  ),
  { maxLength: 4 },
);
const chatCases: fc.Arbitrary<Case> = fc
  .tuple(frontMatter, turns, fc.integer({ min: 0, max: 3 }), built)
  .map(([head, parts, at, isBuilt]) => ({
    kind: 'chat' as const,
    ...NONE,
    files: {
      [CHAT]: { $join: [head, ...parts, `\n# %% user\n${USER_TEXT}\n`] },
      'mcp.json': config('http'),
      'models.json': models('openai-compatible'),
    },
    command: at === 0 ? RUN : ('probe' as const),
    ...(isBuilt && at === 0 && { built: true }),
  }));

const SETTINGS: Spec = {
  approve: 'auto',
  maxSteps: 2,
  'results.maxInlineChars': 100,
  'results.allowedMimeTypes': ['*/*'],
  disabledTools: ['x.*'],
  'results.fields': { 'bad.t0': { image: { type: 'image/png' } } },
};
const SERVER: Spec = { type: 'http', url: '{ENEMY}/mcp', headers: { a: 'b' } };
/** The addresses are kept: what a user configures may be asked for. */
const broken = (template: Spec): fc.Arbitrary<Spec> =>
  fc.oneof(
    { weight: 4, arbitrary: mutated(template) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(
          fc.constantFrom('[', '{"a":', '/*', '//\n', '"', '\\', ',', '{', 'a', '\n', '/', '\ufeff'),
          upTo(900_000),
        )
        .map(([piece, size]) => ({
          $join: ['{"servers": ', { $repeat: [piece, Math.ceil(size / piece.length)] }],
        })),
    },
  );
const configCases: fc.Arbitrary<Case> = fc
  .tuple(
    broken({
      servers: { bad: SERVER, x: { command: '/nonexistent', args: ['a'], env: { A: 'b' }, envFile: 'env' } },
      inputs: [{ id: 'i', type: 'promptString' }],
    }),
    broken(models('anthropic')),
    broken(SETTINGS),
    text,
    fc.integer({ min: 0, max: 2 }),
    built,
  )
  .map(([servers, found, settings, env, at, isBuilt]) => ({
    kind: 'config' as const,
    ...NONE,
    files: {
      'mcp.json': at === 0 ? servers : config('http'),
      'models.json': at === 1 ? found : models('anthropic'),
      'settings.json': at === 2 ? settings : {},
      env,
    },
    replies: [clean('anthropic')],
    command: at === 0 ? ['tools', '--servers', 'mcp.json'] : [...RUN, '--settings', 'settings.json'],
    ...(isBuilt && { built: true }),
  }));

const LINKS = [
  '../secret.txt',
  '..',
  '{ROOT}/secret.txt',
  '{ROOT}/home',
  '/nonexistent',
  '.',
  'link',
  '/proc/self/environ',
  '/dev/zero',
  'notes.txt',
];
const NAMES = [
  'link',
  'notes.txt',
  'cmdassets',
  'cmdassets/tool-image-20260101-000000-aaaaaaaa-1.png',
  'a b\u202e.txt',
  'dir/x.txt',
  '.filechat/a.md',
  'cmdassets/.x',
];
const file: fc.Arbitrary<Spec> = fc.oneof(
  fc.constantFrom(...LINKS).map(($link) => ({ $link })),
  fc.constant({ $folder: true }),
  text,
);
const target = fc.oneof(
  path,
  fc.constantFrom(
    ...NAMES,
    'link/secret.txt',
    'cmdassets/secret.txt',
    'link/../../secret.txt',
    'dir/../../secret.txt',
  ),
);
const treeCases: fc.Arbitrary<Case> = fc
  .tuple(
    fc.dictionary(fc.constantFrom(...NAMES), file, { maxKeys: 3 }),
    fc.array(target, { maxLength: 3 }),
    result,
    fc.boolean(),
    built,
  )
  .map(([files, targets, returned, isCall, isBuilt]) => {
    const links = targets.map((each) => `[x](<${each}>) ![y](${each})`).join('\n');
    const args = Object.fromEntries(
      targets.map((each, at) => [`a${at}`, /^(file|asset):/.test(each) ? each : `file:${each}`]),
    );
    return {
      kind: 'tree' as const,
      ...NONE,
      files: {
        ...withoutClashes(files),
        'mcp.json': config('http'),
        'models.json': models('openai-compatible'),
        [CHAT]: isCall
          ? `# %% user\n${USER_TEXT}\n`
          : `# %% user\n${USER_TEXT}\n${links.replace(/[\0\n]/g, '')}\n`,
      },
      answers: {
        'tools/list': {
          message: {
            result: {
              tools: [
                {
                  name: 't0',
                  inputSchema: {
                    type: 'object',
                    properties: Object.fromEntries(
                      Object.keys(args).map((key) => [key, { type: 'string', format: 'byte' }]),
                    ),
                  },
                },
              ],
            },
          },
        },
        'tools/call': { message: { result: returned } },
      },
      replies: [clean('openai-compatible')],
      command: isCall ? [...CALL, '--args', JSON.stringify(args)] : [...RUN, ...AUTO],
      ...(isBuilt && { built: true }),
    };
  });

/** A file cannot be in something that is not a folder. */
function withoutClashes(files: Readonly<Record<string, Spec>>): Record<string, Spec> {
  const names = Object.keys(files);
  return Object.fromEntries(
    Object.entries(files).filter(([name]) => !names.some((other) => name.startsWith(`${other}/`))),
  );
}

function defined<T extends object>(all: T): { [Key in keyof T]: Exclude<T[Key], undefined> } {
  return Object.fromEntries(Object.entries(all).filter(([, each]) => each !== undefined)) as never;
}

export const CASES: Readonly<Record<Kind, fc.Arbitrary<Case>>> = {
  stdio: mcpCases('stdio'),
  http: mcpCases('http'),
  sse: mcpCases('sse'),
  model: modelCases,
  chat: chatCases,
  config: configCases,
  tree: treeCases,
};

export { KINDS };
