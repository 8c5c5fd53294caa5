/** Faults 1 to 25: hostile results, each with the same checks. Faults of folders and disks are in test/unit/assets. */

import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import MarkdownIt from 'markdown-it';
import { FolderAssets } from '../../../src/assets/store.ts';
import { parseChat } from '../../../src/chat/format/parse.ts';
import { FileDocument } from '../../../src/cli/fileDocument.ts';
import { CONSENT_GIVEN } from '../../../src/cli/terminal.ts';
import { ChatListener } from '../../../src/listener.ts';
import { DEFAULT_LIMITS } from '../../../src/mcpClient.ts';
import { temporaryFolder } from '../../kit/folder.ts';
import { serveHttp } from '../../kit/http.ts';
import { fixture, serve } from '../helpers/serving.ts';

const QUIET = { info() {}, warn() {}, error() {} };
const MAX_ASSET_BYTES = 8 * 1024 * 1024;
let hits = 0;
const CANARY = await serveHttp({ after }, (_request, response) => {
  hits += 1;
  response.end();
});

interface Expected {
  readonly fault: string;
  /** Texts of the document, in this order, between `before` and `after`. */
  readonly shows: readonly (string | RegExp)[];
  /** The extensions of the files, sorted by their numbers within a kind. */
  readonly files?: readonly string[];
  readonly hides?: readonly string[];
}

const IMAGE = (number: number, extension = 'png') =>
  new RegExp(`^!\\[Tool generated image ${number}\\]\\(cmdassets/tool-image-[\\w-]+\\.${extension}\\)$`, 'm');
const FILE = (number: number, name: string, extension: string) =>
  new RegExp(
    `^\\[Tool generated file ${number}${name}\\]\\(cmdassets/tool-file-[\\w-]+\\.${extension}\\)$`,
    'm',
  );

const FAULTS: Readonly<Record<string, Expected>> = {
  f01: { fault: 'base64 that is none', shows: ['> ⚠ The image could not be saved: its data is not base64.'] },
  f02: { fault: 'an unknown block', shows: [/^> ⚠ Block 2 .*“hologram”/m] },
  f03: { fault: 'a data: URL as data', shows: [IMAGE(1)], files: ['png'] },
  f04: { fault: 'empty data', shows: ['> ⚠ The image could not be saved: it is empty.'] },
  f05: { fault: 'URL-safe, unpadded and spaced base64', shows: [IMAGE(1), IMAGE(2)] },
  f06: {
    fault: 'types that are no types',
    shows: [FILE(1, '', 'bin'), FILE(2, '', 'bin'), FILE(3, '', 'bin')],
  },
  f07: { fault: 'JPEG bytes declared PNG', shows: [IMAGE(1, 'jpg')], files: ['jpg'] },
  f08: { fault: 'SVG with a script', shows: [IMAGE(1, 'svg')], files: ['svg'] },
  f09: {
    fault: 'HTML and EXE declared PNG',
    shows: [FILE(1, '', 'bin'), FILE(2, '', 'bin')],
    files: ['bin', 'bin'],
  },
  f10: {
    fault: 'a giant and a truncated PNG',
    shows: [FILE(1, '', 'png'), FILE(2, '', 'png')],
    files: ['png', 'png'],
  },
  f11: {
    fault: 'a block over the limit',
    shows: [/^> ⚠ The image was not saved: it has 31\.5 MB, .* allows 8\.4 MB\.$/m],
    files: [],
  },
  f12: { fault: 'ten thousand blocks', shows: ['block 0\n', 'block 5000\n', 'block 9999\n'], files: [] },
  f13: {
    fault: 'base64 nested in JSON text',
    shows: ['"title": "kept"', /image/],
    files: ['png'],
    hides: ['iVBORw0KGgo'],
  },
  f14: { fault: 'the same block twice', shows: [IMAGE(1), IMAGE(2)] },
  f15: { fault: 'role markers', shows: ['forged', 'forged'] },
  f16: { fault: 'open fences', shows: ['open', 'open'] },
  f17: { fault: 'HTML and mermaid', shows: ['<img', '@import', '<base', 'mermaid'] },
  f18: { fault: 'remote images', shows: ['/a.png', '/b.png', '/c.png', 'file:///etc/passwd'] },
  f19: { fault: 'a link to a key', shows: ['~/.ssh/id_rsa'] },
  f20: {
    fault: 'addresses that act',
    shows: ['`file:///etc/passwd`', '`command:workbench.action.quit`', '`javascript:alert(1)`'],
  },
  f21: {
    fault: 'names that lead elsewhere',
    shows: [
      FILE(1, ': x', 'txt'),
      FILE(2, ': x', 'txt'),
      FILE(3, ': s', 'txt'),
      FILE(4, ': CON\\.png', 'txt'),
      FILE(5, ': a_b', 'txt'),
      FILE(6, ': x\\.', 'txt'),
    ],
  },
  f22: {
    fault: 'characters that hide',
    shows: ['⟦U+202E⟧', '⟦U+200B⟧', '⟦U+E0041⟧'],
    hides: ['\u202e', '\u200b', '\u001b', '[31m', '\u{e0041}'],
  },
  f23: { fault: 'endless fields', shows: ['(100004 characters)', '(1000000 characters)'] },
  f24: {
    fault: 'a lone surrogate, NUL, and ten million letters',
    shows: ['⟦U+D800⟧', '⟦U+0000⟧', FILE(1, '', 'txt')],
    files: ['txt'],
  },
  f25: { fault: '__proto__', shows: ['safe'] },
};

describe('hostile results', { concurrency: 1 }, () => {
  const folder = temporaryFolder({ after });
  const args = [fixture('fault-server.mjs')];
  const { client } = serve(
    { after },
    { faults: { kind: 'stdio', command: process.execPath, args, env: { CANARY } } },
    { limits: () => ({ ...DEFAULT_LIMITS, maxAssetBytes: MAX_ASSET_BYTES }) },
  );
  after(() => assert.equal(hits, 0, 'The canary got a request.'));

  async function call(tool: string, chatFolder: string): Promise<string> {
    await mkdir(chatFolder, { recursive: true });
    const path = join(chatFolder, 'a.chat.md');
    await writeFile(path, '# %% user\nMy words.\n');
    const document = await FileDocument.open(path);
    const assets = new FolderAssets({ folder: chatFolder });
    const listener = new ChatListener({
      document,
      assets,
      tools: client,
      consent: CONSENT_GIVEN,
      log: QUIET,
    });
    await listener.callTool({ server: 'faults', tool, arguments: {} });
    return readFile(path, 'utf8');
  }

  for (const [tool, expected] of Object.entries(FAULTS)) {
    it(`${tool.slice(1)}: ${expected.fault}`, async () => {
      const chatFolder = join(folder, tool);
      const text = await call(tool, chatFolder);
      assertShown(text, expected);
      assertTurns(text);
      assertInert(text);
      await assertFiles(chatFolder, expected.files);
      assert.equal(Reflect.get({}, 'polluted'), undefined);
      assert.match(await call('fine', join(folder, `${tool}-next`)), IMAGE(1));
    });
  }
});

/** A clear message or the complete content, in its place; the blocks around it are unchanged. */
function assertShown(text: string, { shows, hides = [] }: Expected): void {
  let at = 0;
  for (const words of ['before', ...shows, 'after']) {
    const rest = text.slice(at);
    const found = typeof words === 'string' ? rest.indexOf(words) : rest.search(words);
    assert.ok(found >= 0, `${words} is not there, or not in its place:\n${text.slice(0, 3000)}`);
    at += found + 1;
  }
  for (const words of hides) assert.equal(text.includes(words), false, `${words} is there`);
  assert.equal(text.isWellFormed(), true);
}

function assertTurns(text: string): void {
  const { turns, problems } = parseChat(text);
  assert.deepEqual(
    turns.map(({ role }) => role),
    ['user', 'tool', 'user'],
  );
  assert.deepEqual([problems, turns.flatMap(({ calls }) => calls).length], [[], 1]);
  assert.ok(text.startsWith('# %% user\nMy words.\n'));
}

/** Rendered as in the preview, with HTML allowed: only own images are loaded, and no link leads to another address. */
function assertInert(text: string): void {
  const html = new MarkdownIt({ html: true }).render(text);
  for (const [, target] of html.matchAll(/<[^>]+(?:src|href)="([^"]*)"/g))
    assert.match(target ?? '', /^cmdassets\//);
  assert.doesNotMatch(html, /<(script|style|base|iframe|svg)\b/i);
  for (const [tag] of html.matchAll(/<img [^>]*>/g)) assert.match(tag, /src="cmdassets\/tool-image-/);
}

/** Only the chat and, if there are files, `cmdassets/` with complete files. */
async function assertFiles(chatFolder: string, extensions: readonly string[] | undefined): Promise<void> {
  const entries = await readdir(chatFolder);
  const files = entries.includes('cmdassets') ? await readdir(join(chatFolder, 'cmdassets')) : [];
  assert.deepEqual(
    entries.filter((name) => name !== 'cmdassets'),
    ['a.chat.md'],
  );
  for (const name of files)
    assert.match(name, /^tool-(image|audio|file)-\d{8}-\d{6}-[A-Za-z0-9]{8,}-\d+\.[a-z0-9]+$/);
  if (extensions)
    assert.deepEqual(files.map((name) => name.split('.').at(-1)).sort(), [...extensions].sort());
}
