import assert from 'node:assert/strict';
import { chmod, readdir, watch } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { needsSignals, unlessWindows } from '../../windows/needs.ts';
import { checkEnd, createCliFolder, MCP_JSON } from '../helpers/runCli.ts';

const SERVERS = ['--servers', MCP_JSON] as const;
const CALL = '```tool_call sample.weather\n```\n';

describe('filechat and the files around it', () => {
  it('run does not create a missing chat', async (t) => {
    const cli = await createCliFolder(t);
    checkEnd(await cli.run('run', 'none.chat.md', ...SERVERS), {
      code: 1,
      stderr: 'The chat none.chat.md does not exist. Check the path.\n',
    });
    assert.deepEqual(await readdir(cli.path), [MCP_JSON]);
  });

  it('a call that fails to start creates no chat', async (t) => {
    const cli = await createCliFolder(t);
    checkEnd(await cli.run('call', 'nobody.x', '--chat', 'new.chat.md', ...SERVERS), { code: 1 });
    assert.deepEqual(await readdir(cli.path), [MCP_JSON]);
  });

  it('a call creates a chat in folders that do not exist yet', async (t) => {
    const cli = await createCliFolder(t);
    checkEnd(await cli.run('call', 'sample.photo', '--chat', 'a/b/new.chat.md', ...SERVERS), { code: 0 });
    assert.deepEqual((await readdir(join(cli.path, 'a/b'))).sort(), ['cmdassets', 'new.chat.md']);
  });

  it('a call prints its own turn and not those before it', async (t) => {
    const cli = await createCliFolder(t);
    await cli.write('a.chat.md', '# %% user\nx\n\n# %% tool sample.old c1\nold\n');
    const { stdout } = await cli.run('call', 'sample.weather', '--chat', 'a.chat.md', ...SERVERS);
    assert.match(stdout, /^# %% tool sample\.weather c2\n/);
    assert.equal(stdout.includes('old'), false);
  });

  it('a call into a fence that is still open is refused, and the chat stays as it is', async (t) => {
    const cli = await createCliFolder(t);
    const before = '# %% user\nlook:\n```js\nfoo\n';
    await cli.write('a.chat.md', before);
    checkEnd(await cli.run('call', 'sample.weather', '--chat', 'a.chat.md', ...SERVERS), {
      code: 1,
      stderr: 'A code fence at the end of the chat is never closed. Close it first.\n',
    });
    assert.equal(await cli.read('a.chat.md'), before);
  });

  it('a chat that calls tools needs servers, and its calls stay pending', async (t) => {
    const cli = await createCliFolder(t);
    await cli.write('a.chat.md', `# %% user\n${CALL}`);
    const { stderr } = checkEnd(await cli.run('run', 'a.chat.md', '--approve', 'auto'), { code: 2 });
    assert.match(stderr, /^The chat calls tools, but no servers are configured\. Add --servers FILE/);
    assert.equal(await cli.read('a.chat.md'), `# %% user\n${CALL}`);
  });

  it('a read-only chat and a folder are refused', async (t) => {
    const cli = await createCliFolder(t);
    await cli.write('a.chat.md', `# %% user\n${CALL}`);
    await chmod(join(cli.path, 'a.chat.md'), 0o444);
    const readOnly = await cli.run('run', 'a.chat.md', ...SERVERS, '--approve', 'auto');
    checkEnd(readOnly, { code: 1 });
    assert.match(readOnly.stderr, /a\.chat\.md is read-only, so nothing was changed\./);
    assert.equal(await cli.read('a.chat.md'), `# %% user\n${CALL}`);
    const folder = await cli.run('call', 'sample.weather', '--chat', '.', ...SERVERS);
    checkEnd(folder, { code: 1, stderr: '. is a folder. Name a chat file.\n' });
  });

  it('a --root that is not a folder is refused', async (t) => {
    const cli = await createCliFolder(t);
    for (const root of ['none', MCP_JSON]) {
      const end = await cli.run('call', 'filechat.list_assets', '--chat', 'a.chat.md', '--root', root);
      const stderr = `The folder ${root} (--root) does not exist. Check the path.\n`;
      checkEnd(end, { code: 1, stderr });
    }
    assert.deepEqual(await readdir(cli.path), [MCP_JSON]);
  });

  it('a chat below a file is refused', unlessWindows('Windows reports such a file as missing'), async (t) => {
    const cli = await createCliFolder(t);
    const chat = `${MCP_JSON}/a.chat.md`;
    checkEnd(await cli.run('call', 'sample.weather', '--chat', chat, ...SERVERS), {
      code: 1,
      stderr: `The chat ${chat} cannot be read: there is no such file.\n`,
    });
  });

  it('a reader that closes its pipe early is not a failure', async (t) => {
    const cli = await createCliFolder(t);
    const running = cli.start(['tools', ...SERVERS]);
    running.process.stdout?.destroy();
    assert.doesNotMatch((await running.ended).stderr, /node:events|Unhandled/);
  });

  it('Ctrl+C ends the wait for a server that never starts', needsSignals, async (t) => {
    const cli = await createCliFolder(t);
    const script = 'require("fs").writeFileSync("up", ""); process.stdin.resume()';
    const hang = { command: process.execPath, args: ['-e', script] };
    await cli.write('hang.json', JSON.stringify({ servers: { hang } }));
    for (const args of [['tools'], ['call', 'hang.x', '--chat', 'a.chat.md']]) {
      const seen = new AbortController();
      const changes = watch(cli.path, { signal: seen.signal });
      const running = cli.start([...args, '--servers', 'hang.json']);
      for await (const { filename } of changes) if (filename === 'up') break;
      seen.abort();
      running.process.kill('SIGINT');
      checkEnd(await running.ended, { code: 1 });
    }
    assert.equal((await readdir(cli.path)).includes('a.chat.md'), false);
  });
});
