/** The cases of each kind: valid messages, chats, configurations and folders, with hostile parts. */
import fc from 'fast-check';
import { CASES as MADE } from '../integration/helpers/madeWire.ts';
import { PROVIDERS, speak } from '../integration/helpers/modelServer.ts';
import { anyChat } from '../unit/chat/anyChat.ts';
import { hostileReply, inPieces } from '../unit/chat/hostileReply.ts';
import { AUTO, built, CALL, delivery, mcpCases, RUN, result } from './mcpCases.ts';
import { type Case, CHAT, type Kind, type Spec, USER_TEXT } from './spec.ts';
import { CALL_EVENT, CONFIG, CONFIGS, LINKS, models, NAMES, SETTINGS, TARGETS } from './templates.ts';
import { defined, longText, mutated, path, rarely, text, upTo, value } from './values.ts';

const SETUP = { 'mcp.json': CONFIGS.http, 'models.json': models('openai-compatible') };
const NONE = { files: SETUP, answers: {}, replies: [] };

type Provider = (typeof PROVIDERS)[number];
const eventsOf = (provider: Provider, words: readonly string[]): readonly Spec[] =>
  speak(provider, words).map((event) => JSON.parse(event.slice(event.indexOf('data: ') + 6)) as Spec);
const clean = (provider: Provider) => ({ events: eventsOf(provider, ['Done.']) });
const listed = (events: Spec): readonly Spec[] => (Array.isArray(events) ? events : [events]);

/** Replies in words, replies with files, and calls, with some places changed. */
const modelCases = fc.constantFrom(...PROVIDERS).chain((provider): fc.Arbitrary<Case> => {
  const made = Object.values(MADE).filter((each) => each.provider === provider);
  const templates = [eventsOf(provider, ['Hi ', 'there.']), ...made.map(({ events }) => events as Spec)];
  const calls = provider.startsWith('openai-') ? [[CALL_EVENT]] : [];
  const words = fc.tuple(hostileReply, hostileReply).map((parts) => parts.join(''));
  const long = fc.tuple(longText(100_000), upTo(4)).map(([piece, times]) => {
    const replace = (event: Spec) =>
      JSON.parse(JSON.stringify(event).replace('"WORDS"', () => JSON.stringify(piece)));
    return eventsOf(
      provider,
      Array.from({ length: times }, () => 'WORDS'),
    ).map(replace) as readonly Spec[];
  });
  const broken = fc.constantFrom<Spec>(...templates, ...calls, ...calls);
  const events = fc.oneof(
    { weight: 6, arbitrary: inPieces(words).map((pieces) => eventsOf(provider, pieces)) },
    { weight: 2, arbitrary: long },
    { weight: 4, arbitrary: broken.chain((each) => mutated(each, fc.oneof(text, path, value))).map(listed) },
  );
  return fc
    .tuple(fc.record({ events, as: rarely(2, delivery) }), fc.boolean(), built)
    .map(([reply, isAuto, isBuilt]) => ({
      kind: 'model',
      ...NONE,
      replies: [defined(reply), clean(provider)],
      files: { ...SETUP, 'models.json': models(provider) },
      command: isAuto ? [...RUN, ...AUTO] : RUN,
      ...defined({ built: isBuilt }),
    }));
});

const repeated = (pieces: readonly string[], max: number): fc.Arbitrary<Spec> =>
  fc
    .tuple(fc.constantFrom(...pieces), upTo(max))
    .map(([piece, size]) => ({ $repeat: [piece, Math.ceil(size / piece.length)] }));

const YAML = 'a: &a [*a]\n¦- ¦[¦{¦a: {b: ¦? ¦&a ¦!!js/function x\n¦"¦k: v\n'.split('¦');
const frontMatter = fc.oneof(
  fc.constant<Spec>(''),
  fc
    .tuple(fc.constantFrom('system', 'servers', 'tools', 'agent', 'approve', 'model', '__proto__'), text)
    .map(([key, words]): Spec => ({ $join: [`---\n${key}: `, words, '\n---\n'] })),
  repeated(YAML, 40_000).map((yaml): Spec => ({ $join: ['---\n', yaml, '\n---\n'] })),
);
const turns = fc.oneof(
  anyChat,
  hostileReply,
  longText(150_000),
  fc.tuple(anyChat, upTo(1000)).map((many): Spec => ({ $repeat: many })),
);
const chatCases: fc.Arbitrary<Case> = fc
  .tuple(frontMatter, fc.array(turns, { maxLength: 4 }), rarely(4, fc.constant(RUN)), built)
  .map(([head, parts, run, isBuilt]) => ({
    kind: 'chat',
    ...NONE,
    files: { ...SETUP, [CHAT]: { $join: [head, ...parts, `\n# %% user\n${USER_TEXT}\n`] } },
    command: run ?? 'probe',
    ...(run && defined({ built: isBuilt })),
  }));

const JSON_PIECES = '[¦{"a":¦/*¦//\n¦"¦\\¦,¦{¦a¦\n¦/¦\ufeff'.split('¦');
const broken = (template: Spec): fc.Arbitrary<Spec> =>
  fc.oneof(
    { weight: 4, arbitrary: mutated(template) },
    { weight: 1, arbitrary: repeated(JSON_PIECES, 900_000).map((all): Spec => ({ $join: ['{"a": ', all] })) },
  );
const configCases: fc.Arbitrary<Case> = fc
  .tuple(
    fc.oneof(
      broken(CONFIG).map((each): Record<string, Spec> => ({ 'mcp.json': each })),
      broken(models('anthropic')).map((each): Record<string, Spec> => ({ 'models.json': each })),
      broken(SETTINGS).map((each): Record<string, Spec> => ({ 'settings.json': each })),
    ),
    text,
    built,
  )
  .map(([hostile, env, isBuilt]) => ({
    kind: 'config',
    ...NONE,
    files: { ...SETUP, 'models.json': models('anthropic'), 'settings.json': {}, env, ...hostile },
    replies: [clean('anthropic')],
    command:
      'mcp.json' in hostile ? ['tools', '--servers', 'mcp.json'] : [...RUN, '--settings', 'settings.json'],
    ...defined({ built: isBuilt }),
  }));

const file: fc.Arbitrary<Spec> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...LINKS).map(($link): Spec => ({ $link })) },
  { weight: 1, arbitrary: fc.constant<Spec>({ $folder: true }) },
  { weight: 1, arbitrary: text },
);
const target = fc.oneof(path, fc.constantFrom(...NAMES), fc.constantFrom('link', ...TARGETS));
const COMMANDS = {
  call: (args: string) => [...CALL, '--args', args],
  link: () => [...RUN, ...AUTO],
  'given by a model': () => [...RUN, '--approve', 'auto-readonly'],
};
const treeCases: fc.Arbitrary<Case> = fc
  .tuple(
    fc.dictionary(fc.constantFrom(...NAMES), file, { minKeys: 1, maxKeys: 4 }),
    fc.oneof(
      { weight: 3, arbitrary: fc.array(target, { minLength: 1, maxLength: 3 }) },
      // A file that may be given away, if the user agrees.
      { weight: 1, arbitrary: fc.constant(['notes.txt']) },
    ),
    result,
    fc.constantFrom('call', 'link', 'given by a model' as const),
    built,
  )
  .map(([files, targets, returned, way, isBuilt]) => {
    const links = targets.map((each) => `[x](<${each}>) ![y](${each})`).join(' ');
    const references = targets.map((each) => (/^(file|asset):/.test(each) ? each : `file:${each}`));
    const properties = { $members: [{ type: 'string', format: 'byte' }, 3] };
    const args = JSON.stringify({ k0: references[0], k1: references[1], k2: references[2] });
    const chat = `# %% user\n${USER_TEXT}\n${way === 'link' ? links.replace(/[\0\n]/g, '') : ''}\n`;
    // What a server says about its tools is no permission to give it a file.
    const tools = [{ name: 't0', inputSchema: { properties }, annotations: { readOnlyHint: true } }];
    const reply = {
      events: [JSON.parse(JSON.stringify(CALL_EVENT).replace('"{}"', () => JSON.stringify(args)))],
    };
    return {
      kind: 'tree',
      files: { 'notes.txt': 'x', ...withoutClashes(files), ...SETUP, [CHAT]: chat },
      answers: {
        'tools/list': { message: { result: { tools } } },
        'tools/call': { message: { result: returned } },
      },
      replies: way === 'link' ? [clean('openai-compatible')] : [reply, clean('openai-compatible')],
      command: COMMANDS[way](args),
      ...defined({ built: isBuilt }),
    };
  });

/** A file cannot be in something that is not a folder. */
function withoutClashes(files: Readonly<Record<string, Spec>>): Record<string, Spec> {
  const isInside = (name: string) => Object.keys(files).some((other) => name.startsWith(`${other}/`));
  return Object.fromEntries(Object.entries(files).filter(([name]) => !isInside(name)));
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
