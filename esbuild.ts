/** Builds the product: a tiny entry for the editor, one for the command line, and chunks that are loaded when needed. */
import { rmSync } from 'node:fs';
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

// Their names change with their contents, and old ones would be shipped.
for (const folder of ['dist/chunks', 'dist/content']) rmSync(folder, { recursive: true, force: true });
await build({
  ...common,
  entryPoints: ['src/extension.ts', 'src/cli.ts', 'src/assets-server.ts'],
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
  entryPoints: ['src/preview/chatPreview.ts'],
  outfile: 'dist/preview.cjs',
});
await build({ ...common, entryPoints: ['samples/server/main.ts'], outfile: 'dist/sample-server.js' });
// What tool authors import as filechat/content. They may want to read it, so it stays as it was written.
await build({
  ...common,
  minify: false,
  charset: 'utf8',
  banner: {},
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
  entryPoints: ['src/gallery/view/gallery.ts'],
  outfile: 'dist/gallery/gallery.js',
  footer: { js: 'gallery.startGallery(acquireVsCodeApi());' },
});
