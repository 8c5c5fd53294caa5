import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, teardown, test } from 'mocha';
import * as vscode from 'vscode';
import type { ModelConfig } from '../../../src/model/config/modelConfig.ts';
import type { RunOutcome } from '../../../src/ports/document.ts';
import { showBreakdown } from '../../../src/vscode/annotations/breakdown.ts';
import { keepCopy } from '../../../src/vscode/chat/chatCommands.ts';
import { watchDiagnostics } from '../../../src/vscode/chat/watch.ts';
import { CallQuestions } from '../../../src/vscode/consent/callQuestions.ts';
import { askInNotice } from '../../../src/vscode/consent/noticeQuestion.ts';
import { Keys } from '../../../src/vscode/model/keys.ts';
import { lensesOf } from '../../../src/vscode/run/lenses.ts';
import { lockChat, Runs } from '../../../src/vscode/run/runs.ts';
import { until } from '../../kit/until.ts';
import { MemorySecrets } from './kit/stores.ts';
import { inWorkspace, openChat } from './kit/workspace.ts';

suite('keys', () => {
  const config = (more: Partial<ModelConfig> = {}): ModelConfig => ({
    name: 'sonnet',
    provider: 'anthropic',
    model: 'm',
    ...more,
  });

  test('a key belongs to an address: shared by models there, unknown to other addresses', async () => {
    const keys = new Keys(new MemorySecrets());
    await keys.set(config(), 'k');
    assert.equal(await keys.get(config({ name: 'opus', model: 'n' })), 'k');
    assert.equal(await keys.get(config({ baseUrl: 'https://example.com/v1' })), undefined);
    await keys.set(config({ baseUrl: 'https://example.com/v1' }), '');
    assert.equal(await keys.find(config({ baseUrl: 'https://example.com/v1' })), '');
  });
});

function unused(): never {
  throw new Error('Nothing is asked for.');
}

/** For runs that do nothing. */
const idleDeps: ConstructorParameters<typeof Runs>[0] = {
  tools: { callTool: unused, listTools: unused },
  servers: { readResource: unused, getPrompt: unused },
  audit: { record: unused },
  consent: { mayCall: unused },
  log: { info: unused, warn: unused, error: unused },
  assetsFor: async () => ({ beginResult: unused }),
  filesFor: () => ({ prepare: unused }),
  conversationFor: () => ({ rules: unused, tools: unused, prepare: unused }),
  rescue: unused,
  nameChat: unused,
  onUsage: unused,
};

suite('lenses of a chat', () => {
  teardown(() => vscode.commands.executeCommand('workbench.action.closeAllEditors'));

  test('they offer actions, and update with the text and the run', async () => {
    let running = false;
    const document = await openChat('lens.chat.md', '# %% user\nHi\n');
    const shown = () =>
      lensesOf(document, running, 'held').map(({ range, command }) =>
        `${range.start.line} ${command?.title}`.replace('\u00a0', ' '),
      );
    assert.deepEqual(shown(), ['0 $(play) Run', '0 $(hubot) held']);
    const change = new vscode.WorkspaceEdit();
    const call = '```tool_call a.b\n{}\n```\n';
    change.insert(document.uri, new vscode.Position(2, 0), `\n# %% assistant\n${call}\n${call}`);
    await vscode.workspace.applyEdit(change);
    assert.deepEqual(shown(), [
      '0 $(repo-forked) Fork',
      '3 $(play) Run 2 Tool Calls',
      '3 $(edit) Edit Arguments',
      '3 $(refresh) Regenerate',
      '3 $(repo-forked) Fork',
      '3 $(hubot) held',
    ]);
    running = true;
    assert.deepEqual(shown(), ['3 $(debug-stop) Stop']);
  });
});

suite('problems of a chat', () => {
  teardown(() => vscode.commands.executeCommand('workbench.action.closeAllEditors'));

  test('an unknown setting and a call without a name are underlined', async () => {
    const { uri } = await openChat('wrong.chat.md', '---\nmodle: x\n---\n# %% user\n```tool_call\n{}\n```\n');
    const found = () => vscode.languages.getDiagnostics(uri);
    if (found().length === 0) {
      await new Promise<void>((resolve) => {
        const changed = vscode.languages.onDidChangeDiagnostics(() => {
          if (found().length === 0) return;
          changed.dispose();
          resolve();
        });
      });
    }
    assert.deepEqual(
      found().map(({ range, message }) => `${range.start.line} ${message.slice(0, 26)}`),
      ['1 Unknown setting “modle”; i', '4 A tool call must name its '],
    );
  });
});

suite('diagnostics of a chat', () => {
  test('are not written after the end of their watch', async () => {
    const { uri } = await openChat('late.chat.md', '# %% user\nHi\n');
    const found = Promise.withResolvers<vscode.Diagnostic[]>();
    const asked = Promise.withResolvers<void>();
    const find = (document: vscode.TextDocument) => {
      if (document.uri.toString() === uri.toString()) asked.resolve();
      return found.promise;
    };
    const watch = watchDiagnostics('late', find, { openDelayMs: 0 });
    const failures: unknown[] = [];
    const fail = (error: unknown) => failures.push(error);
    process.on('unhandledRejection', fail);
    await asked.promise;
    watch.dispose();
    found.resolve([new vscode.Diagnostic(new vscode.Range(0, 0, 0, 1), 'late')]);
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', fail);
    assert.deepEqual([failures, vscode.languages.getDiagnostics(uri)], [[], []]);
  });
});

suite('completion of files', () => {
  for (const [typed, isIncomplete] of Object.entries({ '#z': true, '#zyx': false, '#data/zy': false })) {
    test(`the list at ${typed} is ${isIncomplete ? 'asked for again after each letter' : 'filtered while typing'}`, async () => {
      const csv = inWorkspace('data', 'zyxwv.csv');
      await vscode.workspace.fs.writeFile(csv, new Uint8Array());
      const { uri } = await openChat(`files${typed.length}.chat.md`, `# %% user\n${typed}`);
      const list = await vscode.commands.executeCommand<vscode.CompletionList>(
        'vscode.executeCompletionItemProvider',
        uri,
        new vscode.Position(1, typed.length),
      );
      assert.ok(list.items.some(({ insertText }) => insertText === '[zyxwv.csv](data/zyxwv.csv)'));
      assert.equal(list.isIncomplete, isIncomplete);
    });
  }
});

suite('the list of what will be sent', () => {
  test('is no longer computed when it is closed', async () => {
    const { uri } = await openChat('parts.chat.md', '# %% user\nHi\n');
    const asked = Promise.withResolvers<AbortSignal>();
    const breakDown = (_: string, signal: AbortSignal) => {
      asked.resolve(signal);
      return new Promise<never>((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      });
    };
    const shown = showBreakdown(
      { uri },
      {
        conversations: { dryRun: () => ({ breakDown }) },
        modelCommands: { estimate: async () => undefined },
      },
    );
    const signal = await asked.promise;
    assert.equal(signal.aborted, false);
    await vscode.commands.executeCommand('workbench.action.closeQuickOpen');
    await shown;
    assert.equal(signal.aborted, true);
  });
});

suite('one run a chat', () => {
  test('the figures of a run follow a rename and end with the run', async () => {
    using cleanup = new DisposableStack();
    const runs = cleanup.adopt(new Runs(idleDeps), (each) => each.dispose());
    let ticks = 0;
    cleanup.adopt(
      runs.onDidProgress(() => {
        ticks += 1;
      }),
      (each) => each.dispose(),
    );
    const document = await openChat('figures.chat.md', '# %% user\nHi\n');
    const done = Promise.withResolvers<RunOutcome>();
    const begun = Promise.withResolvers<void>();
    const running = runs.start(document, () => {
      begun.resolve();
      return done.promise;
    });
    await begun.promise;
    const tally = runs.tallyOf(document.uri);
    assert.ok(tally);
    const renamed = inWorkspace('figuresRenamed.chat.md');
    const rename = new vscode.WorkspaceEdit();
    rename.renameFile(document.uri, renamed, { overwrite: true });
    assert.equal(await vscode.workspace.applyEdit(rename), true);
    assert.deepEqual([runs.tallyOf(renamed), runs.tallyOf(document.uri)], [tally, undefined]);
    await new Promise<void>((resolve) => {
      cleanup.adopt(
        runs.onDidProgress(() => resolve()),
        (each) => each.dispose(),
      );
    });
    done.resolve({ ok: true, assets: [] });
    await running;
    assert.equal(runs.tallyOf(renamed), undefined);
    const atEnd = ticks;
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    assert.equal(ticks, atEnd);
  });

  test('a chat on a disk or elsewhere is locked, one that is not saved is not', async () => {
    for (const uri of [inWorkspace('locked.chat.md'), vscode.Uri.parse('memfs:/far/locked.chat.md')]) {
      const lock = await lockChat(uri);
      assert.ok('release' in lock, uri.toString());
      assert.ok('holder' in (await lockChat(uri)), uri.toString());
      await lock.release();
      const again = await lockChat(uri);
      assert.ok('release' in again, uri.toString());
      await again.release();
    }
    const untitled = vscode.Uri.parse('untitled:a.chat.md');
    assert.ok('release' in (await lockChat(untitled)) && 'release' in (await lockChat(untitled)));
  });
});

suite('text that could not be written to a chat', () => {
  test('is kept in a new file each time', async () => {
    const context = { globalStorageUri: inWorkspace('storage') };
    await keepCopy('# %% tool a.b c1\nfirst\n', context);
    await keepCopy('second', context);
    const folder = inWorkspace('storage', 'recovered').fsPath;
    const texts = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
    assert.deepEqual(texts.sort(), ['# %% tool a.b c1\nfirst\n', 'second']);
  });
});

suite('completions after #', () => {
  let opened = 0;
  const subscriptions: vscode.Disposable[] = [];
  teardown(async () => {
    for (const each of subscriptions.splice(0)) each.dispose();
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  async function openSource(text: string): Promise<vscode.TextEditor> {
    const uri = inWorkspace('source.txt');
    await vscode.workspace.fs.writeFile(uri, new TextEncoder().encode(text));
    return vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri), { preview: false });
  }

  /** The texts that the offered items insert, by their names. */
  async function offered(typed: string): Promise<ReadonlyMap<string, string>> {
    const text = `# %% user\n${typed}`;
    opened += 1;
    const chat = await openChat(`complete-${opened}.chat.md`, text);
    const list = await vscode.commands.executeCommand<vscode.CompletionList>(
      'vscode.executeCompletionItemProvider',
      chat.uri,
      chat.positionAt(text.length),
    );
    return new Map(
      list.items.map(({ label, insertText }) => [
        typeof label === 'string' ? label : label.label,
        typeof insertText === 'string' ? insertText : (insertText?.value ?? ''),
      ]),
    );
  }

  test('a symbol of an open file becomes a link to its lines', async () => {
    const provider: vscode.DocumentSymbolProvider = {
      provideDocumentSymbols: () => {
        const range = new vscode.Range(1, 0, 4, 0);
        return [new vscode.DocumentSymbol('drawChart', '', vscode.SymbolKind.Function, range, range)];
      },
    };
    subscriptions.push(
      vscode.languages.registerDocumentSymbolProvider({ pattern: '**/source.txt' }, provider),
    );
    await openSource('a\nb\nc\nd\ne\n');
    assert.equal((await offered('#drawC')).get('drawChart'), '[drawChart](source.txt#L2-L4)');
  });

  test('the selection of the other editor and the problems of its file are copied into the chat', async () => {
    const editor = await openSource('one\ntwo\nthree\n');
    // The extension is loaded with the first chat, and sees selections from then on.
    await offered('#');
    const shown = await vscode.window.showTextDocument(editor.document, { preview: false });
    shown.selection = new vscode.Selection(1, 0, 3, 0);
    const problems = vscode.languages.createDiagnosticCollection('test');
    subscriptions.push(problems);
    problems.set(shown.document.uri, [
      new vscode.Diagnostic(new vscode.Range(1, 2, 1, 3), 'Odd.', vscode.DiagnosticSeverity.Warning),
    ]);
    const items = await offered('See #');
    assert.equal(items.get('selection'), '\n\n`source.txt`, lines 2–3:\n\n```plaintext\ntwo\nthree\n```\n\n');
    assert.equal(
      items.get('problems:source.txt'),
      '\n\n`source.txt`, problems:\n\n```text\n2:3 warning: Odd.\n```\n\n',
    );
  });

  test('the lines of a selection that is too long to copy are attached', async () => {
    const editor = await openSource(`${'x'.repeat(99)}\n`.repeat(2001));
    await offered('#');
    const shown = await vscode.window.showTextDocument(editor.document, { preview: false });
    shown.selection = new vscode.Selection(0, 0, 2001, 0);
    assert.equal((await offered('#')).get('selection'), '[source.txt](source.txt#L1-L2001)');
  });

  test('the uncommitted changes of Git are copied into the chat', async () => {
    const folder = inWorkspace('repository');
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.test', ...args], {
        cwd: folder.fsPath,
      });
    await vscode.workspace.fs.createDirectory(folder);
    const file = vscode.Uri.joinPath(folder, 'a.txt');
    await vscode.workspace.fs.writeFile(file, Buffer.from('old\n'));
    git('init', '--quiet');
    git('add', '.');
    git('commit', '--quiet', '-m', 'Start');
    await vscode.workspace.fs.writeFile(file, Buffer.from('new\n'));
    const api = await enableGit();
    await api.openRepository(folder);
    const chat = await openChat('repository/diff.chat.md', '# %% user\nReview #');
    const list = await vscode.commands.executeCommand<vscode.CompletionList>(
      'vscode.executeCompletionItemProvider',
      chat.uri,
      chat.lineAt(1).range.end,
    );
    const item = list.items.find(({ filterText }) => filterText === '#git:diff');
    const editor = await vscode.window.showTextDocument(chat);
    await editor.edit((edit) => edit.delete(new vscode.Range(1, 7, 1, 8)));
    await vscode.commands.executeCommand(item?.command?.command ?? '', ...(item?.command?.arguments ?? []));
    assert.match(
      chat.getText(),
      /^# %% user\nReview \n\n`git diff`, uncommitted changes:\n\n```diff\ndiff --git [\s\S]*\n-old\n\+new\n```\n\n$/,
    );
    await chat.save();
  });

  test('the output of the last command in a terminal is copied into the chat', async () => {
    await offered('#');
    const terminal = vscode.window.createTerminal({ shellPath: '/bin/bash' });
    subscriptions.push(terminal);
    terminal.show();
    const shell = await new Promise<vscode.TerminalShellIntegration>((resolve) => {
      subscriptions.push(
        vscode.window.onDidChangeTerminalShellIntegration((event) => {
          if (event.terminal === terminal) resolve(event.shellIntegration);
        }),
      );
    });
    // VS Code drops what a command writes before its start is reported, so this one waits for a word.
    const command = 'read -rs word && echo "$word" && false';
    const started = new Promise<void>((resolve) => {
      subscriptions.push(vscode.window.onDidStartTerminalShellExecution(() => resolve()));
    });
    shell.executeCommand(command);
    await started;
    terminal.sendText('out');
    const expected = `\`${command}\`, output, exit code 1:\n\n\`\`\`text\nout\n\`\`\`\n\n`;
    let last: string | undefined;
    const isThere = async () => {
      last = (await offered('#')).get('terminal:last');
      return last === expected;
    };
    await until(isThere, () => `It is ${last}`);
  });
});

interface GitExtension {
  readonly enabled: boolean;
  readonly onDidChangeEnablement: vscode.Event<boolean>;
  getAPI(version: 1): { openRepository(folder: vscode.Uri): Promise<unknown> };
}

/** The workbench of the tests has Git switched off. */
async function enableGit() {
  const git = await vscode.extensions.getExtension<GitExtension>('vscode.git')?.activate();
  assert.ok(git);
  const enabled = new Promise<void>((resolve) => {
    const subscription = git.onDidChangeEnablement(() => {
      subscription.dispose();
      resolve();
    });
  });
  await vscode.workspace.getConfiguration('git').update('enabled', true, vscode.ConfigurationTarget.Global);
  if (!git.enabled) await enabled;
  return git.getAPI(1);
}

suite('calls that wait for permission', () => {
  test('are in the order of the text, whichever is asked about first', async () => {
    const calls = ['c1', 'c2'].map((id) => `\`\`\`tool_call a.b ${id}\n{}\n\`\`\`\n`);
    const { uri } = await openChat('order.chat.md', `# %% user\n${calls.join('\n')}`);
    const questions = new CallQuestions();
    const tool = { server: 'a', tool: 'b', inputSchema: {} };
    for (const id of ['c2', 'c1']) {
      const call = { server: 'a', tool: 'b', id, arguments: {} };
      void questions.ask(uri, { call, tool, written: '{}\n', files: [], notes: [] });
      await until(() => questions.all.some((each) => each.call.id === id));
    }
    assert.equal(questions.all.map(({ call }) => call.id).join(), 'c1,c2');
    questions.dispose();
  });
});

suite('a question in a notification', () => {
  test('survives a rename of its chat, and ends when the chat is closed', async () => {
    const { uri } = await openChat('asked.chat.md', '# %% user\n');
    const answer = askInNotice({ chat: uri.toString(), message: 'Well?', answers: ['Yes'] });
    let isOver = false;
    void answer.then(() => {
      isOver = true;
    });
    const rename = new vscode.WorkspaceEdit();
    rename.renameFile(uri, inWorkspace('askedRenamed.chat.md'), { overwrite: true });
    assert.equal(await vscode.workspace.applyEdit(rename), true);
    assert.equal(isOver, false);
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    assert.equal(await answer, undefined);
  });
});
