/**
 * Builds the product: a tiny entry for the editor, one for the command line, and chunks that are loaded when needed.
 * With `--watch` it keeps building, with source maps and without minifying.
 */
import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type BuildOptions, build, context, type Plugin } from 'esbuild';

const isWatching = process.argv.includes('--watch');

/** The messages of zod in fifty languages, of which nobody sees one: 260 KB. The English ones are imported by name. */
const withoutLocales: Plugin = {
  name: 'without-locales',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /locales\/index\.js$/ }, ({ importer }) =>
      /[\\/]zod[\\/]/.test(importer) ? { path: 'none', namespace: 'without-locales' } : undefined,
    );
    onLoad({ filter: /.*/, namespace: 'without-locales' }, () => ({ contents: 'export {};' }));
  },
};

const common: BuildOptions = {
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  // The other form of some packages asks for its parts in a way that cannot be bundled.
  mainFields: ['module', 'main'],
  minify: !isWatching,
  sourcemap: isWatching,
  logLevel: 'warning',
  plugins: [withoutLocales],
  // Some packages are CommonJS inside and ask for Node's own modules.
  banner: { js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);" },
};

/** Types for tool authors, as far as the index leads to them: an author's compiler looks at nothing else. */
async function declareContent(): Promise<void> {
  const made = 'dist/types';
  const compiler = ['node_modules/typescript/bin/tsc', '-p', 'src/content'];
  await promisify(execFile)(process.execPath, compiler).catch(
    (error: { stdout?: string; message: string }) => {
      throw new Error(error.stdout || error.message);
    },
  );
  const reached = new Set(['content/index.ts']);
  // The set grows while it is walked.
  for (const file of reached) {
    const text = readFileSync(join(made, file.replace(/\.ts$/, '.d.ts')), 'utf8');
    for (const [, path = ''] of text.matchAll(/'(\.{1,2}\/[^']+\.ts)'/g)) {
      reached.add(join(dirname(file), path).replaceAll('\\', '/'));
    }
    // All of it lies in dist/content, and what is in src/content lies at its top.
    const [, own] = /^content\/(.*)$/.exec(file) ?? [];
    const target = join('dist/content', (own ?? file).replace(/\.ts$/, '.d.ts'));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, own === undefined ? text : text.replaceAll("'../", "'./"));
  }
  rmSync(made, { recursive: true });
}

const bundles: readonly BuildOptions[] = [
  {
    ...common,
    entryPoints: {
      extension: 'src/extension.ts',
      cli: 'src/cli.ts',
      'assets-server': 'src/assets-server.ts',
      'chunks/worker': 'src/media/convert/worker.ts',
      'chunks/transformer': 'src/mcp/transformer/worker.ts',
    },
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
    outdir: 'dist',
    // officeparser loads the other two for PDF and images only, which it is not given.
    external: ['vscode', 'pdfjs-dist', 'tesseract.js'],
  },
  // The Markdown preview loads its plugins synchronously, so this one is a single CommonJS file.
  {
    ...common,
    format: 'cjs',
    banner: {},
    entryPoints: ['src/views/preview/chatPreview.ts'],
    outfile: 'dist/preview.cjs',
  },
  { ...common, entryPoints: ['samples/server/main.ts'], outfile: 'dist/sample-server.js' },
  // What tool authors import as filechat/content. They may want to read it, so it is not minified.
  {
    ...common,
    minify: false,
    charset: 'utf8',
    entryPoints: ['src/content/index.ts'],
    outfile: 'dist/content.js',
  },
  // The page of the gallery runs in a browser. Nothing runs at import; the footer starts it.
  {
    bundle: true,
    minify: !isWatching,
    logLevel: 'warning',
    platform: 'browser',
    target: 'es2022',
    format: 'iife',
    globalName: 'gallery',
    entryPoints: ['src/views/gallery/page/gallery.ts'],
    outfile: 'dist/gallery/gallery.js',
    footer: { js: 'gallery.startGallery(acquireVsCodeApi());' },
  },
];

// The names of chunks change with their contents, and old ones would be shipped.
for (const folder of ['dist/chunks', 'dist/content']) rmSync(folder, { recursive: true, force: true });
mkdirSync('dist/chunks', { recursive: true });
copyFileSync(fileURLToPath(import.meta.resolve('@cf-wasm/photon/photon.wasm')), 'dist/chunks/photon.wasm');
if (isWatching) {
  // The lines by which `.vscode/tasks.json` knows when the extension can start.
  console.log('Building');
  for (const bundle of bundles) {
    const watched = await context(bundle);
    await watched.rebuild();
    await watched.watch();
  }
  console.log('Built');
} else {
  await Promise.all([declareContent(), ...bundles.map((bundle) => build(bundle))]);
}
