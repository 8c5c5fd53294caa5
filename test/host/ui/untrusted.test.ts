import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import {
  activeTab,
  focusEditor,
  quickInput,
  quickPickRow,
  showCommands,
  toast,
  webview,
} from '../workbench/page.ts';
import { uiSession } from './session.ts';

const ui = uiSession({ file: 'tour.chat.md', trust: 'restricted' });
const REFUSED = 'This workspace is not trusted, so nothing is run.';

ui.test(
  'in a workspace that is not trusted a chat can be read, and nothing runs',
  async ({ page, evaluate, workspace }) => {
    const before = readFileSync(workspace.path('tour.chat.md'), 'utf8');
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
    await toast(page, REFUSED).first().waitFor();
    const outcome = await evaluate(async (vscode) =>
      vscode.commands.executeCommand<{ ok: boolean; error: string }>('filechat.run'),
    );
    assert.equal(outcome.ok, false);
    assert.match(outcome.error, /not trusted/);
    assert.equal(await page.locator('.monaco-dialog-box').count(), 0);
    assert.equal(existsSync(workspace.path('cmdassets')), false);
    assert.equal(readFileSync(workspace.path('tour.chat.md'), 'utf8'), before);
  },
);

ui.test(
  'there, neither Shift+Enter nor a typed `# %% assistant` asks a model',
  async ({ page, evaluate }) => {
    await evaluate((vscode) => vscode.commands.executeCommand('notifications.clearAll'));
    await focusEditor(page);
    await page.keyboard.press('ControlOrMeta+End');
    await page.keyboard.press('Shift+Enter');
    await toast(page, REFUSED).waitFor();
    await evaluate((vscode) => vscode.commands.executeCommand('notifications.clearAll'));
    await toast(page, REFUSED).waitFor({ state: 'detached' });
    await page.keyboard.type('# %% user\nHello\n\n# %% assistant\n');
    await toast(page, REFUSED).waitFor();
    const text = await evaluate((vscode) => vscode.window.activeTextEditor?.document.getText() ?? '');
    assert.match(text, /# %% assistant\n$/);
    assert.equal(await page.locator('.monaco-dialog-box').count(), 0);
  },
);

ui.test(
  'there, Run in an earlier question neither asks where to run nor forks',
  async ({ page, evaluate, workspace }) => {
    await evaluate((vscode) => vscode.commands.executeCommand('notifications.clearAll'));
    await toast(page, REFUSED).waitFor({ state: 'detached' });
    await focusEditor(page);
    await page.keyboard.press('ControlOrMeta+Home');
    await page.keyboard.type('# %% user\nEarlier\n');
    await page.keyboard.press('ControlOrMeta+Home');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Shift+Enter');
    await toast(page, REFUSED).waitFor();
    assert.equal(await page.locator('.monaco-dialog-box').count(), 0);
    assert.equal(existsSync(workspace.path('tour-fork.chat.md')), false);
  },
);

ui.test('there, assets can be looked at, and none is deleted', async ({ page, evaluate, workspace }) => {
  mkdirSync(workspace.path('cmdassets'));
  const asset = workspace.path('cmdassets', 'tool-file-20261116-093012-V1StGXR8a0-1.txt');
  writeFileSync(asset, 'kept');
  await evaluate((vscode) => vscode.commands.executeCommand('filechat.showAssets'));
  const gallery = webview(page, 'filechat.filechat');
  await gallery.getByRole('gridcell').click();
  assert.equal(await gallery.getByRole('button', { name: 'Delete' }).isDisabled(), true);
  await gallery.locator('[role=gridcell]:focus').press('Delete');
  assert.equal(await page.locator('.monaco-dialog-box').count(), 0);
  assert.equal(existsSync(asset), true);
});
