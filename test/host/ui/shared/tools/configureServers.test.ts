// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the variables of a configuration look like that.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { waitFor } from '../../../process.ts';
import { answer, button, dialog, quickInput, quickPickRow, runCommand } from '../../../workbench/page.ts';
import { takeScreenshot, uiSession } from '../../session.ts';

const ui = uiSession();

/** Presses the button once, and waits until the dialog is gone. */
async function press(page: Page, text: string | RegExp, name: string): Promise<string> {
  const box = dialog(page, text);
  const shown = await box.innerText();
  await button(box, name).click();
  await box.waitFor({ state: 'detached' });
  return shown;
}

ui.test('a changed workspace server asks again and says so', async ({ page, evaluate, workspace }) => {
  await evaluate((vscode) => vscode.workspace.getConfiguration('filechat').update('mcpServers', {}, 1));
  await runCommand(page, 'Filechat: Call Tool');
  await press(page, 'This workspace wants to start a program: the MCP server “sample”.', 'Allow');
  await quickPickRow(page, 'chart').waitFor();
  await page.keyboard.press('Escape');
  const args = ['${workspaceFolder}/../dist/sample-server.js', '--new'];
  const file = workspace.path('.vscode', 'mcp.json');
  writeFileSync(file, JSON.stringify({ servers: { sample: { command: 'node', args } } }));
  await runCommand(page, 'Filechat: Call Tool');
  const question = 'The MCP server “sample” of this workspace has changed since you allowed it.';
  await dialog(page, question).waitFor();
  await takeScreenshot(page, 'consent-to-a-changed-server');
  const shown = await press(page, question, 'Don’t Start');
  // What has changed comes first, then the whole.
  assert.match(
    shown,
    /was: node \S*sample-server\.js\s+is: node \S*sample-server\.js --new\s+node \S*sample-server\.js --new/,
  );
  // Without it, there is our own.
  await quickPickRow(page, 'tour').waitFor();
  await page.keyboard.press('Escape');
});

ui.test(
  'an input is asked for in the name of its server and reaches the program',
  async ({ page, workspace }) => {
    const tell = 'require("node:fs").appendFileSync("told.txt", process.env.KEY + ".")';
    const servers = { asks: { command: 'node', args: ['-e', tell], env: { KEY: '${input:key}' } } };
    const inputs = [{ id: 'key', type: 'promptString', description: 'From the door.', password: true }];
    writeFileSync(workspace.path('.vscode', 'mcp.json'), JSON.stringify({ servers, inputs }));
    await runCommand(page, 'Filechat: Call Tool');
    const shown = await press(page, 'the MCP server “asks”', 'Allow');
    assert.match(shown, /env: KEY=\$\{input:key\}\s+inputs: key/);
    await quickInput(page)
      .getByText(/passed to: node -e .* — The configuration says: From the door\./)
      .waitFor();
    await takeScreenshot(page, 'ask-for-an-input');
    await answer(page, 'The MCP server “asks” needs key', 'sesame');
    const file = workspace.path('told.txt');
    const told = async () => (existsSync(file) ? readFileSync(file, 'utf8') || undefined : undefined);
    assert.match(await waitFor('the program', 30_000, told), /^(sesame\.)+$/);
  },
);

ui.test(
  'an env file outside the workspace is read after a first question, and the second shows its variables',
  async ({ page, workspace }) => {
    const outside = workspace.path('..', 'outside.env');
    writeFileSync(outside, 'API=sesame\nNODE_OPTIONS=--require=./evil.cjs\n');
    const servers = { reads: { command: 'node', envFile: outside } };
    writeFileSync(workspace.path('.vscode', 'mcp.json'), JSON.stringify({ servers }));
    await runCommand(page, 'Filechat: Call Tool');
    const first = await press(page, 'wants to start a program: the MCP server “reads”', 'Allow');
    assert.match(first, /Its env file is outside this workspace: .*outside\.env/);
    assert.doesNotMatch(first, /NODE_OPTIONS/);
    const question = 'The env file of the MCP server “reads” sets variables that you have not reviewed.';
    await dialog(page, question).waitFor();
    await takeScreenshot(page, 'consent-to-an-env-file');
    const second = await press(page, question, 'Don’t Start');
    assert.match(
      second,
      /is: env file sets: NODE_OPTIONS=--require=\.\/evil\.cjs\s+is: env file sets: API\s/,
    );
    assert.doesNotMatch(second, /sesame/);
    await quickPickRow(page, 'tour').waitFor();
    await page.keyboard.press('Escape');
  },
);

ui.test(
  'a user server with variables from the workspace asks, and asks again when they change',
  async ({ page, evaluate, workspace }) => {
    const writeProxy = (address: string) =>
      writeFileSync(workspace.path('.env'), `API=sesame\nHTTPS_PROXY=${address}\n`);
    writeFileSync(workspace.path('.vscode', 'mcp.json'), '{"servers":{}}');
    writeProxy('http://127.0.0.1:1');
    const env = { TOKEN: 'sesame' };
    const mine = { command: 'node', args: ['-e', '0'], env, envFile: '${workspaceFolder}/.env' };
    await evaluate(
      (vscode, servers) => vscode.workspace.getConfiguration('filechat').update('mcpServers', servers, 1),
      { mine },
    );
    await runCommand(page, 'Filechat: Call Tool');
    const question = 'Your MCP server “mine” takes its variables from a file of this workspace.';
    await dialog(page, question).waitFor();
    writeProxy('http://127.0.0.1:2');
    const first = await press(page, question, 'Allow');
    assert.match(
      first,
      /env: TOKEN=•••\s+env file: \$\{workspaceFolder\}\/\.env\s+env file sets: HTTPS_PROXY=http:\S+:1\s+env file sets: API\s/,
    );
    const changed = 'Your MCP server “mine”, which takes variables from this workspace, has changed';
    await dialog(page, changed).waitFor();
    await takeScreenshot(page, 'consent-to-a-file-of-the-workspace');
    const second = await press(page, changed, 'Don’t Start');
    assert.match(second, /was: env file sets: HTTPS_PROXY=\S+:1\s+is: env file sets: HTTPS_PROXY=\S+:2\s/);
    assert.doesNotMatch(first + second, /sesame/);
    await quickPickRow(page, 'tour').waitFor();
    await page.keyboard.press('Escape');
  },
);
