import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import type { Evaluate } from '../bridge.ts';
import { focusEditor, openFile } from '../page.ts';
import { takeScreenshot, uiSession } from './session.ts';

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

ui.test('screens', async ({ page, evaluate, workspace }) => {
  writeFileSync(workspace.path('sales.chat.md'), CHAT);
  await openFile(page, 'sales.chat.md');
  await focusEditor(page);
  await evaluate(async (vscode) => {
    await vscode.commands.executeCommand('outline.focus');
    const editor = vscode.window.activeTextEditor;
    if (editor) editor.selection = new vscode.Selection(46, 0, 46, 0);
  });
  await page.locator('.pane-header', { hasText: 'samples' }).click();
  await page.waitForTimeout(2000);
  for (const theme of ['Default Dark Modern', 'Default Light Modern', 'Default High Contrast']) {
    await evaluate(
      (vscode, name) =>
        vscode.workspace
          .getConfiguration('workbench')
          .update('colorTheme', name, vscode.ConfigurationTarget.Global),
      theme,
    );
    await page.waitForTimeout(1500);
    await takeScreenshot(page, `turns ${theme}`);
  }
  await evaluate((vscode) =>
    vscode.commands.executeCommand('editorScroll', { to: 'down', by: 'line', value: 30 }),
  );
  await page.waitForTimeout(1500);
  await takeScreenshot(page, `turns sticky`);
  console.log(await page.locator('.outline-pane').innerText());
  console.log(await evaluate((vscode) => JSON.stringify(vscode.window.activeTextEditor?.visibleRanges)));
  void ({} as Page | Evaluate);
  assert.ok(true);
});
