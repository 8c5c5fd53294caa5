/** Builds the product: a tiny entry for the editor, one for the command line, and chunks that are loaded when needed. */
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { type BuildOptions, build, type Plugin } from 'esbuild';

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
  minify: true,
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

// Their names change with their contents, and old ones would be shipped.
for (const folder of ['dist/chunks', 'dist/content']) rmSync(folder, { recursive: true, force: true });
const declared = declareContent();
await build({
  ...common,
  entryPoints: {
    extension: 'src/extension.ts',
    cli: 'src/cli.ts',
    'assets-server': 'src/assets-server.ts',
  },
  splitting: true,
  chunkNames: 'chunks/[name]-[hash]',
  outdir: 'dist',
  external: ['vscode'],
});
// The preview asks for its plugin and waits for nothing, so this one is loaded at once, by the first who asks.
await build({
  ...common,
  format: 'cjs',
  banner: {},
  entryPoints: ['src/views/preview/chatPreview.ts'],
  outfile: 'dist/preview.cjs',
});
await build({ ...common, entryPoints: ['samples/server/main.ts'], outfile: 'dist/sample-server.js' });
// What tool authors import as filechat/content. They may want to read it, so it stays as it was written.
await build({
  ...common,
  minify: false,
  charset: 'utf8',
  entryPoints: ['src/content/index.ts'],
  outfile: 'dist/content.js',
});
/** The page of the gallery: in a browser, where nothing runs at import and the last line starts it. */
await build({
  bundle: true,
  minify: true,
  logLevel: 'warning',
  platform: 'browser',
  target: 'es2022',
  format: 'iife',
  globalName: 'gallery',
  entryPoints: ['src/views/gallery/page/gallery.ts'],
  outfile: 'dist/gallery/gallery.js',
  footer: { js: 'gallery.startGallery(acquireVsCodeApi());' },
});
await declared;
