import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { clientForm } from '../../../src/vscode/assetsServer/configurations.ts';
import { folderArgument, writeLauncher } from '../../../src/vscode/assetsServer/launcher.ts';

let root = '';
before(() => {
  // User names can contain any of these characters.
  root = mkdtempSync(join(tmpdir(), "filechat laun'cher ü#%-"));
});
after(() => rmSync(root, { recursive: true, force: true }));

/** An extension whose server prints its version and its arguments. */
function install(extensions: string, version: string): string {
  const folder = join(extensions, `filechat.filechat-${version}`);
  mkdirSync(join(folder, 'dist'), { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(
    join(folder, 'dist', 'assets-server.js'),
    `console.log(JSON.stringify(['${version}', ...process.argv.slice(2)]));`,
  );
  return folder;
}

function start(launcher: string, ...args: string[]) {
  const { stdout, stderr, status } = spawnSync(process.execPath, [launcher, ...args], { encoding: 'utf8' });
  return { said: stdout.trim() === '' ? undefined : JSON.parse(stdout), stderr, status };
}

describe('the launcher of the assets server', () => {
  it('starts the server with its own arguments, and accepts folders as file URIs', async () => {
    const launcher = await writeLauncher(join(root, 'store'), install(join(root, 'a'), '1.0.0'));
    const folders = ['/plain', "/with space and 'quote'", `/$HOME/\${PATH}/100%/ü#?`];
    const { said } = start(launcher, '--read-only', ...folders.map(folderArgument));
    assert.deepEqual(said, ['1.0.0', '--read-only', ...folders]);
    assert.ok(folders.map(folderArgument).every((each) => !each.includes('$')));
  });

  it('is rewritten at the same path for another version, and kept for the same one', async () => {
    const store = join(root, 'updated');
    const first = await writeLauncher(store, install(join(root, 'b'), '1.0.0'));
    utimesSync(first, 1, 1);
    await writeLauncher(store, install(join(root, 'b'), '1.0.0'));
    assert.equal(statSync(first).mtimeMs, 1000);
    assert.equal(await writeLauncher(store, install(join(root, 'b'), '2.0.0')), first);
    assert.deepEqual(start(first).said, ['2.0.0']);
    assert.deepEqual(readdirSync(store), ['assets-server.mjs']);
  });

  it('finds the newest version when an update has removed its own', async () => {
    const extensions = join(root, 'c');
    const old = install(extensions, '1.0.0');
    const launcher = await writeLauncher(join(root, 'left'), old);
    const other = install(extensions, '1.9.0');
    utimesSync(join(other, 'dist', 'assets-server.js'), 1, 1);
    install(extensions, '1.10.0');
    mkdirSync(join(extensions, 'filechat.filechat-9.9.9'));
    mkdirSync(join(extensions, 'other.filechat-2.0.0'));
    rmSync(old, { recursive: true });
    assert.deepEqual(start(launcher, '/notes').said, ['1.10.0', '/notes']);
  });

  it('explains what to do when the server no longer exists', async () => {
    const extensions = join(root, 'd');
    const launcher = await writeLauncher(join(root, 'alone'), install(extensions, '1.0.0'));
    rmSync(extensions, { recursive: true });
    const { stderr, status } = start(launcher, '/notes');
    assert.match(stderr, /^Filechat is no longer where it was\. Install it, or copy .* again\.$/m);
    assert.equal(status, 1);
  });
});

describe('the line for Claude Code', { skip: process.platform === 'win32' }, () => {
  it('is parsed by a shell as intended', () => {
    const args = [
      '/a b',
      `/o'neil's "x"`,
      `/$HOME/\${PATH}/$(id)/\`id\``,
      '/back\\slash\\',
      '/new\nline',
      '/笔记 🗂️ *?;&|#!~',
    ];
    const line = clientForm('claude-code').write({ command: 'node', args, platform: 'linux' });
    const spy = `claude() { "$NODE" -e 'console.log(JSON.stringify(process.argv.slice(1)))' -- "$@"; }`;
    const { stdout } = spawnSync('sh', ['-c', `${spy}\n${line}`], {
      encoding: 'utf8',
      env: { ...process.env, NODE: process.execPath },
    });
    const [mcp, add, ...rest] = JSON.parse(stdout);
    assert.deepEqual([mcp, add], ['mcp', 'add']);
    assert.deepEqual(rest, ['--scope', 'user', 'filechat-assets', '--', 'node', ...args]);
  });
});
