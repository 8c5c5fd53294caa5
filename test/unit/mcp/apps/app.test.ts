import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  APP_TYPE,
  type AppContents,
  appBlock,
  MAX_APP_BYTES,
  type McpApp,
  policyOf,
  readAppResource,
  readToolApp,
  withPolicy,
} from '../../../../src/mcp/apps/app.ts';
import { processMixedToolResult } from '../../../../src/mcpClient.ts';
import type { NewAsset } from '../../../../src/ports/results.ts';
import { renderToolResult } from '../../../../src/result/markdown.ts';

const tools: readonly (readonly [string, unknown, unknown])[] = [
  ['the app of a tool', { ui: { resourceUri: 'ui://a/b' } }, { app: 'ui://a/b' }],
  ['the older key', { 'ui/resourceUri': 'ui://a/old' }, { app: 'ui://a/old' }],
  ['the newer key first', { ui: { resourceUri: 'ui://n' }, 'ui/resourceUri': 'ui://o' }, { app: 'ui://n' }],
  ['no other scheme', { ui: { resourceUri: 'https://a.example/' } }, {}],
  ['no white space', { ui: { resourceUri: 'ui://a b' } }, {}],
  ['no text', { ui: { resourceUri: 7 } }, {}],
  ['nothing', undefined, {}],
  ['a tool for apps', { ui: { visibility: ['app'] } }, { forAppsOnly: true }],
  ['a tool for models', { ui: { visibility: ['model'] } }, { notForApps: true }],
  ['a tool for both', { ui: { visibility: ['model', 'app'] } }, {}],
  ['a tool that is visible to neither', { ui: { visibility: [] } }, { forAppsOnly: true, notForApps: true }],
];
for (const [name, meta, expected] of tools) {
  test(`of a tool's definition: ${name}`, () => {
    assert.deepEqual(readToolApp({ name: 't', _meta: meta }), expected);
  });
}

function read(ui: unknown, options: { html?: string; local?: boolean } = {}): McpApp {
  const { html = '<p>Hello</p>', local = false } = options;
  const item: AppContents = { uri: 'ui://a', mimeType: APP_TYPE, data: html, meta: { ui } };
  const app = readAppResource([item], { local });
  if ('problem' in app) throw new Error(app.problem);
  return app;
}

const ALLOWED =
  'https://api.example.com https://api.example.com/ https://API.Example.com:8443 https://*.example.com';
const REFUSED = `* https://* https://*.com https://a.*.com https: data: blob: 'self' 'unsafe-eval'
  http://api.example.com ws://api.example.com javascript://api.example.com api.example.com //api.example.com
  https://api.example.com/path https://user@api.example.com https://api.example.com?x
  https://a.example.com,https://b.example.com https://ex\u0430mple.com https://127.0.0.1 https://10.0.0.1
  https://[::1] https://2130706433 https://0x7f.1 https://localhost https://x.localhost https://printer.local
  https://metadata.google.internal https://-.example.com`;
const REFUSED_WITH_SPACES = [
  'https://a.example.com https://b.example.com',
  'https://a.example.com; script-src *',
  'https://a.example.com\n',
  '',
];
const domains: readonly (readonly [string, boolean])[] = [
  ...ALLOWED.split(' ').map((domain) => [domain, true] as const),
  ...[...REFUSED.split(/\s+/), ...REFUSED_WITH_SPACES].map((domain) => [domain, false] as const),
];
for (const [domain, allowed] of domains) {
  test(`${JSON.stringify(domain)} is ${allowed ? 'an origin that an app may use' : 'refused'}`, () => {
    const lists = ['connectDomains', 'resourceDomains', 'baseUriDomains'];
    const { csp, notices } = read({ csp: Object.fromEntries(lists.map((list) => [list, [domain]])) });
    const expected = allowed ? [domain.toLowerCase().replace(/\/$/, '')] : [];
    assert.deepEqual(Object.values(csp), [expected, expected, expected]);
    assert.equal(notices.length, allowed ? 0 : 3);
  });
}

test('an app may connect to a socket, but not load from it', () => {
  const { csp } = read({
    csp: { connectDomains: ['wss://a.example'], resourceDomains: ['wss://a.example'] },
  });
  assert.deepEqual(csp.connectDomains, ['wss://a.example']);
  assert.deepEqual(csp.resourceDomains, []);
});

test('only the app of a local server may use loopback', () => {
  const ui = { csp: { connectDomains: ['http://localhost:5173', 'ws://127.0.0.1:5173', 'http://10.0.0.1'] } };
  assert.deepEqual(read(ui).csp.connectDomains, []);
  assert.deepEqual(read(ui, { local: true }).csp.connectDomains, [
    'http://localhost:5173',
    'ws://127.0.0.1:5173',
  ]);
});

test('a value that is not a list is ignored, and a long list is cut', () => {
  assert.deepEqual(
    read({ csp: { connectDomains: 'https://a.example', resourceDomains: {} } }).csp.connectDomains,
    [],
  );
  const many = Array.from({ length: 60 }, (_, at) => `https://a${at}.example`);
  const { csp, notices } = read({ csp: { connectDomains: many } });
  assert.equal(csp.connectDomains.length, 50);
  assert.match(notices.join(), /Only the first 50/);
});

test('an app may write to the clipboard, but not use the camera, the microphone or the location', () => {
  const { permissions, notices } = read({
    permissions: { camera: {}, microphone: {}, geolocation: {}, clipboardWrite: {} },
  });
  assert.deepEqual(permissions, { clipboardWrite: true });
  assert.equal(notices.length, 3);
});

test('the metadata of the list of resources applies if the resource has none', () => {
  const item: AppContents = { uri: 'ui://a', mimeType: 'text/html; profile="mcp-app"', data: 'x' };
  const listed = { ui: { prefersBorder: true, csp: { connectDomains: ['https://a.example'] } } };
  const app = readAppResource([item], { listed });
  assert.ok(!('problem' in app));
  assert.equal(app.prefersBorder, true);
  assert.deepEqual(app.csp.connectDomains, ['https://a.example']);
});

const bad: readonly (readonly [string, readonly AppContents[], RegExp])[] = [
  ['nothing', [], /no page/],
  ['a page of another type', [{ uri: 'ui://a', mimeType: 'text/html', data: '<p>' }], /no page/],
  ['a page of no type', [{ uri: 'ui://a', data: '<p>' }], /no page/],
  [
    'bytes that are not text',
    [{ uri: 'ui://a', mimeType: APP_TYPE, data: Uint8Array.of(0xff) }],
    /not UTF-8/,
  ],
  [
    'a page that is too long',
    [{ uri: 'ui://a', mimeType: APP_TYPE, data: 'é'.repeat(MAX_APP_BYTES / 2 + 1) }],
    /5\.2 MB/,
  ],
];
for (const [name, contents, problem] of bad) {
  test(`${name} is not an app`, () => {
    const app = readAppResource(contents);
    assert.ok('problem' in app);
    assert.match(app.problem, problem);
  });
}

test('a page may come as bytes', () => {
  const app = readAppResource([{ uri: 'ui://a', mimeType: APP_TYPE, data: Buffer.from('<p>é</p>') }]);
  assert.ok(!('problem' in app));
  assert.equal(app.html, '<p>é</p>');
});

const policies: readonly (readonly [string, McpApp['csp'], string[], string])[] = [
  [
    'an app that declares nothing reaches nothing',
    read({}).csp,
    [],
    `default-src 'none'
script-src 'unsafe-inline'
style-src 'unsafe-inline'
img-src data: blob:
font-src data:
media-src data: blob:
connect-src 'none'
frame-src 'none'
base-uri 'none'
form-action 'none'
object-src 'none'
webrtc 'block'`,
  ],
  [
    'each list opens its own directives and no other',
    {
      connectDomains: ['https://c.example'],
      resourceDomains: ['https://r.example'],
      baseUriDomains: ['https://b.example'],
    },
    ['https://own.example'],
    `default-src 'none'
script-src 'unsafe-inline' https://own.example https://r.example
style-src 'unsafe-inline' https://r.example
img-src data: blob: https://r.example
font-src data: https://r.example
media-src data: blob: https://r.example
connect-src https://c.example
frame-src 'none'
base-uri https://b.example
form-action 'none'
object-src 'none'
webrtc 'block'`,
  ],
];
for (const [rule, csp, ownScripts, expected] of policies) {
  test(rule, () => assert.equal(policyOf(csp, ownScripts).replaceAll('; ', '\n'), expected));
}

test('an app cannot have frames, whatever it declares', () => {
  const { csp, notices } = read({ csp: { frameDomains: ['https://f.example'] } });
  assert.match(policyOf(csp), /frame-src 'none'/);
  assert.deepEqual(notices, ['It declares frames, which apps cannot have.']);
});

const frames: readonly (readonly [page: string, shown: string])[] = [
  ['<iframe src="https://f.example"></iframe>', '<x-iframe src="https://f.example"></iframe>'],
  ['<IFRAME>', '<x-IFRAME>'],
  ['<iframe/x>', '<x-iframe/x>'],
  ['<object data="a">, <embed\n>, <frame>', '<x-object data="a">, <x-embed\n>, <x-frame>'],
  ['<h:iframe/>', '<x-h:iframe/>'],
  ['<frameset>, <object-view>, a < iframe >', '<frameset>, <object-view>, a < iframe >'],
];
for (const [page, shown] of frames) {
  test(`the frames of a page become elements without a meaning: ${JSON.stringify(page)}`, () => {
    assert.ok(withPolicy(page, read({}).csp).endsWith(`</script>${shown}`));
  });
}

const pages = [
  '<!DOCTYPE html><html><head></head></html>',
  '\uFEFF<!DOCTYPE html><html>',
  '\uFEFF\uFEFFtext',
  '<!-- a comment --><!DOCTYPE html>',
  '<!-- a comment that never ends',
  '--><script src="https://evil.example/x.js"></script>',
  '"><script src="https://evil.example/x.js"></script>',
  '<meta http-equiv="refresh" content="0;url=https://evil.example">',
  '<base href="https://evil.example"><html><head>',
  '<?xml version="1.0"?><html>',
  '',
];
for (const html of pages) {
  test(`the policy comes before ${JSON.stringify(html.slice(0, 40))}`, () => {
    const page = withPolicy(html, read({}).csp);
    const policy = '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; ';
    const before = '<!DOCTYPE html><html><head><meta charset="utf-8">';
    assert.ok(page.startsWith(before + policy), page);
    // Our part contains nothing that the app could close.
    const ours = page.slice(0, page.length - html.replace(/^\uFEFF+/, '').length);
    assert.doesNotMatch(ours, /--|\uFEFF|evil/);
    assert.equal(page, ours + html.replace(/^\uFEFF+/, ''));
  });
}

const names: readonly (readonly [string, string])[] = [
  ['ui://weather/view.html', 'view.html'],
  ['ui://weather/view', 'view.html'],
  ['ui://weather/..%2F..%2Fpasswd', '.._.._passwd.html'],
  ['ui://%20', 'app.html'],
];
for (const [uri, name] of names) {
  test(`the app ${uri} is saved as ${name}, which the model does not get`, async () => {
    const saved: NewAsset[] = [];
    const result = await processMixedToolResult(
      { content: [{ type: 'text', text: 'Sunny' }, appBlock('<!DOCTYPE html><p>é</p>', uri)] },
      {
        spillFolder: async () => '/nowhere',
        save: async (asset) => {
          saved.push(asset);
          return { number: 1, path: 'cmdassets/tool-file-1.html' };
        },
      },
    );
    assert.equal(saved[0]?.extension, 'html');
    assert.equal(Buffer.from(saved[0].bytes as Uint8Array).toString(), '<!DOCTYPE html><p>é</p>');
    const written = `[Tool generated file 1: ${name}](cmdassets/tool-file-1.html)`;
    assert.equal(renderToolResult(result), `Sunny\n\n<!-- for the user only -->\n\n${written}`);
  });
}
