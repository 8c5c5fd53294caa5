import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { FolderAssets } from '../../../src/assets/store.ts';
import { DEFAULT_LIMITS } from '../../../src/mcpClient.ts';
import type { ResultPart } from '../../../src/ports/results.ts';
import { temporaryFolder } from '../../kit/folder.ts';
import { createCliFolder } from '../helpers/runCli.ts';
import { fixture, serve } from '../helpers/serving.ts';

const LARGE = 10 * 1024 * 1024;
const args = [fixture('sizes-server.mjs')];

it('the command line warns once of the files of a result from 10 MiB on, and keeps them', async (t) => {
  const cli = await createCliFolder(t);
  await cli.write('sizes.json', JSON.stringify({ servers: { s: { command: process.execPath, args } } }));
  const call = async (...sizes: number[]) => {
    const given = ['--args', JSON.stringify({ sizes }), '--servers', 'sizes.json'];
    const { code, stderr } = await cli.start(['call', 's.archives', '--chat', 'a.chat.md', ...given]).ended;
    assert.equal(code, 0, stderr);
    return stderr;
  };
  assert.equal(await call(LARGE - 1, 100), '');
  const files = (await readdir(join(cli.path, 'cmdassets'))).length;
  assert.match(
    await call(LARGE, 101, 2 * LARGE),
    /^Large files from s\.archives: cmdassets\/tool-file-[\w-]+-1\.zip \(10\.5 MB\), cmdassets\/tool-file-[\w-]+-3\.zip \(21\.0 MB\)\. To refuse files of this size, lower the setting filechat\.results\.maxAssetBytes\.\n$/,
  );
  assert.equal((await readdir(join(cli.path, 'cmdassets'))).length, files + 3);
});

describe('a type that is not allowed leaves a line and no file', () => {
  const { client } = serve(
    { after },
    { s: { kind: 'stdio', command: process.execPath, args, env: {} } },
    { limits: () => ({ ...DEFAULT_LIMITS, allowedMimeTypes: ['image/*', 'text/*'] }) },
  );
  const refused = (name: string): ResultPart => ({
    kind: 'problem',
    message: `The file ${name} was not saved: it is application/zip (200.0 KB), and filechat.results.allowedMimeTypes allows image/*, text/*.`,
  });

  /** Runs work that saves into a new folder, and checks that nothing is left there. */
  async function withoutFiles(work: (assets: FolderAssets) => Promise<readonly ResultPart[]>) {
    const folder = temporaryFolder({ after });
    const parts = await work(new FolderAssets({ folder }));
    assert.deepEqual(
      (await readdir(folder, { recursive: true })).filter((path) => path !== 'cmdassets'),
      [],
    );
    return parts;
  }

  it('in the result of a tool', async () => {
    const call = { id: 'c1', server: 's', tool: 'archives', arguments: { sizes: [200_000, 200_000] } };
    const parts = await withoutFiles(
      async (store) => (await client.callTool(call, { assets: store.beginResult() })).parts,
    );
    assert.deepEqual(parts, [refused('200000.zip'), refused('200000.zip')]);
  });

  it('in a resource and in a prompt', async () => {
    const resource = await withoutFiles(
      async (store) =>
        (await client.readResource({ server: 's', uri: 'sizes://archive' }, { assets: store.beginResult() }))
          .parts,
    );
    assert.deepEqual(resource, [refused('200000.zip')]);
    const request = { server: 's', prompt: 'archive', arguments: {} };
    const prompt = await withoutFiles(async (store) =>
      (await client.getPrompt(request, { assets: store.beginResult() })).messages.flatMap(
        ({ parts }) => parts,
      ),
    );
    assert.deepEqual(prompt, [{ kind: 'text', text: 'Unpack this:' }, refused('200000.zip')]);
  });
});
