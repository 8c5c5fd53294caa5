import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { USAGE } from '../../../src/assetsServer/commandLine.ts';
import type { ServerConfig } from '../../../src/mcp/config/types.ts';
import {
  assetsServerFile,
  CHAT,
  CHAT_TEXT,
  CHAT_URI,
  createNotes,
  IMAGE_URI,
  LOOSE,
  LOOSE_URI,
  type Notes,
  PNG_BYTES,
  REPORT_TEXT,
  REPORT_URI,
  startOverHttp,
} from '../helpers/assetsServer.ts';
import { openSession } from '../helpers/connect.ts';
import { serve } from '../helpers/serving.ts';

const WAYS: Readonly<Record<string, (t: TestContext, notes: Notes) => Promise<ServerConfig>>> = {
  stdio: async (_t, notes) => ({
    kind: 'stdio',
    command: process.execPath,
    args: [assetsServerFile(), notes.path],
    env: {},
  }),
  HTTP: async (t, notes) => {
    const { url, token } = await startOverHttp(t, [notes.path]);
    return { kind: 'http', url: url.href, headers: { authorization: `Bearer ${token}` } };
  },
};

describe('our own client and the assets server', () => {
  for (const [way, configure] of Object.entries(WAYS)) {
    it(`over ${way}: lists and reads resources, and calls every tool`, async (t) => {
      const notes = createNotes(t);
      const session = openSession(t, { files: await configure(t, notes) });
      const tools = await session.client.listTools();
      assert.deepEqual(tools.tools.map(({ tool }) => tool).sort(), [
        'list_assets',
        'read_asset',
        'save_asset',
        'search_chats',
      ]);
      const listed = await session.call('files.list_assets', { kind: 'image' });
      assert.match(listed.markdown, /tool-image-/);
      const image = await session.call('files.read_asset', { uri: IMAGE_URI });
      const [name = ''] = readdirSync(join(image.folder, 'cmdassets'));
      assert.deepEqual(readFileSync(join(image.folder, 'cmdassets', name)), PNG_BYTES);
      const text = await session.call('files.read_asset', { uri: REPORT_URI });
      assert.ok(text.markdown.includes(REPORT_TEXT.trimEnd()), text.markdown);
      const found = await session.call('files.search_chats', { query: 'harbour' });
      assert.match(found.markdown, /filechat:\/\/notes%2Fsales\.chat\.md/);
      const saved = await session.call('files.save_asset', { chat: CHAT, name: 'a.json', text: '{"a":1}' });
      assert.match(saved.markdown, /Saved a\.json/);
    });

    it(`over ${way}: receives notifications of changes`, { timeout: 60_000 }, async (t) => {
      const notes = createNotes(t);
      const { client } = serve(t, { files: await configure(t, notes) });
      const { resources, templates } = await client.listResources('files');
      assert.equal(resources.length, 5);
      assert.equal(templates.length, 2);
      let isTold = false;
      const watch = client.subscribe({ server: 'files', uri: CHAT_URI }, () => {
        isTold = true;
      });
      t.after(() => watch.dispose());
      // The client does not say when its subscription begins, so changes are made until one is reported.
      for (let at = 1; !isTold; at += 1) {
        notes.write(CHAT, `${CHAT_TEXT}${'More. '.repeat(at)}\n`);
        await client.fetchResource({ server: 'files', uri: CHAT_URI }, { maxBytes: 1_000_000 });
      }
    });
  }
});

/** The answer of the official Inspector’s command line, as JSON. */
async function inspect(notes: Notes, args: readonly string[]): Promise<Record<string, unknown>> {
  const { stdout, stderr, code } = await run([
    '--import',
    new URL('../fixtures/inspectorManifest.mjs', import.meta.url).href,
    fileURLToPath(import.meta.resolve('@modelcontextprotocol/inspector-cli/build/index.js')),
    process.execPath,
    assetsServerFile(),
    notes.path,
    ...args,
  ]);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout);
}

describe('the official Inspector', () => {
  it('lists and reads our resources', async (t) => {
    const notes = createNotes(t);
    const { resources } = await inspect(notes, ['--method', 'resources/list']);
    assert.equal((resources as unknown[]).length, 5);
    const { contents } = await inspect(notes, ['--method', 'resources/read', '--uri', LOOSE_URI]);
    assert.equal((contents as { text: string }[])[0]?.text, '{"id":123}');
  });

  it('calls a tool', async (t) => {
    const notes = createNotes(t);
    // It lists the tools first, to give each argument the type that its tool names.
    const pairs = [`uri=asset:${LOOSE}`, 'start=1', 'maxBytes=4'].flatMap((pair) => ['--tool-arg', pair]);
    const answer = await inspect(notes, ['--method', 'tools/call', '--tool-name', 'read_asset', ...pairs]);
    assert.equal(answer['isError'], undefined, JSON.stringify(answer));
    assert.equal((answer['structuredContent'] as Record<string, unknown>)['nextStart'], 5);
  });
});

describe('the page about the server', () => {
  const page = readFileSync(new URL('../../../src/assetsServer/README.md', import.meta.url), 'utf8');
  /** The contents of the fence with this info string. */
  const fences = (words: string) => [...page.matchAll(new RegExp(`^\`\`\`${words}\\n(.*?)^\`\`\`$`, 'gms'))];

  it('has an example that runs unchanged and prints the documented output', async (t) => {
    const notes = createNotes(t);
    const [[, script = ''] = []] = fences('js readLatest\\.mjs');
    const [[, output = ''] = []] = fences('text output');
    const here = script
      .replace('/path/to/filechat/dist/assets-server.js', assetsServerFile())
      // Found from here, where the packages are.
      .replace(
        /from '(@modelcontextprotocol\/[^']+)'/g,
        (_all, name: string) => `from '${import.meta.resolve(name)}'`,
      )
      .replace("command: 'node'", `command: ${JSON.stringify(process.execPath)}`);
    const file = join(notes.around, 'readLatest.mjs');
    writeFileSync(file, here);
    const { stdout, stderr } = await run([file, notes.path]);
    assert.equal(stdout, output, stderr);
  });

  it('shows calls with their actual answers', async (t) => {
    const notes = createNotes(t);
    const { call } = serve(t, { files: await (WAYS['stdio'] ?? assert.fail)(t, notes) });
    const shown = fences('json call (\\w+)');
    const answers = fences('text answer');
    assert.equal(shown.length, 4);
    for (const [at, [, name = '', args = '']] of shown.entries()) {
      const result = (await call(`files.${name}`, JSON.parse(args))) as { content: { text: string }[] };
      assert.equal(
        withoutTime(result.content[0]?.text ?? ''),
        withoutTime(answers[at]?.[1]?.trimEnd() ?? ''),
      );
    }
  });

  it('names every tool and option', () => {
    for (const word of ['list_assets', 'read_asset', 'search_chats', 'save_asset'])
      assert.ok(page.includes(`### ${word}`));
    const options = USAGE.match(/^ {2}--(?!help)[\w-]+/gm) ?? [];
    assert.equal(options.length, 8);
    for (const option of options) assert.ok(page.includes(`| \`${option.trim()}`), option);
  });
});

/** The names of newly saved files differ each time. */
function withoutTime(text: string): string {
  return text.replace(/tool-file-\d{8}-\d{6}-\w+-1\.md/g, 'NAME');
}

function run(args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [...args], { timeout: 120_000 }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr }),
    );
  });
}
