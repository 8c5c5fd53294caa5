import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import * as content from '../../src/content/index.ts';
import { installFilechat, linkPackages, packFilechat, typeCheck } from './helpers/packedFilechat.ts';
import { repositoryPath } from './helpers/sampleServer.ts';
import { createTemporaryFolder } from './helpers/temporaryFolder.ts';

const run = promisify(execFile);
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';

/** Prints the names that the package gives, and an image block. */
const USER = `
import * as content from 'filechat/content';
const image = await content.toImageContent(Buffer.from('${PNG}', 'base64'));
console.log(JSON.stringify({ names: Object.keys(content).sort(), image }));
`;

/** Every helper in the way that its types ask for, and one use that they must refuse. */
const TYPED_USER = `
import { normalizeResult, toImageContent } from 'filechat/content';

export async function draw(bytes: Uint8Array): Promise<string> {
  const image = await toImageContent(bytes);
  const type: 'image' = image.type;
  const [first] = (await normalizeResult(bytes)).content;
  // @ts-expect-error Numbers are no picture.
  await toImageContent(42);
  return type + image.data + image.mimeType + (first?.type ?? '');
}
`;

describe('the npm package', () => {
  const folder = createTemporaryFolder();
  let files: readonly string[];
  before(async () => {
    const packed = await packFilechat(folder.path);
    files = packed.files;
    await installFilechat(folder.path, packed.tarball);
    await linkPackages(folder.path, ['@types/node']);
  });
  after(() => folder[Symbol.dispose]());

  it('holds the command line, the assets server, the helpers with their types, and nothing else', () => {
    const unexpected =
      /^(?!(?:package\.json|README\.md|LICENSE|CHANGELOG\.md|dist\/(?:cli|assets-server|content|chunks\/[\w.-]+)\.js|dist\/content\/[\w./-]+\.d\.ts)$)/;
    assert.deepEqual(
      files.filter((path) => unexpected.test(path)),
      [],
    );
    for (const path of [
      'README.md',
      'dist/cli.js',
      'dist/assets-server.js',
      'dist/content.js',
      'dist/content/index.d.ts',
    ])
      assert.ok(files.includes(path), path);
  });

  for (const [where, cwd] of [
    ['a project that has installed it', () => folder.path],
    ['this repository, by its own name', () => repositoryPath('.')],
  ] as const) {
    it(`gives filechat/content to ${where}`, async () => {
      const { stdout } = await run(process.execPath, ['--input-type=module', '-e', USER], { cwd: cwd() });
      const { names, image } = JSON.parse(stdout);
      assert.deepEqual(names, Object.keys(content).sort());
      assert.deepEqual(image, { type: 'image', data: PNG, mimeType: 'image/png' });
    });
  }

  for (const resolution of [
    { module: 'nodenext' },
    { module: 'esnext', moduleResolution: 'bundler' },
  ] as const) {
    it(`has types for ${JSON.stringify(resolution)} that need no others but those of Node`, async () => {
      await writeFile(join(folder.path, 'user.ts'), TYPED_USER);
      const options = {
        target: 'es2023',
        lib: ['es2023'],
        types: ['node'],
        skipLibCheck: false,
        ...resolution,
      };
      assert.equal(await typeCheck(folder.path, ['user.ts'], options), '');
    });
  }

  it('has a command line that finds all its parts', async () => {
    const cli = join(folder.path, 'node_modules/filechat/dist/cli.js');
    const { stdout } = await run(process.execPath, [cli, '--help']);
    assert.match(stdout, /filechat/);
  });
});
