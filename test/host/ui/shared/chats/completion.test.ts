import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { type Evaluate, waitForText } from '../../../bridge.ts';
import { waitFor } from '../../../process.ts';
import { codeLens, focusEditor, quickInput } from '../../../workbench/page.ts';
import { checkout } from '../../../workspace.ts';
import { takeInBothThemes, takeScreenshot, type Ui, uiSession } from '../../session.ts';

const ui = uiSession({
  settings: {
    'editor.suggestOnTriggerCharacters': true,
    'workbench.colorTheme': 'Default Dark Modern',
    'filechat.models': { sonnet: { provider: 'anthropic', model: 'claude-sonnet-4-5' } },
    'filechat.mcpServers': {
      charts: { command: 'node', args: [join(checkout, 'dist', 'sample-server.js')] },
    },
  },
});

/** A row of the list at the cursor. */
function suggestion(page: Page, label: string): Locator {
  const named = page.locator('.label-name', { hasText: label });
  return page.locator('.suggest-widget.visible .monaco-list-row').filter({ has: named }).first();
}

async function accept(page: Page, label: string): Promise<void> {
  await suggestion(page, label).click();
  await page.locator('.suggest-widget.visible').waitFor({ state: 'hidden' });
}

/** Opens a chat of this text with the cursor at the sign ‸. */
async function openAt({ page, evaluate, workspace }: Ui, name: string, marked: string): Promise<void> {
  const path = workspace.path(`${name}.chat.md`);
  writeFileSync(path, marked.replace('‸', ''));
  await evaluate(
    async (vscode, file, offset) => {
      const document = await vscode.workspace.openTextDocument(vscode.Uri.file(file));
      const at = document.positionAt(offset);
      await vscode.window.showTextDocument(document, { selection: new vscode.Range(at, at) });
    },
    path,
    marked.indexOf('‸'),
  );
  await focusEditor(page);
}

/** Nothing of the extension host runs until it resolves. */
async function holdHost(evaluate: Evaluate): Promise<void> {
  await evaluate(() => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1500);
  });
}

/** Filechat is loaded when the first chat is shown; a lens shows that it is. */
async function waitForFilechat(page: Page): Promise<void> {
  await codeLens(page, 'Run').waitFor();
}

ui.test('# offers files, which become links', async (session) => {
  const { page, evaluate, workspace } = session;
  mkdirSync(workspace.path('data'), { recursive: true });
  writeFileSync(workspace.path('data', 'sales 2026.csv'), 'q,v\n');
  await openAt(session, 'files', '# %% user\nPlot ‸');
  await waitForFilechat(page);
  await page.keyboard.type('#sal');
  await suggestion(page, 'sales 2026.csv').waitFor();
  await takeInBothThemes(session, 'completion-file');
  await accept(page, 'sales 2026.csv');
  await waitForText(evaluate, 'Plot [sales 2026.csv](data/sales%202026.csv)');
});

ui.test('# offers the files of results by the names that users know', async (session) => {
  const { page, evaluate, workspace } = session;
  const asset = 'cmdassets/tool-file-20261116-093012-V1StGXR8a0-1.pdf';
  mkdirSync(workspace.path('cmdassets'), { recursive: true });
  writeFileSync(workspace.path(asset), '%PDF-1.4\n');
  const result = `# %% tool charts.report c1\n[Tool generated file 1: quarterly.pdf](${asset})\n`;
  await openAt(session, 'results', `${result}\n# %% user\nRead ‸`);
  await page.keyboard.type('#quar');
  await accept(page, 'quarterly.pdf');
  await waitForText(evaluate, `Read [quarterly.pdf](${asset})`);
});

ui.test('headings, numbers, addresses and markers are typed without being disturbed', async (session) => {
  const { page, evaluate } = session;
  await openAt(session, 'prose', '# %% user\n‸');
  await page.keyboard.type(
    '# Title\nSee #12 and ada@example.com, a/b. Yes: "so" it is.\n# %% system\nBe kind.',
  );
  const text = await waitForText(evaluate, 'Be kind.');
  assert.equal(
    text,
    '# %% user\n# Title\nSee #12 and ada@example.com, a/b. Yes: "so" it is.\n# %% system\nBe kind.',
  );
  assert.equal(await page.locator('.suggest-widget.visible').count(), 0);
});

ui.test(
  'Enter after a typed role is a line break, however late the extension host responds',
  async (session) => {
    const { page, evaluate } = session;
    await openAt(session, 'role', '# %% user\nHi.\n‸');
    await page.keyboard.type('# %%');
    await suggestion(page, '# %% user').waitFor();
    const blocked = holdHost(evaluate);
    await page.keyboard.type(' system\nBe kind.');
    await blocked;
    assert.equal(await waitForText(evaluate, 'Be kind.'), '# %% user\nHi.\n# %% system\nBe kind.');
  },
);

ui.test(
  'the values of a setting are offered after its name, however late the extension host responds',
  async (session) => {
    const { page, evaluate } = session;
    await openAt(session, 'late', '---\n‸\n---\n# %% user\n');
    await page.keyboard.type('a');
    await suggestion(page, 'approve').waitFor();
    const blocked = holdHost(evaluate);
    await page.keyboard.type('pprove: ');
    await blocked;
    await accept(page, 'auto-readonly');
    await waitForText(evaluate, '---\napprove: auto-readonly\n---\n');
  },
);

ui.test('@ offers to start a server, and then its tools with required arguments', async (session) => {
  const { page, evaluate } = session;
  await openAt(session, 'tools', '# %% user\nDraw it.\n‸\n');
  await page.keyboard.type('@');
  await suggestion(page, 'Start server charts to see its tools').waitFor();
  // Before the built-in tools.
  const order = (await page.locator('.suggest-widget.visible .label-name').allInnerTexts()).join('\n');
  assert.match(order, /Start server charts.*filechat\.list_assets/s);
  await takeScreenshot(page, 'completion-servers');
  await accept(page, 'Start server charts to see its tools');
  await waitFor('the server', 30_000, async () => {
    await page.keyboard.type('@charts.ch');
    const found = await suggestion(page, 'charts.chart')
      .waitFor({ timeout: 2_000 })
      .then(
        () => true,
        () => undefined,
      );
    if (!found) for (let at = 0; at < '@charts.ch'.length; at += 1) await page.keyboard.press('Backspace');
    return found;
  });
  await takeInBothThemes(session, 'completion-tool');
  await accept(page, 'charts.chart');
  await waitForText(evaluate, 'Draw it.\n```tool_call charts.chart\n{"title": "text", "values": [');
  // The tools of the user come before the built-in ones.
  await openAt(session, 'order', '# %% user\n‸');
  await page.keyboard.type('@');
  const first = page.locator('.suggest-widget.visible .monaco-list-row[data-index="0"]');
  await first.filter({ hasText: /^charts\./ }).waitFor();
});

ui.test('/ offers commands, which run', async (session) => {
  const { page, evaluate } = session;
  await openAt(session, 'commands', '# %% user\nHello.\n‸');
  await page.keyboard.type('/');
  await suggestion(page, '/run').waitFor();
  await takeInBothThemes(session, 'completion-command');
  await page.keyboard.type('mod');
  await accept(page, '/model');
  await quickInput(page).getByText('sonnet', { exact: true }).waitFor();
  assert.equal(await waitForText(evaluate, 'Hello.'), '# %% user\nHello.\n');
  await page.keyboard.press('Escape');
});

ui.test('settings are offered by name, then by value', async (session) => {
  const { page, evaluate } = session;
  await openAt(session, 'settings', '---\ntitle: Sales\n‸\n---\n# %% user\n');
  await page.keyboard.type('m');
  await suggestion(page, 'model').waitFor();
  assert.equal(await suggestion(page, 'title').count(), 0);
  await takeInBothThemes(session, 'completion-setting');
  await suggestion(page, 'model').click();
  await suggestion(page, 'sonnet').waitFor();
  await takeInBothThemes(session, 'completion-model');
  await accept(page, 'sonnet');
  await waitForText(evaluate, '---\ntitle: Sales\nmodel: sonnet\n---\n');
  await page.keyboard.press('Enter');
  await page.keyboard.type('approve: ');
  await accept(page, 'auto-readonly');
  await waitForText(evaluate, 'model: sonnet\napprove: auto-readonly\n---\n');
});

ui.test('arguments are offered by the schema, checked by it and put right', async (session) => {
  const { page, evaluate } = session;
  await openAt(
    session,
    'arguments',
    '# %% user\n```tool_call charts.chart\n{"title": "Sales", ‸"colour": 1}\n```\n',
  );
  await page.keyboard.type('"');
  await suggestion(page, 'style').waitFor();
  await takeInBothThemes(session, 'completion-argument');
  await accept(page, 'style');
  await page.keyboard.press('Escape');
  await waitForText(evaluate, '"style": ');
  await openAt(
    session,
    'problems',
    '# %% user\n```tool_call charts.chart\n{"title": "Sales", "style": ‸"pie"}\n```\n',
  );
  const messages = await waitFor('the problems', 15_000, async () => {
    const found = await evaluate((vscode) =>
      vscode.languages
        .getDiagnostics(vscode.window.activeTextEditor?.document.uri ?? vscode.Uri.file('/'))
        .map(({ message }) => message),
    );
    return found.length >= 2 ? found : undefined;
  });
  assert.ok(messages.includes('The argument “values” is missing.'), messages.join('\n'));
  // The window knows of the problems a moment later than the extension host, and what it draws above the line then
  // moves the line and closes the list. A person would ask again.
  await page.locator('.monaco-editor [class*="squiggly-"]').nth(1).waitFor();
  await codeLens(page, 'Run 1 Tool Call').waitFor();
  const fix = page.locator('.action-widget .monaco-list-row', { hasText: 'Add missing arguments: values' });
  const openFixes = () =>
    waitFor('the fixes', 30_000, async () => {
      if (await fix.isVisible()) return true;
      await page.keyboard.press('ControlOrMeta+.');
      return fix.waitFor({ timeout: 5_000 }).then(
        () => true,
        () => undefined,
      );
    });
  await openFixes();
  await takeInBothThemes(session, 'completion-fix');
  // Another size of the window closes the list.
  await openFixes();
  await page.locator('.action-widget .monaco-list-row', { hasText: 'Replace with "bars"' }).waitFor();
  await fix.click();
  await waitForText(evaluate, '"style": "pie", "values": [');
});
