import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { activeTab, focusEditor, runCommand, toast } from '../page.ts';
import { uiSession } from './session.ts';

const ui = uiSession({ file: 'tour.chat.md', trust: 'restricted' });

ui.test(
  'in a workspace that is not trusted a chat can be read, and nothing runs',
  async ({ page, evaluate, workspace }) => {
    await activeTab(page, 'tour.chat.md').waitFor();
    await focusEditor(page);
    await runCommand(page, 'Filechat: Call Tool');
    await toast(page, 'This workspace is not trusted, so no tool is called.').first().waitFor();
    const outcome = await evaluate(async (vscode) =>
      vscode.commands.executeCommand<{ ok: boolean; error: string }>('filechat.run'),
    );
    assert.equal(outcome.ok, false);
    assert.match(outcome.error, /not trusted/);
    assert.equal(await page.locator('.monaco-dialog-box').count(), 0);
    assert.equal(existsSync(workspace.path('cmdassets')), false);
  },
);
