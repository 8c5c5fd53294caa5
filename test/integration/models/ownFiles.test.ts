import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it, type TestContext } from 'node:test';
import type { ChatCompletionRequest } from '@copilotkit/aimock';
import { parseChat, turnBody } from '../../../src/chat/format/parse.ts';
import type { SdkProvider } from '../../../src/model/providers/wire.ts';
import type { ToolResult } from '../../../src/ports/results.ts';
import { readToolResult } from '../../../src/result/markdown.ts';
import { PNG } from '../../kit/png.ts';
import { listAssets } from '../helpers/checkBlocks.ts';
import { configFor, imagesOf, KEY, startMock, startRecorder } from '../helpers/modelServer.ts';
import { type CliEnd, type CliFolder, checkEnd, createCliFolder, MCP_JSON } from '../helpers/runCli.ts';
import { repositoryPath, sampleServerFile } from '../helpers/sampleServer.ts';

before(() => {
  process.env['FILECHAT_KEY_IT'] = KEY;
});

const CHAT = 'a.chat.md';
const SERVERS = ['--servers', MCP_JSON] as const;
const OWN_TOOLS = ['filechat__list_assets', 'filechat__read_asset', 'filechat__search_chats'];
const WITH_RESOURCES = [
  'filechat__list_assets',
  'filechat__list_resources',
  'filechat__read_asset',
  'filechat__read_resource',
  'filechat__search_chats',
];
const IMAGE = 'tool-image-20261116-093012-V1StGXR8a0-1.png';

interface Called {
  readonly name: string;
  readonly args: object;
}

/** The next step of a model, given the results so far: a call, or text. */
type Script = (results: readonly string[]) => Called | string;

interface ScriptedFolder extends CliFolder {
  /** Each request as it was sent. */
  readonly bodies: readonly string[];
  converse(...more: string[]): Promise<CliEnd>;
}

async function createScripted(
  t: TestContext,
  script: Script,
  provider: SdkProvider = 'openai-chat',
): Promise<ScriptedFolder> {
  const cli = await createCliFolder(t);
  const mock = await startMock(t, 200);
  mock.on({ predicate: () => true }, (request) => {
    const next = script(resultsIn(request));
    if (typeof next === 'string') return { content: next };
    return {
      toolCalls: [{ name: next.name, arguments: JSON.stringify(next.args) }],
      finishReason: 'tool_calls',
    };
  });
  const { url, bodies } = await startRecorder(t, mock.url);
  const { name: _name, ...model } = configFor(provider, url);
  await cli.write('models.json', JSON.stringify({ models: { it: model } }));
  await cli.write(MCP_JSON, JSON.stringify({ servers: configureServers(cli) }));
  await cli.write(CHAT, '# %% user\nGo!\n');
  const converse = (...more: string[]) => cli.run('run', CHAT, '--models', 'models.json', ...more);
  return { ...cli, bodies, converse };
}

function configureServers({ path }: CliFolder) {
  const run = (...args: string[]) => ({ command: process.execPath, args });
  return {
    sample: run(sampleServerFile()),
    files: run(repositoryPath('test/integration/fixtures/files-server.mjs'), join(path, '..', 'calls')),
  };
}

async function saveImage({ path }: CliFolder): Promise<void> {
  await mkdir(join(path, 'cmdassets'));
  await writeFile(join(path, 'cmdassets', IMAGE), PNG);
}

function resultsIn({ messages }: ChatCompletionRequest): readonly string[] {
  return messages
    .filter(({ role }) => role === 'tool')
    .map(({ content }) => (typeof content === 'string' ? content : JSON.stringify(content)));
}

/** The results of a tool in the chat. */
function resultsOf(chat: string, tool: string): readonly ToolResult[] {
  return parseChat(chat)
    .turns.filter(({ role, markerText }) => role === 'tool' && markerText.startsWith(`${tool} `))
    .map((turn) => readToolResult(turnBody(chat, turn)));
}

/** The names of the tools in a request of OpenAI's. */
function toolsIn(body: string | undefined): readonly string[] {
  const { tools = [] }: { tools?: readonly { function: { name: string } }[] } = JSON.parse(body ?? '{}');
  return tools.map((tool) => tool.function.name);
}

/** Pieces of the base64 of some bytes, wherever in a longer row of bytes they may stand. */
function piecesOfBase64(bytes: Buffer): readonly string[] {
  const pieces: string[] = [];
  for (const shift of [0, 1, 2]) {
    const whole = bytes.subarray(shift).toString('base64');
    for (let at = 0; at + 28 <= whole.length; at += 97) pieces.push(whole.slice(at, at + 28));
  }
  return pieces;
}

/** The bytes that hexadecimal lines show. */
function bytesOf({ parts }: ToolResult): Buffer {
  const view = parts.at(-1);
  assert.ok(view?.kind === 'text');
  const lines = view.text.split('\n').map((line) => line.slice(line.indexOf('  '), line.lastIndexOf('  |')));
  return Buffer.from(lines.join('').replace(/\s/g, ''), 'hex');
}

const nextStart = (result: string) => /continue with start (\d+)/.exec(result)?.[1];
const pdfName = (results: readonly string[]) =>
  /asset:(tool-file-[\w-]+\.pdf)/.exec(results[0] ?? '')?.[1] ?? '';

/** Makes a report, lists it, reads its bytes in windows, and passes it to a tool that takes base64. */
const readAndHandOver: Script = (results) => {
  const asset = `asset:${pdfName(results)}`;
  const last = results.at(-1) ?? '';
  const start = nextStart(last);
  if (results.length === 0) return { name: 'sample__report', args: {} };
  if (results.length === 1) return { name: 'filechat__list_assets', args: {} };
  if (results.length === 2)
    return { name: 'filechat__read_asset', args: { uri: asset, maxBytes: 400, as: 'bytes' } };
  if (start)
    return {
      name: 'filechat__read_asset',
      args: { uri: asset, start: Number(start), maxBytes: 400, as: 'bytes' },
    };
  return last.includes('sha256') ? 'It is the same.' : { name: 'files__measure', args: { data: asset } };
};

describe('a file that a tool returned', () => {
  for (const provider of ['openai-chat', 'anthropic'] as const) {
    it(`${provider}: a PDF is named, listed, read in windows and passed on, and its base64 is sent only as a document`, async (t) => {
      const cli = await createScripted(t, readAndHandOver, provider);
      const end = await cli.converse(...SERVERS, '--approve', 'auto', '--audit', 'audit.jsonl');
      checkEnd(end, { code: 0 });
      const chat = await cli.read(CHAT);
      const assets = await listAssets(cli.path);
      assert.equal(assets.length, 1, 'what is read is not saved again');
      const pdf = await readFile(join(cli.path, assets[0] ?? ''));
      const name = assets[0]?.split('/').at(-1) ?? '';

      assert.match(
        cli.bodies[1] ?? '',
        new RegExp(`\\[file quarterly\\.pdf, application/pdf, .*, asset:${name}\\]`),
      );
      const [list] = resultsOf(chat, 'filechat.list_assets');
      assert.match(textOf(list), new RegExp(`^1 asset:\nIn .*:\n- quarterly\\.pdf \\(.*\\): asset:${name}$`));
      const windows = resultsOf(chat, 'filechat.read_asset');
      assert.ok(windows.length > 2, `${windows.length} windows`);
      assert.deepEqual(Buffer.concat(windows.map(bytesOf)), pdf);
      const [measured] = resultsOf(chat, 'files.measure');
      const sha256 = createHash('sha256').update(pdf).digest('hex');
      assert.deepEqual(JSON.parse(textOf(measured)), { size: pdf.length, sha256 });

      const pieces = piecesOfBase64(pdf);
      assert.ok(pieces.length > 30, `${pieces.length} pieces`);
      for (const [place, text] of [['chat', chat], ...cli.bodies.entries()] as const) {
        const others = text.replace(pdf.toString('base64'), '');
        for (const piece of pieces) assert.ok(!others.includes(piece), `base64 in ${place}: ${piece}`);
        const hasDocument = typeof place === 'number' && place > 0;
        assert.equal(others !== text, hasDocument, `a document in ${place}`);
      }
      for (const [at, body] of cli.bodies.slice(1).entries()) {
        assert.deepEqual(
          JSON.parse(body).tools,
          JSON.parse(cli.bodies[at] ?? '').tools,
          'the same tools, in one order',
        );
      }
      const audit = (await cli.read('audit.jsonl'))
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      assert.deepEqual(
        audit
          .filter(({ server }) => server === 'filechat')
          .map(({ kind, name: tool, consent, outcome }) => [kind, tool, consent, outcome].join(' ')),
        ['list_assets', ...windows.map(() => 'read_asset')].map((tool) => `call ${tool} commandLine ok`),
      );
    });
  }

  it('a text of 300,000 characters is read again, and its windows join to it', async (t) => {
    const script: Script = (results) => {
      const asset = /asset:tool-file-[\w-]+\.txt/.exec(results[0] ?? '')?.[0];
      const start = nextStart(results.at(-1) ?? '');
      if (results.length === 0) return { name: 'files__make_text', args: { characters: 300_000 } };
      if (results.length > 1 && start === undefined) return 'I have read it all.';
      return {
        name: 'filechat__read_asset',
        args: { uri: asset, start: Number(start ?? 0), maxBytes: 32_768 },
      };
    };
    const cli = await createScripted(t, script);
    checkEnd(await cli.converse(...SERVERS, '--approve', 'auto'), { code: 0 });
    const assets = await listAssets(cli.path);
    assert.equal(assets.length, 1, 'no window is saved again');
    const text = await readFile(join(cli.path, assets[0] ?? ''), 'utf8');
    assert.equal(text.length, 300_000);
    const windows = resultsOf(await cli.read(CHAT), 'filechat.read_asset').map(({ parts }) => parts.at(-1));
    assert.ok(windows.length > 10, `${windows.length} windows`);
    assert.equal(
      windows.map((part) => (part?.kind === 'text' && part.source ? part.text : '')).join(''),
      text,
    );
    const last = JSON.stringify(JSON.parse(cli.bodies.at(-1) ?? ''));
    assert.ok(
      last.includes(JSON.stringify(text.slice(150_000, 150_400)).slice(1, -1)),
      'the model has got them',
    );
  });

  it('--approve auto-readonly lets it be read', async (t) => {
    const cli = await createScripted(t, (results) =>
      results.length === 0 ? { name: 'filechat__list_assets', args: {} } : 'Nothing is there.',
    );
    checkEnd(await cli.converse(...SERVERS, '--approve', 'auto-readonly'), { code: 0 });
    assert.match(textOf(resultsOf(await cli.read(CHAT), 'filechat.list_assets')[0]), /^No matching assets/);
  });

  it('an image is linked, not copied, and reaches the model as an image', async (t) => {
    const cli = await createScripted(t, (results) =>
      results.length === 0 ? { name: 'filechat__read_asset', args: { uri: `asset:${IMAGE}` } } : 'A dot.',
    );
    await saveImage(cli);
    checkEnd(await cli.converse('--approve', 'auto'), { code: 0 });
    assert.deepEqual(await listAssets(cli.path), [`cmdassets/${IMAGE}`]);
    assert.match(
      await cli.read(CHAT),
      new RegExp(
        `c1\nimage/png, ${PNG.length} bytes\\.\n\n!\\[Tool generated image 1\\]\\(cmdassets/${IMAGE}\\)\n`,
      ),
    );
    assert.deepEqual(imagesOf(JSON.parse(cli.bodies.at(-1) ?? '')), [`image/png ${PNG.toString('base64')}`]);
  });
});

describe('the tools that a model gets', () => {
  const READ = 'filechat__read_asset';
  const cases: Record<string, [given: string, own: readonly string[], settings?: string]> = {
    'none where there is no server and no file': ['', []],
    'the built-in ones where there is a file': ['asset', OWN_TOOLS],
    'also those for resources where a server has some': ['servers', WITH_RESOURCES],
    'not those for resources where no server of the chat has some': [
      'servers',
      OWN_TOOLS,
      'servers: [files, filechat]',
    ],
    'no built-in ones where the chat names other servers': ['servers asset', [], 'servers: [files]'],
    'the built-in ones where the chat names them': ['', OWN_TOOLS, 'servers: [filechat]'],
    'those that the chat allows': ['servers', [READ], 'tools: [filechat.read_asset, files.measure]'],
    'no built-in ones where the chat allows others': ['servers asset', [], 'tools: ["files.*"]'],
  };
  for (const [name, [given, own, settings]] of Object.entries(cases)) {
    it(name, async (t) => {
      const cli = await createScripted(t, () => 'Hello.');
      if (settings) await cli.write(CHAT, `---\n${settings}\n---\n# %% user\nGo!\n`);
      if (given.includes('asset')) await saveImage(cli);
      checkEnd(await cli.converse(...(given.includes('servers') ? SERVERS : [])), { code: 0 });
      assert.deepEqual(
        toolsIn(cli.bodies[0]).filter((each) => each.startsWith('filechat__')),
        own,
      );
    });
  }

  it('those of a server that is called filechat are its own', async (t) => {
    const cli = await createScripted(t, () => 'Hello.');
    await cli.write(MCP_JSON, JSON.stringify({ servers: { filechat: configureServers(cli).files } }));
    checkEnd(await cli.converse(...SERVERS), { code: 0 });
    assert.ok(toolsIn(cli.bodies[0]).includes('filechat__measure'));
    assert.ok(!toolsIn(cli.bodies[0]).includes('filechat__list_assets'));
  });

  it('the tour gets none', async (t) => {
    const cli = await createCliFolder(t);
    await saveImage(cli);
    await cli.write(CHAT, '# %% user\nWhich tools are there?\n');
    checkEnd(await cli.run('run', CHAT, '--model', 'tour'), { code: 0 });
    assert.doesNotMatch(await cli.read(CHAT), /list_assets/);
  });
});

describe('filechat run without a model', () => {
  const configured = { a: { provider: 'tour' }, b: { provider: 'tour' } };
  const cases: readonly (readonly [rule: string, args: readonly string[], stderr: RegExp])[] = [
    [
      'says how to name one',
      [],
      /^The chat names no model, and there is no default model\. Name one with --model/,
    ],
    ['names those that it could use', ['--models', 'models.json'], /Configured models: “a”, “b”\.\n$/],
  ];
  for (const [rule, args, stderr] of cases) {
    it(rule, async (t) => {
      const cli = await createCliFolder(t);
      const chat = '# %% user\nHello?\n';
      await cli.write(CHAT, chat);
      await cli.write('models.json', JSON.stringify({ models: configured }));
      assert.match(checkEnd(await cli.run('run', CHAT, ...args), { code: 1 }).stderr, stderr);
      assert.equal(await cli.read(CHAT), chat);
    });
  }
});

describe('filechat call and filechat run without --servers', () => {
  it('call our own tools, and write the turns that every call writes', async (t) => {
    const cli = await createCliFolder(t);
    checkEnd(await cli.run('call', 'sample.report', '--chat', CHAT, ...SERVERS), { code: 0 });
    const [asset = ''] = await listAssets(cli.path);
    const name = asset.split('/').at(-1);
    const before = await cli.read(CHAT);
    const args = JSON.stringify({ uri: `asset:${name}`, maxBytes: 16 });
    checkEnd(await cli.run('call', 'filechat.read_asset', '--args', args, '--chat', CHAT), {
      code: 0,
      stderr: '',
    });
    const added = (await cli.read(CHAT)).slice(before.length);
    assert.match(
      added,
      new RegExp(
        `^\`\`\`tool_call filechat\\.read_asset c2\n\\{"uri": "asset:${name}", "maxBytes": 16\\}\n\`\`\`\n\n# %% tool filechat\\.read_asset c2\n\`\`\`\nBytes 0 to 15 of the text of quarterly\\.pdf \\(application/pdf, 1 page, \\d+ bytes\\)\\. There is more: continue with start 16\\.\n\`\`\`\n[\\s\\S]*## Page 1\n\n\\w+[\\s\\S]*\n\n# %% user\n$`,
      ),
    );
    await cli.write(
      'b.chat.md',
      '# %% user\n```tool_call filechat.search_chats\n{"query": "quarterly"}\n```\n',
    );
    checkEnd(await cli.run('run', 'b.chat.md', '--approve', 'auto-readonly'), { code: 0, stderr: '' });
    assert.match(
      await cli.read('b.chat.md'),
      /# %% tool filechat\.search_chats c1\n```\n.*filechat:\/\/a\.chat\.md/,
    );
  });

  it('a missing tool or asset exits with 1 and a reason', async (t) => {
    const cli = await createCliFolder(t);
    const args = '{"uri":"asset:tool-file-20261116-093012-V1StGXR8a0-1.pdf"}';
    const { stderr } = checkEnd(
      await cli.run('call', 'filechat.read_asset', '--args', args, '--chat', CHAT),
      { code: 1 },
    );
    assert.match(stderr, /This chat has no file/);
    assert.match(
      checkEnd(await cli.run('call', 'filechat.draw', '--chat', CHAT), { code: 1 }).stderr,
      /no tool “draw”/,
    );
  });

  it('still require servers when a chat calls other tools', async (t) => {
    const cli = await createCliFolder(t);
    await cli.write(
      CHAT,
      '# %% user\n```tool_call filechat.list_assets\n```\n```tool_call sample.report\n```\n',
    );
    assert.match(
      checkEnd(await cli.run('run', CHAT, '--approve', 'auto'), { code: 2 }).stderr,
      /The chat calls tools, but no servers are configured/,
    );
    checkEnd(await cli.run('call', 'sample.report', '--chat', CHAT), { code: 2 });
  });

  it('look into --root too, and read text but no image of another folder', async (t) => {
    const cli = await createCliFolder(t);
    await mkdir(join(cli.path, 'own'));
    await saveImage(cli);
    await cli.write('other.chat.md', `# %% user\nHello from elsewhere.\n![x](cmdassets/${IMAGE})\n`);
    const places = ['--chat', 'own/a.chat.md', '--root', '.'];
    const call = (tool: string, args: object) =>
      cli.run('call', `filechat.${tool}`, '--args', JSON.stringify(args), ...places);
    const { stdout } = checkEnd(await call('search_chats', { query: 'elsewhere' }), { code: 0 });
    assert.match(stdout, /filechat:\/\/other\.chat\.md/);
    const text = checkEnd(await call('read_asset', { uri: 'filechat://other.chat.md' }), { code: 0 });
    assert.match(text.stdout, /Hello from elsewhere/);
    const image = checkEnd(await call('read_asset', { uri: `filechat://other.chat.md/${IMAGE}` }), {
      code: 0,
    });
    assert.match(image.stdout, /another folder/);
    assert.doesNotMatch(image.stdout, /!\[/);
  });
});

function textOf(result: ToolResult | undefined): string {
  const [part] = result?.parts ?? [];
  if (part?.kind === 'data') return part.json;
  return part?.kind === 'text' ? part.text : JSON.stringify(part);
}
