// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the variables of a configuration look like that.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import type { Evaluate } from '../../../bridge.ts';
import { waitFor } from '../../../process.ts';
import {
  answer,
  button,
  dialog,
  pick,
  quickInput,
  quickPickRow,
  runCommand,
} from '../../../workbench/page.ts';
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

/** The setting, once it holds these words; it is written a moment after the dialog is gone. */
function waitForServers(evaluate: Evaluate, words: string): Promise<unknown> {
  return evaluate(
    (vscode, expected) =>
      new Promise((resolve) => {
        const look = () => {
          const { globalValue } = vscode.workspace.getConfiguration('filechat').inspect('mcpServers') ?? {};
          if (!JSON.stringify(globalValue ?? {}).includes(expected)) return;
          subscription.dispose();
          resolve(globalValue);
        };
        const subscription = vscode.workspace.onDidChangeConfiguration(look);
        look();
      }),
    words,
  );
}

/** Another home for the extension host, until it is disposed. */
async function useHome(evaluate: Evaluate, folder: string): Promise<AsyncDisposable> {
  const set = (homes: Readonly<Record<string, string | null>>) =>
    evaluate((_vscode, values) => {
      const before: Record<string, string | null> = {};
      for (const [name, value] of Object.entries(values)) {
        before[name] = process.env[name] ?? null;
        if (value === null) delete process.env[name];
        else process.env[name] = value;
      }
      return before;
    }, homes);
  const before = await set({ HOME: folder, USERPROFILE: folder, APPDATA: folder });
  return { [Symbol.asyncDispose]: async () => void (await set(before)) };
}

ui.test(
  'a server is added step by step, and the review hides only its secret',
  async ({ page, evaluate }) => {
    await runCommand(page, 'Filechat: Add Server');
    await pick(page, 'Add an MCP Server', 'A program on this machine');
    await answer(page, 'A name for the server', 'files');
    await answer(page, 'files: the program', 'node "my server.js" --flag');
    await answer(page, 'files: which environment variables', 'API_KEY LEVEL');
    await answer(page, 'files: API_KEY', 'sesame');
    await answer(page, 'files: LEVEL', 'debug');
    const question = 'Add the MCP server “files”?';
    await dialog(page, question).waitFor();
    await takeScreenshot(page, 'add-a-server');
    const shown = await press(page, question, 'Add');
    assert.match(
      shown,
      /node "my server\.js" --flag\s+env: API_KEY=\$\{input:files\.API_KEY\}\s+env: LEVEL=debug/,
    );
    assert.match(shown, /Kept in the secret store: files\.API_KEY/);
    assert.doesNotMatch(shown, /sesame/);
    assert.deepEqual(await waitForServers(evaluate, '"files"'), {
      files: {
        command: 'node',
        args: ['my server.js', '--flag'],
        env: { API_KEY: '${input:files.API_KEY}', LEVEL: 'debug' },
      },
    });
  },
);

ui.test('a server with the same name is replaced only after a question', async ({ page, evaluate }) => {
  const config = { url: 'http://127.0.0.1:1/mcp', headers: { Authorization: 'Bearer sesame' } };
  const added = evaluate(
    (vscode, argument) => vscode.commands.executeCommand('filechat.addServer', argument),
    { name: 'files', config },
  );
  const shown = await press(page, 'Replace the MCP server “files”?', 'Replace');
  assert.match(shown, /127\.0\.0\.1:1[\s\S]*In place of:\s+node "my server\.js"/);
  assert.doesNotMatch(shown, /sesame/);
  await added;
  assert.deepEqual(await waitForServers(evaluate, '127.0.0.1:1'), {
    files: { ...config, headers: { Authorization: '${input:files.Authorization}' } },
  });
});

ui.test(
  'servers of another host are imported, each after a question',
  async ({ page, evaluate, workspace }) => {
    const home = workspace.path('home');
    mkdirSync(workspace.path('home', '.cursor'), { recursive: true });
    const servers = {
      'first one': { command: 'a', env: { TOKEN: 'sesame' } },
      second: { command: 'b' },
      third: { url: 'http://127.0.0.1:2/sse' },
    };
    writeFileSync(workspace.path('home', '.cursor', 'mcp.json'), JSON.stringify({ mcpServers: servers }));
    // The tests must not look into the files of whoever runs them, and the next file has the same extension host.
    await using _home = await useHome(evaluate, home);
    await runCommand(page, 'Filechat: Add Server');
    await quickPickRow(page, 'Import from Cursor').waitFor();
    assert.equal(await quickPickRow(page, 'Import from Windsurf').count(), 0);
    await pick(page, 'Add an MCP Server', 'Import from Cursor');
    for (const name of ['first-one', 'second', 'third']) await pick(page, 'Import from Cursor', name);
    await takeScreenshot(page, 'import-servers');
    await quickInput(page).getByRole('button', { name: 'OK' }).click();
    await press(page, 'Add the MCP server “first-one” (1 of 3)?', 'Add');
    await press(page, 'Add the MCP server “second” (2 of 3)?', 'Skip');
    await press(page, 'Add the MCP server “third” (3 of 3)?', 'Add');
    const written = (await waitForServers(evaluate, '"third"')) as Record<string, unknown>;
    const { files: _earlier, ...imported } = written;
    assert.deepEqual(imported, {
      'first-one': { command: 'a', env: { TOKEN: '${input:first-one.TOKEN}' } },
      third: { type: 'sse', url: 'http://127.0.0.1:2/sse' },
    });
  },
);

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
  const shown = await press(page, question, 'Don’t Allow');
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
      .getByText(/given to: node -e .* — The configuration says: From the door\./)
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
    assert.match(first, /Its env file is outside of this workspace: .*outside\.env/);
    assert.doesNotMatch(first, /NODE_OPTIONS/);
    const question = 'The env file of the MCP server “reads” sets variables that you have not seen.';
    await dialog(page, question).waitFor();
    await takeScreenshot(page, 'consent-to-an-env-file');
    const second = await press(page, question, 'Don’t Allow');
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
    const second = await press(page, changed, 'Don’t Allow');
    assert.match(second, /was: env file sets: HTTPS_PROXY=\S+:1\s+is: env file sets: HTTPS_PROXY=\S+:2\s/);
    assert.doesNotMatch(first + second, /sesame/);
    await quickPickRow(page, 'tour').waitFor();
    await page.keyboard.press('Escape');
  },
);
