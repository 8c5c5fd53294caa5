/** The built programs on the oldest Node that package.json promises. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { before, describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { makeBmp } from '../../kit/documents.ts';
import { everyDocument } from '../../kit/everyDocument.ts';
import { assetsServerFile, createNotes, IMAGE, startOverHttp } from '../helpers/assetsServer.ts';
import { beginStream, configFor, PROVIDERS, speak, startRawServer, textsOf } from '../helpers/modelServer.ts';
import { installNode20 } from '../helpers/node20.ts';
import { type CliFolder, checkEnd, createCliFolder, type StartOptions } from '../helpers/runCli.ts';
import { repositoryPath } from '../helpers/sampleServer.ts';
import { freePort, fromNpm, startAndAwait } from '../helpers/serving.ts';

const installTimeoutMs = 5 * 60_000;
let node = '';

before(
  async () => {
    node = await installNode20();
  },
  { timeout: installTimeoutMs },
);

interface Cli extends Pick<CliFolder, 'write' | 'read'> {
  start(
    args: readonly string[],
    options?: Omit<StartOptions, 'node'> & { readonly flags?: string[] },
  ): ReturnType<CliFolder['start']>;
}

async function createCli(t: TestContext, servers: object): Promise<Cli> {
  const { start, write, read } = await createCliFolder(t);
  await write('servers.json', JSON.stringify({ servers }));
  return {
    write,
    read,
    start: (args, { flags = [], ...options } = {}) => start(args, { ...options, node: [node, ...flags] }),
  };
}

const call = (name: string, args = '{}') =>
  ['call', name, '--args', args].concat('--chat a.chat.md --servers servers.json'.split(' '));

const ECHO = call('everything.echo', '{"message": "hi"}');

async function startEverything(t: TestContext, way: 'sse' | 'streamableHttp'): Promise<number> {
  const port = await freePort();
  const config = fromNpm('@modelcontextprotocol/server-everything', way);
  await startAndAwait(t, { ...config, env: { PORT: String(port) } }, /on port/);
  return port;
}

describe('the oldest Node', { concurrency: 2 }, () => {
  it('is the one that package.json names', async () => {
    const manifest = JSON.parse(await readFile(repositoryPath('package.json'), 'utf8'));
    const { stdout } = await promisify(execFile)(node, ['--version']);
    assert.equal(`>=${stdout.trim().slice(1)}`, manifest.engines.node);
  });

  it('runs the command line with a server over stdio', async (t) => {
    const { args } = fromNpm('@modelcontextprotocol/server-everything', 'stdio');
    const cli = await createCli(t, { everything: { command: node, args } });
    assert.match(checkEnd(await cli.start(ECHO).ended, { code: 0 }).stdout, /Echo: hi/);
  });

  for (const [type, way, path] of [
    ['http', 'streamableHttp', 'mcp'],
    ['sse', 'sse', 'sse'],
  ] as const) {
    it(`runs the command line with a server over ${way}`, async (t) => {
      const url = `http://127.0.0.1:${await startEverything(t, way)}/${path}`;
      const cli = await createCli(t, { everything: { type, url } });
      assert.match(checkEnd(await cli.start(ECHO).ended, { code: 0 }).stdout, /Echo: hi/);
    });
  }

  it('asks on the terminal', async (t) => {
    const server = fileURLToPath(new URL('../fixtures/asking-server.mjs', import.meta.url));
    const cli = await createCli(t, { asking: { command: node, args: [server] } });
    const flags = ['--import', 'data:text/javascript,process.stdin.isTTY = true'];
    const running = cli.start(call('asking.greet'), { flags, withInput: true });
    await running.said(/Who is it\?[\s\S]*name > $/);
    running.process.stdin?.write('Ada\n');
    assert.match(checkEnd(await running.ended, { code: 0 }).stdout, /Hello, Ada\./);
  });

  it('converts images and reads documents in its worker', async (t) => {
    const bodies: string[] = [];
    const url = await startRawServer(t, (connection) => {
      bodies.push(connection.body);
      beginStream(connection);
      connection.response.end(speak('openai-compatible', ['Seen.']).join(''));
    });
    const cli = await createCli(t, {});
    const documents = await everyDocument();
    for (const [ending, bytes] of documents) await cli.write(`my.${ending}`, bytes);
    await cli.write('old.bmp', makeBmp(40, 30));
    const links = documents.map(([ending]) => `[x](my.${ending})`).join(' ');
    await cli.write('a.chat.md', `# %% user\n${links} [y](old.bmp)\n`);
    const model = configFor('openai-compatible', url);
    await cli.write('models.json', JSON.stringify({ models: { m: model } }));
    const args = ['run', 'a.chat.md', '--model', 'm', '--models', 'models.json'];
    checkEnd(await cli.start(args, { env: { FILECHAT_KEY_M: 'key' } }).ended, { code: 0 });
    const sent = textsOf(JSON.parse(bodies[0] ?? '')).join('\n');
    for (const [ending, , text] of documents) assert.ok(sent.includes(text), ending);
    assert.match(bodies[0] ?? '', /data:image\/png;base64,iVBOR/);
  });

  for (const provider of PROVIDERS) {
    it(`asks a model: ${provider}`, async (t) => {
      const url = await startRawServer(t, (connection) => {
        beginStream(connection);
        connection.response.end(speak(provider, ['Hi ', 'there.']).join(''));
      });
      const cli = await createCli(t, {});
      await cli.write('a.chat.md', '# %% user\nHi\n');
      await cli.write('models.json', JSON.stringify({ models: { m: configFor(provider, url) } }));
      const running = cli.start(['run', 'a.chat.md', '--model', 'm', '--models', 'models.json'], {
        env: { FILECHAT_KEY_M: 'key' },
      });
      checkEnd(await running.ended, { code: 0 });
      assert.match(await cli.read('a.chat.md'), /# %% assistant\nHi there\.\n/);
    });
  }

  for (const way of ['stdio', 'Streamable HTTP']) {
    it(`runs the assets server over ${way}`, async (t) => {
      const notes = createNotes(t);
      const { url, token } =
        way === 'stdio' ? { url: '', token: '' } : await startOverHttp(t, [notes.path], { node });
      const cli = await createCli(t, {
        assets: url
          ? { type: 'http', url: String(url), headers: { authorization: `Bearer ${token}` } }
          : { command: node, args: [assetsServerFile(), notes.path] },
      });
      const { stdout } = checkEnd(await cli.start(call('assets.list_assets')).ended, { code: 0 });
      assert.match(stdout, new RegExp(IMAGE));
    });
  }
});
