import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import axe from 'axe-core';
import type { Locator, Page } from 'playwright-core';
import { until } from '../../../../kit/until.ts';
import { waitForText } from '../../../bridge.ts';
import {
  activeTab,
  button,
  dialog,
  fillQuickInput,
  pick,
  quickInput,
  quickPickRow,
  runCommand,
} from '../../../workbench/page.ts';
import { checkout } from '../../../workspace.ts';
import { takeInBothThemes, uiSession } from '../../session.ts';
import { closeEditors } from '../../tidyUp.ts';

/** A server of the user's own, so that the samples must find theirs beside it. */
const ui = uiSession({
  settings: {
    'filechat.approve': 'auto',
    'filechat.mcpServers': { mine: { command: 'node', args: [`${checkout}/dist/sample-server.js`] } },
  },
});

/** What a screen reader, or its user, would stumble over. */
async function findBarriers(page: Page, within: string): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  return page.evaluate(async (selector) => {
    const { axe: loaded } = globalThis as unknown as { axe: typeof axe };
    // The words of a row stand side by side without a sign between them, which no label can repeat.
    const rules = { 'label-content-name-mismatch': { enabled: false } };
    const { violations } = await loaded.run(selector, { rules });
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
  }, within);
}

/** A row of the view of chats, by what a screen reader says of it. */
function row(page: Page, name: RegExp): Locator {
  return page.locator('.pane-body').getByRole('treeitem', { name });
}

ui.test('the walkthrough leads through five steps', async ({ page, evaluate, workspace }) => {
  rmSync(workspace.path('.vscode'), { recursive: true });
  await evaluate((vscode) => vscode.commands.executeCommand('filechat.openWalkthrough'));
  const steps = page.locator('.gettingStartedContainer .step-list-container .getting-started-step');
  await steps.filter({ hasText: 'Choose a Model' }).waitFor();
  assert.equal(await steps.count(), 5);
  for (const [at, title] of [
    'Write Your First Chat',
    'Call Your First Tool',
    'View the Results',
    'Add a Server',
    'Choose a Model',
  ].entries()) {
    await steps.filter({ hasText: title }).click();
    await page.locator('.getting-started-step.expanded', { hasText: title }).waitFor();
    await takeInBothThemes({ page, evaluate }, `start-walkthrough-${at}`);
  }
  // The buttons around it are the editor's own.
  assert.deepEqual(
    await findBarriers(page, '.getting-started-step.expanded .step-description-container'),
    [],
  );
});

ui.test(
  'a walkthrough step opens the sample, and its call works beside other servers',
  async ({ page, evaluate, workspace }) => {
    const step = page.locator('.getting-started-step', { hasText: 'Call Your First Tool' });
    await step.click();
    await step.getByRole('button', { name: 'Open the Sample' }).click();
    await activeTab(page, 'tour-2.chat.md').waitFor();
    await waitForText(evaluate, 'sample.tour');
    assert.equal(
      readFileSync(workspace.path('tour-2.chat.md'), 'utf8'),
      readFileSync(`${checkout}/samples/tour.chat.md`, 'utf8'),
    );
    const outcome = await evaluate((vscode) =>
      vscode.commands.executeCommand<{ ok: boolean; error?: string; assets: unknown[] }>('filechat.run'),
    );
    assert.equal(outcome.error, undefined);
    assert.equal(outcome.assets.length, 3);
  },
);

ui.test('the settings are in five groups, and their links run commands', async ({ page, evaluate }) => {
  await runCommand(page, 'Preferences: Open Settings (UI)');
  const settings = page.locator('.settings-editor');
  await settings.locator('.suggest-input-container').click();
  await page.keyboard.type('@ext:filechat.filechat');
  const groups = settings.locator('.settings-toc-container').getByRole('treeitem');
  await groups.filter({ hasText: 'Privacy' }).waitFor();
  const titles = await groups.locator('.settings-toc-entry').allTextContents();
  assert.deepEqual(titles.slice(-5), ['Chat', 'Models', 'Servers', 'Results', 'Privacy']);
  const group = (title: string) => groups.and(page.getByLabel(`${title}, group`, { exact: true }));
  for (const title of titles.slice(-5)) {
    await group(title).click();
    await takeInBothThemes({ page, evaluate }, `settings-${title}`);
  }
  await group('Models').click();
  await settings.getByRole('link', { name: 'Select Model' }).first().click();
  await quickInput(page).getByRole('option').first().waitFor();
  await page.keyboard.press('Escape');
  await closeEditors({ page, evaluate });
});

ui.test('samples are opened from a list', async ({ page, evaluate }) => {
  await page.keyboard.press('Alt+M');
  await page.keyboard.press('h');
  await quickPickRow(page, 'A First Conversation').waitFor();
  await takeInBothThemes({ page, evaluate }, 'start-samples');
  await pick(page, 'Open Sample Chat', 'A First Conversation');
  await activeTab(page, 'hello-2.chat.md').waitFor();
});

ui.test('the view groups chats by age and follows the files', async ({ page, evaluate, workspace }) => {
  await evaluate((vscode) => vscode.commands.executeCommand('filechat.chats.focus'));
  await row(page, /^Today, 10 chats/).waitFor();
  await row(page, /^Hello! Show me how this works/)
    .first()
    .waitFor();
  writeFileSync(workspace.path('plan.chat.md'), '---\ntitle: The plan\nmodel: tour\n---\n# %% user\nGo on\n');
  await row(page, /^The plan, plan\.chat\.md, now/).waitFor();
  writeFileSync(workspace.path('plan.chat.md'), '---\ntitle: Another plan\n---\n# %% user\nGo on\n');
  const plan = row(page, /^Another plan/);
  await plan.click();
  await activeTab(page, 'plan.chat.md').waitFor();
  await plan.hover();
  await plan.getByRole('button', { name: /^Open Preview/ }).waitFor();
  await plan.getByRole('button', { name: /^Show Assets/ }).waitFor();
  await takeInBothThemes({ page, evaluate }, 'start-chats');
  assert.deepEqual(await findBarriers(page, '.pane-body .monaco-list'), []);
});

ui.test('a chat is renamed and deleted by key, with a question', async ({ page, evaluate, workspace }) => {
  await row(page, /^Another plan/).click();
  await page.keyboard.press('F2');
  for (const [name, problem] of [
    ['audio', 'A chat named “audio” already exists.'],
    ['x'.repeat(250), 'This file name is too long.'],
    ['a/b', 'This is not a valid file name.'],
  ] as const) {
    await fillQuickInput(page, 'Rename Chat', name);
    await quickInput(page).getByText(problem).waitFor();
  }
  await fillQuickInput(page, 'Rename Chat', 'idea');
  await page.keyboard.press('Enter');
  await activeTab(page, 'idea.chat.md').waitFor();
  await row(page, /^Two tools return audio/).click();
  await activeTab(page, 'audio.chat.md').waitFor();
  // The key means the row, although the view is being read again and another chat is active.
  await evaluate(
    (vscode, other) => vscode.window.showTextDocument(vscode.Uri.file(other), { preserveFocus: true }),
    workspace.path('idea.chat.md'),
  );
  await activeTab(page, 'idea.chat.md').waitFor();
  const isBusy = evaluate(async (vscode) => {
    await vscode.commands.executeCommand('filechat.refreshChats');
    for (const end = Date.now() + 500; Date.now() < end; );
  });
  await page.keyboard.press('Delete');
  await isBusy;
  const question = dialog(page, 'Move “audio” to the trash?');
  await question.waitFor();
  await page.keyboard.press('Escape');
  // The arrow keys move the focus, and open nothing.
  await page.keyboard.press('ArrowDown');
  const focused = page
    .locator('.pane-body .monaco-list-row.focused .monaco-icon-description-container')
    .first();
  const [, next = ''] = /(\w+) · now/.exec((await focused.textContent()) ?? '') ?? [];
  await page.keyboard.press('Delete');
  await dialog(page, `Move “${next}” to the trash?`).waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Delete');
  await button(question, 'Move to Trash').click();
  // A server has no trash.
  await button(dialog(page, 'Delete it permanently?'), 'Delete').click();
  await row(page, /^Two tools return audio/).waitFor({ state: 'detached' });
  assert.equal(existsSync(workspace.path('audio.chat.md')), false);
});

ui.test('the search finds a turn while typing, and opens it', async ({ page, evaluate }) => {
  await page.keyboard.press('Alt+M');
  await page.keyboard.press('s');
  await fillQuickInput(page, 'Search in titles and turns', 'TEMPERATURE weather lisbon');
  await fillQuickInput(page, 'Search in titles and turns', 'oven order');
  const found = quickInput(page).locator('.monaco-list-row', { hasText: 'The oven is out of order' });
  await found.first().waitFor();
  await takeInBothThemes({ page, evaluate }, 'start-search');
  await found.first().click();
  await activeTab(page, 'trouble.chat.md').waitFor();
  // The tab is there before the cursor is.
  await until(() =>
    evaluate((vscode) => {
      const editor = vscode.window.activeTextEditor;
      return /oven/.test(editor?.document.lineAt(editor.selection.active.line).text ?? '');
    }),
  );
});

ui.test('a new chat begins with what is selected', async ({ page, evaluate, workspace }) => {
  writeFileSync(workspace.path('code.js'), 'let a;\nlet fence = "```";\n# %% assistant\nlet b;\n');
  await evaluate(async (vscode) => {
    const [folder] = vscode.workspace.workspaceFolders ?? [];
    if (!folder) throw new Error('No workspace.');
    const editor = await vscode.window.showTextDocument(vscode.Uri.joinPath(folder.uri, 'code.js'));
    editor.selection = new vscode.Selection(1, 0, 3, 0);
  });
  // What the key does depends on the selection that the window shows.
  await page
    .locator('.editor-group-container.active .monaco-editor.focused .selected-text')
    .first()
    .waitFor();
  await page.keyboard.press('Alt+M');
  await page.keyboard.press('n');
  await activeTab(page, 'new.chat.md').waitFor();
  await page.locator('.editor-group-container.active .monaco-editor.focused').first().waitFor();
  await page.keyboard.type('What is it?');
  const text = await waitForText(evaluate, 'What is it?');
  assert.equal(
    text,
    '# %% user\n`code.js`, lines 2–3:\n\n````javascript\nlet fence = "```";\n# %% assistant\n````\n\nWhat is it?',
  );
  await takeInBothThemes({ page, evaluate }, 'start-selection');
});

ui.test('without chats, the view says how to begin', async ({ page, evaluate, workspace }) => {
  await evaluate(async (vscode) => {
    await vscode.workspace.saveAll();
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });
  for (const name of readdirSync(workspace.folder)) {
    if (name.endsWith('.chat.md')) rmSync(workspace.path(name));
  }
  await evaluate((vscode) => vscode.commands.executeCommand('filechat.chats.focus'));
  await page.locator('.pane-body').getByRole('button', { name: 'Open Sample Chat' }).waitFor();
  await takeInBothThemes({ page, evaluate }, 'start-welcome');
  await page.locator('.pane-body').getByRole('button', { name: 'New Chat' }).click();
  await activeTab(page, 'new.chat.md').waitFor();
});
