/** Links of the user on their way to a model, through the command line. */
import assert from 'node:assert/strict';
import type { lookup as systemLookup } from 'node:dns';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { main } from '../../../src/cli/main.ts';
import { attachAddress } from '../../../src/loop/attachAddress.ts';
import { serveHttp } from '../../kit/http.ts';
import { beginStream, configFor, speak, startRawServer, textsOf } from '../helpers/modelServer.ts';
import { checkEnd, createCliFolder } from '../helpers/runCli.ts';

/** Runs a chat with these links. Returns the texts that reached the provider, and what the user was told. */
async function send(t: TestContext, links: string, files: Readonly<Record<string, string | Uint8Array>>) {
  const bodies: unknown[] = [];
  const url = await startRawServer(t, (connection) => {
    bodies.push(JSON.parse(connection.body));
    beginStream(connection);
    connection.response.end(speak('anthropic', ['Done.']).join(''));
  });
  const cli = await createCliFolder(t, { FILECHAT_KEY_M: 'key' });
  for (const folder of ['src/node_modules/x', 'cmdassets'])
    await mkdir(join(cli.path, folder), { recursive: true });
  await cli.write('models.json', JSON.stringify({ models: { m: configFor('anthropic', url) } }));
  await cli.write('a.chat.md', `# %% user\n${links}\n`);
  for (const [name, content] of Object.entries(files)) await cli.write(name, content);
  const args = ['run', 'a.chat.md', '--model', 'm', '--models', 'models.json'];
  const { stderr } = checkEnd(await cli.run(...args), { code: 0 });
  return { text: textsOf(bodies[0]).join('\n'), stderr, cli };
}

describe('a link of the user', () => {
  it('to lines sends those lines with their numbers, and a line in place of those that do not exist', async (t) => {
    const code = Array.from({ length: 30 }, (_, at) => `code ${at + 1};`).join('\n');
    const { text, stderr } = await send(
      t,
      'See [a](src/a.ts#L10-L12), [b](src/a.ts#L40) and [c](src/b.bin#L1)',
      {
        'src/a.ts': code,
        'src/b.bin': Uint8Array.of(0, 1, 255),
      },
    );
    assert.match(
      text,
      /Lines 10–12 of the file src\/a\.ts, with line numbers:\n10\tcode 10;\n11\tcode 11;\n12\tcode 12;/,
    );
    assert.doesNotMatch(text, /code 9;|code 13;/);
    assert.match(text, /\[Line 40 of the file src\/a\.ts is not sent: it has 30 lines\.\]/);
    assert.match(text, /\[Line 1 of the file src\/b\.bin is not sent: it is not a text file\.\]/);
    assert.match(stderr, /^Attached: src\/a\.ts \(lines 10–12\)$/m);
    assert.match(stderr, /^Line 40 of “src\/a\.ts” is not sent to the model: it has 30 lines\.$/m);
    assert.match(stderr, /^Line 1 of “src\/b\.bin” is not sent to the model: it is not a text file\.$/m);
  });

  it('to a folder sends names and sizes, and no content', async (t) => {
    const { text, stderr } = await send(t, 'What is in [src](src)?', {
      'src/a.ts': 'secret();',
      'src/node_modules/x/index.js': '',
    });
    assert.match(
      text,
      /in the folder src\. Their content is not sent: .*\na\.ts {2}9 bytes\nnode_modules\/ {2}\(not listed\)/,
    );
    assert.doesNotMatch(text, /secret|index\.js/);
    assert.match(stderr, /^Attached: src \(\d+ bytes\)$/m);
  });
});

describe('filechat attach', () => {
  /** A site that counts the requests for each of its pages. */
  async function startSite(t: TestContext) {
    const requests: string[] = [];
    const url = await serveHttp(t, ({ url: path = '' }, response) => {
      requests.push(path);
      if (path === '/moved') return response.writeHead(302, { location: '/page.txt' }).end();
      if (path === '/away') return response.writeHead(302, { location: 'https://other.test/' }).end();
      if (path === '/none') return response.writeHead(404).end('no');
      if (path === '/long') return response.writeHead(200).end('x'.repeat(2000));
      return response.writeHead(200, { 'content-type': 'text/plain' }).end('The page.');
    });
    return { url, host: new URL(url).host, requests };
  }

  const chatOf = (address: string) => `# %% user\nRead [this](${address}).\n`;

  it('fetches an address once, and the next run sends the file', async (t) => {
    const site = await startSite(t);
    const { text, stderr, cli } = await send(t, `Before [this](${site.url}/page.txt).`, {});
    assert.match(text, /\[this\]\(http:\/\/127/);
    assert.doesNotMatch(`${text}${stderr}`, /The page\./);
    assert.deepEqual(site.requests, []);
    await cli.write('b.chat.md', chatOf(`${site.url}/moved`));
    // Longer than timers support.
    await cli.write('settings.json', '{ "timeoutSeconds": 3000000.0005 }');
    const args = ['attach', `${site.url}/moved`, '--chat', 'b.chat.md', '--allow-host', site.host];
    args.push('--settings', 'settings.json');
    const { stdout } = checkEnd(await cli.start(args).ended, { code: 0, stderr: '' });
    const path = stdout.trim();
    assert.match(path, /^cmdassets\/tool-file-.*-1\.txt$/);
    assert.equal(await cli.read(path), 'The page.');
    assert.equal(await cli.read('b.chat.md'), `# %% user\nRead [this](${path} "${site.url}/moved").\n`);
    assert.deepEqual(site.requests, ['/moved', '/page.txt']);
    const sent = await send(t, (await cli.read('b.chat.md')).replace('# %% user\n', ''), {
      [path]: 'The page.',
    });
    assert.match(sent.text, /File cmdassets\/tool-file-.*\.txt:\nThe page\./);
    assert.equal(site.requests.length, 2);
  });

  it('keeps the line endings of the chat between several links to one address', async (t) => {
    const site = await startSite(t);
    const link = `[this](${site.url}/page.txt)`;
    const cli = await createCliFolder(t);
    await cli.write('a.chat.md', `# %% user\r\n${link}\r\n${link}\r\n`);
    const args = ['attach', `${site.url}/page.txt`, '--chat', 'a.chat.md', '--allow-host', site.host];
    checkEnd(await cli.run(...args), { code: 0, stderr: '' });
    assert.doesNotMatch(await cli.read('a.chat.md'), /\r\r|[^\r]\n/);
  });

  it('contacts no host without permission', async (t) => {
    const site = await startSite(t);
    const cli = await createCliFolder(t);
    await cli.write('a.chat.md', chatOf(`${site.url}/page.txt`));
    for (const more of [[], ['--allow-host', 'example.test']]) {
      const end = await cli.run('attach', `${site.url}/page.txt`, '--chat', 'a.chat.md', ...more);
      checkEnd(end, {
        code: 1,
        stderr: `Fetching ${site.url}/page.txt needs your permission, but there is no terminal to ask on. To allow it, add --allow-host ${site.host}.\n`,
      });
    }
    assert.deepEqual(site.requests, []);
    assert.equal(await cli.read('a.chat.md'), chatOf(`${site.url}/page.txt`));
  });

  for (const [said, code] of [
    ['y', 0],
    ['n', 1],
    [undefined, 1],
  ] as const) {
    it(`asks on the terminal, and ${said ?? 'no answer'} is ${code === 0 ? 'yes' : 'no'}`, async (t) => {
      const site = await startSite(t);
      const cli = await createCliFolder(t);
      const asked: string[] = [];
      const ask = async (question: string) => {
        asked.push(question);
        return said;
      };
      const context = { out: () => {}, err: () => {}, ask, version: '', signal: t.signal };
      const chat = join(cli.path, 'a.chat.md');
      assert.equal(await main(['attach', `${site.url}/page.txt`, '--chat', chat], context), code);
      assert.deepEqual(asked, [
        `Fetch ${site.url}/page.txt from ${site.host} and save it beside the chat? [y]es, [n]o: `,
      ]);
      assert.equal(site.requests.length, code === 0 ? 1 : 0);
      assert.equal(existsSync(chat), code === 0);
    });
  }

  const failures: Readonly<Record<string, string>> = {
    '/away': 'It redirects to https://other.test/. To fetch that, attach it instead.',
    '/none': 'HOST responded with 404.',
    '/long': 'The response is larger than 1.0 KB.',
  };
  for (const [path, reason] of Object.entries(failures)) {
    it(`leaves the chat as it is after a failure: ${reason}`, async (t) => {
      const site = await startSite(t);
      const cli = await createCliFolder(t);
      await cli.write('a.chat.md', chatOf(`${site.url}${path}`));
      await cli.write('settings.json', JSON.stringify({ 'results.maxAssetBytes': 1000 }));
      const args = ['attach', `${site.url}${path}`, '--chat', 'a.chat.md', '--settings', 'settings.json'];
      checkEnd(await cli.run(...args, '--allow-host', site.host), {
        code: 1,
        stderr: `${site.url}${path} could not be fetched. ${reason.replace('HOST', site.host)}\n`,
      });
      assert.equal(await cli.read('a.chat.md'), chatOf(`${site.url}${path}`));
      assert.equal(existsSync(join(cli.path, 'cmdassets')), false);
    });
  }

  const refused: Readonly<Record<string, string>> = {
    'ftp://example.test/a': '“ftp://example.test/a” is not a web address. Use one that begins with https://.',
    'http://example.test/a': 'http://example.test/a is not fetched: the connection would not be encrypted.',
    'https://169.254.169.254/a':
      'https://169.254.169.254/a is not fetched: it could expose the credentials of this machine.',
  };
  for (const [address, stderr] of Object.entries(refused)) {
    it(`refuses ${address}`, async (t) => {
      const cli = await createCliFolder(t);
      const args = ['attach', address, '--chat', 'a.chat.md', '--allow-host', 'example.test'];
      checkEnd(await cli.run(...args), { code: 1, stderr: `${stderr}\n` });
    });
  }

  it('does not let a name lead to this machine', async (t) => {
    const site = await startSite(t);
    const lookup = ((_name: string, _options: object, callback: (error: null, found: object[]) => void) =>
      setImmediate(callback, null, [{ address: '127.0.0.1', family: 4 }])) as unknown as typeof systemLookup;
    const { ok, error } = await attachAddress('https://example.test/a', {
      document: { edit: () => assert.fail('nothing is written') },
      assets: { beginResult: () => assert.fail('nothing is saved') },
      limits: { maxAssetBytes: 1000 },
      mayFetch: async () => true,
      signal: t.signal,
      timeoutMs: 60_000,
      lookup,
    });
    assert.equal(ok, false);
    assert.match(error ?? '', /Its host name resolves to this machine or the local network\./);
    assert.deepEqual(site.requests, []);
  });
});
