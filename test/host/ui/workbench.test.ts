import assert from 'node:assert/strict';
import { quickPickRow, showCommands } from '../page.ts';
import { uiSession } from './session.ts';

const { test } = uiSession();

test('the workbench opens the workspace', async ({ evaluate, workspace }) => {
  const folder = await evaluate((vscode) => vscode.workspace.workspaceFolders?.[0]?.uri.fsPath);
  assert.equal(folder, workspace.folder);
});

test('the palette offers a new chat', async ({ page }) => {
  await showCommands(page, 'Filechat: New Chat');
  await quickPickRow(page, 'Filechat: New Chat').waitFor();
  await page.keyboard.press('Escape');
});
