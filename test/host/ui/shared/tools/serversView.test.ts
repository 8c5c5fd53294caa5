import assert from 'node:assert/strict';
import type { Locator } from 'playwright-core';
import { activeTab, button, dialog, pick, runCommand, toast, viewRow } from '../../../workbench/page.ts';
import { takeScreenshot, uiSession } from '../../session.ts';

const ui = uiSession();

/** Opens what hangs below a row. */
async function expand(of: Locator): Promise<void> {
  await of.waitFor();
  if ((await of.getAttribute('aria-expanded')) !== 'true') await of.locator('.monaco-tl-twistie').click();
}

ui.test('opening the view starts nothing and asks nothing', async ({ page, evaluate }) => {
  await evaluate((vscode) => vscode.commands.executeCommand('filechat.servers.focus'));
  // Only rows that there is room for are there.
  const chats = page.locator('.pane-header', { hasText: 'Chats' });
  if ((await chats.getAttribute('aria-expanded')) === 'true') await chats.click();
  const server = viewRow(page, /^sample,/);
  await server.getByText('not allowed yet').waitFor();
  await expand(server);
  await viewRow(page, /^Review Server/).waitFor();
  await page.locator('.statusbar-item', { hasText: '0/1' }).waitFor();
  await takeScreenshot(page, 'servers-not-allowed');
  assert.equal(await dialog(page, 'This workspace wants to start').count(), 0);
});

ui.test('a server starts with permission and shows its features', async ({ page }) => {
  await viewRow(page, /^Review Server/).click();
  const question = dialog(page, 'This workspace wants to start a program: the MCP server “sample”.');
  await button(question, 'Allow').click();
  await viewRow(page, /^sample,/)
    .getByText(/^ready · /)
    .waitFor();
  await expand(viewRow(page, /^Tools \(\d+\)/));
  await viewRow(page, /^chart/).waitFor();
  await page.locator('.statusbar-item', { hasText: '1/1' }).waitFor();
  await takeScreenshot(page, 'servers-ready');
});

ui.test('a disabled tool is saved in the settings and is not called', async ({ page, evaluate }) => {
  await viewRow(page, /^chart/)
    .getByRole('checkbox')
    .click();
  const disabled = await evaluate(
    (vscode) =>
      new Promise<unknown>((resolve) => {
        const look = () => {
          const value = vscode.workspace.getConfiguration('filechat').get<string[]>('disabledTools');
          if (!value?.length) return;
          subscription.dispose();
          resolve(value);
        };
        const subscription = vscode.workspace.onDidChangeConfiguration(look);
        look();
      }),
  );
  assert.deepEqual(disabled, ['sample.chart']);
  const outcome = await evaluate((vscode) =>
    vscode.commands.executeCommand<{ ok: boolean; error?: string }>('filechat.callTool', {
      server: 'sample',
      tool: 'chart',
      arguments: { title: 'x', values: [1] },
    }),
  );
  assert.equal(outcome.ok, false);
  assert.match(outcome.error ?? '', /sample\.chart is turned off/);
  await toast(page, /turned off/).waitFor();
});

ui.test('a resource opens in an editor', async ({ page }) => {
  await expand(viewRow(page, /^Resources \(\d+\)/));
  await viewRow(page, /^Meeting notes/).click();
  await activeTab(page, 'meeting.md').waitFor();
});

ui.test('a server is stopped and started from its row', async ({ page }) => {
  const server = viewRow(page, /^sample,/);
  await server.hover();
  await server.getByRole('button', { name: /^Stop Server/ }).click();
  await server.getByText('not started').waitFor();
  await viewRow(page, /^Not started\. Start the server to see its tools/).waitFor();
  await server.hover();
  await server.getByRole('button', { name: /^Start Server/ }).click();
  await server.getByText(/^ready · /).waitFor();
});

ui.test('each server has its own output channel', async ({ page }) => {
  await runCommand(page, 'Filechat: Show Server Log');
  await pick(page, 'Select a server to show its log', 'sample');
  await page.locator('.panel .view-line', { hasText: 'connected' }).first().waitFor();
  await takeScreenshot(page, 'server-log');
});
