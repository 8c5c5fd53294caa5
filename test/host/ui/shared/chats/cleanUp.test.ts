import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { until } from '../../../../kit/until.ts';
import { waitForText } from '../../../bridge.ts';
import { waitFor } from '../../../process.ts';
import {
  button,
  dialog,
  focusEditor,
  quickInput,
  quickPickRow,
  runCommand,
  toast,
} from '../../../workbench/page.ts';
import { answerCall } from '../../consent.ts';
import { showFile, takeScreenshot, type Ui, uiSession } from '../../session.ts';

const ui = uiSession({ settings: { 'files.autoSave': 'off' } });
const asset = (number: number) => `tool-image-20200101-000000-V1StGXR8a0-${number}.png`;
const [LINKED, BUFFERED, GONE, KEPT] = [asset(1), asset(2), asset(3), asset(4)];
const OTHERS = 'holiday.png';

function files(workspace: Ui['workspace']): string[] {
  return readdirSync(workspace.path('cmdassets')).sort();
}

ui.test('unlinked files are offered, and checked ones are deleted after a question', async (session) => {
  const { page, evaluate, workspace } = session;
  mkdirSync(workspace.path('cmdassets'));
  for (const name of [LINKED, BUFFERED, GONE, KEPT, OTHERS]) {
    writeFileSync(workspace.path('cmdassets', name), Buffer.alloc(2048));
  }
  writeFileSync(workspace.path('clean.chat.md'), `# %% user\n![x](cmdassets/${LINKED})\n`);
  await showFile(session, 'clean.chat.md');
  await waitForText(evaluate, LINKED);
  await evaluate(async (vscode, name) => {
    const position = new vscode.Position(1, 0);
    await vscode.window.activeTextEditor?.edit((edit) =>
      edit.insert(position, `![not saved](cmdassets/${name})\n`),
    );
  }, BUFFERED);
  await waitForText(evaluate, BUFFERED);
  await focusEditor(page);

  await runCommand(page, 'Filechat: Clean Up Assets');
  await quickPickRow(page, KEPT).waitFor();
  assert.equal(await quickInput(page).locator('.monaco-list-row').count(), 2);
  await quickInput(page).getByText('image, 2.0 KB').first().waitFor();
  await takeScreenshot(page, 'clean-up-assets');
  await quickPickRow(page, KEPT).click();
  await button(quickInput(page), 'OK').click();

  const question = dialog(page, 'Move 1 file to the trash?');
  await question.getByText(GONE).waitFor();
  await takeScreenshot(page, 'clean-up-question');
  await button(question, 'Move to Trash').click();
  // This editor's files are on a server, where there is no trash.
  const again = dialog(page, '1 file could not be moved to the trash. Delete permanently?');
  await again.waitFor();
  assert.deepEqual(files(workspace), [OTHERS, LINKED, BUFFERED, GONE, KEPT]);
  await takeScreenshot(page, 'clean-up-without-trash');
  await button(again, 'Delete Permanently').click();
  await waitFor('the file to go', 5_000, async () => (files(workspace).includes(GONE) ? undefined : true));
  assert.deepEqual(files(workspace), [OTHERS, LINKED, BUFFERED, KEPT]);
});

ui.test('declining keeps everything', async ({ page, workspace }) => {
  await runCommand(page, 'Filechat: Clean Up Assets');
  await quickPickRow(page, KEPT).waitFor();
  await page.keyboard.press('Escape');
  await quickInput(page).waitFor({ state: 'detached' });
  await runCommand(page, 'Filechat: Clean Up Assets');
  await quickPickRow(page, KEPT).waitFor();
  await button(quickInput(page), 'OK').click();
  await button(dialog(page, 'Move 1 file to the trash?'), 'Cancel').click();
  assert.deepEqual(files(workspace), [OTHERS, LINKED, BUFFERED, KEPT]);
});

ui.test('an unsaved chat says where its files are, and takes them along', async (session) => {
  const { page, evaluate, workspace } = session;
  // A path of the workspace, so that even a file that is saved by mistake is gone after the tests.
  await evaluate(async (vscode, path) => {
    const uri = vscode.Uri.file(path).with({ scheme: 'untitled' });
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri));
    void vscode.commands.executeCommand('filechat.callTool', { server: 'sample', tool: 'photo' });
  }, workspace.path('scratch.chat.md'));
  await button(dialog(page, 'the MCP server “sample”'), 'Allow').click();
  await answerCall(page, 'sample.photo');
  await toast(
    page,
    /This chat is not a saved file\. Files that its tools return are stored in \/.*cmdassets/,
  ).waitFor();
  await takeScreenshot(page, 'told-where');
  await waitForText(evaluate, 'Tool generated image 1');
  await focusEditor(page);
  await runCommand(page, 'File: Save As...');
  const saved = workspace.path('saved', 'as.md');
  mkdirSync(workspace.path('saved'));
  await fillFileDialog(page, saved);
  const linked = await waitFor('the links to follow', 10_000, async () => {
    const text = existsSync(saved) ? readFileSync(saved, 'utf8') : '';
    return /\(cmdassets\/([^)]+)\)/.exec(text)?.[1];
  });
  assert.deepEqual(readdirSync(workspace.path('saved', 'cmdassets')), [linked]);
});

/**
 * The dialog changes the path in its box while it reads folders, and ignores Enter while it checks a path. So the path
 * is looked at before each Enter: another one would be saved to.
 */
async function fillFileDialog(page: Page, path: string): Promise<void> {
  const box = quickInput(page).locator('.quick-input-box input');
  // When it has read the first folder, it writes the path of its own again, whatever is in the box.
  await quickInput(page).locator('.monaco-list-row', { hasText: 'cmdassets' }).waitFor();
  await until(async () => {
    await page.locator('.quick-input-progress.done').waitFor({ state: 'attached' });
    if ((await box.inputValue()) !== path) {
      await box.fill(path);
      return false;
    }
    await page.keyboard.press('Enter');
    return box.waitFor({ state: 'hidden', timeout: 2_000 }).then(
      () => true,
      () => box.isHidden(),
    );
  });
}
