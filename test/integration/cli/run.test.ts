import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { describe, it, type TestContext } from 'node:test';
import { nextAction } from '../../../src/chat/format/nextAction.ts';
import { parseChat } from '../../../src/chat/format/parse.ts';
import { listAssets } from '../helpers/checkBlocks.ts';
import { type CliEnd, checkEnd, createCliFolder, MCP_JSON } from '../helpers/runCli.ts';
import { repositoryPath } from '../helpers/sampleServer.ts';
import { isAlive } from '../helpers/serving.ts';

const SERVERS = ['--servers', MCP_JSON] as const;
const RUN = ['run', 'a.chat.md', ...SERVERS, '--approve', 'auto'] as const;

/** Runs a chat, by default with every call allowed, and reads it again. */
async function runChat(
  t: TestContext,
  before: string,
  expected: Partial<CliEnd> = { code: 0 },
  args: readonly string[] = RUN,
) {
  const cli = await createCliFolder(t);
  await cli.write('a.chat.md', before);
  const end = checkEnd(await cli.run(...args), expected);
  return { ...end, cli, chat: await cli.read('a.chat.md') };
}

const pendingTools = (chat: string) => {
  const action = nextAction(chat);
  return action.kind === 'runTools' && action.calls.map(({ tool }) => tool);
};

/** A file as it was before the calls got their ids. */
function withoutIds(text: string): string {
  return text.replace(/^(```tool_call \S+) c\d+(?=\r?$)/gm, '$1');
}

describe('filechat run', () => {
  it('runs all pending calls of the sample chat in their order, and a second run does nothing', async (t) => {
    const cli = await createCliFolder(t);
    const before = await readFile(repositoryPath('samples/images.chat.md'), 'utf8');
    await cli.write('a.chat.md', before);
    const { stdout } = checkEnd(await cli.start(RUN).ended, { code: 0, stderr: '' });
    const chat = await cli.read('a.chat.md');
    const link = (extension: string) =>
      String.raw`!\[Tool generated image 1\]\(cmdassets/tool-image-\d{8}-\d{6}-[A-Za-z0-9]{8,}-1\.${extension}\)`;
    const turns = [
      String.raw`# %% tool sample\.chart c1\n${link('png')}\n`,
      String.raw`# %% tool sample\.photo c2\n${link('jpg')}\n`,
      String.raw`# %% tool sample\.animation c3\n${link('gif')}\n`,
      String.raw`# %% tool sample\.badge c4\n${link('webp')}\n`,
    ];
    assert.match(stdout, new RegExp(`^${turns.join('')}$`));
    assert.ok(withoutIds(chat).startsWith(before));
    assert.match(withoutIds(chat).slice(before.length), new RegExp(`^\n${turns.join('\n')}\n# %% user\n$`));
    assert.equal((await listAssets(cli.path)).length, 4);
    assert.deepEqual(
      cli.servers().map(({ pid }) => isAlive(pid)),
      [false],
    );

    const second = await cli.run(...RUN);
    assert.equal(second.stdout, '');
    assert.match(second.stderr, /your turn/);
    assert.equal(await cli.read('a.chat.md'), chat);
    assert.equal(cli.servers().length, 1);
    assert.equal((await listAssets(cli.path)).length, 4);
  });

  it('continues after a failed call, and exits with 1 and the reason of each', async (t) => {
    const calls = ['sample.fail', 'sample.nothing', 'nobody.here', 'sample.weather'];
    const before = `# %% user\n${calls.map((name) => `\`\`\`tool_call ${name}\n\`\`\`\n`).join('')}`;
    const { chat, stderr } = await runChat(t, before, { code: 1 });
    assert.deepEqual(stderr.trimEnd().split('\n').sort(), [
      'nobody.here c3: There is no server nobody. Configured servers: sample, broken, absent.',
      'sample.fail c1: The oven is out of order.',
      'sample.nothing c2: The server “sample” has no tool “nothing”. No tool was called.',
    ]);
    assert.deepEqual(
      parseChat(chat).turns.map(({ role, markerText }) => `${role} ${markerText}`.trim()),
      ['user', ...calls.map((name, at) => `tool ${name} c${at + 1}`), 'user'],
    );
    assert.match(chat, /c2\n> ⚠ .*no tool “nothing”/);
    assert.match(chat, /c3\n> ⚠ .*no server nobody/);
    assert.match(chat, /c4\n```json formatted\n\{\n {2}"city": "Paris"/);
  });

  for (const approval of [[], ['--approve', 'ask']]) {
    it(`without a terminal ${approval.join(' ') || 'and without --approve'} leaves the calls pending and exits with 1`, async (t) => {
      const before =
        '# %% user\nDraw.\n\n```tool_call sample.photo\n{}\n```\n\n```tool_call sample.mixed\n```\n';
      const args = ['run', 'a.chat.md', ...SERVERS, ...approval];
      const { stderr, chat, cli } = await runChat(t, before, { code: 1, stdout: '' }, args);
      assert.match(stderr, /permission.*--approve/);
      assert.equal(withoutIds(chat), before);
      assert.deepEqual(pendingTools(chat), ['photo', 'mixed']);
      assert.deepEqual(await listAssets(cli.path), []);
      assert.ok(cli.servers().every(({ pid }) => !isAlive(pid)));
    });
  }

  it('--approve auto-readonly runs tools declared read-only, and stops at others', async (t) => {
    const order = '{"name": "Ada", "flavour": "lemon", "layers": 2, "address": {"street": "S", "city": "C"}}';
    const before = `# %% user\n\`\`\`tool_call sample.weather\n\`\`\`\n\`\`\`tool_call sample.order\n${order}\n\`\`\`\n`;
    const args = ['run', 'a.chat.md', ...SERVERS, '--approve', 'auto-readonly'];
    const { stderr, chat } = await runChat(t, before, { code: 1 }, args);
    assert.match(stderr, /permission/);
    assert.match(chat, /^# %% tool sample\.weather c1$/m);
    assert.deepEqual(pendingTools(chat), ['order']);
  });

  it('keeps the text around a call byte for byte, and puts the result between its turn and the next', async (t) => {
    const head =
      '\n \t\nabove the first marker  \n\n\n# %% user extra words\t\nOld.  \n\n\n# %% assistant\n~~~\n# %% user\n~~~\n\n';
    const asking =
      '# %% user\n\ttab, “quotes”, 👩‍💻, e\u0301, \u00a0\n```tool_call sample.weather\n{ "city":  "Rome" }\n```\nafter \\\n\n\n';
    const tail = '# %% user\n   \n';
    const { chat } = await runChat(t, head + asking + tail);
    const weather = { city: 'Rome', celsius: 26.8, humidityPercent: 58, conditions: 'sunny' };
    const result = `\`\`\`json formatted\n${JSON.stringify(weather, null, 2)}\n\`\`\`\n`;
    assert.equal(withoutIds(chat), `${head}${asking}# %% tool sample.weather c1\n${result}\n${tail}`);
  });

  it('adds a missing line break after the last line', async (t) => {
    const before = '# %% user\n```tool_call sample.weather\n```\nno line break here';
    const { chat } = await runChat(t, before);
    assert.ok(withoutIds(chat).startsWith(`${before}\n\n# %% tool sample.weather c1\n`));
  });
});

describe('the encoding of a chat', () => {
  const CRLF =
    '# %% user\r\nHi.\r\n\r\n```tool_call sample.tour\r\n{}\r\n```\r\n\r\n```tool_call sample.hostile\r\n```\r\n';

  it('CRLF stays CRLF in every line, through run and through call', async (t) => {
    const { cli, chat: afterRun } = await runChat(t, CRLF);
    assert.ok(withoutIds(afterRun).startsWith(CRLF));
    assert.doesNotMatch(afterRun, /(?<!\r)\n|\r(?!\n)/);
    const call = ['call', 'sample.measure', '--chat', 'a.chat.md', ...SERVERS];
    const { stdout } = checkEnd(await cli.run(...call), { code: 0 });
    assert.doesNotMatch(stdout, /U\+000D/);
    const afterCall = await cli.read('a.chat.md');
    assert.ok(afterCall.startsWith(afterRun));
    assert.doesNotMatch(afterCall, /(?<!\r)\n|\r(?!\n)/);
    assert.deepEqual(
      parseChat(afterCall).turns.map(({ role }) => role),
      ['user', 'tool', 'tool', 'user', 'tool', 'user'],
    );
  });

  it('a byte order mark stays, once and at the start, and does not hide the first turn', async (t) => {
    const { cli } = await runChat(t, '\ufeff# %% user\n```tool_call sample.weather\n```\n');
    checkEnd(await cli.run('call', 'sample.link', '--chat', 'a.chat.md', ...SERVERS), { code: 0 });
    const chat = await cli.read('a.chat.md');
    assert.equal(chat.lastIndexOf('\ufeff'), 0);
    assert.deepEqual(
      parseChat(chat.slice(1)).turns.map(({ role }) => role),
      ['user', 'tool', 'user', 'tool', 'user'],
    );
  });

  const foreign: readonly (readonly [what: string, bytes: Uint8Array])[] = [
    ['Latin-1', Buffer.from('# %% user\ncafé\n```tool_call sample.photo\n```\n', 'latin1')],
    ['UTF-16', Buffer.from('\ufeff# %% user\n```tool_call sample.photo\n```\n', 'utf16le')],
  ];
  for (const [what, bytes] of foreign) {
    for (const args of [[...RUN], ['call', 'sample.photo', '--chat', 'a.chat.md', ...SERVERS]]) {
      it(`a chat in ${what} is refused by ${args[0]}, and nothing is changed or called`, async (t) => {
        const cli = await createCliFolder(t);
        await cli.write('a.chat.md', bytes);
        const { stderr } = checkEnd(await cli.run(...args), { code: 1, stdout: '' });
        assert.match(stderr, /a\.chat\.md is not UTF-8/);
        assert.deepEqual(await cli.readBytes('a.chat.md'), Buffer.from(bytes));
        assert.deepEqual((await readdir(cli.path)).toSorted(), ['a.chat.md', MCP_JSON]);
        assert.deepEqual(cli.servers(), []);
      });
    }
  }
});
