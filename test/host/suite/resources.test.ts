import assert from 'node:assert/strict';
import { readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { setup, suite, suiteSetup, suiteTeardown, teardown, test } from 'mocha';
import * as vscode from 'vscode';
import { parseChat } from '../../../src/chat/format/parse.ts';
import { argumentQuestions } from '../../../src/mcp/schema/arguments.ts';
import type { RunOutcome } from '../../../src/ports/document.ts';
import type { ResourceContents, ResourceName, ServerState } from '../../../src/ports/servers.ts';
import { ResourceDocuments } from '../../../src/vscode/servers/resourceDocuments.ts';
import { askQuestions } from '../../../src/vscode/ui/wizard.ts';
import { end, sendAll, words } from '../../integration/helpers/wireServer.ts';
import { PNG } from '../../kit/png.ts';
import { until } from '../../kit/until.ts';
import { LiveModel } from './kit/liveModel.ts';
import { Notices } from './kit/notices.ts';
import { READY } from './kit/stores.ts';
import { holds, inWorkspace, openChat, setSetting, useSampleServer } from './kit/workspace.ts';

const SCHEME = 'filechat-resource-test';
/** The answers to a request of a server for the model, and to its response, by their place. */
const SEND = 0;
const EDIT = 1;

/** A server in memory that counts its requests and subscriptions. */
class MemoryServer {
  contents: readonly ResourceContents[] = [];
  state: ServerState = { kind: 'idle' };
  fetched = 0;
  readonly listeners = new Set<() => void>();

  async fetchResource() {
    this.fetched += 1;
    return this.contents;
  }

  async states() {
    return new Map([['a', this.state]]);
  }

  subscribe(_resource: ResourceName, onUpdate: () => void) {
    const heard = () => onUpdate();
    this.listeners.add(heard);
    return { dispose: () => this.listeners.delete(heard) };
  }

  say(data: string | Uint8Array, mimeType?: string): void {
    this.contents = [{ uri: 'demo://x', data, ...(mimeType === undefined ? {} : { mimeType }) }];
  }
}

/** The editor tells some time after a tab is closed that its document is. */
async function closeAll(): Promise<void> {
  const isOpen = () => vscode.workspace.textDocuments.some(({ uri }) => uri.scheme === SCHEME);
  const closed = new Promise<void>((resolve) => {
    if (!isOpen()) return resolve();
    const subscription = vscode.workspace.onDidCloseTextDocument(() => {
      if (isOpen()) return;
      subscription.dispose();
      resolve();
    });
  });
  await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  await closed;
}

suite('resources as documents', () => {
  let server: MemoryServer;
  let documents: ResourceDocuments;
  let registration: vscode.Disposable;
  const folder = inWorkspace('resources');
  setup(() => {
    server = new MemoryServer();
    documents = new ResourceDocuments(server, folder, SCHEME);
    registration = documents.register();
  });
  teardown(async () => {
    await closeAll();
    registration.dispose();
    documents.dispose();
  });

  test('a document URI keeps the server and the exact URI of the resource', () => {
    for (const uri of [
      'demo://a/b.txt',
      'demo://a?x=1&y=%2F#top',
      'urn:x:ä ö%20%zz',
      'x://[a](command:b)/../..',
    ]) {
      const resource = { server: 'my_server-1', uri };
      const written = documents.uriFor(resource).toString();
      assert.deepEqual(documents.resourceOf(vscode.Uri.parse(written)), resource);
    }
    assert.equal(documents.resourceOf(vscode.Uri.parse('file:///a/b?c')), undefined);
  });

  test('a text opens read-only, with a name and language for its type', async () => {
    server.say('# Hello\n', 'text/markdown');
    await documents.open({ server: 'a', uri: 'demo://notes/7' });
    const editor = vscode.window.activeTextEditor;
    assert.equal(editor?.document.getText(), '# Hello\n');
    assert.equal(editor.document.languageId, 'markdown');
    assert.equal(editor.document.uri.path, '/a/7.md');
    assert.equal(vscode.workspace.fs.isWritableFileSystem(SCHEME), false);
    assert.equal(server.fetched, 1, 'Opening fetches the resource once.');
  });

  test('an open document is updated with its resource, a closed one is not', async () => {
    server.say('one');
    await documents.open({ server: 'a', uri: 'demo://live.txt' });
    const document = vscode.window.activeTextEditor?.document;
    assert.ok(document);
    assert.equal(server.listeners.size, 1);
    server.say('two');
    for (const listener of server.listeners) listener();
    await holds(document, 'two');
    server.say('three');
    for (const listener of server.listeners) listener();
    await holds(document, 'three');
    await closeAll();
    assert.equal(server.listeners.size, 0);
  });

  test('opening a resource again shows its current content', async () => {
    server.say('old');
    await documents.open({ server: 'a', uri: 'demo://again.txt' });
    const document = vscode.window.activeTextEditor?.document;
    assert.ok(document);
    server.say('new');
    await documents.open({ server: 'a', uri: 'demo://again.txt' });
    await holds(document, 'new');
  });

  test('bytes are saved under a name that the server does not choose, the same each time', async () => {
    server.say(PNG, 'text/html');
    await documents.open({ server: 'a', uri: 'demo://../../evil.html' });
    await documents.open({ server: 'a', uri: 'demo://../../evil.html' });
    const files = await vscode.workspace.fs.readDirectory(folder);
    assert.equal(files.length, 1);
    assert.match(files[0]?.[0] ?? '', /^resource-[0-9a-f]{16}-1\.png$/);
    const saved = vscode.Uri.joinPath(folder, files[0]?.[0] ?? '');
    assert.deepEqual(readFileSync(saved.fsPath), PNG);
    await vscode.workspace.fs.delete(folder, { recursive: true });
  });

  test('a restored tab starts no server', async () => {
    server.say('words');
    const uri = documents.uriFor({ server: 'a', uri: 'demo://restored.txt' });
    await assert.rejects(async () => vscode.workspace.fs.readFile(uri), /The server a is not running/);
    assert.equal(server.fetched, 0);
    server.state = READY;
    assert.equal(new TextDecoder().decode(await vscode.workspace.fs.readFile(uri)), 'words');
  });
});

/** The reference server as the only one of the user, in the next two suites. */
async function useEverything(): Promise<void> {
  const program = join(
    realpathSync(inWorkspace('..', 'dist').fsPath),
    '../node_modules/@modelcontextprotocol/server-everything/dist/index.js',
  );
  await setSetting('mcpServers', { everything: { command: 'node', args: [program, 'stdio'] } });
}

suite('resources and prompts of a real server in the chat', () => {
  const readResource = (uri: string) =>
    vscode.commands.executeCommand<RunOutcome>('filechat.readResource', { server: 'everything', uri });
  const insertPrompt = (prompt: string, args: Record<string, string> = {}) =>
    vscode.commands.executeCommand<RunOutcome>('filechat.insertPrompt', {
      server: 'everything',
      prompt,
      arguments: args,
    });
  const roles = (text: string) => parseChat(text).turns.map((turn) => turn.role);

  suiteSetup(useEverything);
  teardown(() => vscode.commands.executeCommand('workbench.action.closeAllEditors'));

  test('a text is inserted below the user’s text', async () => {
    const document = await openChat('resource.chat.md', '# %% user\nLook:\n');
    const outcome = await readResource('demo://resource/dynamic/text/1');
    assert.deepEqual(outcome, { ok: true, assets: [] });
    assert.match(
      document.getText(),
      /^# %% user\nLook:\n\n> From `demo:\/\/resource\/dynamic\/text\/1` \(`text\/plain`\)\n\n```\nResource 1: .+\n```\n$/,
    );
  });

  test('bytes are saved beside the chat', async () => {
    const document = await openChat('blob.chat.md', '# %% user\n');
    const { ok, assets } = await readResource('demo://resource/dynamic/blob/2');
    assert.deepEqual([ok, assets.length], [true, 1]);
    assert.match(readFileSync(inWorkspace(assets[0] ?? '').fsPath, 'utf8'), /^Resource 2: /);
    assert.ok(document.getText().includes(`](${assets[0]})`));
  });

  test('a missing resource is an error, and the chat is unchanged', async () => {
    const document = await openChat('none.chat.md', '# %% user\n');
    const { ok, error } = await readResource('demo://nowhere');
    assert.equal(ok, false);
    assert.notEqual(error, undefined);
    assert.equal(document.getText(), '# %% user\n');
  });

  test('a type that the settings do not allow leaves a line, in resources, prompts and tool results', async () => {
    const uri = 'demo://resource/dynamic/blob/2';
    await setSetting('approve', 'auto');
    await setSetting('results.allowedMimeTypes', ['image/*']);
    try {
      const document = await openChat('refused.chat.md', '# %% user\n');
      const refused =
        /^The file 2 was not saved: it is text\/plain \(\d+ bytes\), and filechat\.results\.allowedMimeTypes allows image\/\*\.$/;
      const { ok, error, assets } = await readResource(uri);
      assert.deepEqual([ok, assets], [false, []]);
      assert.match(error ?? '', refused);
      await insertPrompt('resource-prompt', { resourceType: 'Blob', resourceId: '2' });
      const call = { server: 'everything', tool: 'get-resource-reference' };
      const args = { resourceType: 'Blob', resourceId: 2 };
      await vscode.commands.executeCommand('filechat.callTool', { ...call, arguments: args });
      assert.equal(
        document.getText().match(/^> ⚠ The file 2 was not saved: /gm)?.length,
        3,
        document.getText(),
      );
    } finally {
      await setSetting('results.allowedMimeTypes', undefined);
    }
  });

  test('a prompt becomes turns', async () => {
    const document = await openChat('prompt.chat.md', '# %% user\n');
    assert.equal((await insertPrompt('args-prompt', { city: 'Paris' })).ok, true);
    assert.equal(document.getText(), "# %% user\nWhat's weather in Paris?\n");
  });

  test('a prompt with an embedded resource', async () => {
    const document = await openChat('embedded.chat.md', '# %% user\n');
    const outcome = await insertPrompt('resource-prompt', { resourceType: 'Text', resourceId: '3' });
    assert.equal(outcome.ok, true);
    assert.ok(roles(document.getText()).every((role) => role === 'user'));
    assert.match(document.getText(), /> From `demo:\/\/resource\/dynamic\/text\/3`/);
  });
});

suite('requests of a real server', () => {
  const model = new LiveModel();
  const notices = new Notices();
  suiteSetup(async () => {
    await useEverything();
    await model.start();
  });
  teardown(() => vscode.commands.executeCommand('workbench.action.closeAllEditors'));
  suiteTeardown(async () => {
    await model.dispose();
    await useSampleServer();
  });

  /** Calls a tool in a chat of its own. The server has questions before the call ends. */
  async function call(name: string, tool: string, args: object = {}) {
    const document = await openChat(`${name}.chat.md`, '# %% user\n');
    const argument = { server: 'everything', tool, arguments: args };
    const outcome = vscode.commands.executeCommand<RunOutcome>('filechat.callTool', argument);
    return { document, outcome };
  }
  const callSampling = (name: string) =>
    call(name, 'trigger-sampling-request', { prompt: 'Which colour?', maxTokens: 20 });
  const callForm = (name: string) => call(name, 'trigger-elicitation-request');

  /** The document in which a request or a response can be edited. */
  async function edited(text: string): Promise<vscode.TextDocument> {
    const find = () =>
      vscode.workspace.textDocuments.find((each) => each.isUntitled && each.getText().includes(text));
    await until(() => find() !== undefined);
    return find() ?? assert.fail(`“${text}” is not shown.`);
  }
  async function replaceText(old: string, text: string): Promise<void> {
    const document = await edited(old);
    const at = document.getText().indexOf(old);
    const edit = new vscode.WorkspaceEdit();
    const range = new vscode.Range(document.positionAt(at), document.positionAt(at + old.length));
    edit.replace(document.uri, range, text);
    assert.equal(await vscode.workspace.applyEdit(edit), true);
  }

  // In this order: after three refusals in a row, the server is not heard.
  test('a form can be declined or dismissed', async () => {
    const declined = await callForm('declined');
    await notices.answer(1, 2);
    await declined.outcome;
    assert.match(declined.document.getText(), /User declined/);
    const dismissed = await callForm('dismissed');
    await notices.answer(0, 2);
    let isOpen = true;
    void dismissed.outcome.then(() => {
      isOpen = false;
    });
    while (isOpen) await vscode.commands.executeCommand('workbench.action.closeQuickOpen');
    assert.match(dismissed.document.getText(), /User cancelled/);
  });

  test('a sampling request and its response can be edited before they are sent', async () => {
    model.answer = (asked) => sendAll(asked, words('A cat.'), end());
    const { document, outcome } = await callSampling('sampling');
    await notices.answer(EDIT, 4);
    await replaceText('Which colour?', 'Which animal?');
    await notices.asked(2);
    assert.equal(model.asked.length, 0);
    await notices.answer(SEND, 2);
    await notices.answer(EDIT, 3);
    const { messages, max_tokens: maxTokens } = JSON.parse(model.last.body);
    assert.match(JSON.stringify(messages), /You are a helpful test server[\s\S]*Which animal\?/);
    assert.equal(maxTokens, 20);
    await replaceText('A cat.', 'A dog.');
    await notices.answer(SEND, 2);
    assert.equal((await outcome).ok, true);
    assert.match(document.getText(), /LLM sampling result[\s\S]*"text": "A dog\."/);
    assert.match(document.getText(), /"stopReason": "endTurn"/);
    assert.equal(model.asked.length, 1);
  });

  test('a sampling request whose document is closed is not sent', async () => {
    const before = model.asked.length;
    const { document, outcome } = await callSampling('closed');
    await notices.answer(EDIT, 4);
    const request = await edited('Which colour?');
    await notices.asked(2);
    await vscode.window.showTextDocument(request, { viewColumn: vscode.ViewColumn.Two });
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
    await outcome;
    assert.match(document.getText(), /The user declined\./);
    assert.equal(model.asked.length, before);
  });

  test('a question ends with its run or its chat', async () => {
    const stopped = await callForm('stopped');
    await notices.asked(2);
    await vscode.commands.executeCommand('filechat.stop');
    await notices.none();
    await stopped.outcome;
    const left = await callForm('left');
    await notices.asked(2);
    // The run saves the chat before the call; a tab with changes would ask whether to save them.
    await until(() => !left.document.isDirty);
    await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
    await notices.none();
    await left.outcome;
  });
});

suite('a form', () => {
  const [question] = argumentQuestions({ properties: { file: { type: 'string' } }, required: ['file'] });
  const { createInputBox } = vscode.window;
  suiteTeardown(() => Object.assign(vscode.window, { createInputBox }));

  test('that is aborted while the file dialog is open ends at once, and ignores the file', async () => {
    const pressed = new vscode.EventEmitter<vscode.QuickInputButton>();
    const shown = Promise.withResolvers<vscode.InputBox>();
    // No command presses a button of an input, so the test does.
    const createWatched = () => {
      const box = Object.defineProperty(createInputBox(), 'onDidTriggerButton', { value: pressed.event });
      shown.resolve(box);
      return box;
    };
    Object.assign(vscode.window, { createInputBox: createWatched });
    const aborting = new AbortController();
    const dialog = Promise.withResolvers<string>();
    assert.ok(question);
    const asked = askQuestions([question], {
      title: 'A form',
      signal: aborting.signal,
      actionsFor: () => [{ icon: 'folder', tooltip: 'Choose', run: () => dialog.promise }],
    });
    const box = await shown.promise;
    const [button] = box.buttons;
    assert.ok(button);
    pressed.fire(button);
    aborting.abort();
    assert.equal(await asked, undefined);
    dialog.resolve('file:late.txt');
    await dialog.promise;
    assert.equal(box.value, '');
  });
});
