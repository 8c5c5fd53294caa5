/** What the command line says about servers, and how it uses them. */

import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { type CliFolder, checkEnd, createCliFolder } from '../helpers/runCli.ts';
import { freePort, fromNpm, startAndAwait } from '../helpers/serving.ts';
import { end, sendAll, startWireServer, words } from '../helpers/wireServer.ts';
import { scriptServer } from '../traffic/site.ts';

/** A folder whose only server `a` runs this script, which can use ${FOLDER}. */
async function folderWith(
  t: TestContext,
  script: string,
  entry: (folder: CliFolder) => object = () => ({}),
): Promise<CliFolder> {
  const cli = await createCliFolder(t);
  const { command, args } = await scriptServer(t, `const FOLDER = ${JSON.stringify(cli.path)};\n${script}`);
  await cli.write('mcp.json', JSON.stringify({ servers: { a: { command, args, ...entry(cli) } } }));
  return cli;
}

const CALL = ['call', 'a.x', '--chat', 'a.chat.md', '--servers', 'mcp.json'];

describe('an error of a server', () => {
  it('shows ordinary values of its configuration, and hides secrets', async (t) => {
    const env = { NODE_ENV: 'production', DATA: '/srv/data', PORT: '8080', API_KEY: 'correct-horse' };
    const cli = await folderWith(
      t,
      `tools('x');
      const { NODE_ENV, DATA, PORT, API_KEY } = process.env;
      on('tools/call', () => { throw new Error([NODE_ENV, DATA, PORT, API_KEY].join(' ')); });`,
      () => ({ env }),
    );
    const { stderr } = checkEnd(await cli.run(...CALL), { code: 1 });
    assert.match(stderr, /its process ended\. Error: production \/srv\/data 8080 •••\.$/m);
    assert.doesNotMatch(stderr + (await cli.read('a.chat.md')), /correct-horse/);
  });

  it('that did not start is the line that says why, without the stack', async (t) => {
    const cli = await folderWith(t, `console.error('starting');\nthrow new Error('Set API_KEY first');`);
    const { stderr } = checkEnd(await cli.run(...CALL), { code: 1 });
    const [first] = stderr.split('\n');
    assert.equal(first, 'Server a could not be started: its process ended. Error: Set API_KEY first.');
  });

  it('that did not respond names the option that can be raised', async (t) => {
    const cli = await folderWith(t, `on('initialize', () => new Promise(() => {}));`);
    const advice = /there was no response for 1 s\. Raise --timeout SECONDS if it needs more time/;
    const listed = await cli.run('tools', '--servers', 'mcp.json', '--timeout', '1');
    assert.match(checkEnd(listed, { code: 1 }).stderr, advice);
    assert.match(checkEnd(await cli.run(...CALL, '--timeout', '1'), { code: 1 }).stderr, advice);
  });
});

describe('a server', () => {
  it('of the older SSE transport, without a type, is used without an error', async (t) => {
    const port = await freePort();
    const everything = fromNpm('@modelcontextprotocol/server-everything', 'sse');
    await startAndAwait(t, { ...everything, env: { PORT: String(port) } }, /port/);
    const cli = await createCliFolder(t);
    const servers = { old: { url: `http://127.0.0.1:${port}/sse` } };
    await cli.write('mcp.json', JSON.stringify({ servers }));
    const listed = await cli.run('tools', '--servers', 'mcp.json');
    assert.match(checkEnd(listed, { code: 0, stderr: '' }).stdout, /^old\.echo /m);
  });

  it('has its tools listed, except those that are only for its apps', async (t) => {
    const cli = await folderWith(
      t,
      `on('tools/list', () => ({ tools: [
        { name: 'shown', inputSchema: { type: 'object' } },
        { name: 'hidden', inputSchema: { type: 'object' }, _meta: { ui: { visibility: ['app'] } } },
      ] }));`,
    );
    checkEnd(await cli.run('tools', '--servers', 'mcp.json'), { code: 0, stdout: 'a.shown\n' });
  });
});

describe('a run', () => {
  const CALLS = [1, 2, 3].map((n) => `\`\`\`tool_call a.x c${n}\n{"n": ${n}}\n\`\`\``).join('\n\n');
  const CHAT = `# %% user\nDo it.\n\n# %% assistant\n${CALLS}\n`;

  async function runCalls(t: TestContext, script: string, settings: object = {}) {
    const cli = await folderWith(t, script);
    const { url } = await startWireServer(t, (asked) => sendAll(asked, words('Done.'), end()));
    const models = { it: { provider: 'openai-chat', model: 'm', baseUrl: url } };
    const all = { models, defaultModel: 'it', approve: 'auto', builtInTools: false, ...settings };
    await cli.write('s.json', JSON.stringify(all));
    await cli.write('a.chat.md', CHAT);
    const run = ['run', 'a.chat.md', '--servers', 'mcp.json', '--settings', 's.json'];
    return { cli, ended: await cli.run(...run) };
  }

  it('names each call that failed on stderr, and goes on', async (t) => {
    const { ended } = await runCalls(
      t,
      `tools('x');
      on('tools/call', ({ arguments: { n } }) =>
        n === 2 ? text('fine') : { isError: true, content: [{ type: 'text', text: 'No row ' + n + '\\nhere.' }] });`,
    );
    const failed = checkEnd(ended, { code: 0 })
      .stderr.split('\n')
      .filter((line) => line.startsWith('a.x'));
    assert.deepEqual(failed, ['a.x c1: No row 1 here.', 'a.x c3: No row 3 here.']);
  });

  /** Read-only calls, which run side by side. They end a moment after the last of those that fit has come. */
  const recording = (limit: number) => `
    import { appendFileSync } from 'node:fs';
    const note = (line) => appendFileSync(FOLDER + '/heard.txt', line + '\\n');
    let running = 0;
    const waiting = [];
    const endAll = () => waiting.splice(0).forEach((resolve) => resolve());
    on('tools/list', () => {
      note('list');
      return { tools: [{ name: 'x', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } }] };
    });
    on('tools/call', async () => {
      running += 1;
      note('running ' + running);
      await new Promise((resolve) => {
        if (waiting.push(resolve) === ${limit}) setTimeout(endAll, 200);
      });
      running -= 1;
      return text('done');
    });`;

  for (const [limit, expected] of [
    [1, ['running 1', 'running 1', 'running 1']],
    [3, ['running 1', 'running 2', 'running 3']],
  ] as const) {
    it(`runs ${limit} at a time with maxParallelCalls ${limit}, and lists the tools once`, async (t) => {
      const { cli, ended } = await runCalls(t, recording(limit), { 'filechat.maxParallelCalls': limit });
      checkEnd(ended, { code: 0 });
      const heard = (await cli.read('heard.txt')).trim().split('\n');
      assert.deepEqual(heard, ['list', ...expected]);
    });
  }
});
