import assert from 'node:assert/strict';
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { before, describe, it } from 'node:test';
import type { Client } from '@modelcontextprotocol/client';
import fc from 'fast-check';
import { readAssetName } from '../../../src/base/assetNames.ts';
import { anySign } from '../../kit/anySign.ts';
import {
  CHAT,
  CHAT_URI,
  cleanUpLast,
  connectOverStdio,
  createNotes,
  IMAGE,
  IMAGE_URI,
  type Notes,
  REPORT,
} from '../helpers/assetsServer.ts';

const CANARY = 'CANARY-that-must-not-be-readable';
const FOREIGN = 'tool-file-20261116-093012-Foreign123-1.txt';
const LINKED = 'tool-file-20261116-093012-Linked1234-1.txt';
const RUNS = 300;
const SEED = 7;
const AT_ONCE = 50;

/** Each is outside the served folder, or inside but not served. */
const CANARIES = [
  'secret.chat.md',
  `cmdassets/${FOREIGN}`,
  'outside/other.chat.md',
  `outside/cmdassets/${FOREIGN}`,
  'served/private.txt',
  'served/notes/cmdassets/private.txt',
  'served/.hidden/plan.chat.md',
  'served/node_modules/a/README.chat.md',
];

/** Links that lead out of the served folder, or to files that are not served. */
const LINKS: readonly [at: string, to: string][] = [
  ['served/link.chat.md', '../secret.chat.md'],
  ['served/inner.chat.md', 'private.txt'],
  ['served/linked', '../outside'],
  [`served/notes/cmdassets/${LINKED}`, `../../../cmdassets/${FOREIGN}`],
  ['served/bad/cmdassets', '../../cmdassets'],
];

describe('a file that is not served', () => {
  const cleanup = cleanUpLast();
  const notes = createNotes(cleanup);
  const attacks = attacksOn(notes);
  let client: Client;
  before(async () => {
    for (const name of CANARIES) write(join(notes.around, name), CANARY);
    notes.write('bad/chat.chat.md', `# %% user\n[x](cmdassets/${FOREIGN})\n`);
    for (const [at, to] of LINKS) symlinkSync(to, join(notes.around, at));
    client = (await connectOverStdio(cleanup, '2025-11-25', [notes.path])).client;
  });

  it('is not listed', async () => {
    const { resources } = await client.listResources();
    assert.deepEqual(
      resources.map(({ name }) => name).filter((name) => !name.startsWith('tool-')),
      ['bad/chat.chat.md', 'ideas.chat.md', CHAT].sort((a, b) => order(resources, a) - order(resources, b)),
    );
    assert.ok(!resources.some(({ name }) => name === FOREIGN || name === LINKED));
  });

  it('gets the same answer as a missing file', async () => {
    const answer = async (uri: string) =>
      (await failure(client.readResource({ uri }))).replaceAll(uri, 'URI');
    const missing = await answer('filechat://missing.chat.md');
    for (const chat of ['link.chat.md', 'inner.chat.md', 'linked/other.chat.md', 'IDEAS.chat.md'])
      assert.equal(await answer(`filechat://${encodeURIComponent(chat)}`), missing);
    const asset = (chat: string, name: string) => `filechat://${encodeURIComponent(chat)}/${name}`;
    for (const uri of [asset('bad/chat.chat.md', FOREIGN), asset(CHAT, LINKED), asset(CHAT, FOREIGN)])
      assert.equal(await answer(uri), missing);
  });

  it('is refused by every request that reads a file', async () => {
    const before = treeOf(notes.around);
    for (const { name, uri } of attacks) {
      for (const asked of [uri, uri.replace('filechat:', 'FILECHAT:')]) {
        const answers = [
          await failure(client.readResource({ uri: asked })),
          await failure(client.subscribeResource({ uri: asked })),
          await toolFailure(client, 'read_asset', { uri: asked }),
        ];
        for (const answer of answers) assertRefused(answer, `${name}: ${asked}`, notes);
      }
    }
    assert.deepEqual(treeOf(notes.around), before);
  });

  it('is refused as the chat of a list, of a search and of an upload', async () => {
    const before = treeOf(notes.around);
    for (const { name, chat } of attacks) {
      if (chat === undefined) continue;
      const listed = await client.callTool({ name: 'list_assets', arguments: { chat } });
      assertNothingTold(listed);
      const { assets } = (listed.structuredContent ?? { assets: [] }) as { assets: unknown[] };
      assert.ok(listed.isError || assets.length === 0, `${name}: ${JSON.stringify(listed)}`);
      const found = await client.callTool({ name: 'search_chats', arguments: { chat, query: 'CANARY' } });
      assertNothingTold(found);
      assertRefused(
        await toolFailure(client, 'save_asset', { chat, name: 'a.txt', text: 'x' }),
        `${name}: ${chat}`,
        notes,
      );
      const { completion } = await client.complete({
        ref: { type: 'ref/resource', uri: 'filechat://{chat}/{asset}' },
        argument: { name: 'asset', value: '' },
        context: { arguments: { chat } },
      });
      assert.deepEqual(completion.values, [], `${name}: ${chat}`);
    }
    assert.deepEqual(treeOf(notes.around), before);
  });

  it('is refused as the name of an upload, and nothing is written', async () => {
    const before = treeOf(notes.around);
    for (const name of ['', '../up.txt', 'a\\b.txt', join(notes.around, 'up.txt'), 'a.txt\0', 'con.txt']) {
      const answer = await toolFailure(client, 'save_asset', { chat: CHAT, name, text: 'x' });
      assertRefused(answer, `upload ${JSON.stringify(name)}`, notes);
    }
    assert.deepEqual(treeOf(notes.around), before);
  });

  it(`stays unread and unwritten through ${RUNS} made-up addresses and names`, async (t) => {
    const before = treeOf(notes.around);
    const samples = fc.sample(madeUp(notes), { numRuns: RUNS, seed: SEED });
    let answered = 0;
    for (let at = 0; at < samples.length; at += AT_ONCE) {
      const asked = samples
        .slice(at, at + AT_ONCE)
        .flatMap((text, index) => askAll(client, text, index % 5 === 0));
      for (const answer of await Promise.all(asked)) {
        assertNothingTold(answer);
        answered += 1;
      }
    }
    t.diagnostic(`${answered} answers, seed ${SEED}`);
    const now = treeOf(notes.around);
    const isUpload = (path: string) =>
      /^served\/(?:notes\/|bad\/)?cmdassets\/[^/]+$/.test(path) &&
      (path.endsWith('/saved.jsonl') || readAssetName(path.split('/').at(-1) ?? ''));
    for (const [path, what] of now)
      if (before.has(path)) assert.equal(what, before.get(path), path);
      else assert.ok(isUpload(path) || path === 'served/cmdassets', `${path} was written`);
    for (const path of before.keys()) assert.ok(now.has(path), `${path} is gone`);
    // It still works.
    assert.equal((await client.readResource({ uri: IMAGE_URI })).contents.length, 1);
  });
});

interface Attack {
  readonly name: string;
  readonly uri: string;
  /** The same as the id of a chat, where it is one. */
  readonly chat?: string;
}

/** One of each form; test/unit/catalog has them all. */
function attacksOn({ around, path }: Notes): readonly Attack[] {
  const chats: readonly [name: string, chat: string][] = [
    ['a folder up', '../secret.chat.md'],
    ['a folder up and its assets', '../cmdassets'],
    ['up from within', 'notes/../../secret.chat.md'],
    ['an absolute path', join(around, 'secret.chat.md')],
    ['an absolute path of something served', join(path, CHAT)],
    ['encoded dots', '%2e%2e/secret.chat.md'],
    ['a backslash', '..\\secret.chat.md'],
    ['NUL', 'ideas.chat.md\0.chat.md'],
    ['another stream', 'ideas.chat.md::$DATA'],
    ['another case', 'IDEAS.chat.md'],
    ['wide dots', '．．／secret.chat.md'],
    ['a link to a chat elsewhere', 'link.chat.md'],
    ['a link to a file that is not a chat', 'inner.chat.md'],
    ['a link to a folder', 'linked/other.chat.md'],
    ['a hidden folder', '.hidden/plan.chat.md'],
    ['a folder of packages', 'node_modules/a/README.chat.md'],
    ['a file that is not a chat', 'private.txt'],
    ['nothing', ''],
  ];
  const assets: readonly [name: string, chat: string, asset: string][] = [
    ['an asset up', CHAT, `../../../cmdassets/${FOREIGN}`],
    ['an asset behind a linked folder', 'bad/chat.chat.md', FOREIGN],
    ['an asset that is a link', CHAT, LINKED],
    ['an asset in a linked folder', 'linked/other.chat.md', FOREIGN],
    ['a file that is not an asset', CHAT, 'private.txt'],
    ['an asset in another case', CHAT, IMAGE.toUpperCase()],
    ['an asset of another folder', 'ideas.chat.md', IMAGE],
  ];
  const raw: readonly [name: string, uri: string][] = [
    ['plain dots as an asset', `${CHAT_URI}/../../../cmdassets/${FOREIGN}`],
    ['a query', `${CHAT_URI}?x=${FOREIGN}`],
    ['overlong dots', `filechat://%c0%ae%c0%ae%2fsecret.chat.md`],
    ['another scheme', `file://${join(around, 'secret.chat.md')}`],
    ['no scheme', join(around, 'secret.chat.md')],
    ['a name with a path', `asset:../../cmdassets/${FOREIGN}`],
    ['a name elsewhere', `asset:${FOREIGN}`],
    ['a name that is a link', `asset:${LINKED}`],
  ];
  return [
    ...chats.map(([name, chat]) => ({ name, chat, uri: `filechat://${encodeURIComponent(chat)}` })),
    ...assets.map(([name, chat, asset]) => ({
      name,
      uri: `filechat://${encodeURIComponent(chat)}/${encodeURIComponent(asset)}`,
    })),
    ...raw.map(([name, uri]) => ({ name, uri })),
  ];
}

/** Addresses and names made of pieces with a special meaning on some system, in any order. */
function madeUp({ around, path }: Notes): fc.Arbitrary<string> {
  const piece = fc.constantFrom(
    ...'.. . / // \\ %2e%2e %2F %2f %5C %252e %252f %00 \0 % : @ ? # C: ~ con ．． \u202e é e\u0301 %c0%ae $DATA'.split(
      ' ',
    ),
    ...'.chat.md .txt x served notes linked bad outside cmdassets .hidden node_modules private.txt'.split(
      ' ',
    ),
    ...'secret.chat.md link.chat.md inner.chat.md ideas.chat.md sales.chat.md other.chat.md'.split(' '),
    ...[' ', '\n', FOREIGN, LINKED, IMAGE, REPORT, around, path, CHAT],
    ...[around, CHAT].map(encodeURIComponent),
  );
  const pieces = fc.array(piece, { minLength: 1, maxLength: 9 });
  const rest = fc.oneof(
    { weight: 8, arbitrary: pieces.map((each) => each.join('')) },
    { weight: 1, arbitrary: pieces.map((each) => each.join('/')) },
    { weight: 1, arbitrary: fc.string({ unit: anySign, maxLength: 60 }) },
  );
  const scheme = fc.constantFrom(
    'filechat://',
    'filechat://',
    'filechat:',
    'FileChat://',
    'file://',
    'asset:',
    '',
  );
  return fc.tuple(scheme, rest).map((both) => both.join('').toWellFormed());
}

/** Sends the same text through every entry point; the expensive ones only occasionally. */
function askAll(client: Client, text: string, costly: boolean): Promise<unknown>[] {
  const bare = text.replace(/^[A-Za-z]+:(?:\/\/)?/, '');
  const tool = (name: string, args: Record<string, unknown>) => client.callTool({ name, arguments: args });
  const asked = [
    client.readResource({ uri: text }),
    client.readResource({ uri: `filechat://${encodeURIComponent(bare)}` }),
    client.readResource({ uri: `filechat://${encodeURIComponent(CHAT)}/${encodeURIComponent(bare)}` }),
    tool('read_asset', { uri: text }),
    tool('save_asset', { chat: CHAT, name: bare, text: 'x' }),
    tool('save_asset', { chat: bare, name: 'a.txt', text: 'x' }),
    ...(costly
      ? [tool('list_assets', { chat: bare }), tool('search_chats', { query: 'CANARY', chat: bare })]
      : []),
  ];
  return asked.map((answer) => answer.catch((error: unknown) => `${error} ${JSON.stringify(error)}`));
}

async function failure(asked: Promise<unknown>): Promise<string> {
  return asked.then(
    (answer) => assert.fail(`It was answered: ${JSON.stringify(answer)}`),
    (error: Error & { data?: unknown }) => `${error.message} ${JSON.stringify(error.data)}`,
  );
}

async function toolFailure(client: Client, name: string, args: Record<string, unknown>): Promise<string> {
  const result = await client.callTool({ name, arguments: args });
  assert.equal(result.isError, true, `${name} ${JSON.stringify(args)}: ${JSON.stringify(result)}`);
  assert.equal(result.structuredContent, undefined);
  return (result.content[0] as { text: string }).text;
}

function assertRefused(answer: string, what: string, { around }: Notes): void {
  assert.doesNotMatch(answer, /Internal server error/, what);
  assert.ok(!answer.includes(CANARY), what);
  // The response may repeat the request, but must not reveal contents.
  if (!what.includes(around)) assert.ok(!answer.includes(around), `${what}: ${answer}`);
  assert.doesNotMatch(answer, /ENOENT|ELOOP|EACCES|\bat .*:\d+:\d+/, what);
}

/** Neither as text nor inside of base64. */
function assertNothingTold(answer: unknown): void {
  const said = typeof answer === 'string' ? answer : JSON.stringify(answer);
  assert.ok(!said.includes(CANARY), said);
  assert.doesNotMatch(said, /Internal server error|ENOENT|ELOOP/, said);
  for (const [, blob = ''] of said.matchAll(/"blob":"([^"]*)"/g))
    assert.ok(!Buffer.from(blob, 'base64').includes(CANARY), said);
}

function order(resources: readonly { readonly name: string }[], name: string): number {
  return resources.findIndex((resource) => resource.name === name);
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** Every file, folder and link below, with its type and contents. */
function treeOf(folder: string): Map<string, string> {
  const tree = new Map<string, string>();
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const at = join(folder, path);
    const stats = lstatSync(at);
    if (stats.isSymbolicLink()) tree.set(path, `link to ${readlinkSync(at)}`);
    else tree.set(path, stats.isDirectory() ? 'folder' : readFileSync(at, 'base64'));
  }
  return tree;
}
