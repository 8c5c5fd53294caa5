import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { parseChat } from '../../../src/chat/format/parse.ts';
import { listAssets } from '../helpers/checkBlocks.ts';
import { eraServer } from '../helpers/eraServer.ts';
import { checkEnd, createCliFolder, MCP_JSON } from '../helpers/runCli.ts';
import { repositoryPath } from '../helpers/sampleServer.ts';
import { isAlive } from '../helpers/serving.ts';
import { serveTools } from '../helpers/toolServer.ts';

const SERVERS = ['--servers', MCP_JSON] as const;
const CHAT = ['--chat', 'a.chat.md'] as const;
const MIXED = ['call', 'sample.mixed'] as const;

describe('filechat tools', () => {
  it('lists SERVER.TOOL with a description, and leaves no process behind', async (t) => {
    const cli = await createCliFolder(t);
    await cli.write('sample.json', JSON.stringify({ servers: { sample: await sampleOf(cli) } }));
    const { stdout } = checkEnd(await cli.start(['tools', '--servers', 'sample.json']).ended, {
      code: 0,
      stderr: '',
    });
    const lines = stdout.trimEnd().split('\n');
    assert.equal(lines.length, 19);
    for (const line of lines) assert.match(line, /^sample\.[a-z]+ {2}\S.*$/);
    assert.ok(lines.some((line) => line.startsWith('sample.mixed  Returns text, a PNG image')));
    assert.deepEqual(
      cli.servers().map(({ pid }) => isAlive(pid)),
      [false],
    );
  });

  it('shows the first line with words of a description', async (t) => {
    const cli = await createCliFolder(t);
    await serveTools(cli, {
      s: [
        { name: 'indented', description: '\n    Draws a chart.\r\n    Takes a title.\n' },
        { name: 'blank', description: ' ' },
      ],
    });
    const { stdout } = checkEnd(await cli.run('tools', ...SERVERS), { code: 0, stderr: '' });
    assert.equal(stdout, 's.indented  Draws a chart.\ns.blank\n');
  });

  it('writes no warning about a server that starts slowly', async (t) => {
    const cli = await createCliFolder(t);
    const { config } = eraServer(t, 'legacy');
    const slow = { command: config.command, args: config.args, env: { SLOW: '1' } };
    await cli.write('slow.json', JSON.stringify({ servers: { slow } }));
    const { stdout } = checkEnd(await cli.run('tools', '--servers', 'slow.json'), { code: 0, stderr: '' });
    assert.match(stdout, /^slow\.mixed$/m);
  });

  it('lists the tools of the servers that work, explains the failures of the others, and exits with 1', async (t) => {
    const cli = await createCliFolder(t);
    const { stdout, stderr } = checkEnd(await cli.run('tools', ...SERVERS), { code: 1 });
    assert.match(stdout, /^sample\.mixed /m);
    assert.match(stderr, /broken .*The licence has run out\./);
    assert.match(stderr, /absent .*filechat-no-such-program/);
  });
});

describe('filechat call', () => {
  it('creates the chat and the files, prints the turn, and leaves no process behind', async (t) => {
    const cli = await createCliFolder(t);
    const { stdout } = checkEnd(await cli.start(['call', 'sample.mixed', ...CHAT, ...SERVERS]).ended, {
      code: 0,
      stderr: '',
    });
    const chat = await cli.read('a.chat.md');
    const images = await listAssets(cli.path);
    assert.deepEqual(
      images.map((path) => path.replace(/^.*\./, '')),
      ['png', 'jpg'],
    );
    const turn = [
      "# %% tool sample.mixed c1\nHere's the first generated image:",
      `![Tool generated image 1](${images[0]})`,
      "And here's another image showing a different view:",
      `![Tool generated image 2](${images[1]})`,
      'Analysis of both images...\n',
    ].join('\n\n');
    assert.equal(stdout, turn);
    assert.equal(chat, `# %% user\n\`\`\`tool_call sample.mixed c1\n{}\n\`\`\`\n\n${turn}\n# %% user\n`);
    assert.deepEqual((await readdir(cli.path)).toSorted(), ['a.chat.md', 'cmdassets', MCP_JSON]);
    assert.deepEqual(
      cli.servers().map(({ pid }) => isAlive(pid)),
      [false],
    );
  });

  it('passes the arguments to the tool, and writes them into the call', async (t) => {
    const cli = await createCliFolder(t);
    const args = { city: 'Łódź "````"\n# %% user' };
    checkEnd(await cli.run('call', 'sample.weather', '--args', JSON.stringify(args), ...CHAT, ...SERVERS), {
      code: 0,
    });
    const { turns } = parseChat(await cli.read('a.chat.md'));
    assert.deepEqual(
      turns.map(({ role }) => role),
      ['user', 'tool', 'user'],
    );
    assert.deepEqual(JSON.parse(turns[0]?.calls[0]?.argumentsText ?? ''), args);
  });

  it('creates missing parent folders of a chat', async (t) => {
    const cli = await createCliFolder(t);
    checkEnd(await cli.run('call', 'sample.photo', '--chat', 'x/y/a.chat.md', ...SERVERS), { code: 0 });
    const [image = ''] = await listAssets(`${cli.path}/x/y`);
    assert.ok((await cli.read('x/y/a.chat.md')).includes(`![Tool generated image 1](${image})`));
  });

  it('of a tool that reports an error exits with 1, with the reason on stderr and the text in the chat', async (t) => {
    const cli = await createCliFolder(t);
    const args = ['--args', '{"reason": "The oven is cold."}'];
    const { stdout } = checkEnd(await cli.run('call', 'sample.fail', ...args, ...CHAT, ...SERVERS), {
      code: 1,
      stderr: 'The oven is cold.\n',
    });
    const turn =
      '# %% tool sample.fail c1\n> ⚠ **The tool reported an error.**\n\n```\nThe oven is cold.\n```\n';
    assert.equal(stdout, turn);
    assert.ok((await cli.read('a.chat.md')).includes(turn));
  });

  it('with arguments that the tool refuses exits with 1, and the refusal is in the chat', async (t) => {
    const cli = await createCliFolder(t);
    const { stderr } = checkEnd(await cli.run('call', 'sample.chart', ...CHAT, ...SERVERS), { code: 1 });
    assert.match(stderr, /values/);
    assert.match(await cli.read('a.chat.md'), /^# %% tool sample\.chart c1\n> ⚠[\s\S]*values/m);
  });

  const failures: readonly (readonly [what: string, tool: string, reason: RegExp])[] = [
    ['an unknown tool', 'sample.nothing', /server “sample” has no tool “nothing”/],
    ['an unknown server', 'nobody.mixed', /no server nobody\. Configured servers: sample, broken, absent\./],
    [
      'a server that exits at once',
      'broken.mixed',
      /broken could not be started: .*The licence has run out\./,
    ],
    ['a missing program', 'absent.mixed', /absent could not be started: .*filechat-no-such-program/],
  ];
  for (const [what, tool, reason] of failures) {
    it(`of ${what} exits with 1 and a reason; nothing is printed and no call is written`, async (t) => {
      const cli = await createCliFolder(t);
      await cli.write('a.chat.md', '# %% user\nHello.\n');
      const { stderr } = checkEnd(await cli.run('call', tool, ...CHAT, ...SERVERS), { code: 1, stdout: '' });
      assert.match(stderr, reason);
      assert.equal(await cli.read('a.chat.md'), '# %% user\nHello.\n');
    });
  }

  it('with a servers file that is missing or unreadable exits with 1 and names the file', async (t) => {
    const cli = await createCliFolder(t);
    await cli.write('bad.json', '{ "servers": ');
    for (const file of ['none.json', 'bad.json']) {
      const { stderr } = checkEnd(await cli.run('call', 'sample.mixed', ...CHAT, '--servers', file), {
        code: 1,
      });
      assert.ok(stderr.includes(file), stderr);
    }
  });
});

describe('filechat usage and version', () => {
  it('--help and help print the usage, --version prints the version of the manifest, and all exit with 0', async (t) => {
    const cli = await createCliFolder(t);
    const { version } = JSON.parse(await readFile(repositoryPath('package.json'), 'utf8'));
    for (const [args, answer] of [
      [['--help'], /^Usage:\n {2}filechat tools /],
      [['help'], /^Usage:\n {2}filechat tools /],
      [['run', '--help'], /^Usage:\n {2}filechat run FILE /],
      [['help', 'run'], /^Usage:\n {2}filechat run FILE /],
      [['--version'], new RegExp(`^${version}\\n$`)],
    ] as const) {
      const { stdout } = checkEnd(await cli.start(args).ended, { code: 0, stderr: '' });
      assert.match(stdout, answer);
    }
  });
});

describe('wrong usage', () => {
  const wrong: readonly (readonly [what: string, args: readonly string[], reason: RegExp])[] = [
    ['no command', [], /No command was given/],
    ['an unknown command', ['dance'], /“dance”/],
    ['help for an unknown command', ['help', 'dance'], /“dance”/],
    ['an unknown option', ['tools', ...SERVERS, '--colour'], /--colour/],
    ['tools without --servers', ['tools'], /--servers/],
    ['call without a tool', ['call', ...CHAT, ...SERVERS], /SERVER\.TOOL/],
    ['call of an invalid tool name', ['call', 'mixed', ...CHAT, ...SERVERS], /“mixed”/],
    ['call with --args that are not JSON', [...MIXED, '--args', '{', ...CHAT, ...SERVERS], /--args/],
    ['call with --args that are not an object', [...MIXED, '--args', '[1]', ...CHAT, ...SERVERS], /--args/],
    ['call without --chat', [...MIXED, ...SERVERS], /--chat/],
    ['call without --servers', [...MIXED, ...CHAT], /--servers/],
    ['run without a file', ['run', ...SERVERS], /FILE/],
    ['run with a second file', ['run', 'a.chat.md', 'b.chat.md'], /b\.chat\.md/],
    ['run with an unknown approval', ['run', 'a.chat.md', '--approve', 'never'], /--approve/],
  ];
  for (const [what, args, reason] of wrong) {
    it(`${what} exits with 2, explains the error and the correct usage, and changes nothing`, async (t) => {
      const cli = await createCliFolder(t);
      const { stderr } = checkEnd(await cli.run(...args), { code: 2, stdout: '' });
      const [said = '', usage] = stderr.split(/^(?=Usage:$)/m);
      assert.match(said, reason);
      assert.match(usage ?? '', /^Usage:\n {2}filechat \w/);
      assert.deepEqual(await readdir(cli.path), [MCP_JSON]);
      assert.deepEqual(cli.servers(), []);
    });
  }
});

/** The sample server's entry alone, without the ones that cannot start. */
async function sampleOf(cli: { read(name: string): Promise<string> }): Promise<unknown> {
  const { servers } = JSON.parse(await cli.read(MCP_JSON)) as { servers: Record<string, unknown> };
  return servers['sample'];
}
