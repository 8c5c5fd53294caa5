import assert from 'node:assert/strict';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setup, suite, teardown, test } from 'mocha';
import * as vscode from 'vscode';
import { FolderAssets } from '../../../src/assets/store.ts';
import type { RunOutcome } from '../../../src/ports/document.ts';
import { FileInserter } from '../../../src/vscode/chat/paste.ts';
import { serveHttp } from '../../kit/http.ts';
import { answerNotice, inWorkspace, openChat } from './kit/workspace.ts';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
);
const HERE = [new vscode.Range(1, 0, 1, 0)];
const NEVER = new vscode.CancellationTokenSource().token;
const AUTOMATIC: vscode.DocumentPasteEditContext = {
  only: undefined,
  triggerKind: vscode.DocumentPasteTriggerKind.Automatic,
};

/** The editor makes these itself when something is pasted; a test has to pretend. */
class PastedFile extends vscode.DataTransferItem {
  readonly #file: vscode.DataTransferFile;

  constructor(name: string, bytes: Uint8Array, uri?: vscode.Uri) {
    super('');
    this.#file = { name, data: async () => bytes, ...(uri ? { uri } : {}) };
  }

  override asFile(): vscode.DataTransferFile {
    return this.#file;
  }
}

function transfer(items: Readonly<Record<string, vscode.DataTransferItem>>): vscode.DataTransfer {
  const made = new vscode.DataTransfer();
  for (const [type, item] of Object.entries(items)) made.set(type, item);
  return made;
}

const uriList = (...uris: vscode.Uri[]) =>
  transfer({ 'text/uri-list': new vscode.DataTransferItem(uris.map(String).join('\r\n')) });

suite('pasting and dropping into a chat', () => {
  let folder = '';
  let elsewhere = '';
  let chats = 0;
  let document: vscode.TextDocument | undefined;
  const chat = () => document ?? assert.fail('no chat');
  const saved = () => (existsSync(join(folder, 'cmdassets')) ? readdirSync(join(folder, 'cmdassets')) : []);
  const inserter = (maxBytes = 1000) =>
    new FileInserter(
      async () => new FolderAssets({ folder }),
      () => maxBytes,
    );
  const drop = async (data: vscode.DataTransfer, maxBytes?: number) => {
    const edit = await inserter(maxBytes).provideDocumentDropEdits(
      chat(),
      new vscode.Position(1, 0),
      data,
      NEVER,
    );
    return edit?.insertText;
  };

  setup(async () => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'filechat-pasted-')));
    elsewhere = realpathSync(mkdtempSync(join(tmpdir(), 'filechat-elsewhere-')));
    // A new name each time: the editor still has the last document, and may read the file before it is whole.
    chats += 1;
    document = await openChat(`pasted-${chats}.chat.md`, '# %% user\n');
  });
  teardown(async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    for (const each of [folder, elsewhere]) rmSync(each, { recursive: true, force: true });
  });

  test('an image in the clipboard is saved only when its paste edit is chosen', async () => {
    const data = transfer({ 'image/png': new PastedFile('image.png', PNG) });
    const [edit] = (await inserter().provideDocumentPasteEdits(chat(), HERE, data, AUTOMATIC, NEVER)) ?? [];
    assert.ok(edit);
    assert.deepEqual([saved(), edit.yieldTo], [[], undefined]);
    const resolved = await inserter().resolveDocumentPasteEdit(edit);
    const [name = ''] = saved();
    assert.match(name, /^tool-image-\d{8}-\d{6}-\w+-1\.png$/);
    assert.equal(resolved.insertText, `![Pasted image](cmdassets/${name})`);
    assert.ok(readFileSync(join(folder, 'cmdassets', name)).equals(PNG));
  });

  test('copied text is pasted as text, not as the image that comes with it', async () => {
    const data = transfer({
      'image/png': new PastedFile('image.png', PNG),
      'text/plain': new vscode.DataTransferItem('1\t2'),
    });
    const [edit] = (await inserter().provideDocumentPasteEdits(chat(), HERE, data, AUTOMATIC, NEVER)) ?? [];
    assert.deepEqual(
      edit?.yieldTo?.map(({ value }) => value),
      [vscode.DocumentDropOrPasteEditKind.Text.value],
    );
  });

  test('files of the workspace are linked where they are, images as images', async () => {
    const names = [['data', 'sales 1.csv'], ['art.png']];
    const links = await drop(uriList(...names.map((segments) => inWorkspace(...segments))));
    assert.equal(links, '[sales 1.csv](data/sales%201.csv)\n![art.png](art.png)');
    assert.deepEqual(saved(), []);
  });

  test('an image from outside the workspace is copied; a text file is linked', async () => {
    const [image, notes] = ['cat.png', 'notes.txt'].map((name) => vscode.Uri.file(join(elsewhere, name)));
    assert.ok(image && notes);
    writeFileSync(image.fsPath, PNG);
    writeFileSync(notes.fsPath, 'x');
    const links = await drop(uriList(image, notes));
    assert.equal(links, `![cat.png](cmdassets/${saved()[0]})\n[notes.txt](${notes.toString()})`);
  });

  test('the names of ten images sort in the order of their links', async () => {
    const images = Array.from({ length: 10 }, (_, at) => vscode.Uri.file(join(elsewhere, `${at}.png`)));
    for (const [at, { fsPath }] of images.entries())
      writeFileSync(fsPath, Buffer.concat([PNG, Buffer.from([at])]));
    const links = String(await drop(uriList(...images)));
    const names = [...links.matchAll(/cmdassets\/([^)]*)/g)].map(([, name = '']) => name);
    assert.deepEqual(names, saved().sort());
    assert.match(names[1] ?? '', /-02\.png$/);
  });

  test('a file that appears twice in the data is inserted once', async () => {
    const image = vscode.Uri.file(join(elsewhere, 'cat.png'));
    writeFileSync(image.fsPath, PNG);
    const data = uriList(image);
    data.set('image/png', new PastedFile('cat.png', PNG, image));
    assert.equal(await drop(data), `![cat.png](cmdassets/${saved()[0]})`);
  });

  test('a file that is too large is skipped, and the others are saved', async () => {
    const data = transfer({
      'image/png': new PastedFile('big.png', Buffer.concat([PNG, Buffer.alloc(200)])),
      'application/pdf': new PastedFile('a.pdf', Buffer.from('%PDF-1.7\n')),
    });
    const links = await drop(data, 150);
    assert.equal(links, `[a.pdf](cmdassets/${saved()[0]})`);
    assert.equal(saved().length, 1);
  });

  test('a link dropped on a marker line goes below it', async () => {
    const data = uriList(inWorkspace('art.png'));
    const edit = await inserter().provideDocumentDropEdits(chat(), new vscode.Position(0, 3), data, NEVER);
    const [, changes] = edit?.additionalEdit?.entries()[0] ?? [];
    const placed = changes?.map(({ range, newText }) => [range.start.line, range.start.character, newText]);
    assert.deepEqual([edit?.insertText, placed], ['', [[0, 9, '\n![art.png](art.png)']]]);
  });

  test('web addresses are left to the editor', async () => {
    assert.equal(await drop(uriList(vscode.Uri.parse('https://example.com/a.png'))), undefined);
  });
});

suite('a link to a web address', () => {
  const cleanups: (() => void | Promise<void>)[] = [];
  teardown(async () => {
    for (const each of cleanups.splice(0)) await each();
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  test('is fetched after the user agreed to its host, and then leads to the file', async () => {
    const requests: string[] = [];
    const site = await serveHttp({ after: (work) => cleanups.push(work) }, ({ url = '' }, response) => {
      requests.push(url);
      response.writeHead(200, { 'content-type': 'text/plain' }).end(`Page ${url}`);
    });
    const chat = await openChat('fetch.chat.md', `# %% user\n[a](${site}/a) and [b](${site}/b)\n`);
    const [action] = await vscode.commands.executeCommand<vscode.CodeAction[]>(
      'vscode.executeCodeActionProvider',
      chat.uri,
      new vscode.Range(1, 2, 1, 2),
    );
    assert.equal(action?.title, 'Fetch and Attach');
    const fetchFirst = () =>
      vscode.commands.executeCommand<RunOutcome>(
        'filechat.attachAddress',
        ...(action.command?.arguments ?? []),
      );
    const declined = fetchFirst();
    await answerNotice(1);
    assert.deepEqual([(await declined).ok, requests], [false, []]);
    const allowed = fetchFirst();
    await answerNotice(0);
    const [path = ''] = (await allowed).assets;
    assert.equal(readFileSync(inWorkspace(path).fsPath, 'utf8'), 'Page /a');
    assert.equal(chat.getText(), `# %% user\n[a](${path} "${site}/a") and [b](${site}/b)\n`);
    const { ok } = await vscode.commands.executeCommand<RunOutcome>('filechat.attachAddress', {
      uri: chat.uri,
      address: `${site}/b`,
    });
    assert.deepEqual([ok, requests], [true, ['/a', '/b']]);
    await chat.save();
  });
});
