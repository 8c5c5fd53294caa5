import assert from 'node:assert/strict';
import { waitForText } from '../../../bridge.ts';
import {
  activeTab,
  button,
  dialog,
  focusEditor,
  imageWidth,
  pick,
  runCommand,
  titleButton,
  toast,
  webview,
} from '../../../workbench/page.ts';
import { answerCall } from '../../consent.ts';
import { showFile, takeScreenshot, uiSession } from '../../session.ts';

const ui = uiSession({ file: 'tour.chat.md' });

ui.test(
  'the Run button runs a chat after permission for the server and the tool',
  async ({ page, evaluate }) => {
    await activeTab(page, 'tour.chat.md').waitFor();
    await focusEditor(page);
    await takeScreenshot(page, 'tour-before');
    await titleButton(page, 'Run').click();
    await button(dialog(page, 'the MCP server “sample”'), 'Allow').click();
    await answerCall(page, 'sample.tour', 'Always Allow…');
    await pick(page, 'Always Allow', 'Always Allow sample.tour');
    await waitForText(evaluate, 'Tool generated file 1: quarterly.pdf');
    await runCommand(page, 'Markdown: Open Preview to the Side');
    const preview = webview(page, 'vscode.markdown-language-features');
    assert.equal(await imageWidth(preview.getByAltText('Image 1', { exact: true })), 640);
    await preview.getByRole('link', { name: 'Audio 1' }).waitFor();
    await takeScreenshot(page, 'tour-after');
  },
);

ui.test('what is always allowed does not ask again', async ({ page, evaluate }) => {
  const ok = await evaluate(async (vscode) => {
    const outcome = await vscode.commands.executeCommand<{ ok: boolean }>('filechat.callTool', {
      server: 'sample',
      tool: 'tour',
    });
    return outcome.ok;
  });
  assert.equal(ok, true);
  assert.equal(await page.locator('.monaco-dialog-box').count(), 0);
});

ui.test('progress is shown in the server’s words, and Cancel cancels', async (session) => {
  const { page, evaluate } = session;
  await showFile(session, 'trouble.chat.md');
  await waitForText(evaluate, 'Tool calls can fail');
  await evaluate((vscode) => {
    void vscode.commands.executeCommand('filechat.callTool', {
      server: 'sample',
      tool: 'slow',
      arguments: { seconds: 60, steps: 100 },
    });
  });
  await answerCall(page, 'sample.slow');
  const progress = toast(page, /Filechat: sample\.slow: Step \d+/);
  await progress.waitFor();
  await takeScreenshot(page, 'progress');
  await button(progress, 'Cancel').click();
  await waitForText(evaluate, 'The call was stopped before its result arrived.');
});

ui.test('the error text of a tool is plain text and never a command link', async ({ page, evaluate }) => {
  await evaluate(async (vscode) => {
    const reason = 'See [the help](command:workbench.action.terminal.new) $(flame)';
    const content = `\`\`\`tool_call sample.fail\n${JSON.stringify({ reason })}\n\`\`\`\n`;
    await vscode.commands.executeCommand('filechat.newChat', { content });
    void vscode.commands.executeCommand('filechat.run');
  });
  await answerCall(page, 'sample.fail');
  const message = toast(page, 'See [the help] (command:workbench.action.terminal.new)');
  await message.waitFor();
  assert.equal(await message.getByRole('link').count(), 0);
});

ui.test(
  'a declined server leaves the chat unchanged, and a closed question is asked again',
  async (session) => {
    const { page, evaluate } = session;
    await evaluate((vscode) => vscode.commands.executeCommand('filechat.forgetPermissions'));
    await showFile(session, 'audio.chat.md');
    const before = await waitForText(evaluate, 'Two tools return audio');
    for (const answer of ['Cancel', 'Don’t Start']) {
      const ran = evaluate(async (vscode) =>
        vscode.commands.executeCommand<{ error?: string }>('filechat.run'),
      );
      await button(dialog(page, 'the MCP server “sample”'), answer).click();
      await ran;
    }
    await toast(page, 'The server “sample” is not allowed in this workspace.').waitFor();
    assert.equal(
      await evaluate((vscode) => vscode.window.activeTextEditor?.document.getText() ?? ''),
      before,
    );
  },
);
