import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, suiteSetup, suiteTeardown, teardown, test } from 'mocha';
import * as vscode from 'vscode';
import { deferred } from '../../../src/base/async.ts';
import type { RunOutcome } from '../../../src/ports/document.ts';
import { EditorDocument } from '../../../src/vscode/chat/editorDocument.ts';
import { WorkspaceAssets } from '../../../src/vscode/chat/stores.ts';
import { until } from '../../kit/until.ts';
import { MemoryFiles } from './kit/memfs.ts';
import { holds, inWorkspace, openChat, useSampleServer } from './kit/workspace.ts';

const encode = (text: string) => new TextEncoder().encode(text);
const farOptions = (chat: vscode.Uri) => ({
  folder: vscode.Uri.joinPath(chat, '..'),
  spillFolder: inWorkspace('spill').fsPath,
  maxAssetBytes: () => 1000,
  now: () => new Date(2026, 10, 16, 9, 30, 12),
});
const callTool = (argument: object) =>
  vscode.commands.executeCommand<RunOutcome>('filechat.callTool', { server: 'mine', ...argument });

suite('a chat in a virtual file system', () => {
  const files = new MemoryFiles();
  let registered: vscode.Disposable | undefined;
  suiteSetup(async () => {
    registered = vscode.workspace.registerFileSystemProvider('memfs', files, { isCaseSensitive: true });
    await useSampleServer();
  });
  suiteTeardown(() => registered?.dispose());
  teardown(async () => {
    files.failure = () => undefined;
    files.beforeWrite = () => undefined;
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  async function openFar(folder: string): Promise<vscode.TextDocument> {
    const uri = vscode.Uri.parse(`memfs:/${folder}/far.chat.md`);
    files.createDirectory(vscode.Uri.joinPath(uri, '..'));
    await files.writeFile(uri, new TextEncoder().encode('# %% user\n'));
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.window.showTextDocument(document);
    return document;
  }

  const readText = (uri: vscode.Uri) => new TextDecoder().decode(files.readFile(uri));
  const inFolder = (folder: string) => files.paths().filter((path) => path.startsWith(`/${folder}/`));

  test('keeps its assets next to it, through the file system of the editor', async () => {
    const document = await openFar('tour');
    const outcome = await callTool({ tool: 'tour' });
    assert.deepEqual([outcome.ok, outcome.error], [true, undefined]);
    assert.equal(outcome.assets.length, 3);
    for (const path of outcome.assets) {
      assert.match(path, /^cmdassets\/tool-(image|audio|file)-\d{8}-\d{6}-[A-Za-z0-9]{8,}-1\.\w+$/);
      assert.ok(files.readFile(vscode.Uri.parse(`memfs:/tour/${path}`)).length > 1000, path);
      assert.ok(document.getText().includes(`](${path})`), path);
    }
    // The chat and its assets; no temporary file is left.
    assert.equal(inFolder('tour').length, 4);
  });

  test('saves identical images once', async () => {
    await openFar('twice');
    const first = await callTool({ tool: 'photo' });
    const second = await callTool({ tool: 'photo' });
    assert.equal(first.assets.length, 1);
    assert.deepEqual(second.assets, first.assets);
    await files.writeFile(vscode.Uri.parse(`memfs:/twice/${first.assets[0]}`), new Uint8Array([1]));
    const third = await callTool({ tool: 'photo' });
    assert.notDeepEqual(third.assets, first.assets);
  });

  test('says so if its assets cannot be written, and Retry saves them', async () => {
    const document = await openFar('locked');
    files.failure = ({ path }) =>
      path.includes('/cmdassets/') ? vscode.FileSystemError.NoPermissions() : undefined;
    const outcome = await callTool({ tool: 'photo' });
    assert.deepEqual(outcome.assets, []);
    assert.match(
      document.getText(),
      /> ⚠ Could not save image 1 to cmdassets\/: permission to write to the folder was denied\./,
    );
    assert.equal(inFolder('locked').length, 1);
    const retry = () => vscode.commands.executeCommand<RunOutcome>('filechat.retry', { uri: document.uri });
    assert.equal((await retry()).ok, false);
    files.failure = () => undefined;
    const retried = await retry();
    assert.deepEqual([retried.ok, retried.assets.length], [true, 1]);
    assert.ok(document.getText().includes(`![Tool generated image 1](${retried.assets[0]})`));
    assert.doesNotMatch(document.getText(), /⚠/);
    // The same bytes.
    const called = await callTool({ tool: 'photo' });
    const [saved, again] = [retried, called].map(({ assets }) =>
      files.readFile(vscode.Uri.parse(`memfs:/locked/${assets[0]}`)),
    );
    assert.deepEqual(saved, again);
    assert.match((await retry()).error ?? '', /^This chat has no files to retry\./);
  });

  test('keeps a call pending if the chat cannot be saved', async () => {
    const document = await openFar('refused');
    files.failure = () => vscode.FileSystemError.NoPermissions();
    const outcome = await callTool({ tool: 'photo' });
    assert.match(outcome.error ?? '', /^The call was not sent, because the chat could not be saved\./);
    assert.match(document.getText(), /```tool_call \S+photo c1\n\{\}\n```\n$/);
  });

  // VS Code reports a document as clean after each save, also if it was changed during that save.
  test('is saved again if it changes during a save', async () => {
    const document = await openFar('during');
    const { uri } = document;
    const append = async (text: string) => {
      const edit = new vscode.WorkspaceEdit();
      edit.insert(uri, document.lineAt(document.lineCount - 1).range.end, text);
      assert.equal(await vscode.workspace.applyEdit(edit), true);
    };
    const [written, release] = [deferred<void>(), deferred<void>()];
    files.beforeWrite = () => {
      written.resolve();
      return release.promise;
    };
    await append('before');
    const saving = document.save();
    await written.promise;
    await append(' and during');
    release.resolve();
    await saving;
    const chat = new EditorDocument(document);
    assert.equal(await chat.save(), true);
    chat.dispose();
    assert.equal(readText(uri), '# %% user\nbefore and during');
  });

  test('never overwrites: a taken name means another id', async () => {
    const chat = (await openFar('taken')).uri;
    const ids = ['SAMEsame00', 'SAMEsame00', 'FREEfree00'];
    const store = new WorkspaceAssets({ ...farOptions(chat), newId: () => ids.shift() ?? '' });
    const save = async (text: string) =>
      (await store.beginResult().save({ kind: 'file', extension: 'txt', bytes: encode(text) })).path;
    const paths = [await save('first'), await save('second')];
    assert.deepEqual(
      paths.map((path) => path.split('-').at(-2)),
      ['SAMEsame00', 'FREEfree00'],
    );
    assert.deepEqual(
      paths.map((path) => readText(vscode.Uri.joinPath(chat, '..', path))),
      ['first', 'second'],
    );
    assert.equal(inFolder('taken').length, 3);
  });

  test('accepts spilled files up to the limit', async () => {
    const chat = (await openFar('spilled')).uri;
    const assets = new WorkspaceAssets({ ...farOptions(chat), maxAssetBytes: () => 5 }).beginResult();
    const path = join(await assets.spillFolder(), `.filechat-spill-${process.pid}-a.tmp`);
    writeFileSync(path, 'bytes');
    const bytes = { path, size: 5, head: encode('bytes') };
    const saved = await assets.save({ kind: 'file', extension: 'txt', bytes });
    assert.equal(readText(vscode.Uri.joinPath(chat, '..', saved.path)), 'bytes');
    const larger = { ...bytes, size: 6 };
    await assert.rejects(assets.save({ kind: 'file', extension: 'txt', bytes: larger }), /maxAssetBytes/);
    rmSync(path);
  });

  test('takes files of an unsaved chat along', async () => {
    const scratch = await vscode.workspace.openTextDocument(vscode.Uri.parse('untitled:far.chat.md'));
    await vscode.window.showTextDocument(scratch);
    const [original = ''] = (await callTool({ tool: 'photo' })).assets;
    const name = original.replace(/^.*\//, '');
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
    const document = await openFar('moved');
    const change = new vscode.WorkspaceEdit();
    change.insert(document.uri, new vscode.Position(1, 0), `![x](${encodeURI(original)})\n`);
    await vscode.workspace.applyEdit(change);
    let isRefused = false;
    files.failure = ({ path }) => {
      isRefused ||= path.includes('/cmdassets');
      return path.includes('/cmdassets') ? vscode.FileSystemError.NoPermissions() : undefined;
    };
    await document.save();
    await until(() => isRefused);
    assert.ok(document.getText().includes(`![x](${encodeURI(original)})`));
    files.failure = () => undefined;
    // Each further save is another attempt.
    await until(async () => {
      const again = new vscode.WorkspaceEdit();
      again.insert(document.uri, new vscode.Position(1, 0), 'More.\n');
      await vscode.workspace.applyEdit(again);
      await document.save();
      return readText(document.uri).includes(`![x](cmdassets/${name})`);
    });
    const copy = files.readFile(vscode.Uri.parse(`memfs:/moved/cmdassets/${name}`));
    assert.deepEqual(Buffer.from(copy), readFileSync(original));
  });

  test('says so if a file is in the place of the folder', async () => {
    const document = await openFar('blocked');
    await files.writeFile(vscode.Uri.parse('memfs:/blocked/cmdassets'), new TextEncoder().encode('mine'));
    assert.deepEqual((await callTool({ tool: 'photo' })).assets, []);
    assert.match(document.getText(), /> ⚠ Could not save image 1 to cmdassets\/: it is a file\./);
    assert.deepEqual(inFolder('blocked'), ['/blocked/cmdassets', '/blocked/far.chat.md']);
  });
});

suite('an unsaved chat that is saved', () => {
  suiteSetup(useSampleServer);
  teardown(() => vscode.commands.executeCommand('workbench.action.closeAllEditors'));

  /** A chat with an image and a file in the global storage, and with links that are none of ours. */
  async function openUnsaved(file: vscode.Uri) {
    const document = await vscode.workspace.openTextDocument(file.with({ scheme: 'untitled' }));
    const editor = await vscode.window.showTextDocument(document);
    const { assets } = await callTool({ tool: 'tour' });
    const others = `[data](/elsewhere/cmdassets/${nameOf(assets[0])})\n\`[code](${assets[0]})\`\n`;
    await editor.edit((edit) => edit.insert(new vscode.Position(document.lineCount, 0), others));
    return { document, assets, others };
  }
  const nameOf = (path = '') => path.replace(/^.*\//, '');
  const besideOf = (assets: readonly string[]) => assets.map((path) => `](cmdassets/${nameOf(path)})`);
  const hasAll = (text: string, parts: readonly string[]) => parts.every((part) => text.includes(part));
  const contentOf = (uri: vscode.Uri) => readFileSync(uri.fsPath);

  test('takes its files along, and its links follow in one step that can be undone', async () => {
    const file = inWorkspace('first', 'kept.chat.md');
    const { document, assets, others } = await openUnsaved(file);
    assert.equal(assets.length, 3);
    assert.ok(assets.every((path) => path.startsWith('/') && existsSync(path)));
    assert.equal(await document.save(), true);
    await until(() => hasAll(contentOf(file).toString(), besideOf(assets)));
    const { document: saved } = await vscode.window.showTextDocument(file);
    assert.ok(saved.getText().includes(others), 'other links stay');
    for (const path of assets) {
      assert.deepEqual(contentOf(inWorkspace('first', 'cmdassets', nameOf(path))), readFileSync(path));
    }
    assert.deepEqual(readdirSync(inWorkspace('first', 'cmdassets').fsPath).sort(), assets.map(nameOf).sort());
    const after = saved.getText();
    await vscode.commands.executeCommand('undo');
    const before = saved.getText();
    assert.ok(
      hasAll(
        before,
        assets.map((path) => `](${encodeURI(path)})`),
      ),
      before,
    );
    assert.equal(hasAll(before, besideOf(assets.slice(0, 1))), false);
    assert.ok(
      assets.every((path) => existsSync(path)),
      'the links still lead to files',
    );
    // An undone move is not made again; another chat with the same links shares the files.
    await saved.save();
    const other = await openChat('first/other.chat.md', '');
    await vscode.window.activeTextEditor?.edit((edit) => edit.insert(new vscode.Position(0, 0), before));
    await other.save();
    await until(() => hasAll(contentOf(other.uri).toString(), besideOf(assets)));
    assert.equal(readdirSync(inWorkspace('first', 'cmdassets').fsPath).length, assets.length);
    await vscode.window.showTextDocument(saved);
    assert.equal(saved.getText(), before);
    await vscode.commands.executeCommand('redo');
    assert.equal(saved.getText(), after);
    await saved.save();
  });

  test('does so under a name that is not a chat’s, and no other file is touched', async () => {
    const { document, assets } = await openUnsaved(inWorkspace('second', 'unsaved.chat.md'));
    const text = document.getText();
    const [stranger, plain] = [inWorkspace('second', 'stranger.md'), inWorkspace('second', 'plain.md')];
    for (const [uri, start] of [
      [stranger, '# Notes\n'],
      [plain, ''],
    ] as const) {
      await vscode.workspace.fs.writeFile(uri, encode(''));
      const opened = await vscode.workspace.openTextDocument(uri);
      const editor = await vscode.window.showTextDocument(opened);
      await editor.edit((edit) => edit.insert(new vscode.Position(0, 0), start + text));
      await opened.save();
    }
    await until(() => hasAll(contentOf(plain).toString(), besideOf(assets)));
    assert.equal(contentOf(stranger).toString(), `# Notes\n${text}`);
    await vscode.window.showTextDocument(document);
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
  });
});

suite('cleaning up assets', () => {
  const clean = (argument: object) =>
    vscode.commands.executeCommand<RunOutcome>('filechat.cleanUpAssets', argument);
  teardown(() => vscode.commands.executeCommand('workbench.action.closeAllEditors'));

  test('removes nothing if every file is linked or is not an asset', async () => {
    const name = 'tool-image-20200101-000000-V1StGXR8a0-1.png';
    const buffered = 'tool-file-20200101-000000-V1StGXR8a0-1.pdf';
    const rest = 'tool-file-20200101-000000-V1StGXR8a0-2.md';
    const inRest = 'tool-image-20200101-000000-V1StGXR8a0-2.png';
    const folder = inWorkspace('clean');
    for (const file of [name, buffered, rest, inRest, 'holiday.png']) {
      await vscode.workspace.fs.writeFile(
        vscode.Uri.joinPath(folder, 'cmdassets', file),
        file === rest ? encode(`![Tool generated image 2](./${inRest})`) : new Uint8Array([1]),
      );
    }
    const links = `> ![x](../moved/${name})\n[rest](cmdassets/${rest})\n`;
    const document = await openChat('clean/a.chat.md', `# %% user\n${links}`);
    const change = new vscode.WorkspaceEdit();
    change.insert(document.uri, new vscode.Position(1, 0), `[not saved yet](cmdassets/${buffered})\n`);
    await vscode.workspace.applyEdit(change);
    assert.deepEqual(await clean({ folder }), { ok: true, assets: [] });
    assert.deepEqual(await clean({ uri: document.uri }), { ok: true, assets: [] });
    for (const file of [name, buffered, inRest, 'holiday.png']) {
      assert.ok(existsSync(inWorkspace('clean', 'cmdassets', file).fsPath), file);
    }
    await vscode.commands.executeCommand('workbench.action.files.revert');
  });

  test('refuses while a chat in the folder runs', async () => {
    await useSampleServer();
    const document = await openChat('busy.chat.md', '# %% user\n');
    const working = callTool({ tool: 'slow', arguments: { seconds: 20, steps: 20 } });
    await holds(document, 'tool_call mine.slow c1');
    const outcome = await clean({});
    assert.match(outcome.error ?? '', /A chat in this folder is running\./);
    await vscode.commands.executeCommand('filechat.stop', { uri: document.uri });
    await working;
  });

  test('says so if the folder does not exist', async () => {
    const outcome = await clean({ folder: inWorkspace('nowhere') });
    assert.equal(outcome.ok, false);
    assert.match(outcome.error ?? '', /^No assets were removed\. /);
  });
});
