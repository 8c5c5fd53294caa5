/** The command line with the paths, scripts and line ends that are usual on Windows; all of them also work elsewhere. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join, sep } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import { parseChat } from '../../../src/chat/format/parse.ts';
import { readToolResult } from '../../../src/result/markdown.ts';
import { unlessWine } from '../../windows/needs.ts';
import { listAssets } from '../helpers/checkBlocks.ts';
import { configFor, KEY, startMock } from '../helpers/modelServer.ts';
import { checkEnd, createCliFolder, MCP_JSON } from '../helpers/runCli.ts';
import { sampleServerFile } from '../helpers/sampleServer.ts';

const FOLDER = 'My Chats & Büro';

describe('paths with spaces', () => {
  const forms: Readonly<Record<string, (path: string) => string>> = {
    'as the system writes them': (path) => path,
    'with slashes': (path) => path.replaceAll(sep, '/'),
  };
  for (const [name, form] of Object.entries(forms)) {
    it(`${name}: a tour of all kinds of results is saved beside the chat`, async (t) => {
      const cli = await createCliFolder(t);
      const chat = join(cli.path, FOLDER, 'a tour.chat.md');
      const servers = form(join(cli.path, MCP_JSON));
      const listed = checkEnd(await cli.run('tools', '--servers', servers), { code: 1 });
      assert.match(listed.stdout, /^sample\.tour /m);
      const args = ['call', 'sample.tour', '--chat', form(chat), '--servers', servers];
      checkEnd(await cli.run(...args), { code: 0, stderr: '' });
      const text = await readFile(chat, 'utf8');
      const { turns, problems } = parseChat(text);
      assert.deepEqual(problems, []);
      const tool = turns.find(({ role }) => role === 'tool');
      assert.ok(tool);
      const { parts } = readToolResult(text.slice(tool.bodyStart, tool.end));
      const links = parts.flatMap((part) => (part.kind === 'asset' ? [part.asset.path] : []));
      assert.ok(links.length > 0 && links.every((link) => link.startsWith('cmdassets/')), links.join());
      assert.deepEqual(await listAssets(join(cli.path, FOLDER)), [...new Set(links)].toSorted());
    });
  }
});

it('a chat with CRLF keeps it through a reply, a tool call and another reply', async (t) => {
  const mock = await startMock(t);
  const isAfterTool = (request: unknown) => JSON.stringify(request).includes('"role":"tool"');
  mock.on(
    { predicate: (request) => !isAfterTool(request) },
    {
      content: 'Let me\nlook.',
      toolCalls: [{ name: 'sample__weather', arguments: '{}' }],
      finishReason: 'tool_calls',
    },
  );
  mock.on({ predicate: isAfterTool }, { content: 'It is\nsunny.' });
  const cli = await createCliFolder(t);
  const { name: _name, ...model } = configFor('openai-compatible', mock.url);
  await cli.write('models.json', JSON.stringify({ models: { it: model } }));
  await cli.write('a.chat.md', '# %% user\r\nHow is\r\nthe weather?\r\n');
  const files = ['--models', 'models.json', '--servers', MCP_JSON];
  process.env['FILECHAT_KEY_IT'] = KEY;
  checkEnd(await cli.run('run', 'a.chat.md', ...files, '--approve', 'auto'), { code: 0 });
  const chat = await cli.read('a.chat.md');
  assert.doesNotMatch(chat, /(?<!\r)\n|\r(?!\n)/);
  assert.deepEqual(
    parseChat(chat).turns.map(({ role }) => role),
    ['user', 'assistant', 'tool', 'assistant', 'user'],
  );
});

describe('a server behind a script, as one that npx starts', () => {
  it('gets arguments with spaces and signs of the shell', async (t) => {
    const args = ['a b', 'c&d', '(e)', '"f"', 'C:\\g\\'];
    const { end, taken } = await runScript(t, args);
    checkEnd(end, { code: 0, stderr: '' });
    assert.match(end.stdout, /^it\.tour /m);
    assert.deepEqual(taken, args);
  });

  const needsTree = unlessWine('its taskkill does not end what a process has started');
  it('ends with the script, even if it ignores the end of its input', {
    timeout: 60_000,
    ...needsTree,
  }, async (t) => {
    const { end, gone } = await runScript(t, ['stubborn']);
    checkEnd(end, { code: 0 });
    await gone;
  });
});

/** Lists the tools of the sample server, which a script starts in a Node of its own. */
async function runScript(t: TestContext, args: readonly string[]) {
  const cli = await createCliFolder(t);
  // A connection ends with the process, however that ends.
  const gone = Promise.withResolvers<void>();
  const life = createServer((socket) =>
    socket
      .on('error', () => {})
      .once('close', gone.resolve)
      .resume(),
  );
  life.listen(0, '127.0.0.1');
  t.after(() => life.close());
  await once(life, 'listening');
  const server = join(cli.path, 'server.mjs');
  await writeFile(
    server,
    `import { writeFileSync } from 'node:fs';
    import { connect } from 'node:net';
    const args = process.argv.splice(2);
    writeFileSync('arguments.json', JSON.stringify(args));
    const life = connect(${(life.address() as AddressInfo).port}, '127.0.0.1');
    if (args.includes('stubborn')) process.exit = () => {};
    else life.unref();
    await import(${JSON.stringify(pathToFileURL(sampleServerFile()))});`,
  );
  const isWindows = process.platform === 'win32';
  const command = join(cli.path, isWindows ? 'run.cmd' : 'run');
  const node = JSON.stringify(process.execPath);
  const script = isWindows ? `@"${process.execPath}" %*\r\n` : `#!/bin/sh\n${node} "$@"\n`;
  await writeFile(command, script, { mode: 0o755 });
  await cli.write('script.json', JSON.stringify({ servers: { it: { command, args: [server, ...args] } } }));
  const end = await cli.run('tools', '--servers', 'script.json');
  const taken: unknown = JSON.parse(await cli.read('arguments.json'));
  return { end, taken, gone: gone.promise };
}
