import assert from 'node:assert/strict';
import { suite, suiteSetup, suiteTeardown, teardown, test } from 'mocha';
import * as vscode from 'vscode';
import { isObject } from '../../../src/base/json.ts';
import { parseChat } from '../../../src/chat/format/parse.ts';
import type { RunOutcome } from '../../../src/ports/document.ts';
import { until } from '../../kit/until.ts';
import { type Asked, TestModel } from './kit/testModel.ts';
import { holds, openChat, useSampleServer } from './kit/workspace.ts';

const run = (uri: vscode.Uri) => vscode.commands.executeCommand<RunOutcome>('filechat.run', { uri });
const roles = (text: string) => parseChat(text).turns.map((turn) => turn.role);
const words = (text: string) => new vscode.LanguageModelTextPart(text);

function countImages({ messages }: Asked): number {
  const parts = messages.flatMap(({ content }): readonly unknown[] => content);
  return parts
    .flatMap((part) => (part instanceof vscode.LanguageModelToolResultPart ? part.content : [part]))
    .filter((part) => isObject(part) && part['mimeType'] === 'image/jpeg').length;
}

suite('a chat with a model of VS Code', () => {
  let model: TestModel;
  suiteSetup(async () => {
    await useSampleServer();
    model = new TestModel();
  });
  suiteTeardown(() => model.dispose());
  teardown(() => vscode.commands.executeCommand('workbench.action.closeAllEditors'));

  test('it answers in two steps without configuration, and receives the image of the tool', async () => {
    model.asked.length = 0;
    model.reply = async (parts) => {
      if (model.asked.length === 1) {
        parts.report(words('I draw it.'));
        parts.report(new vscode.LanguageModelToolCallPart('x1', 'mine__photo', {}));
      } else parts.report(words('A fine photo.'));
    };
    const document = await openChat('lm.chat.md', '# %% user\nDraw!\n');
    const outcome = await run(document.uri);
    assert.deepEqual([outcome.error, outcome.ok], [undefined, true]);
    const text = document.getText();
    assert.deepEqual(roles(text), ['user', 'assistant', 'tool', 'assistant', 'user']);
    assert.match(
      text,
      /I draw it\.\n\n```tool_call mine\.photo c1\n\{\}\n```\n\n# %% tool mine\.photo c1\n!\[/,
    );
    assert.match(text, /# %% assistant\nA fine photo\.\n\n# %% user\n$/);
    assert.deepEqual(model.asked.map(countImages), [0, 1]);
  });

  test('a model that refuses images gets none, until the user forgets it', async () => {
    const forget = () =>
      vscode.commands.executeCommand('filechat.forgetModelLimits', { model: 'vscode/echo-1' });
    model.reply = async (parts) => {
      const last = model.asked.at(-1);
      if (last && countImages(last) > 0) throw new Error('This model does not support image input.');
      if (model.asked.length > 1) parts.report(words('I cannot see it.'));
      else parts.report(new vscode.LanguageModelToolCallPart('x1', 'mine__photo', {}));
    };
    model.asked.length = 0;
    const document = await openChat('textOnly.chat.md', '# %% user\nDraw!\n');
    const runAndCount = async () => {
      const before = model.asked.length;
      const { ok, error } = await run(document.uri);
      assert.deepEqual([error, ok], [undefined, true]);
      return model.asked.slice(before).map(countImages);
    };
    const ask = async () => {
      const edit = new vscode.WorkspaceEdit();
      edit.insert(document.uri, document.lineAt(document.lineCount - 1).range.end, 'Sure?\n');
      await vscode.workspace.applyEdit(edit);
    };
    assert.deepEqual(await runAndCount(), [0, 1, 0]);
    assert.deepEqual(roles(document.getText()), ['user', 'assistant', 'tool', 'assistant', 'user']);
    await ask();
    assert.deepEqual(await runAndCount(), [0]);
    await forget();
    await ask();
    assert.deepEqual(await runAndCount(), [1, 0]);
    await forget();
  });

  test('one undo removes the whole reply, and redo restores it', async () => {
    const gate = Promise.withResolvers<void>();
    const before = '# %% user\nCount!\n';
    const document = await openChat('undo.chat.md', before);
    model.reply = async (parts) => {
      parts.report(words('one '));
      await gate.promise;
      parts.report(words('two'));
    };
    const running = run(document.uri);
    await holds(document, 'one');
    gate.resolve();
    assert.equal((await running).ok, true);
    const after = document.getText();
    assert.match(after, /# %% assistant\none two\n\n# %% user\n$/);
    await vscode.window.showTextDocument(document);
    await vscode.commands.executeCommand('undo');
    assert.equal(document.getText(), before);
    await vscode.commands.executeCommand('redo');
    assert.equal(document.getText(), after);
  });

  for (const [command, line] of Object.entries({ 'filechat.run': 4, 'filechat.regenerate': 7 })) {
    test(`${command} in an earlier turn offers a fork first, which leaves the chat unchanged`, async () => {
      const start = '---\nservers: []\n---\n# %% user\nOne?\n\n# %% assistant\n';
      const text = `${start}Eins.\n\n# %% user\nTwo?\n\n# %% assistant\nZwei.\n\n# %% user\n`;
      const document = await openChat(`${command}.chat.md`, text);
      const place = new vscode.Range(line, 0, line, 0);
      await vscode.window.showTextDocument(document, { selection: place });
      model.asked.length = 0;
      model.reply = async (parts) => parts.report(words('Uno.'));
      let isDone = false;
      const ran = vscode.commands.executeCommand<RunOutcome>(command).then((outcome) => {
        isDone = true;
        return outcome;
      });
      await until(async () => {
        await vscode.commands.executeCommand('workbench.action.acceptSelectedQuickOpenItem');
        return isDone;
      });
      assert.equal((await ran).error, undefined);
      const fork = vscode.window.activeTextEditor?.document;
      assert.ok(fork?.fileName.endsWith(`${command}-fork.chat.md`), fork?.fileName);
      assert.equal(fork?.getText(), `${start}Uno.\n\n# %% user\n`);
      assert.doesNotMatch(JSON.stringify(model.asked), /Two\?/);
      assert.equal(document.getText(), text);
    });
  }

  test('a reply that cannot be regenerated stays', async () => {
    const text = '---\nservers: []\n---\n# %% user\nHow many?\n\n# %% assistant\nFive.\n\n# %% user\n';
    const document = await openChat('stays.chat.md', text);
    model.asked.length = 0;
    model.reply = async () => {
      throw new Error('Not now.');
    };
    const outcome = await vscode.commands.executeCommand<RunOutcome>('filechat.regenerate', {
      uri: document.uri,
      line: 6,
    });
    assert.match(outcome.error ?? '', /Not now\./);
    assert.equal(model.asked.length, 1);
    assert.equal(document.getText(), text);
  });

  test('Stop ends a reply at once; Resume continues it in place', async () => {
    const document = await openChat('stopped.chat.md', '# %% user\nGreet!\n');
    model.reply = (parts, token) =>
      new Promise((resolve) => {
        parts.report(words('Hello wor'));
        token.onCancellationRequested(() => resolve());
      });
    const running = run(document.uri);
    await holds(document, 'Hello');
    await vscode.commands.executeCommand('filechat.stop', { uri: document.uri });
    assert.equal((await running).cancelled, true);
    assert.match(document.getText(), /Hello wor\n<!-- filechat:interrupted stopped -->\n\n# %% user\n$/);
    model.reply = async (parts) => parts.report(words('Hello world.'));
    const outcome = await vscode.commands.executeCommand<RunOutcome>('filechat.resume', {
      uri: document.uri,
    });
    assert.equal(outcome.ok, true);
    assert.match(document.getText(), /# %% assistant\nHello world\.\n\n# %% user\n$/);
  });
});
