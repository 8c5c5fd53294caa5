import assert from 'node:assert/strict';
import { before, describe, it, type TestContext } from 'node:test';
import type { ChatCompletionRequest } from '@copilotkit/aimock';
import { listAssets } from '../helpers/checkBlocks.ts';
import { configFor, imagesOf, KEY, startMock, startRecorder } from '../helpers/modelServer.ts';
import { type CliFolder, checkEnd, createCliFolder, MCP_JSON } from '../helpers/runCli.ts';
import { repositoryPath, sampleServerFile } from '../helpers/sampleServer.ts';

before(() => {
  process.env['FILECHAT_KEY_IT'] = KEY;
});

const CHAT = 'a.chat.md';
const SERVERS = ['--servers', MCP_JSON] as const;

/** A folder with three servers: two have resources, and one does not start. */
async function createFolder(t: TestContext): Promise<CliFolder> {
  const cli = await createCliFolder(t);
  const run = (...args: string[]) => ({ command: process.execPath, args });
  const docs = run(repositoryPath('test/integration/fixtures/resources-server.mjs'));
  const servers = { sample: run(sampleServerFile()), docs };
  await cli.write(MCP_JSON, JSON.stringify({ servers }));
  const broken = run('-e', 'console.error("No licence."); process.exit(3)');
  await cli.write('broken.json', JSON.stringify({ servers: { docs, broken } }));
  return cli;
}

describe('filechat resources', () => {
  it('prints a line for each resource and template, and the reasons of servers that fail', async (t) => {
    const cli = await createFolder(t);
    const listed = await cli.start(['resources', ...SERVERS]).ended;
    checkEnd(listed, { code: 0, stderr: '' });
    for (const line of [
      'sample\tsample://data/readings.csv\treadings.csv\ttext/csv',
      'docs\tdocs://chart\tThe chart of sales\timage/png',
      'docs\tdocs://huge\thuge\t\t201000000',
      'docs\tdocs://notes/{name}\tnotes\ttext/markdown',
    ])
      assert.ok(listed.stdout.split('\n').includes(line), listed.stdout);
    const failed = await cli.run('resources', '--servers', 'broken.json');
    assert.equal(failed.code, 1);
    assert.match(failed.stdout, /^docs\tdocs:\/\/chart\t/);
    assert.match(failed.stderr, /broken/);
  });
});

describe('filechat read', () => {
  const read = (cli: CliFolder, uri: string, ...more: string[]) =>
    cli.start(['read', 'docs', uri, '--chat', CHAT, ...SERVERS, ...more]).ended;

  it('writes text with its URI and links to files into the user’s turn, in order', async (t) => {
    const cli = await createFolder(t);
    const args = ['read', 'docs', 'docs://parts', '--chat', CHAT, ...SERVERS, '--audit', 'audit.jsonl'];
    const end = await cli.start(args).ended;
    const chat = await cli.read(CHAT);
    const [image] = await listAssets(cli.path);
    checkEnd(end, { code: 0, stderr: '', stdout: chat });
    assert.equal(
      chat,
      [
        '# %% user\n> From `docs://parts/1` (`text/plain`)',
        '```\nOne.\n```',
        `![Tool generated image 1](${image})`,
        '> From `docs://parts/3` (`text/plain`)',
        '```\nThree.\n```\n',
      ].join('\n\n'),
    );
    const { kind, server, name, consent, outcome, assets } = JSON.parse(await cli.read('audit.jsonl'));
    assert.deepEqual(
      { kind, server, name, consent, outcome, assets },
      {
        kind: 'resource',
        server: 'docs',
        name: 'docs://parts',
        consent: 'commandLine',
        outcome: 'ok',
        assets: 1,
      },
    );
  });

  it('fills in a template', async (t) => {
    const cli = await createFolder(t);
    checkEnd(await read(cli, 'docs://notes/{name}', '--args', '{"name":"a b"}'), { code: 0, stderr: '' });
    assert.match(
      await cli.read(CHAT),
      /^> From `docs:\/\/notes\/a%20b` \(`text\/markdown`\)\n\n```markdown\n# Notes$/m,
    );
  });

  it('explains why a resource cannot be read, and leaves the chat unchanged', async (t) => {
    const cli = await createFolder(t);
    const draft = '# %% user\nMy draft.\n';
    await cli.write(CHAT, draft);
    const failed = async (uri: string, stderr: string) => checkEnd(await read(cli, uri), { code: 1, stderr });
    await failed('docs://gone', 'Reading docs://gone from server docs failed: Resource not found.\n');
    await failed('docs://empty', 'The resource docs://empty of docs is empty. Nothing was written.\n');
    const unknown = await cli.run('read', 'other', 'docs://chart', '--chat', CHAT, ...SERVERS);
    assert.equal(unknown.code, 1);
    assert.match(unknown.stderr, /There is no server other\. Configured servers: sample, docs\./);
    assert.equal(await cli.read(CHAT), draft);
  });

  it('a resource of 200 MB is a line, and one that names itself is read once, as text', async (t) => {
    const cli = await createFolder(t);
    const huge = await read(cli, 'docs://huge');
    assert.equal(huge.code, 1);
    assert.match(huge.stderr, /^The file huge was not saved: it has 201\.0 MB/);
    assert.match(await cli.read(CHAT), /^> ⚠ The file huge was not saved/m);
    assert.deepEqual(await listAssets(cli.path).catch(() => []), []);
    checkEnd(await read(cli, 'docs://self'), { code: 0, stderr: '' });
    const chat = await cli.read(CHAT);
    assert.equal(chat.match(/^# %% user$/gm)?.length, 1);
    assert.equal(chat.match(/^> From `docs:\/\/self`/gm)?.length, 1);
  });

  const wrong: Readonly<Record<string, readonly [args: readonly string[], reason: RegExp]>> = {
    'no server': [['read', '--chat', CHAT, ...SERVERS], /^The argument SERVER is missing\./],
    'no URI': [['read', 'docs', '--chat', CHAT, ...SERVERS], /^The argument URI is missing\./],
    'no chat': [['read', 'docs', 'docs://chart', ...SERVERS], /^The option --chat FILE is missing\./],
    'no servers': [
      ['read', 'docs', 'docs://chart', '--chat', CHAT],
      /^The option --servers FILE is missing\./,
    ],
    'an operand too many': [['read', 'docs', 'a:b', 'c', '--chat', CHAT, ...SERVERS], /^Unexpected .*“c”/],
    'a template without values': [
      ['read', 'docs', 'docs://{a}/{b}', '--args', '{"a":1}', '--chat', CHAT, ...SERVERS],
      /^docs:\/\/\{a\}\/\{b\} is a template\. .*: b\./,
    ],
    'resources with an operand': [['resources', 'docs', ...SERVERS], /^Unexpected argument “docs”/],
    'a tool for resources without servers': [
      ['call', 'filechat.list_resources', '--chat', CHAT],
      /^The option --servers FILE is missing\./,
    ],
  };
  it('wrong usage is exit status 2', async (t) => {
    const cli = await createFolder(t);
    for (const [name, [args, reason]] of Object.entries(wrong)) {
      const { code, stderr } = await cli.run(...args);
      assert.equal(code, 2, name);
      assert.match(stderr, reason, name);
    }
  });
});

describe('a model reads resources', () => {
  interface Called {
    readonly tool: string;
    readonly args: object;
  }

  /** A model that makes these calls, one per request. Resolves to what it got for each, and its last request. */
  async function converse(t: TestContext, front: string, calls: readonly Called[]) {
    const cli = await createFolder(t);
    const mock = await startMock(t, 200);
    mock.on({ predicate: () => true }, ({ messages }: ChatCompletionRequest) => {
      const next = calls[messages.filter(({ role }) => role === 'tool').length];
      if (!next) return { content: 'Done.' };
      const toolCalls = [{ name: next.tool, arguments: JSON.stringify(next.args) }];
      return { toolCalls, finishReason: 'tool_calls' };
    });
    const { url, bodies } = await startRecorder(t, mock.url);
    const { name: _name, ...model } = configFor('openai-chat', url);
    await cli.write('models.json', JSON.stringify({ models: { it: model } }));
    await cli.write(CHAT, `${front}# %% user\nGo!\n`);
    const options = ['--approve', 'auto', '--audit', 'audit.jsonl'];
    const args = ['run', CHAT, '--models', 'models.json', ...SERVERS, ...options];
    checkEnd(await cli.start(args).ended, { code: 0 });
    const last = JSON.parse(bodies.at(-1) ?? '') as ChatCompletionRequest;
    const results = last.messages.filter(({ role }) => role === 'tool').map(({ content }) => String(content));
    return { cli, bodies, results };
  }

  const list = (args: object = {}): Called => ({ tool: 'filechat__list_resources', args });
  const read = (uri: string, more: object = {}): Called => ({
    tool: 'filechat__read_resource',
    args: { server: 'docs', uri, ...more },
  });

  it('that a tool links to: it lists them, fills in a template, and sees an image', async (t) => {
    const { cli, bodies, results } = await converse(t, '', [
      { tool: 'docs__find', args: {} },
      read('docs://chart'),
      list({ filter: 'notes' }),
      read('docs://notes/{name}', { arguments: { name: 'a b' } }),
      read('docs://gone'),
      read('docs://notes/{name}'),
      { tool: 'filechat__list_assets', args: {} },
    ]);
    const [found, , listed, notes, gone, template, assets] = results;
    assert.match(found ?? '', /docs:\/\/chart/);
    assert.match(
      listed ?? '',
      /Server sample:\n- Meeting notes .*\nServer docs:\n- notes \(template, text\/markdown\): docs:\/\/notes\/\{name\}$/,
    );
    assert.match(notes ?? '', /From docs:\/\/notes\/a%20b:\n# Notes/);
    assert.match(gone ?? '', /Reading docs:\/\/gone from server docs failed: Resource not found/);
    assert.match(template ?? '', /is a template\. Give values in its arguments for: name/);
    const [image = ''] = await listAssets(cli.path);
    assert.match(
      assets ?? '',
      new RegExp(`1 asset:[^]*filechat\\.read_resource[^]*${image.replace('cmdassets/', 'asset:')}`),
    );
    assert.equal(imagesOf(JSON.parse(bodies[2] ?? '')).length, 1);
    assert.ok((await cli.read(CHAT)).includes(`![Tool generated image 1](${image})`));
  });

  it('only of servers that the chat allows', async (t) => {
    const { cli, bodies, results } = await converse(t, '---\nservers: [docs]\n---\n', [
      list(),
      list({ server: 'sample' }),
      read('sample://notes/meeting.md', { server: 'sample' }),
      read('docs://chart?token=secret'),
      read('docs://chart', { server: 'filechat' }),
      { tool: 'filechat__search_chats', args: { query: 'Go' } },
    ]);
    const [all, other, refused, , itself, chats] = results;
    assert.match(all ?? '', /^Server docs:\n- The chart of sales/);
    assert.doesNotMatch(all ?? '', /sample/);
    assert.match(other ?? '', /This chat does not allow the server “sample”/);
    assert.match(refused ?? '', /This chat does not allow the server “sample”\. See its front matter/);
    assert.match(itself ?? '', /This chat does not allow the server “filechat”/);
    assert.match(chats ?? '', /This chat does not allow the tool filechat\.search_chats/);
    const { tools = [] } = JSON.parse(bodies[0] ?? '') as ChatCompletionRequest;
    assert.deepEqual(
      tools.map((each) => each.function.name).filter((name) => name.startsWith('filechat')),
      ['filechat__list_resources', 'filechat__read_resource'],
    );
    const audited = (await cli.read('audit.jsonl'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.deepEqual(
      audited
        .map(({ name, outcome, resource }) => [name, outcome, resource?.server, resource?.uri])
        .slice(1, 4),
      [
        ['list_resources', 'error', undefined, undefined],
        ['read_resource', 'denied', 'sample', 'sample://notes/meeting.md'],
        ['read_resource', 'error', 'docs', 'docs://chart'],
      ],
    );
  });
});
