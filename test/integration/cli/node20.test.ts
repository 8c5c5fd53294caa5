/** The built programs on the oldest Node that package.json promises. */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
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
const endTimeoutMs = 60_000;
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

async function startEverything(t: TestContext, way: 'sse' | 'streamableHttp', path: string): Promise<string> {
  const port = await freePort();
  const config = fromNpm('@modelcontextprotocol/server-everything', way);
  await startAndAwait(t, { ...config, env: { PORT: String(port) } }, /on port/);
  return `http://127.0.0.1:${port}/${path}`;
}

/** Runs the command line in one process for each chat, up to the first that fails. */
const RUN_EACH = `
import { pathToFileURL } from 'node:url';
const [node, cli, ...names] = process.argv;
for (const name of names) {
  process.argv = [node, cli, 'run', name + '.chat.md', '--model', 'm', '--models', name + '.json'];
  await import(pathToFileURL(cli) + '?' + name);
  if (process.exitCode !== 0) break;
}
`;

/** Objects are collected when nothing can be called back any more. */
const COLLECT_AT_EXIT = `
const registry = new FinalizationRegistry(() => {});
const registerMany = () => { for (let at = 0; at < 1000; at += 1) registry.register({ at }, at); };
process.on('exit', () => {
  registerMany();
  gc();
});
`;

describe('the oldest Node', { concurrency: 2 }, () => {
  it('is the one that package.json names', async () => {
    const manifest = JSON.parse(await readFile(repositoryPath('package.json'), 'utf8'));
    const { stdout } = await promisify(execFile)(node, ['--version']);
    assert.equal(`>=${stdout.trim().slice(1)}`, manifest.engines.node);
  });

  it('runs the command line with servers over each transport, and the assets server over stdio and HTTP', async (t) => {
    const notes = createNotes(t);
    const { args } = fromNpm('@modelcontextprotocol/server-everything', 'stdio');
    const { url, token } = await startOverHttp(t, [notes.path], { node });
    const cli = await createCli(t, {
      stdio: { command: node, args },
      http: { type: 'http', url: await startEverything(t, 'streamableHttp', 'mcp') },
      sse: { type: 'sse', url: await startEverything(t, 'sse', 'sse') },
      assets: { command: node, args: [assetsServerFile(), notes.path] },
      remote: { type: 'http', url: String(url), headers: { authorization: `Bearer ${token}` } },
    });
    const calls = [
      ...['stdio', 'http', 'sse'].map((server) => `tool_call ${server}.echo\n{"message": "hi"}`),
      ...['assets', 'remote'].map((server) => `tool_call ${server}.list_assets\n{}`),
    ];
    await cli.write('a.chat.md', `# %% user\n${calls.map((call) => `\`\`\`${call}\n\`\`\`\n`).join('')}`);
    const run = ['run', 'a.chat.md', '--servers', 'servers.json', '--approve', 'auto'];
    checkEnd(await cli.start(run).ended, { code: 0 });
    const results = (await cli.read('a.chat.md')).split(/^# %% tool /m).slice(1);
    assert.equal(results.length, calls.length);
    for (const result of results) assert.match(result, new RegExp(`Echo: hi|${IMAGE}`));
  });

  it('ends whatever is collected while it ends', async (t) => {
    const flags = ['--expose-gc', '--import', `data:text/javascript,${encodeURIComponent(COLLECT_AT_EXIT)}`];
    const { start } = await createCli(t, {});
    checkEnd(await start(['--version'], { flags }).ended, { code: 0 });
    const served = spawnSync(node, [...flags, assetsServerFile(), '--version'], { timeout: endTimeoutMs });
    assert.equal(served.status, 0, String(served.error));
  });

  it('asks on the terminal', async (t) => {
    const server = fileURLToPath(new URL('../fixtures/asking-server.mjs', import.meta.url));
    const cli = await createCli(t, { asking: { command: node, args: [server] } });
    const flags = ['--import', 'data:text/javascript,process.stdin.isTTY = true'];
    const args = ['call', 'asking.greet', '--chat', 'a.chat.md', '--servers', 'servers.json'];
    const running = cli.start(args, { flags, withInput: true });
    await running.said(/Who is it\?[\s\S]*name > $/);
    running.process.stdin?.write('Ada\n');
    assert.match(checkEnd(await running.ended, { code: 0 }).stdout, /Hello, Ada\./);
  });

  it('converts images and reads documents in its worker, and asks a model: openai-compatible', async (t) => {
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
    assert.match(await cli.read('a.chat.md'), /# %% assistant\nSeen\.\n/);
    assert.match(bodies[0] ?? '', /data:image\/png;base64,iVBOR/);
  });

  it('asks a model of every other provider', async (t) => {
    const cli = await createCli(t, {});
    const providers = PROVIDERS.filter((each) => each !== 'openai-compatible');
    for (const provider of providers) {
      const url = await startRawServer(t, (connection) => {
        beginStream(connection);
        connection.response.end(speak(provider, ['Hi ', 'there.']).join(''));
      });
      await cli.write(`${provider}.chat.md`, '# %% user\nHi\n');
      await cli.write(`${provider}.json`, JSON.stringify({ models: { m: configFor(provider, url) } }));
    }
    const flags = ['--input-type=module', '--eval', RUN_EACH];
    const running = cli.start(providers, { flags, env: { FILECHAT_KEY_M: 'key' } });
    checkEnd(await running.ended, { code: 0 });
    for (const provider of providers)
      assert.match(await cli.read(`${provider}.chat.md`), /# %% assistant\nHi there\.\n/, provider);
  });
});
