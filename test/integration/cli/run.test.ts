import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { nextAction } from '../../../src/chat/format/nextAction.ts';
import { parseChat } from '../../../src/chat/format/parse.ts';
import { listAssets } from '../helpers/checkBlocks.ts';
import { checkEnd, createCliFolder, MCP_JSON } from '../helpers/runCli.ts';
import { repositoryPath } from '../helpers/sampleServer.ts';
import { isAlive } from '../helpers/serving.ts';

const SERVERS = ['--servers', MCP_JSON] as const;
const RUN = ['run', 'a.chat.md', ...SERVERS, '--approve', 'auto'] as const;

/** A file as it was before the calls got their ids. */
function withoutIds(text: string): string {
  return text.replace(/^(```tool_call \S+) c\d+(?=\r?$)/gm, '$1');
}

describe('filechat run', () => {
  it('runs all pending calls of the sample chat in their order, and a second run does nothing', async (t) => {
    const cli = await createCliFolder(t);
    const before = await readFile(repositoryPath('samples/pictures.chat.md'), 'utf8');
    await cli.write('a.chat.md', before);
    const { stdout } = checkEnd(await cli.start(RUN).ended, { code: 0, stderr: '' });
    const chat = await cli.read('a.chat.md');
    const link = (extension: string) =>
      String.raw`!\[Tool generated image 1\]\(cmdassets/tool-image-\d{8}-\d{6}-[A-Za-z0-9]{8,}-1\.${extension}\)`;
    const turns = [
      String.raw`# %% tool sample\.chart c1\n${link('png')}\n`,
      String.raw`# %% tool sample\.photo c2\n${link('jpg')}\n`,
      String.raw`# %% tool sample\.animation c3\n${link('gif')}\n`,
      String.raw`# %% tool sample\.picture c4\n${link('webp')}\n`,
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

  it('goes on after a call that fails, and ends with 1 and its reason', async (t) => {
    const cli = await createCliFolder(t);
    const calls = ['sample.fail', 'sample.nothing', 'nobody.here', 'sample.weather'];
    await cli.write(
      'a.chat.md',
      `# %% user\n${calls.map((name) => `\`\`\`tool_call ${name}\n\`\`\`\n`).join('')}`,
    );
    checkEnd(await cli.run(...RUN), { code: 1, stderr: 'The oven is out of order.\n' });
    const chat = await cli.read('a.chat.md');
    assert.deepEqual(
      parseChat(chat).turns.map(({ role, words }) => `${role} ${words}`.trim()),
      ['user', ...calls.map((name, at) => `tool ${name} c${at + 1}`), 'user'],
    );
    assert.match(chat, /c2\n> ⚠ .*no tool “nothing”/);
    assert.match(chat, /c3\n> ⚠ .*no server nobody/);
    assert.match(chat, /c4\n```\n\{"city":"Paris"/);
  });

  for (const approval of [[], ['--approve', 'ask']]) {
    it(`without a terminal ${approval.join(' ') || 'and without --approve'} leaves the calls pending and ends with 1`, async (t) => {
      const cli = await createCliFolder(t);
      const before =
        '# %% user\nDraw.\n\n```tool_call sample.photo\n{}\n```\n\n```tool_call sample.mixed\n```\n';
      await cli.write('a.chat.md', before);
      const { stderr } = checkEnd(await cli.run('run', 'a.chat.md', ...SERVERS, ...approval), {
        code: 1,
        stdout: '',
      });
      assert.match(stderr, /consent.*--approve/);
      const chat = await cli.read('a.chat.md');
      assert.equal(withoutIds(chat), before);
      const action = nextAction(chat);
      assert.deepEqual(action.kind === 'runTools' && action.calls.map(({ tool }) => tool), [
        'photo',
        'mixed',
      ]);
      assert.deepEqual(await listAssets(cli.path), []);
      assert.ok(cli.servers().every(({ pid }) => !isAlive(pid)));
    });
  }

  it('--approve auto-readonly runs what calls itself read-only, and stops at what does not', async (t) => {
    const cli = await createCliFolder(t);
    const order = '{"name": "Ada", "flavour": "lemon", "layers": 2, "address": {"street": "S", "city": "C"}}';
    await cli.write(
      'a.chat.md',
      `# %% user\n\`\`\`tool_call sample.weather\n\`\`\`\n\`\`\`tool_call sample.order\n${order}\n\`\`\`\n`,
    );
    const { stderr } = checkEnd(await cli.run('run', 'a.chat.md', ...SERVERS, '--approve', 'auto-readonly'), {
      code: 1,
    });
    assert.match(stderr, /consent/);
    const chat = await cli.read('a.chat.md');
    assert.match(chat, /^# %% tool sample\.weather c1$/m);
    const action = nextAction(chat);
    assert.deepEqual(action.kind === 'runTools' && action.calls.map(({ tool }) => tool), ['order']);
  });

  it('keeps the text around a call byte for byte, and puts the result between its turn and the next', async (t) => {
    const cli = await createCliFolder(t);
    const head =
      '\n \t\nabove the first marker  \n\n\n# %% user extra words\t\nOld.  \n\n\n# %% assistant\n~~~\n# %% user\n~~~\n\n';
    const asking =
      '# %% user\n\ttab, “quotes”, 👩‍💻, e\u0301, \u00a0\n```tool_call sample.weather\n{ "city":  "Rome" }\n```\nafter \\\n\n\n';
    const tail = '# %% user\n   \n';
    await cli.write('a.chat.md', head + asking + tail);
    checkEnd(await cli.run(...RUN), { code: 0 });
    const chat = withoutIds(await cli.read('a.chat.md'));
    const result = '```\n{"city":"Rome","celsius":26.8,"humidityPercent":58,"conditions":"sunny"}\n```\n';
    assert.equal(chat, `${head}${asking}# %% tool sample.weather c1\n${result}\n${tail}`);
  });

  it('adds the line break that the last line lacks', async (t) => {
    const cli = await createCliFolder(t);
    const before = '# %% user\n```tool_call sample.weather\n```\nno line break here';
    await cli.write('a.chat.md', before);
    checkEnd(await cli.run(...RUN), { code: 0 });
    assert.ok(
      withoutIds(await cli.read('a.chat.md')).startsWith(`${before}\n\n# %% tool sample.weather c1\n`),
    );
  });
});

describe('the encoding of a chat', () => {
  const CRLF =
    '# %% user\r\nHi.\r\n\r\n```tool_call sample.tour\r\n{}\r\n```\r\n\r\n```tool_call sample.hostile\r\n```\r\n';

  it('CRLF stays CRLF in every line, through run and through call', async (t) => {
    const cli = await createCliFolder(t);
    await cli.write('a.chat.md', CRLF);
    checkEnd(await cli.run(...RUN), { code: 0 });
    const afterRun = await cli.read('a.chat.md');
    assert.ok(withoutIds(afterRun).startsWith(CRLF));
    assert.doesNotMatch(afterRun, /(?<!\r)\n|\r(?!\n)/);
    checkEnd(await cli.run('call', 'sample.measure', '--chat', 'a.chat.md', ...SERVERS), { code: 0 });
    const afterCall = await cli.read('a.chat.md');
    assert.ok(afterCall.startsWith(afterRun));
    assert.doesNotMatch(afterCall, /(?<!\r)\n|\r(?!\n)/);
    assert.deepEqual(
      parseChat(afterCall).turns.map(({ role }) => role),
      ['user', 'tool', 'tool', 'user', 'tool', 'user'],
    );
  });

  it('a byte order mark stays, once and at the start, and does not hide the first turn', async (t) => {
    const cli = await createCliFolder(t);
    await cli.write('a.chat.md', '\ufeff# %% user\n```tool_call sample.weather\n```\n');
    checkEnd(await cli.run(...RUN), { code: 0 });
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
