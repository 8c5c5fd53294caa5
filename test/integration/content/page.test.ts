import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { zipSync } from 'fflate';
import { drawChart } from '../../../samples/server/chart.ts';
import { encodePng } from '../../../samples/server/encode/png.ts';
import { writeReport } from '../../../samples/server/report.ts';
import { playArpeggio } from '../../../samples/server/tools/audio.ts';
import * as content from '../../../src/content/index.ts';
import { temporaryFolder } from '../../kit/folder.ts';
import { linkFilechat, linkPackages, typeCheck } from '../helpers/packedFilechat.ts';
import { repositoryPath } from '../helpers/sampleServer.ts';

const page = await readFile(repositoryPath('docs/content.md'), 'utf8');
const FENCE = /^```(.*)\n([\s\S]*?)^```$/gm;
const fences = [...page.matchAll(FENCE)].map(([, info = '', code = '']) => ({ info, code }));

/** The files of the page by their names; pieces of one file are put together in their order. */
function pageFiles(): Map<string, string> {
  const files = new Map<string, string>();
  for (const { info, code } of fences) {
    const [, name] = /^ts file=(\S+)$/.exec(info) ?? [];
    if (name !== undefined) files.set(name, `${files.get(name) ?? ''}${code}\n`);
  }
  return files;
}

const PNG = encodePng(drawChart({ title: 'Sales', values: [3, 5, 8], style: 'bars' }));
const WAV = playArpeggio('C4', 0.5);
const PDF = writeReport();
const SALES = [
  { month: 'May', sum: 3 },
  { month: 'June', sum: 5 },
];

/** The functions that the page leaves to its reader. */
const YOURS = `
import { readFile } from 'node:fs/promises';
const bytes = (name: string) => readFile(new URL(name, import.meta.url));
export const drawChart = (_values: readonly number[]) => bytes('chart.png');
export const speak = (_text: string) => bytes('speech.wav');
export const readSales = async () => ${JSON.stringify(SALES)};
`;

const folder = temporaryFolder({ after });
const project = join(folder, 'project');

before(async () => {
  await mkdir(join(project, 'reports', 'old.pdf'), { recursive: true });
  await linkFilechat(project);
  await linkPackages(project, ['@modelcontextprotocol/sdk', '@types/node', 'zod']);
  const files = new Map<string, string | Uint8Array>([
    ...pageFiles(),
    ['yours.ts', YOURS],
    ['chart.png', PNG],
    ['speech.wav', WAV],
    ['secret.pdf', PDF],
    ['reports/q3.pdf', PDF],
    ['reports/disguised.pdf', zipSync({})],
  ]);
  for (const [name, text] of files) await writeFile(join(project, name), text);
});

describe('the page for tool authors', () => {
  it('has no untested code except a line for the terminal', () => {
    const others = fences.filter(({ info }) => !/^ts file=/.test(info));
    assert.deepEqual(
      others.map(({ info, code }) => `${info}: ${code.trimEnd().split('\n').length}`),
      ['sh: 1'],
    );
    assert.deepEqual([...pageFiles().keys()], ['chart-server.ts', 'files-server.ts']);
  });

  it('has examples that compile in strict mode', async () => {
    const options = {
      module: 'nodenext',
      target: 'es2023',
      types: ['node'],
      allowImportingTsExtensions: true,
      erasableSyntaxOnly: true,
      noUnusedLocals: true,
      // Only the declarations of the SDK need it; ours are looked at in contentPackage.test.ts.
      skipLibCheck: true,
    };
    assert.equal(await typeCheck(project, [...pageFiles().keys()], options), '');
  });

  it('names everything that the package exports, and nothing else', () => {
    const [, table = ''] = page.split('## Reference');
    const rows = table.split('\n').filter((line) => line.startsWith('| `'));
    const named = rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`(\w+)`/g)]);
    assert.deepEqual(named.map(([, name]) => name).sort(), Object.keys(content).sort());
  });
});

describe('the first example of the page', () => {
  const client = connect('chart-server.ts');

  it('returns the image', async () => {
    const result = await client().callTool({ name: 'chart', arguments: { values: [3, 5, 8] } });
    assert.deepEqual(result.content, [{ type: 'image', mimeType: 'image/png', data: base64(PNG) }]);
  });
});

describe('the server of the page', () => {
  const client = connect('files-server.ts');
  const call = (name: string, args: Record<string, unknown> = {}) =>
    client().callTool({ name, arguments: args });
  const errorOf = async (name: string, args: Record<string, unknown>) => {
    const { isError, content: blocks } = await call(name, args);
    assert.equal(isError, true);
    return blocks.map((block) => (block.type === 'text' ? block.text : block.type)).join();
  };

  it('returns audio', async () => {
    const { content: blocks } = await call('say', { text: 'Hello.' });
    assert.deepEqual(blocks, [{ type: 'audio', mimeType: 'audio/wav', data: base64(WAV) }]);
  });

  it('returns a PDF of its folder', async () => {
    const [block, ...others] = (await call('report', { name: 'q3' })).content;
    assert.ok(block?.type === 'resource' && 'blob' in block.resource && others.length === 0);
    assert.match(block.resource.uri, /\/q3\.pdf$/);
    assert.deepEqual([block.resource.mimeType, block.resource.blob], ['application/pdf', base64(PDF)]);
  });

  it('returns text and a table', async () => {
    assert.deepEqual((await call('sales')).content, [
      { type: 'text', text: '2 months, 8 in all. The table is attached.' },
      {
        type: 'resource',
        resource: { uri: 'files://sales.csv', mimeType: 'text/csv', text: 'month,sum\nMay,3\nJune,5' },
      },
    ]);
  });

  it('returns mixed content in order', async () => {
    const { content: blocks } = await call('overview');
    assert.deepEqual(
      blocks.map(({ type }) => type),
      ['text', 'image', 'text', 'resource'],
    );
    const [, image, , report] = blocks;
    assert.ok(image?.type === 'image' && report?.type === 'resource' && 'blob' in report.resource);
    assert.deepEqual([image.data, report.resource.blob], [base64(PNG), base64(PDF)]);
  });

  it('returns a resource, and a link to it, under the URI by which it is read', async () => {
    const { contents } = await client().readResource({ uri: 'files://logo.png' });
    const resource = { uri: 'files://logo.png', mimeType: 'image/png', blob: base64(PNG) };
    assert.deepEqual(contents, [resource]);
    assert.deepEqual((await call('logo', { link: false })).content, [{ type: 'resource', resource }]);
    const { uri, mimeType } = resource;
    assert.deepEqual((await call('logo', { link: true })).content, [
      { type: 'resource_link', name: 'logo.png', size: PNG.length, uri, mimeType },
    ]);
  });

  it('reports a missing file, a folder, a path that leads out and a wrong type as the page says', async () => {
    assertOnPage(await errorOf('report', { name: 'q9' }));
    assertOnPage(await errorOf('report', { name: 'old' }));
    assertOnPage(await errorOf('report', { name: '../secret' }));
    assertOnPage(await errorOf('report', { name: 'disguised' }));
  });
});

it('other errors have the documented messages, too', async () => {
  const failures = [
    () => content.toImageContent({ type: 'image', data: 'no base64!' }),
    () => content.toImageContent(new Uint8Array()),
    () => content.toImageContent(new Uint8Array(1001), { maxBytes: 1000 }),
    () => content.normalizeResult(undefined),
  ];
  for (const fail of failures) await assert.rejects(fail, ({ message }: Error) => assertOnPage(message));
});

it('the sizes on the page are those of the code', () => {
  assert.deepEqual([content.MAX_SAFE_SIZE, content.MAX_SIZE], [10 * 2 ** 20, 50 * 2 ** 20]);
  assert.match(page, /Over 10 MiB \(`MAX_SAFE_SIZE`\)/);
  assert.match(page, /over 50 MiB \(`MAX_SIZE`/);
});

function assertOnPage(message: string): true {
  assert.ok(page.includes(`| \`${message}\` |`), message);
  return true;
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}

/** A client of a program in the project, for the tests of one suite. */
function connect(program: string): () => Client {
  const client = new Client({ name: 'test', version: '1' });
  before(async () => {
    const args = [join(project, program)];
    await client.connect(new StdioClientTransport({ command: process.execPath, args, cwd: project }));
  });
  after(() => client.close());
  return () => client;
}
