import assert from 'node:assert/strict';
import { suite, suiteSetup, suiteTeardown, test } from 'mocha';
import * as vscode from 'vscode';
import { openChat, useSampleServer } from './workspace.ts';

const SECRET = 'hunter2';

suite('the audit log', () => {
  const settings = () => vscode.workspace.getConfiguration('filechat');
  const turn = (on: boolean | undefined) =>
    settings().update('auditLog', on, vscode.ConfigurationTarget.Global);
  const draw = (title: string) =>
    vscode.commands.executeCommand('filechat.callTool', {
      server: 'mine',
      tool: 'chart',
      arguments: { title, values: [1, 2] },
    });
  /** What the command shows, a line for each entry. */
  const readLog = async () => {
    await vscode.commands.executeCommand('filechat.showAuditLog');
    const document = vscode.window.activeTextEditor?.document;
    assert.match(document?.uri.path ?? '', /audit\.jsonl$/);
    return document?.getText().trimEnd().split('\n') ?? [];
  };

  suiteSetup(useSampleServer);
  suiteTeardown(() => turn(undefined));

  test('has a line for each call while the setting is on, and nothing of what was said', async () => {
    const { uri } = await openChat('audit.chat.md', '# %% user\n');
    await turn(true);
    await draw(SECRET);
    await turn(false);
    await vscode.window.showTextDocument(uri);
    await draw('not recorded');
    const lines = await readLog();
    assert.equal(lines.length, 1);
    const { time, ms, resultBytes, argumentBytes, ...entry } = JSON.parse(lines[0] ?? '');
    assert.deepEqual(entry, {
      kind: 'call',
      server: 'mine',
      name: 'chart',
      chat: uri.toString(),
      consent: 'setting',
      outcome: 'ok',
      assets: 1,
    });
    for (const size of [ms, resultBytes, argumentBytes]) assert.equal(typeof size, 'number');
    assert.ok(Date.parse(time) > 0);
    assert.equal(lines.join().includes(SECRET), false);
  });
});
