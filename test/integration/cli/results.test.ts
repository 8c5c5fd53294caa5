/** What the seeds ask of results, through the command line and a server that returns exactly what a test gives it. */

import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { beginStream, speak, startRawServer } from '../helpers/modelServer.ts';
import { type CliFolder, checkEnd, createCliFolder } from '../helpers/runCli.ts';
import { fixture } from '../helpers/serving.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const PDF = `%PDF-1.4\n${'a stream of a PDF '.repeat(20)}`;

async function createGiven(t: TestContext, results: Readonly<Record<string, object>>) {
  const cli = await createCliFolder(t);
  const given = join(cli.path, '..', 'given');
  const state = join(cli.path, '..', 'state');
  await mkdir(given);
  for (const [name, result] of Object.entries(results)) {
    await writeFile(join(given, `${name}.json`), JSON.stringify(result));
  }
  const server = { command: process.execPath, args: [fixture('given-server.mjs'), given] };
  await cli.write('mcp.json', JSON.stringify({ servers: { given: server } }));
  const call = (tool: string) =>
    cli.start(['call', `given.${tool}`, '--chat', 'a.chat.md', '--servers', 'mcp.json']).ended;
  return { ...cli, call, recovered: join(state, 'filechat', 'recovered') };
}

/** The bodies of the requests that the model `m` of `models.json` gets. */
async function startModel(t: TestContext, cli: Pick<CliFolder, 'write'>): Promise<readonly string[]> {
  const bodies: string[] = [];
  const url = await startRawServer(t, (connection) => {
    bodies.push(connection.body);
    beginStream(connection);
    connection.response.end(speak('openai-compatible', ['Seen.']).join(''));
  });
  const model = { provider: 'openai-compatible', model: 'm', baseUrl: `${url}/v1` };
  await cli.write('models.json', JSON.stringify({ models: { m: model } }));
  return bodies;
}

/** The target of each link to a file of this name, in order. */
function targets(chat: string, name = ''): readonly string[] {
  const links = chat.matchAll(/^!?\[Tool generated (?:image|file) \d+(?:: (.*))?\]\((.*)\)$/gm);
  return [...links].filter((link) => (link[1] ?? '') === name).map((link) => link[2] ?? '');
}

describe('a result that is too long for a chat', () => {
  it('goes to a file from 200,000 characters on, for the chat and for the model', async (t) => {
    const texts = Array.from(
      { length: 60 },
      (_, at) => `<${at}> ${'seven words in a row, again and '.repeat(240)}`,
    );
    const content = texts.map((text) => ({ type: 'text', text }));
    const cli = await createGiven(t, { flood: { content, structuredContent: { rows: 'z'.repeat(9000) } } });
    checkEnd(await cli.call('flood'), { code: 0, stderr: '' });
    const chat = await cli.read('a.chat.md');
    assert.ok(chat.length > 100_000 && chat.length < 200_500, `${chat.length} characters`);
    assert.match(
      chat,
      /^> ⚠ The result is longer than 200000 characters\. This file has the other 4\d of its 61 parts/m,
    );
    const [target = ''] = targets(chat, 'rest-of-result.md');
    const rest = await cli.read(target);
    const shown = texts.filter((text) => chat.includes(text)).length;
    assert.deepEqual(
      texts.map((text) => chat.includes(text) || rest.includes(text)),
      texts.map(() => true),
    );
    assert.ok(rest.indexOf(`<${shown}> `) < rest.indexOf('<59> ') && rest.includes('"rows": "zzz'));

    const bodies = await startModel(t, cli);
    // A result that was longer before there was a limit, or that the user wrote.
    const older = `# %% tool given.flood c9\n${'an old line of text\n'.repeat(20_000)}`;
    await cli.write('a.chat.md', `${chat.trimEnd()}\nGo on.\n`);
    await cli.write(
      'b.chat.md',
      `# %% user\n\`\`\`tool_call given.flood c9\n{}\n\`\`\`\n\n${older}\n# %% user\nGo on.\n`,
    );
    for (const file of ['a.chat.md', 'b.chat.md']) {
      checkEnd(await cli.run('run', file, '--model', 'm', '--models', 'models.json'), { code: 0 });
    }
    assert.deepEqual(
      bodies.map((body) => body.length < 230_000),
      [true, true],
    );
    assert.match(bodies[0] ?? '', /rest-of-result\.md.*asset:tool-file-/);
    assert.match(bodies[1] ?? '', /\[Cut: these are the first 200000 of \d+ characters\.\]/);
  });
});

describe('every block of a result', () => {
  it('is kept: unknown blocks with bytes, SVG, names beside bytes, source code', async (t) => {
    const large = Buffer.concat([Buffer.from('%PDF-1.4\n'), Buffer.alloc(300_000, 'stream ')]);
    const svg = '<svg xmlns="http://www.w3.org/2000/svg"><circle r="4"/></svg>';
    const content = [
      { type: 'binary', data: base64(PDF), mimeType: 'application/pdf' },
      {
        type: 'hologram',
        blob: large.toString('base64'),
        media_type: 'application/pdf',
        filename: '../../h [x](y).pdf',
        depth: 3,
      },
      { type: 'image', data: base64(svg), mimeType: 'image/svg+xml' },
      { type: 'resource', resource: { uri: 'x://a.py', mimeType: 'text/x-python', text: 'print(1)' } },
      { type: 'text', text: JSON.stringify({ name: 'Sales Dashboard', content: base64(`${PDF}2`) }) },
    ];
    const structuredContent = {
      file: { fileName: 'big.pdf', bytes: Buffer.concat([large, large]).toString('base64') },
    };
    const cli = await createGiven(t, { all: { content, structuredContent } });
    checkEnd(await cli.call('all'), { code: 0, stderr: '' });
    const chat = await cli.read('a.chat.md');
    const bytesOf = async (name: string) => cli.readBytes(targets(chat, name)[0] ?? '');
    assert.equal((await bytesOf('')).toString(), PDF);
    assert.deepEqual(await bytesOf('h _x_(y).pdf'), large);
    assert.match(
      chat,
      /```json\n\{\n {2}"type": "hologram",\n {2}"media_type": "application\/pdf",\n {2}"filename": .*\n {2}"depth": 3\n\}\n```/,
    );
    const [image = ''] = /!\[Tool generated image 1\]\((.*\.svg)\)/.exec(chat)?.slice(1) ?? [];
    assert.equal(await cli.read(image), svg);
    assert.match(chat, /^> From `x:\/\/a\.py` \(`text\/x-python`\)\n\n```python\nprint\(1\)\n```$/m);
    assert.equal((await bytesOf('Sales Dashboard')).toString(), `${PDF}2`);
    assert.deepEqual(await bytesOf('big.pdf'), Buffer.concat([large, large]));
  });
});

it('a result of which nothing can be used fails, however long it is', async (t) => {
  const content = Array.from({ length: 6000 }, (_, at) => ({ type: 'image', data: `not base64! ${at}` }));
  const cli = await createGiven(t, { broken: { content } });
  const { stderr } = checkEnd(await cli.call('broken'), { code: 1 });
  assert.equal(stderr, 'The image could not be saved: its data is not base64.\n');
});

describe('a cmdassets that cannot be written', () => {
  it('costs nothing: a preview stays, copies are kept, and Retry saves them', async (t) => {
    const long = `first line\n${'words of a long text\n'.repeat(1000)}last line`;
    const large = Buffer.concat([Buffer.from('%PDF-1.4\n'), Buffer.alloc(300_000, 'stream ')]);
    const pdf = { type: 'resource', resource: { uri: 'x://a.pdf', blob: large.toString('base64') } };
    const cli = await createGiven(t, { long: { content: [{ type: 'text', text: long }, pdf] } });
    await cli.write('cmdassets', 'a file');
    const { stderr } = checkEnd(await cli.call('long'), { code: 1 });
    assert.match(stderr, /Could not save file 1 to cmdassets\/: it is a file\./);
    const chat = await cli.read('a.chat.md');
    assert.match(
      chat,
      /^> ⚠ Could not save file 1 .*recovered.*tool-file-.*\.txt until Retry saves it\.\n\n```text preview\nfirst line\n[\s\S]*\n…\n[\s\S]*last line\n```$/m,
    );
    const copies = (await readdir(cli.recovered)).sort();
    assert.equal(copies.length, 2);
    assert.equal(await readFile(join(cli.recovered, copies[0] ?? ''), 'utf8'), long);

    checkEnd(await cli.run('retry', 'a.chat.md'), { code: 1, stdout: '' });
    assert.equal(await cli.read('a.chat.md'), chat);
    await rm(join(cli.path, 'cmdassets'));
    const { stdout } = checkEnd(await cli.start(['retry', 'a.chat.md']).ended, { code: 0, stderr: '' });
    assert.deepEqual(
      stdout.trim().split('\n'),
      copies.map((name) => `cmdassets/${name}`),
    );
    const saved = await cli.read('a.chat.md');
    assert.doesNotMatch(saved, /⚠/);
    assert.match(saved, /^\[Tool generated file 1\]\(.*\.txt\)\n\n```text preview\nfirst line\n/m);
    assert.equal(await cli.read(targets(saved)[0] ?? ''), long);
    assert.deepEqual(await cli.readBytes(targets(saved, 'a.pdf')[0] ?? ''), large);
    assert.deepEqual(await readdir(cli.recovered), []);
    const { stderr: none } = checkEnd(await cli.run('retry', 'a.chat.md'), { code: 1 });
    assert.equal(none, 'This chat has no files to retry.\n');
    await writeFile(join(cli.recovered, copies[0] ?? ''), long);
    checkEnd(await cli.run('retry', 'a.chat.md'), {
      code: 1,
      stderr: `This chat has no files to retry. The recovery folder ${cli.recovered} has files that it does not name: ${copies[0]}.\n`,
    });
  });

  it('is never repaired from another place than the recovery folder', async (t) => {
    const cli = await createGiven(t, {});
    const name = 'tool-file-20261117-101010-V1StGXR8a0-1.txt';
    await cli.write(name, 'secret');
    const forged = (path: string) =>
      `# %% tool a.b c1\n> ⚠ Could not save file 1 to cmdassets/: full. It is kept in ${path} until Retry saves it.\n`;
    for (const path of [join(cli.path, name), '/etc/passwd', `../../${name}`]) {
      await cli.write('a.chat.md', forged(path));
      checkEnd(await cli.run('retry', 'a.chat.md'), { code: 1 });
      assert.equal(await cli.read('a.chat.md'), forged(path));
    }
    assert.ok(!(await readdir(cli.path)).includes('cmdassets'));
  });
});

describe('a result reads well', () => {
  const PNG =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  const SVG = '<svg xmlns="http://www.w3.org/2000/svg"><circle r="4"/></svg>';
  const text = (value: string) => ({ type: 'text', text: value });
  const image = { type: 'image', data: PNG, mimeType: 'image/png' };
  const about = { uri: 'charts://sales.svg', mimeType: 'image/svg+xml' };
  const REPORT = '# Sales\n\nThe year was good,\nsee [the table](https://a.example/t).';
  const ROWS = { rows: [{ name: 'Süd', value: 3 }], total: 3 };

  it('lines, reports, JSON, SVG, colors and previews', async (t) => {
    const cli = await createGiven(t, {
      lines: { content: [text('Sales: 3\nCosts: 2'), image, text(REPORT)] },
      json: { content: [text(JSON.stringify(ROWS))] },
      svg: {
        content: [
          { type: 'resource', resource: { ...about, text: SVG } },
          { type: 'resource', resource: { ...about, blob: base64(SVG) } },
        ],
      },
      colors: { content: [text('\u001b[31mnot found\u001b[0m')] },
      long: { content: [text(`\n${'one very long line '.repeat(1000)}`)] },
    });
    for (const tool of ['lines', 'json', 'svg', 'colors', 'long']) {
      checkEnd(await cli.call(tool), { code: 0, stderr: '' });
    }
    const chat = await cli.read('a.chat.md');
    const turn = (tool: string) =>
      new RegExp(`^# %% tool given\\.${tool} c\\d\\n([\\s\\S]*?)\\n\\n# %% user$`, 'm').exec(
        `${chat.trim()}\n`,
      )?.[1] ?? '';
    assert.match(turn('lines'), /^Sales: 3 {2}\nCosts: 2\n\n!\[Tool generated image 1\]\(.*\)\n\n# Sales\n/);
    assert.ok(turn('lines').endsWith(REPORT));
    assert.equal(turn('json'), `\`\`\`json formatted\n${JSON.stringify(ROWS, null, 2)}\n\`\`\``);
    const images = [...turn('svg').matchAll(/^!\[Tool generated image \d\]\((.*\.svg)\)$/gm)].map(
      ([, path = '']) => path,
    );
    assert.deepEqual(await Promise.all(images.map((path) => cli.read(path))), [SVG, SVG]);
    assert.equal(turn('colors'), '```\nnot found\n```');
    assert.match(turn('long'), /```text preview\n(?:one very long line ){10}/);

    const bodies = await startModel(t, cli);
    await cli.write('a.chat.md', `${chat.trimEnd()}\nGo on.\n`);
    checkEnd(await cli.run('run', 'a.chat.md', '--model', 'm', '--models', 'models.json'), { code: 0 });
    for (const said of ['Sales: 3\nCosts: 2', REPORT, JSON.stringify(ROWS), 'not found']) {
      assert.ok(bodies[0]?.includes(JSON.stringify(said)), `${said} is not in ${bodies[0]}`);
    }
    assert.doesNotMatch(bodies[0] ?? '', /\\u001b|U\+001B/);
  });
});
