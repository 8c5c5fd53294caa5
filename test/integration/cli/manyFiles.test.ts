import assert from 'node:assert/strict';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { FolderAssets } from '../../../src/assets/store.ts';
import { temporaryFolder } from '../../kit/folder.ts';
import { checkEnd, createCliFolder, MCP_JSON } from '../helpers/runCli.ts';
import { fixture, serve } from '../helpers/serving.ts';

function numbersOf(names: readonly string[], kind: string): readonly string[] {
  return names.flatMap((name) => new RegExp(`tool-${kind}-.*-(\\d+)\\.\\w+$`).exec(name)?.[1] ?? []);
}

const TWELVE = Array.from({ length: 12 }, (_, at) => String(at + 1).padStart(2, '0'));

const MANY = { command: process.execPath, args: [fixture('many-server.ts')] };

it('the names of twelve images sort in the order of their blocks, and nine need no zeros', async (t) => {
  const cli = await createCliFolder(t);
  await cli.write(MCP_JSON, JSON.stringify({ servers: { many: MANY } }));
  const call = async (chat: string, count: number) => {
    const args = ['call', 'many.images', '--args', `{"count":${count}}`, '--chat', chat];
    checkEnd(await cli.start([...args, '--servers', MCP_JSON]).ended, { code: 0 });
    return [...(await cli.read(chat)).matchAll(/\[Tool generated (\w+ \d+)\]\(cmdassets\/([^)]+)\)/g)];
  };
  const links = await call('twelve.chat.md', 12);
  const names = links.map(([, , name = '']) => name);
  assert.deepEqual(
    links.map(([, label]) => label),
    [...TWELVE.map((number) => `image ${Number(number)}`), 'audio 1'],
  );
  assert.deepEqual(numbersOf(names, 'image'), TWELVE);
  assert.deepEqual(numbersOf(names, 'audio'), ['1']);
  assert.deepEqual(readdirSync(join(cli.path, 'cmdassets')).sort(), [...names].sort());
  assert.deepEqual(numbersOf(names.toSorted(), 'image'), TWELVE);
  const nine = await call('nine/nine.chat.md', 9);
  assert.deepEqual(
    numbersOf(
      nine.map(([, , name = '']) => name),
      'image',
    ),
    TWELVE.slice(0, 9).map((number) => number.slice(1)),
  );
  // Read-only calls run side by side; their results share their files.
  const pending = '```tool_call many.images\n{"count": 12}\n```\n';
  mkdirSync(join(cli.path, 'twice'));
  await cli.write('twice/twice.chat.md', `# %% user\n${pending}\n${pending}`);
  const run = ['run', 'twice/twice.chat.md', '--approve', 'auto', '--servers', MCP_JSON];
  checkEnd(await cli.run(...run), { code: 0 });
  assert.equal(readdirSync(join(cli.path, 'twice/cmdassets')).length, names.length);
});

it('the numbers of a prompt are padded over all of its messages', async (t) => {
  const { client } = serve(t, { many: { kind: 'stdio', env: {}, ...MANY } });
  const assets = new FolderAssets({ folder: temporaryFolder(t) }).beginResult();
  const { messages } = await client.getPrompt({ server: 'many', prompt: 'album', arguments: {} }, { assets });
  const paths = messages.flatMap(({ parts }) =>
    parts.map((part) => (part.kind === 'asset' ? part.asset.path : part.kind)),
  );
  assert.deepEqual(numbersOf(paths, 'image'), TWELVE.slice(0, 11));
});
