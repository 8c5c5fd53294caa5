import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import type { Locator, Page } from 'playwright-core';
import type { Evaluate } from '../../../bridge.ts';
import { waitFor } from '../../../process.ts';
import { focusEditor } from '../../../workbench/page.ts';
import { takeScreenshot, uiSession } from '../../session.ts';

const ui = uiSession({ settings: { 'editor.minimap.enabled': false } });

const LONG_RESULT = Array.from({ length: 20 }, (_, at) => `row ${at + 1}, ${at * 7}`).join('\n');

const CHAT = `---
model: sonnet # a comment
servers: [charts, files]
---
# %% system
You are terse.

# %% user
Plot the **sales** in [sales.csv](data/sales.csv) by quarter.

# %% assistant
<details><summary>Reasoning</summary>

\`\`\`\`reasoning
The user wants a chart. There is a tool for charts.
It takes a title and values.
\`\`\`\`

</details>

I read the file first, then I draw it.

\`\`\`tool_call files.read c1
{"path": "data/sales.csv", "rows": 20, "header": true}
\`\`\`

# %% tool files.read c1
\`\`\`
${LONG_RESULT}
\`\`\`

# %% assistant
\`\`\`tool_call charts.bar c2
{"title": "Sales", "values": [3, 5, 8]}
\`\`\`
<!-- filechat:metadata {"google":{"thoughtSignature":"abc"}} -->

# %% tool charts.bar c2
Here is the chart, and its data:

![Tool generated image 1](cmdassets/tool-image-20261116-093012-V1StGXR8-1.png)

[Tool generated file 1: sales.json](cmdassets/tool-file-20261116-093012-V1StGXR8-1.json)

# %% assistant
## What the chart says

The last quarter is the best one:

- the first three grow
- the fourth is twice the third

## What it does not say

Nothing about next year.

# %% user
And next year?
`;

/** The first line of a fold, counted from 0, and its last one. */
type Fold = readonly [first: number, last: number];

const REASONING: Fold = [lineOf('<details>'), lineOf('</details>')];
const RESULT: Fold = [lineOf('# %% tool files.read'), lineOf('# %% assistant\n```tool_call charts') - 2];

ui.test('turns are marked in dark and light themes', async ({ page, evaluate, workspace }) => {
  await openText(evaluate, workspace.path('sales.chat.md'), CHAT);
  await focusEditor(page);
  await waitForClosed(evaluate, [REASONING, RESULT]);
  await page.locator('.pane-header', { hasText: 'samples' }).click();
  await evaluate((vscode) => vscode.commands.executeCommand('outline.focus'));
  await outlineRow(page, 'You: And next year?').waitFor();
  await useSetting(evaluate, 'workbench.colorTheme', 'Default Dark Modern');
  await waitForRole(page, 'user', 'rgb(77, 170, 252)');
  assert.notEqual(await page.locator('.glyph-margin-widgets .cgmr').count(), 0);
  await takeScreenshot(page, 'turns-dark');
  await useSetting(evaluate, 'workbench.colorTheme', 'Default Light Modern');
  await waitForRole(page, 'user', 'rgb(0, 105, 204)');
  await takeScreenshot(page, 'turns-light');
});

ui.test('the outline and the breadcrumbs name turns, calls and results', async ({ page, evaluate }) => {
  await putCursor(evaluate, '## What it does not say');
  const rows = await page.locator('.outline-pane .monaco-list-row').allInnerTexts();
  const names = rows.map((row) => row.replaceAll('\n', ' ').trim());
  assert.equal(names[0], 'Chat turns');
  const end = names.indexOf('Markdown Language Features');
  assert.deepEqual(
    names.slice(1, end < 0 ? undefined : end).map((name) => name.replace(/ ?\{.*$/, '')),
    [
      'Settings',
      'System: You are terse.',
      'You: Plot the sales in sales.csv by quarter.',
      'Assistant: I read the file first, then I draw it.',
      'files.read c1',
      'files.read c1 → row 1, 0',
      'Assistant: charts.bar',
      'charts.bar c2',
      'charts.bar c2 → 2 files',
      'Assistant: What the chart says',
      'What the chart says',
      'What it does not say',
      'You: And next year?',
    ],
  );
  const crumbs = page.locator('.breadcrumbs-control');
  await crumbs.getByText('Assistant: What the chart says').waitFor();
  await crumbs.getByText('What it does not say').waitFor();
});

ui.test('unfolded turns stay unfolded, and only a new long result is folded', async (window) => {
  const { evaluate, workspace } = window;
  // So that all of it is in sight.
  await useSetting(evaluate, 'editor.lineHeight', 8);
  await openText(evaluate, workspace.path('again.chat.md'), CHAT);
  await putCursor(evaluate, 'And next year?');
  await waitForClosed(evaluate, [REASONING, RESULT]);
  await evaluate(
    (vscode, lines) => vscode.commands.executeCommand('editor.unfold', { selectionLines: lines }),
    [REASONING[0]],
  );
  await waitForClosed(evaluate, [RESULT]);
  const added = Array.from({ length: 30 }, (_, at) => `added ${at}`).join('\n');
  const line = await evaluate(async (vscode, text) => {
    const editor = vscode.window.activeTextEditor;
    const last = editor?.document.lineCount ?? 0;
    await editor?.edit((edit) => edit.insert(new vscode.Position(last, 0), text));
    return last;
  }, `\n# %% tool files.read c3\n${added}\n\n# %% user\nThanks.\n`);
  await waitForClosed(evaluate, [RESULT, [line, line + 30]]);
  await useSetting(evaluate, 'editor.lineHeight', null);
});

ui.test('sticky scroll shows the current turn and its call', async ({ page, evaluate }) => {
  await evaluate(async (vscode, line) => {
    await vscode.commands.executeCommand('editor.unfold', { selectionLines: [line] });
    const editor = vscode.window.activeTextEditor;
    if (editor) editor.selection = new vscode.Selection(line + 6, 0, line + 6, 0);
    await vscode.commands.executeCommand('revealLine', { lineNumber: line + 6, at: 'top' });
  }, RESULT[0]);
  const sticky = page.locator('.sticky-widget .sticky-line-content');
  await sticky.filter({ hasText: /tool\sfiles\.read\sc1/ }).waitFor();
  await takeScreenshot(page, 'turns-sticky');
});

function lineOf(words: string): number {
  return CHAT.slice(0, CHAT.indexOf(words)).split('\n').length - 1;
}

/** Opens a new file. Looking for it by its name would be too early. */
async function openText(evaluate: Evaluate, path: string, text: string): Promise<void> {
  writeFileSync(path, text);
  await evaluate(async (vscode, file) => {
    await vscode.window.showTextDocument(vscode.Uri.file(file));
  }, path);
}

function outlineRow(page: Page, name: string): Locator {
  return page.locator('.outline-pane .monaco-list-row', { hasText: name });
}

/** Resolves when the marker of a role is shown in a colour. */
async function waitForRole(page: Page, role: string, color: string): Promise<void> {
  await page.waitForFunction(
    `[...document.querySelectorAll('.view-line span')].some((each) =>
      each.textContent.trim() === '${role}' && getComputedStyle(each).color === '${color}')`,
  );
}

async function useSetting(evaluate: Evaluate, section: string, value: unknown): Promise<void> {
  await evaluate(
    (vscode, name, to) =>
      vscode.workspace.getConfiguration().update(name, to ?? undefined, vscode.ConfigurationTarget.Global),
    section,
    value,
  );
}

async function putCursor(evaluate: Evaluate, words: string): Promise<void> {
  const line = lineOf(words);
  await evaluate((vscode, at) => {
    const editor = vscode.window.activeTextEditor;
    if (!editor) return;
    editor.selection = new vscode.Selection(at, 0, at, 0);
    editor.revealRange(editor.selection);
  }, line);
}

/** Resolves when these are the folds that are closed in the part of the chat that is seen. */
async function waitForClosed(evaluate: Evaluate, expected: readonly Fold[]): Promise<void> {
  let closed: readonly Fold[] = [];
  const look = async () => {
    closed = await evaluate((vscode) => {
      const ranges = vscode.window.activeTextEditor?.visibleRanges ?? [];
      return ranges
        .slice(1)
        .map((range, at): [number, number] => [ranges[at]?.end.line ?? 0, range.start.line - 1]);
    });
    return JSON.stringify(closed) === JSON.stringify(expected) ? true : undefined;
  };
  await waitFor('the folds', 15_000, look).catch(() => assert.deepEqual(closed, expected));
}
