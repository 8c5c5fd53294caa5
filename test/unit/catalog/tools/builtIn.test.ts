import assert from 'node:assert/strict';
import { readdirSync, rmSync, symlinkSync } from 'node:fs';
import { beforeEach, describe, it } from 'node:test';
import { BUILT_IN_SERVER } from '../../../../src/base/assetNames.ts';
import { builtInTools, withBuiltInServer, withBuiltInTools } from '../../../../src/catalog/tools/builtIn.ts';
import type { BuiltInPlaces } from '../../../../src/catalog/tools/readableFiles.ts';
import type { ResourceHost } from '../../../../src/catalog/tools/resourceTools.ts';
import type { ResultAssets, ToolResult } from '../../../../src/ports/results.ts';
import type { ToolHost } from '../../../../src/ports/tools.ts';
import { readToolResult, renderToolResult } from '../../../../src/result/markdown.ts';
import { makePdf } from '../../../kit/documents.ts';
import { PNG as PNG_BYTES } from '../../../kit/png.ts';
import { needsSymlinks } from '../../../windows/needs.ts';
import { useTree } from '../tree.ts';

const PDF = 'tool-file-20261116-093012-V1StGXR8a0-1.pdf';
const TXT = 'tool-file-20261116-093013-V1StGXR8a1-1.txt';
const PNG = 'tool-image-20261116-093014-V1StGXR8a2-1.png';
const OTHER = 'tool-file-20261116-093015-V1StGXR8a3-1.csv';

const MP3 = 'tool-audio-20261116-093016-V1StGXR8a4-1.mp3';
const MP3_BYTES = Buffer.concat([
  Buffer.from('ID3\x03\0\0\0\0\0\0\xff\xfb\x90\x64', 'latin1'),
  Buffer.alloc(500),
]);
const PDF_BYTES = Buffer.concat([Buffer.from('%PDF-1.4\n%âãÏÓ\n', 'latin1'), Buffer.alloc(3000, 0xe2)]);
const LONG_TEXT = Array.from({ length: 700 }, (_, n) => `Line ${n}: zwölf Boxkämpfer 📦`).join('\n');

const CHAT = `# %% user
Report!

# %% assistant
\`\`\`tool_call sample.report c1
{}
\`\`\`

# %% tool sample.report c1
[Tool generated file 1: quarterly.pdf](cmdassets/${PDF})

[Tool generated file 2: notes.txt](cmdassets/${TXT})

![Tool generated image 1](cmdassets/${PNG})

# %% user
`;

const tree = useTree();

/** A chat with three assets beside it, and a fourth that it does not mention. */
beforeEach(() => {
  tree.write('notes/a.chat.md', CHAT);
  tree.write(`notes/cmdassets/${PDF}`, PDF_BYTES);
  tree.write(`notes/cmdassets/${TXT}`, LONG_TEXT);
  tree.write(`notes/cmdassets/${PNG}`, PNG_BYTES);
  tree.write(`notes/cmdassets/${OTHER}`, 'a,b\n1,2\n');
});

const OTHER_SERVERS: ToolHost & ResourceHost = {
  listTools: async (server) => ({
    tools: [{ server: server ?? 'charts', tool: 'bar', inputSchema: {} }],
    failures: [],
  }),
  callTool: async () => ({ isError: false, parts: [{ kind: 'text', text: 'Another server’s.' }] }),
  states: async () => new Map(),
  listResources: () => assert.fail('Nothing is listed.'),
  readResource: () => assert.fail('Nothing is read.'),
};
const OWN_TOOLS = ['list_assets', 'read_asset', 'search_chats', 'list_resources', 'read_resource'];
const NO_ASSETS: ResultAssets = {
  spillFolder: () => assert.fail('Nothing is spilled.'),
  save: () => assert.fail('Nothing is saved.'),
};

function caller(places: BuiltInPlaces | undefined, isOffered = true) {
  const host = withBuiltInTools(OTHER_SERVERS, { placesOf: () => places, isOffered: () => isOffered });
  return {
    host,
    call: (tool: string, args: Readonly<Record<string, unknown>> = {}): Promise<ToolResult> =>
      host.callTool({ server: BUILT_IN_SERVER, tool, id: 'c1', arguments: args }, { assets: NO_ASSETS }),
  };
}

function inChat(more: Partial<BuiltInPlaces> = {}) {
  const chat = tree.at('notes/a.chat.md');
  return caller({ chat, text: () => CHAT, assetsIn: tree.at('notes'), folders: [tree.path], ...more });
}

function textOf({ parts }: ToolResult): string {
  return parts
    .map((part) => {
      if (part.kind === 'text') return part.text;
      return part.kind === 'problem' ? `⚠ ${part.message}` : part.kind;
    })
    .join('\n');
}

describe('the tools are offered', () => {
  it('to a chat with servers, after their tools', async () => {
    assert.deepEqual(await withBuiltInServer(['charts'], tree.path), ['charts', 'filechat']);
  });

  it('to a chat with assets beside it', async () => {
    tree.write(`cmdassets/${PDF}`, 'x');
    assert.deepEqual(await withBuiltInServer([], tree.path), ['filechat']);
  });

  it('to no other: not for foreign files, for links, or for a missing folder', needsSymlinks, async () => {
    assert.deepEqual(await withBuiltInServer([], tree.at('gone')), []);
    tree.write('cmdassets/.DS_Store', 'x');
    tree.write('cmdassets/holiday.png', 'x');
    symlinkSync(tree.at('cmdassets/holiday.png'), tree.at('cmdassets', PNG));
    assert.deepEqual(await withBuiltInServer([], tree.path), []);
  });

  it('a server of that name is there once', async () => {
    assert.deepEqual(await withBuiltInServer(['filechat', 'charts'], tree.path), ['filechat', 'charts']);
  });
});

describe('the tools beside those of servers', () => {
  it('are read-only, resolve references themselves, and accept arguments that match their schemas', async () => {
    const { tools } = await caller(undefined).host.listTools(BUILT_IN_SERVER);
    assert.deepEqual(
      tools.map(({ server, tool, readOnly, readsReferences }) => [server, tool, readOnly, readsReferences]),
      OWN_TOOLS.map((tool) => ['filechat', tool, true, true]),
    );
    const read = tools[1]?.inputSchema as { properties: Record<string, unknown>; required: string[] };
    assert.deepEqual(Object.keys(read.properties), ['uri', 'start', 'maxBytes', 'as', 'pages']);
    assert.deepEqual(read.required, ['uri']);
    for (const { description = '' } of tools) assert.ok(description.length < 1024, description);
    assert.deepEqual(await builtInTools(), tools);
  });

  it('are listed after the others', async () => {
    const { tools } = await caller(undefined).host.listTools();
    assert.deepEqual(
      tools.map(({ server, tool }) => `${server}.${tool}`),
      ['charts.bar', ...OWN_TOOLS.map((tool) => `filechat.${tool}`)],
    );
  });

  it('a configured server of that name takes precedence', async () => {
    const { host, call } = caller(undefined, false);
    assert.deepEqual(
      (await host.listTools(BUILT_IN_SERVER)).tools.map(({ tool }) => tool),
      ['bar'],
    );
    assert.equal((await host.listTools()).tools.length, 1);
    assert.equal(textOf(await call('bar')), 'Another server’s.');
  });

  it('without files they return an error', async () => {
    assert.match(textOf(await caller(undefined).call('list_assets')), /^⚠ This chat is not in a folder/);
  });
});

describe('list_assets', () => {
  it('lists the assets that this chat mentions, and explains how to list the others', async () => {
    const text = textOf(await inChat().call('list_assets', { sort: 'name' }));
    assert.deepEqual(text.match(/asset:\S+/g), [`asset:${TXT}`, `asset:${PDF}`, `asset:${PNG}`]);
    assert.match(text, /^3 assets:\n/);
    assert.match(text, /quarterly\.pdf \(.*3\.0 KB.*sample\.report\)/);
    assert.match(text, /1 other file is beside this chat: ask with chat: "\*"/);
  });

  it('uses the current text of the chat, saved or not', async () => {
    const text = () => `# %% tool x.y c1\n[Tool generated file 1: new.csv](cmdassets/${OTHER})\n`;
    const listed = textOf(await inChat({ text }).call('list_assets'));
    assert.match(listed, /^1 asset:\nIn notes\/a\.chat\.md:\n- new\.csv \(.*x\.y/);
    assert.match(listed, /3 other files are beside this chat/);
  });

  it('files named only in its own results do not belong to the chat', async () => {
    const text = () => `${CHAT}# %% tool filechat.list_assets c2\n\`\`\`\n- a (b): asset:${OTHER}\n\`\`\`\n`;
    assert.match(textOf(await inChat({ text }).call('list_assets')), /^3 assets:/);
  });

  it('files that are gone are counted and not listed', async () => {
    rmSync(tree.at('notes/cmdassets', PDF));
    const text = textOf(await inChat().call('list_assets'));
    assert.match(text, /^2 assets:/);
    assert.match(text, /1 file mentioned in the chat cannot be read/);
  });

  it('with a filter, a kind and a page', async () => {
    const { call } = inChat();
    assert.match(textOf(await call('list_assets', { kind: 'image' })), /^1 asset:/);
    assert.match(
      textOf(await call('list_assets', { filter: 'QUARTERLY' })),
      new RegExp(`^1 asset:[^]*asset:${PDF}`),
    );
    const first = textOf(await call('list_assets', { sort: 'name', limit: 2 }));
    assert.match(first, /^2 of 3 assets:/);
    const cursor = /cursor: (\S+)/.exec(first)?.[1];
    const second = textOf(await call('list_assets', { sort: 'name', limit: 2, cursor }));
    assert.deepEqual(second.match(/asset:\S+/g), [`asset:${PNG}`]);
  });

  it('with "*" lists everything: files beside the chat by name, others by address', async () => {
    tree.write('b.chat.md', `# %% tool x.y c1\n[Tool generated file 1: b.pdf](cmdassets/${PDF})\n`);
    tree.write(`cmdassets/${PDF}`, PDF_BYTES);
    const text = textOf(await inChat().call('list_assets', { chat: '*', sort: 'name' }));
    assert.match(text, /^5 assets:/);
    const chats = [...new Set(text.match(/^In .*/gm))];
    assert.deepEqual(chats, ['In b.chat.md:', 'In notes/a.chat.md:', 'In notes/cmdassets:']);
    assert.ok(text.includes(`asset:${OTHER}`));
    assert.ok(text.includes(`filechat://b.chat.md/${PDF}`));
    const ofOther = textOf(await inChat().call('list_assets', { chat: 'b.chat.md' }));
    assert.match(ofOther, /^1 asset:/);
    assert.deepEqual(textOf(await inChat().call('list_assets', { chat: 'filechat://b.chat.md' })), ofOther);
  });

  it(
    'a cmdassets/ that leads elsewhere holds nothing, and does not reveal how much is there',
    needsSymlinks,
    async () => {
      rmSync(tree.at('notes/cmdassets'), { recursive: true });
      tree.write(`elsewhere/${PDF}`, PDF_BYTES);
      tree.write(`elsewhere/${OTHER}`, 'secret');
      symlinkSync(tree.at('elsewhere'), tree.at('notes/cmdassets'));
      assert.equal(
        textOf(await inChat().call('list_assets')),
        'No matching assets.\nNote: 3 files mentioned in the chat cannot be read.',
      );
    },
  );

  it('a chat that names itself gets its own', async () => {
    const { call } = inChat();
    assert.deepEqual(await call('list_assets', { chat: 'notes/a.chat.md' }), await call('list_assets'));
  });

  it('invalid arguments are explained', async () => {
    const { call } = inChat();
    assert.match(textOf(await call('list_assets', { limit: 0 })), /^⚠ .*limit must be/);
    assert.match(textOf(await call('read_asset')), /^⚠ .*uri/);
  });
});

describe('read_asset', () => {
  it('gives text in windows that join to the file, as they read back from the chat', async () => {
    const { call } = inChat();
    let joined = '';
    let windows = 0;
    for (let start: number | undefined = 0; start !== undefined; windows += 1) {
      const result = await call('read_asset', { uri: `asset:${TXT}`, start, maxBytes: 1000 });
      const { parts } = readToolResult(renderToolResult(result));
      assert.deepEqual(parts, result.parts);
      const [about, window] = parts;
      assert.ok(about?.kind === 'text' && window?.kind === 'text');
      assert.deepEqual(window.source, { uri: `asset:${TXT}`, mimeType: 'text/plain' });
      joined += window.text;
      const next = /start (\d+)/.exec(about.text)?.[1];
      start = next === undefined ? undefined : Number(next);
    }
    assert.equal(joined, LONG_TEXT);
    assert.ok(windows > 10, `${windows}`);
  });

  it('accepts a reference, a file name, a label in the chat, a link target, and an address', async () => {
    const { call } = inChat();
    const address = `filechat://notes%2Fa.chat.md/${TXT}`;
    const uris = [`asset:${TXT}`, TXT, 'notes.txt', `cmdassets/${TXT}`, address];
    const results = await Promise.all(uris.map((uri) => call('read_asset', { uri, maxBytes: 50 })));
    for (const result of results) assert.deepEqual(result, results[0]);
    assert.match(textOf(results[0] ?? assert.fail()), /^Bytes 0 to 49 of notes\.txt [\s\S]*Line 0: zwölf/);
  });

  it('links to an image beside the chat and saves nothing', async () => {
    const { parts } = await inChat().call('read_asset', { uri: `asset:${PNG}` });
    assert.deepEqual(parts.at(-1), {
      kind: 'asset',
      asset: { kind: 'image', number: 1, path: `cmdassets/${PNG}` },
    });
    assert.equal(readdirSync(tree.at('notes/cmdassets')).length, 4);
    const written = { start: 0, maxBytes: 8192, as: 'auto' };
    assert.deepEqual(
      (await inChat().call('read_asset', { uri: PNG, ...written })).parts.at(-1),
      parts.at(-1),
    );
    const { parts: bytes } = await inChat().call('read_asset', { uri: `asset:${PNG}`, as: 'bytes' });
    assert.match(textOf({ isError: false, parts: bytes }), /00000000 {2}89 50 4e 47/);
  });

  it('links to audio beside the chat, and returns what as asks for', async () => {
    tree.write(`notes/cmdassets/${MP3}`, MP3_BYTES);
    const { call } = inChat();
    const asset = (kind: string, name: string) => ({
      kind: 'asset',
      asset: { kind, number: 1, path: `cmdassets/${name}` },
    });
    const text = {
      kind: 'text',
      text: 'a,b\n1,2\n',
      source: { uri: `asset:${OTHER}`, mimeType: 'text/csv' },
    };
    const rows: readonly (readonly [uri: string, as: string | undefined, last: object | RegExp])[] = [
      [MP3, undefined, asset('audio', MP3)],
      [MP3, 'audio', asset('audio', MP3)],
      [PNG, 'image', asset('image', PNG)],
      [PNG, 'resource', /^00000000 {2}89 50/],
      [OTHER, 'resource', text],
      [OTHER, 'text', text],
      [OTHER, 'bytes', /^00000000 {2}61 2c 62/],
      [PDF, 'text', /text of quarterly\.pdf cannot be read: it is damaged/],
      [PDF, 'resource', /^00000000 {2}25 50 44 46/],
      [PDF, 'image', /quarterly\.pdf is application\/pdf, not an image/],
      [PNG, 'audio', /is image\/png, not audio/],
      ['filechat://notes%2Fa.chat.md', 'image', /is text\/markdown, not an image/],
    ];
    for (const [uri, as, expected] of rows) {
      const last = (await call('read_asset', { uri, as })).parts.at(-1) ?? assert.fail();
      if (expected instanceof RegExp) assert.match(textOf({ isError: false, parts: [last] }), expected);
      else assert.deepEqual(last, expected, `${uri} as ${as}`);
    }
  });

  it('finds and lists what another client saved for this chat, though no text mentions it', async () => {
    const line = (chat: string, asset: string) =>
      JSON.stringify({ asset, chat, name: 'sales.csv', by: 'claude-ai 1.2.0' });
    tree.write('notes/cmdassets/saved.jsonl', `${line('a.chat.md', OTHER)}\n`);
    const { call } = inChat();
    const listed = textOf(await call('list_assets', { filter: 'sales.csv' }));
    assert.match(listed, /^1 asset:\n.*\n- sales\.csv \(.*saved by claude-ai 1\.2\.0\)/);
    assert.doesNotMatch(listed, /other file|cannot be read/);
    assert.match(textOf(await call('read_asset', { uri: 'sales.csv' })), /a,b\n1,2/);
    tree.write('notes/cmdassets/saved.jsonl', `${line('b.chat.md', OTHER)}\n`);
    assert.match(textOf(await call('list_assets', { filter: 'sales.csv' })), /^No matching assets/);
  });

  it('an invalid image is shown as bytes', async () => {
    tree.write(`notes/cmdassets/${PNG}`, Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0]));
    assert.match(textOf(await inChat().call('read_asset', { uri: PNG })), /^00000000 {2}1f 8b/m);
  });

  it('shows 1,024 bytes of a binary file, and more only on request', async () => {
    const { call } = inChat();
    const lines = async (args: object) =>
      textOf(await call('read_asset', { uri: PDF, as: 'resource', ...args })).match(/^[0-9a-f]{8} {2}/gm)
        ?.length;
    assert.equal(await lines({}), 64);
    assert.equal(await lines({ maxBytes: null }), 64);
    assert.equal(await lines({ maxBytes: 2048 }), 128);
    const text = textOf(await call('read_asset', { uri: PDF, as: 'resource' }));
    assert.match(text, /Bytes 0 to 1023 of .*start 1024/);
    assert.match(text, new RegExp(`write asset:${PDF} as the argument`));
    assert.ok(!text.includes(PDF_BYTES.toString('base64').slice(0, 40)));
  });

  it('returns the text of a document, by pages and in windows', async () => {
    tree.write(`notes/cmdassets/${PDF}`, makePdf('One', 'Two', 'Three'));
    const { call } = inChat();
    const whole = await call('read_asset', { uri: PDF });
    assert.equal(
      textOf({ isError: false, parts: whole.parts.slice(0, 1) }),
      'All of the text of quarterly.pdf (application/pdf, 3 pages, 48 bytes).',
    );
    assert.deepEqual(whole.parts[1], {
      kind: 'text',
      text: '## Page 1\n\nOne\n\n## Page 2\n\nTwo\n\n## Page 3\n\nThree',
      source: { uri: `asset:${PDF}`, mimeType: 'text/markdown' },
    });
    const pages = await call('read_asset', { uri: PDF, pages: 2 });
    assert.match(textOf(pages), /## Page 2\n\nTwo$/);
    const window = textOf(await call('read_asset', { uri: PDF, start: 11, maxBytes: 3 }));
    assert.match(window, /^Bytes 11 to 13 of the text of .*start 14\.\s+(?:.*\n)?One$/);
    assert.match(
      textOf(await call('read_asset', { uri: PDF, pages: '9' })),
      /has 3 pages, but none of them matches/,
    );
  });

  it('returns text of another folder, but only descriptions of its images', async () => {
    tree.write('b.chat.md', '# %% user\nHello!\n');
    tree.write(`cmdassets/${TXT}`, 'Elsewhere.');
    tree.write(`cmdassets/${PNG}`, PNG_BYTES);
    const { call } = inChat();
    const text = await call('read_asset', { uri: `filechat://b.chat.md/${TXT}` });
    assert.deepEqual(text.parts.at(-1), {
      kind: 'text',
      text: 'Elsewhere.',
      source: { uri: `filechat://b.chat.md/${TXT}`, mimeType: 'text/plain' },
    });
    const image = await call('read_asset', { uri: `filechat://cmdassets/${PNG}` });
    assert.ok(image.parts.every(({ kind }) => kind === 'text'));
    assert.match(textOf(image), /image\/png.*another folder/);
    assert.match(textOf(await call('read_asset', { uri: 'filechat://b.chat.md' })), /# %% user\nHello!/);
  });

  for (const uri of [
    'asset:tool-file-20261116-093012-nothinghere-1.pdf',
    'asset:../a.chat.md',
    'a.chat.md',
    '/etc/passwd',
    'file:///etc/passwd',
    'filechat://..%2F..%2Fetc/passwd',
    `filechat://elsewhere.chat.md/${PDF}`,
    '',
  ]) {
    it(`refuses ${JSON.stringify(uri)} with a reason, without a path of the machine`, async () => {
      const result = await inChat().call('read_asset', { uri });
      assert.deepEqual(
        result.parts.map(({ kind }) => kind),
        ['problem'],
      );
      assert.ok(!textOf(result).includes(tree.path));
    });
  }

  it('comments of a chat are never shown to models', async () => {
    const said =
      'Äpfel <!-- secret -->und Birnen.\n\n```html\n<!-- code -->\n```\n\n<!--\nsecret\n-->\nEnde\n';
    tree.write('b.chat.md', `\uFEFF# %% user\n${said}\n# %% assistant\nGut. <!-- secret -->\n`);
    const { call } = inChat();
    let read = '';
    for (let start: number | undefined = 0; start !== undefined; ) {
      const { parts }: ToolResult = await call('read_asset', {
        uri: 'filechat://b.chat.md',
        start,
        maxBytes: 7,
        as: 'bytes',
      });
      const [about, window] = parts;
      assert.ok(about?.kind === 'text' && window?.kind === 'text');
      read += window.text;
      const next: string | undefined = /continue with start (\d+)/.exec(about.text)?.[1];
      start = next === undefined ? undefined : Number(next);
    }
    assert.equal(
      read,
      '\uFEFF# %% user\nÄpfel und Birnen.\n\n```html\n<!-- code -->\n```\n\n\nEnde\n\n# %% assistant\nGut. \n',
    );
    const whole = await call('read_asset', { uri: 'filechat://b.chat.md' });
    assert.match(textOf(whole), /^All of .*\. Its comments are omitted\.\n/);
    assert.doesNotMatch(textOf(whole), /secret/);
    assert.match(textOf(await call('search_chats', { query: 'gut' })), /assistant: Gut\.$/m);
  });

  it('a link in cmdassets/ that leads out is not followed', needsSymlinks, async () => {
    tree.write('secret.txt', 'secret');
    rmSync(tree.at('notes/cmdassets', TXT));
    symlinkSync(tree.at('secret.txt'), tree.at('notes/cmdassets', TXT));
    assert.doesNotMatch(textOf(await inChat().call('read_asset', { uri: TXT })), /^secret/m);
  });
});

describe('search_chats', () => {
  it('leaves this chat out unless it is named, and leads to the place', async () => {
    tree.write('b.chat.md', '# %% user\nThe Report of 2025 was late.\n');
    const { call } = inChat();
    const text = textOf(await call('search_chats', { query: 'report' }));
    assert.match(text, /filechat:\/\/b\.chat\.md/);
    assert.doesNotMatch(text, /a\.chat\.md/);
    const start = Number(/start (\d+)/.exec(text)?.[1]);
    assert.match(
      textOf(await call('read_asset', { uri: 'filechat://b.chat.md', start })),
      /^(?:The )?Report of 2025/m,
    );
    const named = textOf(await call('search_chats', { query: 'report', chat: 'notes/a.chat.md' }));
    assert.match(named, /notes%2Fa\.chat\.md/);
    const all = textOf(await call('search_chats', { query: 'report', chat: '*' }));
    for (const uri of ['filechat://b.chat.md', 'filechat://notes%2Fa.chat.md']) assert.ok(all.includes(uri));
  });
});

describe('a chat that is not saved', () => {
  const unsaved = () => {
    tree.write(`storage/cmdassets/${TXT}`, LONG_TEXT);
    tree.write(`storage/cmdassets/${PNG}`, PNG_BYTES);
    tree.write(`storage/cmdassets/${OTHER}`, 'Of another chat.');
    tree.write('workspace/b.chat.md', '# %% user\nThe report of 2025.\n');
    const linkPrefix = `${tree.path}/storage/cmdassets`;
    const text = `# %% tool x.y c1\n[Tool generated file 1: n.txt](${linkPrefix}/${TXT})\n\n![Tool generated image 1](${linkPrefix}/${PNG})\n`;
    const folders = [tree.at('workspace')];
    const { call } = caller({ text: () => text, assetsIn: tree.at('storage'), linkPrefix, folders });
    return { call, linkPrefix };
  };

  it('lists and reads its own assets, and none of other chats', async () => {
    const { call, linkPrefix } = unsaved();
    const listed = textOf(await call('list_assets', { sort: 'name' }));
    assert.match(listed, /^2 assets:/);
    assert.doesNotMatch(listed, /other/);
    assert.match(textOf(await call('read_asset', { uri: `asset:${TXT}` })), /Line 0/);
    const { parts } = await call('read_asset', { uri: `asset:${PNG}` });
    assert.deepEqual(parts.at(-1), {
      kind: 'asset',
      asset: { kind: 'image', number: 1, path: `${linkPrefix}/${PNG}` },
    });
  });

  it('searches the folders of the workspace, and lists all of them only', async () => {
    const { call } = unsaved();
    assert.match(textOf(await call('search_chats', { query: 'report' })), /filechat:\/\/b\.chat\.md/);
    assert.match(textOf(await call('list_assets', { chat: '*' })), /^No matching assets/);
  });

  it('without any folder there is nothing else to search', async () => {
    const { call } = caller({ text: () => '', assetsIn: tree.path, folders: [] });
    assert.match(textOf(await call('search_chats', { query: 'x' })), /^⚠ No folder is open/);
    assert.match(textOf(await call('list_assets')), /^No matching assets/);
  });
});
