import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after } from 'node:test';
import { waitForText } from '../../../bridge.ts';
import { createTemporaryFolder, waitFor } from '../../../process.ts';
import {
  activeTab,
  answer,
  button,
  dialog,
  focusEditor,
  quickInput,
  quickPickRow,
  runCommand,
  waitForNote,
} from '../../../workbench/page.ts';
import { checkout } from '../../../workspace.ts';
import { answerCall, waitingCall } from '../../consent.ts';
import { takeScreenshot, uiSession } from '../../session.ts';

const program = join(checkout, 'test/integration/fixtures/files-server.mjs');
const folder = createTemporaryFolder('record');
after(() => folder.dispose());
const files = { command: process.execPath, args: [program, join(folder.path, 'record')] };
const ui = uiSession({ settings: { 'filechat.mcpServers': { files }, 'filechat.auditLog': true } });
const CSV = 'quarter,sales\n1,42\n';

ui.test(
  'a file is chosen for a tool, shown to the user, and kept as a reference in the chat',
  async ({ page, evaluate, workspace }) => {
    writeFileSync(workspace.path('my sales.csv'), CSV);
    await runCommand(page, 'Filechat: New Chat');
    await activeTab(page, 'new.chat.md').waitFor();
    await focusEditor(page);
    await runCommand(page, 'Filechat: Call Tool');
    await button(dialog(page, 'the MCP server “sample”'), 'Don’t Start').click();
    await quickInput(page).getByText('measure_object').first().waitFor();
    await answer(page, 'Which tool?', 'measure_object');
    await quickInput(page).getByText('measure_object (1/1)').waitFor();
    await quickInput(page).getByRole('button', { name: 'Choose a file' }).click();

    // The file dialog of the workbench is a quick input of its own, under the same title.
    await quickPickRow(page, 'my sales.csv').click();
    const box = quickInput(page).locator('.quick-input-box input');
    await waitFor('the question to come back with the file', 15_000, async () =>
      (await box.inputValue()) === 'file:my%20sales.csv' ? true : undefined,
    );
    await box.press('Enter');

    await waitingCall(page, 'files.measure_object').waitFor();
    await waitForNote(page, 'sends my sales\\.csv \\(19 bytes\\)');
    await takeScreenshot(page, 'consent-to-files');
    await answerCall(page, 'files.measure_object');
    const text = await waitForText(evaluate, createHash('sha256').update(CSV).digest('hex'));
    assert.ok(text.includes('file:my%20sales.csv'));
    assert.equal(text.includes(Buffer.from(CSV).toString('base64')), false);

    await runCommand(page, 'Filechat: Show Audit Log');
    await waitForText(evaluate, `"files":[{"name":"file:my%20sales.csv","bytes":${CSV.length}}]`);
  },
);
