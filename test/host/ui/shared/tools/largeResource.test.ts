import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after } from 'node:test';
import { waitForText } from '../../../bridge.ts';
import { createTemporaryFolder } from '../../../process.ts';
import { activeTab, answer, focusEditor, quickInput, runCommand } from '../../../workbench/page.ts';
import { checkout } from '../../../workspace.ts';
import { uiSession } from '../../session.ts';

const folder = createTemporaryFolder('large');
after(() => folder.dispose());
const ASSET = 'tool-file-20261116-093012-V1StGXR8a0-1.txt';
mkdirSync(join(folder.path, 'cmdassets'));
writeFileSync(join(folder.path, 'cmdassets', ASSET), 'Many words.');
const program = join(checkout, 'dist/assets-server.js');
const args = [program, '--max-inline-bytes', '5', folder.path];
const ui = uiSession({ settings: { 'filechat.mcpServers': { files: { command: process.execPath, args } } } });

ui.test(
  'a resource that its server calls large is read only after a question',
  async ({ page, evaluate }) => {
    await runCommand(page, 'Filechat: New Chat');
    await activeTab(page, 'new.chat.md').waitFor();
    await focusEditor(page);
    const text = () => evaluate((vscode) => vscode.window.activeTextEditor?.document.getText() ?? '');
    const before = await text();
    const choose = async () => {
      const ended = evaluate((vscode) =>
        vscode.commands.executeCommand('filechat.readResource', { server: 'files' }).then(() => null),
      );
      await quickInput(page).getByText(ASSET).first().waitFor();
      await answer(page, 'Which resource?', ASSET);
      await quickInput(page).getByText(`“${ASSET}” is large. Read it anyway?`).waitFor();
      await quickInput(page)
        .getByText(/11 bytes · .*Large file: about 3 tokens/)
        .waitFor();
      return { ended };
    };
    const declined = await choose();
    await page.keyboard.press('Enter');
    await declined.ended;
    assert.equal(await text(), before);
    const allowed = await choose();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await allowed.ended;
    await waitForText(evaluate, 'Many words.');
  },
);
