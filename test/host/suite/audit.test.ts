import assert from 'node:assert/strict';
import { suite, suiteSetup, suiteTeardown, test } from 'mocha';
import * as vscode from 'vscode';
import { holds, openChat, useSampleServer } from './kit/workspace.ts';

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
  /** The entries of one kind that the command shows, once there is one. */
  const readLog = async (kind: string) => {
    await vscode.commands.executeCommand('filechat.showAuditLog');
    const document = vscode.window.activeTextEditor?.document ?? assert.fail('Nothing is shown.');
    assert.match(document.uri.path, /audit\.jsonl$/);
    // A document that is already open is updated with a delay.
    await holds(document, `"kind":"${kind}"`);
    assert.equal(document.getText().includes(SECRET), false);
    const lines = document.getText().trimEnd().split('\n');
    return lines.map((line) => JSON.parse(line)).filter((entry) => entry.kind === kind);
  };

  suiteSetup(useSampleServer);
  suiteTeardown(() => turn(undefined));

  test('has a line without contents for each call while the setting is on', async () => {
    const { uri } = await openChat('audit.chat.md', '# %% user\n');
    await turn(true);
    await draw(SECRET);
    await turn(false);
    await vscode.window.showTextDocument(uri);
    await draw('not recorded');
    const entries = await readLog('call');
    assert.equal(entries.length, 1);
    const { time, ms, resultBytes, argumentBytes, ...entry } = entries[0];
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
  });

  test('has a line for a resource that the user opened', async () => {
    await turn(true);
    const resource = 'sample://notes/meeting.md';
    await vscode.commands.executeCommand('filechat.openResource', { server: 'mine', resource });
    await turn(false);
    const [entry] = await readLog('resource');
    assert.deepEqual(
      [entry?.server, entry?.name, entry?.consent, entry?.outcome],
      ['mine', resource, 'asked', 'ok'],
    );
  });
});
