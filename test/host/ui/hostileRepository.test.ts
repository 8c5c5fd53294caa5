import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { readSettingSchemas } from '../../kit/manifest.ts';
import { until } from '../../kit/until.ts';
import { type Evaluate, waitForText } from '../bridge.ts';
import {
  activeTab,
  button,
  dialog,
  focusEditor,
  quickInput,
  quickPickRow,
  runCommand,
  showCommands,
  toast,
  viewRow,
  webview,
} from '../workbench/page.ts';
import { checkout, type Workspace } from '../workspace.ts';
import { copyLauncher, testAssetsServer, updateFilechat, waitForOffer } from './assetsServer.ts';
import { answerCall, answerNotice } from './consent.ts';
import { heldModel } from './heldModel.ts';
import {
  type HostileRepository,
  lookAround,
  SETTING_NAMES,
  show,
  startCanary,
  writeHostileRepository,
} from './hostileRepository.ts';
import { takeScreenshot, trustWorkspace, type Ui, uiSession } from './session.ts';
import { closeEditors } from './tidyUp.ts';

const REFUSED = 'This workspace is not trusted, so nothing is run.';
const SECRET = 'the-secret-of-the-user';
const canary = startCanary();

interface Outcome {
  readonly ok: boolean;
  readonly error?: string;
  readonly cancelled?: boolean;
}

/** Makes the workspace a hostile one. */
function writeRepository({ folder, path }: Workspace): HostileRepository {
  writeFileSync(path('..', 'secret.txt'), SECRET);
  return writeHostileRepository(folder, canary.host);
}

/** Nothing has been run, and nobody has been asked anything or been sent anything. */
async function assertNothingHappened({ page, evaluate }: Ui): Promise<void> {
  assert.deepEqual(repository.started(), []);
  assert.deepEqual(canary.heard, []);
  assert.equal(await page.locator('.monaco-dialog-box').count(), 0);
  assert.equal(await evaluate((vscode) => vscode.window.terminals.length), 0);
}

async function clearToasts({ page, evaluate }: Ui): Promise<void> {
  await evaluate((vscode) => vscode.commands.executeCommand('notifications.clearAll'));
  await toast(page, REFUSED).waitFor({ state: 'detached' });
}

/**
 * VS Code shows at most three notifications in 0.8 s by themselves, and the tests before show some: the list has all.
 * If it is opened empty, it keeps what arrives meanwhile for good, so the bell must announce something first.
 */
async function waitForRefusal({ page, evaluate }: Ui): Promise<void> {
  await page.locator('[id="status.notifications"] .codicon-bell-dot').waitFor();
  await evaluate((vscode) => vscode.commands.executeCommand('notifications.showList'));
  await page.locator('.notifications-center .notification-list-item', { hasText: REFUSED }).waitFor();
  await evaluate((vscode) => vscode.commands.executeCommand('notifications.hideList'));
  await focusEditor(page);
}

function execute(evaluate: Evaluate, command: string, argument: object): Promise<Outcome | null> {
  return evaluate(
    async (vscode, name, given) => (await vscode.commands.executeCommand<Outcome>(name, given)) ?? null,
    `filechat.${command}`,
    argument,
  );
}

void test('the hostile repository sets every setting', () => {
  assert.deepEqual(SETTING_NAMES.toSorted(), Object.keys(readSettingSchemas()).toSorted());
});

const model = heldModel();
let repository: HostileRepository;
/** One window, which starts with a chat in front. The user trusts the workspace after the tests without trust. */
const ui = uiSession({
  file: 'welcome.chat.md',
  trust: 'restricted',
  settings: {
    'filechat.mcpServers': {
      own: { command: process.execPath, args: [join(checkout, 'dist', 'sample-server.js')] },
    },
    'filechat.disabledTools': ['own.fail'],
    'filechat.auditLog': true,
  },
  prepare: (workspace) => {
    repository = writeRepository(workspace);
  },
});

describe('a hostile repository that is not trusted', () => {
  ui.test('can be opened, read and previewed, and nothing happens', async (session) => {
    const { page } = session;
    await assertNothingHappened(session);
    await lookAround(session);
    await page.getByText('No server can start because this workspace is not trusted.').waitFor();
    await takeScreenshot(page, 'hostile-untrusted');
    await assertNothingHappened(session);
    await closeEditors(session);
  });

  ui.test('no command runs anything', async (session) => {
    const { page, evaluate } = session;
    await show(session, 'welcome.chat.md');
    await runCommand(page, 'Filechat: Show Request');
    await toast(page, REFUSED).first().waitFor();
    await execute(evaluate, 'startServer', { server: 'program' });
    await toast(page, 'so no server is started').first().waitFor();
    await execute(evaluate, 'restartServer', { server: 'remote' });
    await execute(evaluate, 'openResource', { server: 'remote', resource: 'http://localhost/' });
    for (const command of ['run', 'resume', 'compact', 'callTool', 'readResource', 'insertPrompt']) {
      const outcome = await execute(evaluate, command, { server: 'program', tool: 'steal' });
      assert.equal(outcome?.ok, false, command);
      assert.match(outcome?.error ?? '', /not trusted/, command);
    }
    await assertNothingHappened(session);
  });

  ui.test('a chat can be read, and nothing runs', async (session) => {
    const { page, evaluate, workspace } = session;
    const before = readFileSync(workspace.path('tour.chat.md'), 'utf8');
    await show(session, 'tour.chat.md');
    await activeTab(page, 'tour.chat.md').waitFor();
    await focusEditor(page);
    await showCommands(page, 'Filechat: Show Log');
    await quickPickRow(page, 'Filechat: Show Log').waitFor();
    await showCommands(page, 'Filechat: Call Tool');
    // Commands that only sound alike are offered instead.
    await quickInput(page).getByText('similar commands').first().waitFor();
    assert.equal(await quickPickRow(page, 'Filechat: Call Tool').count(), 0);
    await page.keyboard.press('Escape');
    const called = await evaluate(async (vscode) =>
      vscode.commands.executeCommand<{ ok: boolean }>('filechat.callTool'),
    );
    assert.equal(called.ok, false);
    const outcome = await evaluate(async (vscode) =>
      vscode.commands.executeCommand<{ ok: boolean; error: string }>('filechat.run'),
    );
    assert.equal(outcome.ok, false);
    assert.match(outcome.error, /not trusted/);
    assert.equal(await page.locator('.monaco-dialog-box').count(), 0);
    assert.equal(existsSync(workspace.path('cmdassets')), false);
    assert.equal(readFileSync(workspace.path('tour.chat.md'), 'utf8'), before);
  });

  ui.test('neither Shift+Enter nor a typed `# %% assistant` runs the chat', async (session) => {
    const { page, evaluate } = session;
    await clearToasts(session);
    await focusEditor(page);
    await page.keyboard.press('ControlOrMeta+End');
    await page.keyboard.press('Shift+Enter');
    await waitForRefusal(session);
    await clearToasts(session);
    await evaluate(async (vscode) => {
      await vscode.commands.executeCommand('type', { text: '# %% user\nHello\n\n' });
    });
    await page.keyboard.type('# %% assistant\n');
    await waitForRefusal(session);
    const text = await evaluate((vscode) => vscode.window.activeTextEditor?.document.getText() ?? '');
    assert.match(text, /# %% assistant\n$/);
    assert.equal(await page.locator('.monaco-dialog-box').count(), 0);
  });

  ui.test('Run in an earlier turn neither asks where to run nor forks', async (session) => {
    const { page, evaluate, workspace } = session;
    await clearToasts(session);
    await evaluate(async (vscode) => {
      const editor = vscode.window.activeTextEditor;
      await editor?.edit((edit) => edit.insert(new vscode.Position(0, 0), '# %% user\nEarlier\n'));
      if (editor) editor.selection = new vscode.Selection(1, 0, 1, 0);
    });
    await page.keyboard.press('Shift+Enter');
    await waitForRefusal(session);
    assert.equal(await page.locator('.monaco-dialog-box').count(), 0);
    assert.equal(existsSync(workspace.path('tour-fork.chat.md')), false);
  });

  ui.test('assets can be viewed but not deleted', async ({ page, workspace }) => {
    mkdirSync(workspace.path('cmdassets'));
    const asset = workspace.path('cmdassets', 'tool-file-20261116-093012-V1StGXR8a0-1.txt');
    writeFileSync(asset, 'kept');
    await page.keyboard.press('Alt+M');
    await page.keyboard.press('a');
    const gallery = webview(page, 'filechat.filechat');
    await gallery.getByRole('gridcell').click();
    assert.equal(await gallery.getByRole('button', { name: 'Delete' }).isDisabled(), true);
    await gallery.locator('[role=gridcell]:focus').press('Delete');
    assert.equal(await page.locator('.monaco-dialog-box').count(), 0);
    assert.equal(existsSync(asset), true);
  });

  ui.test('does not offer its chats to VS Code’s own chat', async (session) => {
    // The first look makes VS Code ask for servers, so that the second one would show them.
    await waitForOffer(session, false);
    await waitForOffer(session, false);
    await assertNothingHappened(session);
  });
});

describe('a hostile repository that is trusted', () => {
  ui.test('can be viewed, and nothing happens', async (session) => {
    const { page } = session;
    await closeEditors(session);
    await trustWorkspace(session);
    await lookAround(session);
    await waitForServers(page);
    for (const server of ['program', 'remote', 'own']) {
      await serverRow(page, server).locator('.monaco-tl-twistie').click();
    }
    await page.getByText('Review Server').nth(1).waitFor();
    assert.equal(await serverRow(page, 'settings').count(), 0);
    await takeScreenshot(page, 'hostile-trusted');
    await assertNothingHappened(session);
  });

  ui.test(
    'offers its chats to VS Code’s own chat, which lists the server under Filechat',
    async (session) => {
      assert.match(await waitForOffer(session, true), /^Filechat Assets ?Stopped ?Filechat$/);
      await closeEditors(session);
      await assertNothingHappened(session);
    },
  );

  ui.test('a call shows the full program before it starts, and Escape starts nothing', async (session) => {
    const { page, evaluate } = session;
    await show(session, 'welcome.chat.md');
    const ran = execute(evaluate, 'run', {});
    const question = dialog(page, 'This workspace wants to start a program: the MCP server “program”.');
    const shown = await question.innerText();
    assert.ok(shown.includes(process.execPath), shown);
    assert.ok(shown.includes('writeFileSync'), shown);
    assert.match(shown, /env file sets: NODE_OPTIONS=/);
    assert.match(shown, /env file: .*\.env/);
    await takeScreenshot(page, 'hostile-consent');
    await page.keyboard.press('Escape');
    assert.equal((await ran)?.cancelled, true);
    await assertNothingHappened(session);
  });

  ui.test('a file outside the workspace is not sent without permission', async (session) => {
    const { page, evaluate } = session;
    await model.use(evaluate);
    await show(session, 'question.chat.md');
    const ran = execute(evaluate, 'run', {});
    // For all that follow until the reload.
    await button(dialog(page, PROGRAM), 'Don’t Start').click();
    await answerNotice(page, 'A link points outside this workspace.', 'Don’t Send');
    assert.match((await ran)?.error ?? '', /secret\.txt” cannot be sent/);
    assert.equal(model.asked, 0);
    await assertNothingHappened(session);
  });

  ui.test('a reply uses the model of the user, without declined servers', async (session) => {
    const { evaluate } = session;
    await execute(evaluate, 'newChat', { content: '# %% user\nWho are you?\n' });
    const ran = execute(evaluate, 'run', {});
    const reply = await model.next();
    assert.doesNotMatch(reply.body, /steal|evil|without asking/);
    reply.say('Yours.');
    reply.finish();
    assert.equal((await ran)?.ok, true);
    await assertNothingHappened(session);
  });

  ui.test('models of the repository are ignored', async (session) => {
    await show(session, 'interrupted.chat.md');
    const outcome = await execute(session.evaluate, 'resume', {});
    assert.equal(outcome?.ok, false);
    assert.match(outcome?.error ?? '', /“evil”/);
    await assertNothingHappened(session);
  });

  ui.test('the settings of the repository loosen nothing', async (session) => {
    const { page, evaluate } = session;
    const content = '---\nagent: evil\napprove: auto\n---\n# %% user\nHello\n';
    await execute(evaluate, 'newChat', { content });
    const ran = execute(evaluate, 'callTool', { server: 'own', tool: 'tour', arguments: {} });
    await answerCall(page, 'own.tour');
    assert.equal((await ran)?.ok, true);
    await waitForText(evaluate, 'Tool generated file 1');
    const off = await execute(evaluate, 'callTool', { server: 'own', tool: 'fail', arguments: {} });
    assert.match(off?.error ?? '', /turned off/);
    const editors = { server: 'vscode', tool: 'filechat_test_draw', arguments: {} };
    assert.equal((await execute(evaluate, 'callTool', editors))?.ok, false);
    await execute(evaluate, 'showAuditLog', {});
    await waitForText(evaluate, '"server":"own","name":"tour"');
    await assertNothingHappened(session);
  });

  ui.test(
    'a reload after an update changes nothing, except what a copied configuration starts',
    async (session) => {
      const { page, evaluate } = session;
      const launcher = await copyLauncher(session);
      await closeEditors(session);
      await show(session, 'welcome.chat.md');
      const next = await updateFilechat(session);
      await show(session, 'welcome.chat.md');
      await evaluate((vscode) => vscode.commands.executeCommand('filechat.servers.focus'));
      await waitForServers(page);
      await until(() => readFileSync(launcher, 'utf8').includes(`${next}/dist/`));
      await assertNothingHappened(session);
    },
  );

  ui.test('a changed server asks again', async (session) => {
    const { page, evaluate } = session;
    const call = { server: 'program', tool: 'steal', arguments: {} };
    const first = execute(evaluate, 'callTool', call);
    await button(dialog(page, 'the MCP server “program”'), 'Allow').click();
    assert.equal((await first)?.ok, false);
    // So that an empty list means something: this is what it looks like when they run.
    assert.deepEqual(repository.started().toSorted(), ['preloaded', 'program']);
    repository.changeProgram();
    const second = execute(evaluate, 'callTool', call);
    const question = dialog(
      page,
      'The MCP server “program” of this workspace has changed since you allowed it.',
    );
    await question.getByText('--changed').waitFor();
    await takeScreenshot(page, 'hostile-changed');
    await button(question, 'Don’t Start').click();
    assert.match((await second)?.error ?? '', /“program” is not allowed/);
    assert.deepEqual(canary.heard, []);
  });
});

testAssetsServer(ui);

/** Waits until the view shows what the repository brings along. */
async function waitForServers(page: Page): Promise<void> {
  for (const server of ['program', 'remote']) {
    await serverRow(page, server).getByText('not allowed yet').waitFor();
  }
}

/** The row of a server in the view. */
function serverRow(page: Page, server: string): Locator {
  return viewRow(page, new RegExp(`^${server},`));
}

/** In the question about this server alone, and in the one about all servers. */
const PROGRAM = /the MCP server “program”|Start “program”:/;
