import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import { type CliFolder, createCliFolder, MCP_JSON } from '../helpers/runCli.ts';
import { repositoryPath } from '../helpers/sampleServer.ts';

const SERVERS = ['--servers', MCP_JSON] as const;
const CHAT = 'a.chat.md';
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

interface Files extends CliFolder {
  /** Calls a tool and reads its measurements, if it was called. */
  measure(tool: string, args: object, ...more: string[]): Promise<Measured>;
  /** The tools that the server was asked to call. */
  called(): readonly string[];
}

interface Measured {
  readonly code: number | null;
  readonly stderr: string;
  readonly measured: Readonly<Record<string, unknown>> | undefined;
}

async function createFiles(t: TestContext): Promise<Files> {
  const cli = await createCliFolder(t);
  const record = join(cli.path, '..', 'calls');
  const server = {
    command: process.execPath,
    args: [repositoryPath('test/integration/fixtures/files-server.mjs'), record],
  };
  await cli.write(MCP_JSON, JSON.stringify({ servers: { files: server } }));
  return {
    ...cli,
    called: () => (existsSync(record) ? readFileSync(record, 'utf8').trim().split('\n') : []),
    measure: async (tool, args, ...more) => {
      const given = ['--args', JSON.stringify(args), '--chat', CHAT, ...SERVERS, ...more];
      const { code, stdout, stderr } = await cli.start(['call', `files.${tool}`, ...given]).ended;
      const json = /^\{\n {2}"size"[\s\S]*?^\}$/m.exec(stdout)?.[0];
      return { code, stderr, measured: json === undefined ? undefined : JSON.parse(json) };
    },
  };
}

/** Calls `make_pdf` and resolves to the path of its file. */
async function makePdf(
  files: Files,
): Promise<{ readonly name: string; readonly path: string; readonly sha256: string; readonly size: number }> {
  const { code, stdout } = await files.run('call', 'files.make_pdf', '--chat', CHAT, ...SERVERS);
  assert.equal(code, 0);
  const name = /\(cmdassets\/(tool-file-[\w-]+\.pdf)\)/.exec(stdout)?.[1] ?? assert.fail(stdout);
  const path = join(files.path, 'cmdassets', name);
  const bytes = readFileSync(path);
  return { name, path, sha256: sha256(bytes), size: bytes.length };
}

it('a tool that calls itself read-only gets no file without a question, unless everything is allowed', async (t) => {
  const files = await createFiles(t);
  await files.write('secret.env', 'KEY=1');
  await files.write(
    CHAT,
    '# %% user\n```tool_call files.measure_many\n{"files": ["file:secret.env"]}\n```\n',
  );
  const asked = await files.run('run', CHAT, ...SERVERS, '--approve', 'auto-readonly');
  assert.equal(asked.code, 1);
  assert.match(asked.stderr, /A tool call needs your permission, but there is no terminal to ask on/);
  assert.deepEqual(files.called(), []);
  assert.equal((await files.run('run', CHAT, ...SERVERS, '--approve', 'auto')).code, 0);
  assert.deepEqual(files.called(), ['measure_many']);
});

it('the audit log names the files that a tool was given, with their sizes', async (t) => {
  const files = await createFiles(t);
  const pdf = await makePdf(files);
  await files.write('notes.txt', 'Secret words');
  const audit = ['--audit', 'audit.jsonl'];
  await files.measure('measure_many', { files: [`asset:${pdf.name}`, 'file:notes.txt'] }, ...audit);
  await files.measure('measure', { data: 'AAEC' }, ...audit);
  await files.measure('measure', { data: 'file:gone.txt' }, ...audit);
  const log = await files.read('audit.jsonl');
  assert.doesNotMatch(log, /Secret words|AAEC/);
  const lines = log
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const pdfFile = { name: `asset:${pdf.name}`, bytes: pdf.size };
  assert.deepEqual(
    lines.map(({ name, outcome, files: given }) => [name, outcome, given]),
    [
      ['measure_many', 'ok', [pdfFile, { name: 'file:notes.txt', bytes: 12 }]],
      ['measure', 'ok', undefined],
      ['measure', 'error', undefined],
    ],
  );
});

describe('the output of a tool is the input of another, without passing through the chat', () => {
  it('as base64, path, object, list and data URL', async (t) => {
    const files = await createFiles(t);
    const pdf = await makePdf(files);
    const asset = `asset:${pdf.name}`;
    const same = { size: pdf.size, sha256: pdf.sha256 };
    const cases: readonly (readonly [tool: string, args: object, measured: object])[] = [
      ['measure', { data: asset }, same],
      ['measure_path', { path: asset }, { ...same, path: pdf.path }],
      ['measure_uri', { source: asset }, { ...same, source: pathToFileURL(pdf.path).href }],
      ['measure_object', { file: asset }, { ...same, name: pdf.name, mimeType: 'application/pdf' }],
      [
        'measure_object',
        { file: { name: 'own.pdf', mimeType: 'a/b', data: asset } },
        { ...same, name: 'own.pdf', mimeType: 'a/b' },
      ],
      ['measure_many', { files: asset }, { ...same, count: 1 }],
      ['measure_url', { url: asset }, { ...same, head: 'data:application/pdf;base64' }],
    ];
    for (const [tool, args, measured] of cases) {
      assert.deepEqual(await files.measure(tool, args), { code: 0, stderr: '', measured }, tool);
    }
    const twice = await files.measure('measure_many', { files: [asset, asset] });
    const bytes = readFileSync(pdf.path);
    assert.deepEqual(twice.measured, {
      size: 2 * pdf.size,
      sha256: sha256(Buffer.concat([bytes, bytes])),
      count: 2,
    });

    const chat = await files.read(CHAT);
    assert.ok(chat.includes(`\`\`\`tool_call files.measure c2\n{"data": "${asset}"}\n\`\`\``));
    const base64 = bytes.toString('base64');
    for (let at = 0; at + 40 <= base64.length; at += 4000)
      assert.ok(!chat.includes(base64.slice(at, at + 40)));
    assert.ok(chat.length < 6000, `${chat.length}`);
  });

  it('in a chat that is run', async (t) => {
    const files = await createFiles(t);
    const pdf = await makePdf(files);
    const before = `${await files.read(CHAT)}Mine.\n\n\`\`\`tool_call files.measure\n{ "data":  "asset:${pdf.name}" }\n\`\`\`\n`;
    await files.write(CHAT, before);
    const { code, stderr } = await files.run('run', CHAT, ...SERVERS, '--approve', 'auto');
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    const chat = await files.read(CHAT);
    assert.ok(chat.replace('files.measure c2', 'files.measure').startsWith(before));
    assert.ok(chat.includes(`{\n  "size": ${pdf.size},\n  "sha256": "${pdf.sha256}"\n}`));
  });
});

describe('files of the user', () => {
  it('beside the chat, below --root, and below the current folder', async (t) => {
    const files = await createFiles(t);
    mkdirSync(join(files.path, 'data'));
    mkdirSync(join(files.path, '../elsewhere'));
    const bytes = randomBytes(1_000_000);
    writeFileSync(join(files.path, 'data/a b.bin'), bytes);
    writeFileSync(join(files.path, '../elsewhere/c.bin'), bytes);
    const same = { size: bytes.length, sha256: sha256(bytes) };
    assert.deepEqual((await files.measure('measure', { data: 'file:data/a%20b.bin' })).measured, same);
    assert.deepEqual((await files.measure('measure', { data: 'file:data/a b.bin' })).measured, same);
    const absolute = pathToFileURL(join(files.path, 'data/a b.bin')).href;
    assert.deepEqual((await files.measure('measure', { data: absolute })).measured, same);
    const outside = { data: 'file:../elsewhere/c.bin' };
    assert.equal((await files.measure('measure', outside)).code, 1);
    assert.deepEqual((await files.measure('measure', outside, '--root', '../elsewhere')).measured, same);
  });

  it('50 MiB pass; a byte more is refused with its size, and only where the bytes would be sent', async (t) => {
    const files = await createFiles(t);
    const path = join(files.path, 'big.bin');
    const limit = 50 * 1024 * 1024;
    writeFileSync(path, '');
    truncateSync(path, limit);
    assert.equal((await files.measure('measure', { data: 'file:big.bin' })).measured?.['size'], limit);
    truncateSync(path, limit + 1);
    const { code, stderr } = await files.measure('measure', { data: 'file:big.bin' });
    assert.equal(code, 1);
    assert.match(stderr, /it has 52\.4 MB \(52428801 bytes\), and filechat\.results\.maxAssetBytes allows/);
    assert.equal(
      (await files.measure('measure_path', { path: 'file:big.bin' })).measured?.['size'],
      limit + 1,
    );
    assert.deepEqual(files.called(), ['measure', 'measure_path']);
  });
});

describe('a reference that may not be followed', () => {
  it('is a note in the document; the server is not called, and all other text is unchanged', async (t) => {
    const files = await createFiles(t);
    writeFileSync(join(files.path, '../secret.txt'), 'THE SECRET');
    symlinkSync(join(files.path, '../secret.txt'), join(files.path, 'link.txt'));
    mkdirSync(join(files.path, 'cmdassets'));
    const planted = 'tool-file-20261116-093012-V1StGXR8a0-1.txt';
    symlinkSync(join(files.path, '../secret.txt'), join(files.path, 'cmdassets', planted));
    const attacks = [
      'file:../secret.txt',
      'file:/etc/passwd',
      'file:///etc/passwd',
      'file:%2e%2e/secret.txt',
      'file:..%2fsecret.txt',
      'file:..\\secret.txt',
      'file:C:/Windows/win.ini',
      'file://server/share/x',
      'file:link.txt',
      'file:a\u0000b',
      'file:~/.ssh/id_rsa',
      'file:none.txt',
      'file:.',
      `asset:${planted}`,
      'asset:../../secret.txt',
      'asset:/etc/passwd',
      'asset:tool-file-20261116-093012-nothere00-1.txt',
    ];
    const blocks = attacks.map(
      (data) => `\`\`\`tool_call files.measure\n${JSON.stringify({ data })}\n\`\`\`\n`,
    );
    const before = `# %% user\nMine, above.\n\n${blocks.join('between\n\n')}\nMine, below.\n`;
    await files.write(CHAT, before);
    const { code } = await files.run('run', CHAT, ...SERVERS, '--approve', 'auto');
    assert.equal(code, 1);
    const chat = await files.read(CHAT);
    assert.ok(chat.replace(/^(```tool_call \S+) c\d+$/gm, '$1').startsWith(before));
    const notes = chat.match(
      /^> ⚠ The file “.*” in the argument data was not used: .+\. No tool was called\.$/gm,
    );
    assert.equal(notes?.length, attacks.length, chat);
    assert.ok(!chat.includes('THE SECRET') && !chat.includes('root:'));
    assert.deepEqual(files.called(), []);
  });

  it('on the command line: the reason on stderr, exit 1, and no chat is written', async (t) => {
    const files = await createFiles(t);
    const { code, stderr } = await files.measure('measure', { data: 'file:/etc/passwd' });
    assert.equal(code, 1);
    assert.match(
      stderr,
      /^The file “file:\/etc\/passwd” in the argument data was not used: it is outside the folders/,
    );
    assert.equal(existsSync(join(files.path, CHAT)), false);
    assert.deepEqual(files.called(), []);
  });
});
