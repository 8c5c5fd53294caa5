import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import {
  findCycles,
  folderSizes,
  importGraph,
  readSources,
  root,
  type Sources,
  specifiersOf,
  waysOfData,
} from '../kit/tree.ts';

const MAX_ENTRIES = 20;

/** The allowed imports of each folder of src/: other folders, then packages. `node` stands for all modules of Node. */
const RULES: Readonly<Record<string, readonly string[]>> = {
  base: [],
  ports: [],
  media: [
    ...['base', 'ports', 'node', 'fflate', 'file-type', 'image-dimensions'],
    ...['@cf-wasm', '@mdream', 'hucre', 'officeparser', 'unpdf'],
  ],
  chat: ['base', 'ports', 'yaml'],
  result: ['base', 'ports', 'media', 'chat'],
  assets: ['base', 'ports', 'media', 'chat', 'result', 'node', 'nanoid', 'fflate'],
  catalog: ['base', 'ports', 'media', 'chat', 'result', 'assets', 'model', 'node', 'zod'],
  content: ['base', 'ports', 'media', 'result', 'assets', 'node'],
  assetsServer: ['base', 'ports', 'catalog', 'content', 'node', 'zod', '@modelcontextprotocol'],
  mcp: [
    ...['base', 'ports', 'chat', 'result', 'node'],
    ...[
      '@modelcontextprotocol',
      'cross-spawn',
      're2js',
      'vscode-json-languageservice',
      'vscode-languageserver-textdocument',
    ],
  ],
  mcpClient: ['base', 'ports', 'result', 'assets', 'content', 'mcp', 'node'],
  model: ['base', 'ports', 'media', 'chat', 'result', 'node', '@ai-sdk', 'tokenx'],
  loop: ['base', 'ports', 'chat', 'result', 'model', 'mcp', 'node'],
  listener: ['base', 'ports', 'chat', 'loop'],
  views: ['base', 'ports', 'media', 'chat', 'markdown-it'],
  cli: [
    ...['base', 'ports', 'chat', 'assets', 'catalog', 'model', 'mcp', 'mcpClient', 'loop', 'listener'],
    'node',
  ],
  vscode: [
    ...['base', 'ports', 'media', 'chat', 'result', 'assets', 'catalog', 'model', 'mcp', 'mcpClient'],
    ...['loop', 'listener', 'views', 'node', 'vscode'],
  ],
  'assets-server': ['assets', 'assetsServer', 'chat', 'base', 'node'],
  extension: ['base', 'ports', 'vscode', 'views', 'node', 'markdown-it'],
};

const sources = readSources();

describe('imports', () => {
  it('follow the table', () => assert.deepEqual(forbiddenImports(sources), []));

  it('make no cycle, types included', () => assert.deepEqual(findCycles(importGraph(sources)), []));

  const planted: readonly (readonly [file: string, specifier: string])[] = [
    ['base/json.ts', '../ports/tools.ts'],
    ['base/lines.ts', 'node:fs'],
    ['chat/format/parse.ts', 'vscode'],
    ['chat/edits/fork.ts', '../../mcp/lists/icons.ts'],
    ['result/markdown.ts', '../assets/store.ts'],
    ['vscode/chats/chats.ts', '../../cli/usage.ts'],
    ['cli/commandLine.ts', '../vscode/settings.ts'],
    ['listener.ts', './assets/store.ts'],
    ['mcp/apps/app.ts', '../../model/tour.ts'],
    ['views/gallery/page/dom.ts', 'vscode'],
  ];
  for (const [file, specifier] of planted) {
    it(`${file} may not import ${specifier}`, () => {
      assert.ok(sources[file] !== undefined);
      for (const statement of [
        `import '${specifier}'`,
        `import type { X } from '${specifier}'`,
        `await import('${specifier}')`,
      ])
        assert.equal(forbiddenImports({ [file]: statement }).length, 1, statement);
    });
  }

  it('in a circle are found, also of types', () => {
    const cycle = {
      'a.ts': "import type { B } from './b.ts'",
      'b.ts': "import './c.ts'",
      'c.ts': "import './a.ts'",
    };
    assert.deepEqual(findCycles(importGraph(cycle)), [['a.ts', 'b.ts', 'c.ts']]);
  });
});

function forbiddenImports(files: Sources): string[] {
  return Object.entries(files).flatMap(([file, text]) => {
    const room = roomOf(file);
    const allowed = RULES[room];
    if (!allowed) return [`${file} is in no room of the table`];
    return [...specifiersOf(text)]
      .filter((specifier) => {
        const target = targetOf(file, specifier);
        return target !== room && !allowed.includes(target);
      })
      .map((specifier) => `${file} imports ${specifier}`);
  });
}

function roomOf(file: string): string {
  return file.split('/')[0]?.replace(/(?:\.d)?\.ts$/, '') ?? '';
}

/** The folder or package that a specifier names. */
function targetOf(file: string, specifier: string): string {
  if (specifier.startsWith('.')) return roomOf(posix.join(dirname(file), specifier));
  if (specifier.startsWith('node:')) return 'node';
  return specifier.split('/')[0] ?? '';
}

describe('the tree', () => {
  for (const top of ['src', 'test', 'docs']) {
    it(`${top}/ has no folder with too many entries`, () => {
      const crowded = [...folderSizes(top)].filter(([, entries]) => entries > MAX_ENTRIES);
      assert.deepEqual(crowded, []);
    });
  }

  const pages = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'test/SCENARIOS.md'];
  for (const page of [...pages, ...globSync('docs/*.md', { cwd: root })]) {
    it(`${page} names only files that exist`, () => {
      const text = readFileSync(join(root, page), 'utf8');
      const named = [...text.matchAll(/`((?:[\w.-]+\/)+[\w.-]+\.tsx?)`/g)].map(([, file = '']) => file);
      assert.deepEqual(
        named.filter((file) => !existsSync(join(root, file)) && !existsSync(join(root, 'src', file))),
        [],
      );
    });
  }

  it('is the one that docs/architecture.md shows', () => {
    const named = [...waysOfData().values()].flat();
    assert.ok(named.length > 0);
    assert.deepEqual(
      named.filter((file) => sources[file] === undefined),
      [],
    );
  });
});

const editorOnly = (file: string) => file.startsWith('vscode/') || file === 'extension.ts';
/** They run at import. */
const ENTRIES = new Set(['cli.ts', 'assets-server.ts']);

describe('the core runs without an editor', () => {
  for (const file of Object.keys(sources).filter((each) => !editorOnly(each) && !ENTRIES.has(each))) {
    it(`${file} loads in plain Node`, async () => {
      await assert.doesNotReject(import(pathToFileURL(join(root, 'src', file)).href));
    });
  }
});

it('activation loads very little', () => {
  const size = readFileSync(join(root, 'dist/extension.js')).length;
  assert.ok(size < 60_000, `dist/extension.js has ${size} bytes`);
  const { activationEvents } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  assert.deepEqual(activationEvents, [
    'onLanguage:markdown',
    'onFileSystem:filechat-resource',
    'onWebviewPanel:filechat.gallery',
  ]);
});

it('libraries that read images and documents are loaded by the worker alone', () => {
  const reached = (entry: string) => {
    const files = new Set([entry]);
    for (const file of files) {
      const code = readFileSync(join(root, 'dist', file), 'utf8');
      for (const [, path = ''] of code.matchAll(/(?:from|import\(?)"(\.[^"]+\.js)"/g))
        files.add(posix.join(dirname(file), path));
    }
    return [...files].filter((file) => /\/(?:pdfjs|office|sheet|image)-/.test(file)).length;
  };
  assert.equal(reached('chunks/worker.js'), 4);
  for (const entry of ['extension.js', 'cli.js', 'assets-server.js']) assert.equal(reached(entry), 0, entry);
});

it('the module that VS Code’s own chat loads to find servers is small, too', () => {
  const offer = globSync('dist/chunks/offer-*.js', { cwd: root });
  assert.equal(offer.length, 1);
  const files = new Set(offer);
  for (const file of files) {
    const code = readFileSync(join(root, file), 'utf8');
    for (const [, chunk] of code.matchAll(/(?:from|import)"\.\/([^"]+)"/g)) files.add(`dist/chunks/${chunk}`);
  }
  const bytes = [...files].reduce((sum, file) => sum + readFileSync(join(root, file)).length, 0);
  assert.ok(bytes < 4_000, `${bytes} bytes: ${[...files].join(', ')}`);
});
