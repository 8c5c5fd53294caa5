/** Hostile MCP servers: any answer of theirs, in any delivery. */
import fc from 'fast-check';
import { type Answer, type Case, CHAT, type Delivery, type Spec } from './spec.ts';
import {
  BLOCKS,
  CALL_EVENT,
  CONFIGS,
  CONTENTS,
  ERROR,
  HEADERS,
  INITIALIZED,
  LARGE_BLOCKS,
  MESSAGES,
  models,
  NOISE,
  RESOURCE,
  TEMPLATE,
} from './templates.ts';
import { defined, levels, longText, mutated, path, rarely, schema, text, upTo, value } from './values.ts';

const SERVERS = ['--servers', 'mcp.json'];
export const CALL = ['call', 'bad.t0', '--chat', CHAT, ...SERVERS, '--timeout', '60'];
export const RUN = ['run', CHAT, '--models', 'models.json', '--model', 'm', ...SERVERS, '--timeout', '60'];
export const AUTO = ['--approve', 'auto', '--max-steps', '3'];
/** Few are run by the bundle, which takes a process each. */
export const built = rarely(25, fc.constant(true));

const usualDelivery: fc.Arbitrary<Delivery> = fc
  .record({
    status: rarely(6, fc.constantFrom(204, 301, 307, 400, 401, 403, 404, 429, 500, 503, 529)),
    headers: rarely(4, fc.constantFrom(...HEADERS)),
    piece: rarely(3, upTo(5000)),
    cut: rarely(6, upTo(20_000)),
    gzip: rarely(8, fc.constant(true)),
    before: rarely(6, fc.oneof(fc.constantFrom(...NOISE), longText(100_000))),
    after: rarely(8, longText(100_000)),
    silent: rarely(30, fc.constant(true)),
    crash: rarely(20, fc.constant(true)),
  })
  .map(defined);

export const delivery: fc.Arbitrary<Delivery> = fc.oneof(
  { weight: 15, arbitrary: usualDelivery },
  { weight: 1, arbitrary: fc.constantFrom(200, 401, 404, 500).map((status) => ({ status, bomb: true })) },
);

/** Text that is written as Markdown, unless it would start a turn. */
const plain = fc
  .array(fc.constantFrom('# %% user', '#%% system', '\\# %% user', 'forged', ''), {
    minLength: 2,
    maxLength: 4,
  })
  .map((lines) => lines.join('\n'));
const said = fc.oneof(text, plain).map((words): Spec => ({ type: 'text', text: words }));
/** Texts that are each short enough for the chat. */
const texts = fc.tuple(upTo(9000), upTo(500)).map(([size, times]): Spec => {
  return { $many: [{ type: 'text', text: { $repeat: ['x', size] } }, times] };
});
const block = fc.oneof(
  { weight: 8, arbitrary: fc.oneof(...BLOCKS.map((each) => mutated(each, fc.oneof(text, path, value)))) },
  { weight: 4, arbitrary: said },
  { weight: 1, arbitrary: fc.constantFrom(...LARGE_BLOCKS) },
);
const content: fc.Arbitrary<Spec> = fc.oneof(
  { weight: 4, arbitrary: fc.array(block, { maxLength: 4 }) },
  // An asset makes the text beside it bare Markdown.
  { weight: 3, arbitrary: fc.tuple(fc.constantFrom(...BLOCKS), said) },
  { weight: 1, arbitrary: fc.tuple(block, upTo(3000)).map((many) => ({ $many: many })) },
  { weight: 1, arbitrary: texts },
);
export const result: fc.Arbitrary<Spec> = fc
  .record({
    content,
    structuredContent: rarely(3, value),
    isError: rarely(3, value),
    _meta: rarely(3, value),
  })
  .map(defined);

const tool: fc.Arbitrary<Spec> = fc
  .record({
    name: fc.oneof(fc.constantFrom('t0', 't{AT}'), path, text),
    description: rarely(2, text),
    inputSchema: fc.oneof(
      schema,
      levels,
      fc.tuple(schema, schema).map(([a, b]) => ({ type: 'object', properties: { a, b }, $defs: { a, b } })),
    ),
    outputSchema: rarely(2, schema),
    annotations: rarely(2, value),
  })
  .map(defined);
const tools: fc.Arbitrary<Spec> = fc
  .oneof<fc.Arbitrary<Spec>[]>(
    fc.array(tool, { minLength: 1, maxLength: 4 }),
    fc.tuple(tool, upTo(3000)).map((many) => ({ $many: many })),
  )
  .map((all) => ({ tools: all }));
const pages = (field: string, item: Spec): fc.Arbitrary<Spec> =>
  fc
    .tuple(mutated([item, item]), rarely(3, fc.constant('again')))
    .map(([items, nextCursor]) => defined({ [field]: items, nextCursor }));

const answered = (results: fc.Arbitrary<Spec>): fc.Arbitrary<Answer> =>
  fc
    .record({
      message: fc.oneof(
        { weight: 8, arbitrary: results.map((each): Spec => ({ result: each })) },
        { weight: 1, arbitrary: mutated(ERROR) },
        { weight: 1, arbitrary: value },
      ),
      as: rarely(2, delivery),
      stream: rarely(2, fc.constant(true)),
      first: rarely(3, fc.array(fc.oneof(...MESSAGES.map((each) => mutated(each))), { maxLength: 3 })),
    })
    .map(defined);

/** Each command, and the answers that it gets. */
const COMMANDS: readonly (readonly [Case['command'], Readonly<Record<string, fc.Arbitrary<Spec>>>])[] = [
  [CALL, { 'tools/call': result }],
  ['probe', { 'tools/list': tools }],
  ['probe', { 'tools/list': tools }],
  [['tools', ...SERVERS], { 'tools/list': tools, initialize: mutated(INITIALIZED) }],
  [
    ['resources', ...SERVERS],
    {
      'resources/list': pages('resources', RESOURCE),
      'resources/templates/list': pages('resourceTemplates', TEMPLATE),
    },
  ],
  [
    ['read', 'bad', 'x://r', '--chat', CHAT, ...SERVERS, '--timeout', '60'],
    { 'resources/read': mutated([CONTENTS], fc.oneof(text, value)).map((contents) => ({ contents })) },
  ],
  [[...RUN, ...AUTO], { 'tools/list': tools, 'tools/call': result }],
];

export function mcpCases(kind: 'stdio' | 'http' | 'sse'): fc.Arbitrary<Case> {
  const hostile = COMMANDS.map(([command, results]) => {
    const answers = Object.entries(results).map(([method, each]) => [method, answered(each)]);
    return fc.record<Case>({
      kind: fc.constant(kind),
      files: fc.constant({ 'mcp.json': CONFIGS[kind], 'models.json': models('openai-compatible') }),
      answers: fc.record<Record<string, Answer>>(Object.fromEntries(answers)),
      replies: fc.constant([{ events: [CALL_EVENT] }]),
      command: fc.constant(command),
      endpoint: rarely(4, fc.oneof(path, fc.constantFrom('{CANARY}/sse', ''))),
      built: command === 'probe' ? fc.constant(undefined) : built,
    });
  });
  return fc.oneof(...hostile).map(defined);
}
