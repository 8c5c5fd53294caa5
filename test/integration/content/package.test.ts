import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import * as content from '../../../src/content/index.ts';
import { temporaryFolder } from '../../kit/folder.ts';
import { PNG_BASE64 } from '../../kit/png.ts';
import { installFilechat, linkPackages, packFilechat, typeCheck } from '../helpers/packedFilechat.ts';
import { repositoryPath } from '../helpers/sampleServer.ts';

const run = promisify(execFile);

/** Prints the names that the package exports, an image block, and a type. */
const USER = `
import * as content from 'filechat/content';
const image = await content.toImageContent(Buffer.from('${PNG_BASE64}', 'base64'));
const avi = content.detectMimeTypeFromExtension('clip.avi');
console.log(JSON.stringify({ names: Object.keys(content).sort(), image, avi }));
`;

/** Valid uses of the helpers, and uses that their types must reject. */
const TYPED_USER = `
import * as content from 'filechat/content';

export async function draw(bytes: Uint8Array): Promise<content.ToolResult> {
  const input: content.ImageInput | content.AudioInput | content.BinaryInput = bytes;
  const image: content.ImageContent = await content.toImageContent(input, { allowedTypes: ['image/*'] });
  const sound: content.AudioContent = await content.toAudioContent({ type: 'audio', data: bytes });
  const report = await content.toBinaryContent({ type: 'file', path: 'a.pdf' }, { basePath: 'reports' });
  const blob: string = report.resource.blob;
  const table = await content.toEmbeddedResource('a,b', { uri: 'files://a.csv', onWarning: console.warn });
  const [first] = (await content.normalizeResult([bytes, blob])).content;
  // @ts-expect-error The list may be empty.
  first.type;
  // @ts-expect-error Numbers are not an image.
  await content.toImageContent(42);
  // @ts-expect-error A resource has an address.
  await content.toEmbeddedResource('a,b', {});
  return { content: [{ type: 'text', text: 'All of it:' }, image, sound, report, table] };
}
`;

describe('the npm package', () => {
  const folder = temporaryFolder({ after });
  let files: readonly string[];
  before(async () => {
    const packed = await packFilechat(folder);
    files = packed.files;
    await installFilechat(folder, packed.tarball);
    await linkPackages(folder, ['@types/node']);
  });

  it('has the command line, the assets server, the helpers with their types and guides, and nothing else', () => {
    const unexpected =
      /^(?!(?:package\.json|README\.md|LICENSE|CHANGELOG\.md|docs\/[\w-]+\.md|dist\/(?:cli|assets-server|content|chunks\/[\w.-]+)\.js|dist\/chunks\/photon\.wasm|dist\/content\/[\w./-]+\.d\.ts)$)/;
    assert.deepEqual(
      files.filter((path) => unexpected.test(path)),
      [],
    );
    const programs = ['dist/cli.js', 'dist/assets-server.js', 'dist/content.js'];
    const pages = ['README.md', ...globSync('docs/*.md', { cwd: repositoryPath('.') })];
    for (const path of [...pages, ...programs, 'dist/content/index.d.ts'])
      assert.ok(files.includes(path), path);
  });

  for (const [where, cwd] of [
    ['a project that has installed it', () => folder],
    ['this repository, by its own name', () => repositoryPath('.')],
  ] as const) {
    it(`gives filechat/content to ${where}`, async () => {
      const { stdout } = await run(process.execPath, ['--input-type=module', '-e', USER], { cwd: cwd() });
      const { names, image, avi } = JSON.parse(stdout);
      assert.deepEqual(names, Object.keys(content).sort());
      assert.deepEqual(image, { type: 'image', data: PNG_BASE64, mimeType: 'image/png' });
      assert.equal(avi, 'video/x-msvideo');
    });
  }

  for (const resolution of [
    { module: 'nodenext' },
    { module: 'esnext', moduleResolution: 'bundler' },
  ] as const) {
    it(`has types for ${JSON.stringify(resolution)} that need only those of Node`, async () => {
      await writeFile(join(folder, 'user.ts'), TYPED_USER);
      const options = { target: 'es2023', lib: ['es2023'], types: ['node'], skipLibCheck: false };
      assert.equal(await typeCheck(folder, ['user.ts'], { ...options, ...resolution }), '');
    });
  }

  it('has a command line that finds all its parts', async () => {
    const cli = join(folder, 'node_modules/filechat/dist/cli.js');
    const { stdout } = await run(process.execPath, [cli, '--help']);
    assert.match(stdout, /filechat/);
  });
});
