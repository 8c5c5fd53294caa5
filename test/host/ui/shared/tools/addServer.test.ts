// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the variables of a configuration look like that.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Evaluate } from '../../../bridge.ts';
import { waitFor } from '../../../process.ts';
import {
  answer,
  button,
  chooseFromMenu,
  dialog,
  fillQuickInput,
  pick,
  quickInput,
  quickPickRow,
  runCommand,
  toast,
  viewRow,
} from '../../../workbench/page.ts';
import { takeInBothThemes, takeScreenshot, uiSession } from '../../session.ts';

const ui = uiSession();
const BROKEN = { command: 'node', args: ['-e', 'console.error("No license."); process.exit(3)'] };

/** The setting, once it holds these words. */
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
  'pasted JSON adds two servers: one shows its tools, the other why it failed',
  async ({ page, evaluate, workspace }) => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const charts = { command: 'node', args: [workspace.path('..', 'dist', 'sample-server.js')] };
    const servers = { charts: { ...charts, env: { API_KEY: 'sesame' } }, broken: BROKEN };
    const box = quickInput(page).locator('.quick-input-box input');
    await runCommand(page, 'Filechat: Add Server');
    await quickInput(page).getByText('Paste a command line, a URL').waitFor();
    await takeInBothThemes({ page, evaluate }, 'add-server');
    // A comma too many is reported in place, and nothing is lost.
    const wrong = '{"mcpServers": {"charts": {"command": "node",, "args": []}}}';
    await answer(page, 'Add MCP Server', wrong);
    await quickInput(page)
      .getByText('This is not valid JSON near “mmand": "node",, "args": []}}}”:')
      .waitFor();
    assert.equal(await box.inputValue(), wrong);
    await takeScreenshot(page, 'add-server-wrong');
    // The comment would swallow the rest of a single line.
    const text = `{ // my "servers"\n${JSON.stringify({ mcpServers: servers }, undefined, 2).slice(1)}`;
    await evaluate((vscode, words) => vscode.env.clipboard.writeText(words), text);
    await quickInput(page).getByRole('button', { name: 'Paste from Clipboard' }).click();
    await quickInput(page).getByText('Add 2 MCP Servers').waitFor();
    await quickPickRow(page, 'env: API_KEY=•••').waitFor();
    assert.equal(await quickInput(page).getByText('sesame').count(), 0);
    await takeInBothThemes({ page, evaluate }, 'add-server-review');
    await quickInput(page).getByRole('button', { name: 'Back' }).click();
    await quickInput(page).getByText('2 servers: charts, broken').waitFor();
    assert.match(await box.inputValue(), /^\{ \/\/ my "servers"/);
    await page.keyboard.press('Enter');
    await quickInput(page).getByText('Add 2 MCP Servers').waitFor();
    await page.keyboard.press('Enter');

    await toast(page, /Added charts\. \d+ tools\./).waitFor();
    const failure = toast(page, 'Added broken, but it could not be started');
    await failure.getByText('No license.').waitFor();
    await takeInBothThemes({ page, evaluate }, 'add-server-result');
    assert.deepEqual(await waitForServers(evaluate, '"broken"'), {
      charts: { ...charts, env: { API_KEY: '${input:charts.API_KEY}' } },
      broken: BROKEN,
    });
    for (const name of ['Show Log', 'Remove']) await button(failure, name).waitFor();
    await button(failure, 'Edit').click();
    const line = () =>
      evaluate((vscode) => {
        const { document, selection } = vscode.window.activeTextEditor ?? {};
        return document && selection ? document.lineAt(selection.active.line).text : undefined;
      });
    await waitFor(
      'the line of the server',
      10_000,
      async () => (await line())?.includes('"broken"') || undefined,
    );
  },
);

ui.test(
  'Show Tools leads to the row of the server, whose menu stops, starts and removes it',
  async (session) => {
    const { page, evaluate } = session;
    // The settings are in front of everything else.
    await evaluate((vscode) => vscode.commands.executeCommand('workbench.action.closeAllEditors'));
    await page.locator('.monaco-modal-editor-block').waitFor({ state: 'detached' });
    await button(toast(page, 'Added charts.'), 'Show Tools').click();
    await page.locator('.pane-header', { hasText: 'Chats' }).click();
    const row = viewRow(page, /^charts,/);
    await row.getByText(/^ready/).waitFor();
    // It is open already.
    await viewRow(page, /^chart(?:,|$)/)
      .first()
      .waitFor();
    await takeInBothThemes(session, 'added-server-tools');
    await chooseFromMenu(page, row, /^Stop Server/);
    await row.getByText('not started').waitFor();
    await chooseFromMenu(page, row, /^Start Server/);
    await row.getByText(/^ready/).waitFor();
    await chooseFromMenu(page, row, /^Remove Server/);
    const removed = toast(page, 'Removed the server charts.');
    await removed.waitFor();
    await row.waitFor({ state: 'detached' });
    await removed.hover();
    await button(removed, 'Undo').click();
    await row.waitFor();
    await chooseFromMenu(page, viewRow(page, /^broken,/), /^Remove Server/);
    await toast(page, 'Removed the server broken.').waitFor();
    const names = Object.keys((await waitForServers(evaluate, '"charts"')) as object);
    assert.deepEqual(names, ['charts']);
  },
);

ui.test(
  'a command line is named, renamed and saved in the workspace, without another question',
  async ({ page, workspace }) => {
    const path = workspace.path('..', 'dist', 'sample-server.js');
    // Not by its button: the view changes after the last test, and draws its buttons again.
    await runCommand(page, 'Filechat: Add Server');
    await answer(page, 'Add MCP Server', `TOKEN=sesame node "${path}`);
    await quickInput(page).getByText('A quote (") is not closed.').waitFor();
    await fillQuickInput(page, 'Add MCP Server', `TOKEN=sesame node "${path}"`);
    // The workspace has a server of this name.
    await quickInput(page)
      .getByText(/^sample: node/)
      .waitFor();
    await page.keyboard.press('Enter');
    await pick(page, 'Add MCP Server: sample-2', 'Rename sample-2…');
    await answer(page, 'Name of the Server', 'sample');
    await quickInput(page).getByText('There is already a server named sample.').waitFor();
    await answer(page, 'Name of the Server', 'own');
    await pick(page, 'Add MCP Server: own', 'Add to Workspace and Start');
    await toast(page, /Added own\. \d+ tools\./).waitFor();
    const written = JSON.parse(readFileSync(workspace.path('.vscode', 'mcp.json'), 'utf8'));
    assert.deepEqual(Object.keys(written.servers), ['sample', 'own']);
    assert.deepEqual(written.servers.own.env, { TOKEN: '${input:own.TOKEN}' });
    assert.equal(written.inputs.at(-1).id, 'own.TOKEN');
  },
);

ui.test(
  'a silent server can be cancelled, and a server is replaced only in its name',
  async ({ page, evaluate }) => {
    const add = (argument: unknown) =>
      evaluate((vscode, given) => vscode.commands.executeCommand('filechat.addServer', given), argument);
    const silent = add({ silent: { command: 'node', args: ['-e', 'setInterval(() => {}, 1000)'] } });
    await quickInput(page).getByText('Add MCP Server: silent').waitFor();
    await page.keyboard.press('Enter');
    await button(toast(page, 'Starting silent'), 'Cancel').click();
    await toast(page, 'Added silent, but did not start it.').waitFor();
    assert.deepEqual(await silent, ['silent']);

    const config = { url: 'http://127.0.0.1:1/mcp', headers: { Authorization: 'Bearer sesame' } };
    const replaced = add({ name: 'silent', config });
    await quickPickRow(page, 'Replace in User Settings and Start').waitFor();
    await quickPickRow(page, 'node -e').waitFor();
    assert.equal(await quickInput(page).getByText('sesame').count(), 0);
    await page.keyboard.press('Enter');
    await toast(page, 'Added silent, but it could not be started').waitFor();
    await replaced;
    const written = (await waitForServers(evaluate, '127.0.0.1:1')) as Record<string, unknown>;
    assert.deepEqual(written['silent'], {
      ...config,
      headers: { Authorization: '${input:silent.Authorization}' },
    });
  },
);

ui.test(
  'servers of another app are imported, except those left out',
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
    // What cannot be read does not close the box, which keeps what was typed.
    mkdirSync(workspace.path('home', '.claude.json'));
    await runCommand(page, 'Filechat: Add Server');
    await fillQuickInput(page, 'Add MCP Server', 'npx half-typed');
    await quickInput(page).getByRole('button', { name: 'Import from Another App…' }).click();
    await pick(page, 'Select the app with the servers to import', 'Claude Code');
    await toast(page, /Nothing to import from .*\.claude\.json\. /).waitFor();
    assert.equal(await quickInput(page).locator('.quick-input-box input').inputValue(), 'npx half-typed');
    await quickInput(page).getByRole('button', { name: 'Import from Another App…' }).click();
    await quickPickRow(page, 'Cursor').waitFor();
    assert.equal(await quickPickRow(page, 'Windsurf').count(), 0);
    await pick(page, 'Select the app with the servers to import', 'Cursor');
    for (const name of ['first-one', 'second', 'third']) await pick(page, 'Import from Cursor', name);
    await takeScreenshot(page, 'import-servers');
    await quickInput(page).getByRole('button', { name: 'OK' }).click();
    await pick(page, 'Add 3 MCP Servers', 'Exclude second');
    await pick(page, 'Add 2 MCP Servers', 'Add to User Settings and Start');
    const written = (await waitForServers(evaluate, '"third"')) as Record<string, unknown>;
    const { charts: _charts, silent: _silent, ...imported } = written;
    assert.deepEqual(imported, {
      'first-one': { command: 'a', env: { TOKEN: '${input:first-one.TOKEN}' } },
      third: { type: 'sse', url: 'http://127.0.0.1:2/sse' },
    });
  },
);

ui.test(
  'servers of VS Code’s profile are used where they are, once the user has seen and agreed to them',
  async ({ page, evaluate, settingsFile }) => {
    const file = join(dirname(settingsFile), 'mcp.json');
    const writeServers = (servers: object) => writeFileSync(file, JSON.stringify({ servers }));
    using files = new DisposableStack();
    files.defer(() => rmSync(file));
    const theirs = { command: 'node', args: ['-e', 'process.exit(4)'] };
    writeServers({ theirs });
    await evaluate(async (vscode) => {
      await vscode.commands.executeCommand('filechat.servers.focus');
      // Rows below the end of the view are not in the page.
      await vscode.commands.executeCommand('list.collapseAll');
    });
    const choose = async () => {
      await runCommand(page, 'Filechat: Add Server');
      await quickInput(page).getByRole('button', { name: 'Import from Another App…' }).click();
      await pick(page, 'Select the app with the servers to import', 'VS Code: All Servers, Without Copying…');
      const question = dialog(page, 'Use the MCP servers of your VS Code profile in chats?');
      await question.getByText('process.exit(4)').waitFor();
      return question;
    };
    const settings = () =>
      evaluate((vscode) => {
        const section = vscode.workspace.getConfiguration('filechat');
        const [isUsed, servers] = ['editorServers', 'mcpServers'].map(
          (name) => section.inspect(name)?.globalValue,
        );
        return { isUsed: isUsed === true, names: Object.keys(servers ?? {}) };
      });
    const { names } = await settings();

    await button(await choose(), 'Cancel').click();
    await dialog(page, 'VS Code profile').waitFor({ state: 'detached' });
    assert.deepEqual(await settings(), { isUsed: false, names });

    const question = await choose();
    await takeScreenshot(page, 'use-editor-servers');
    await button(question, 'Use These Servers').click();
    await viewRow(page, /^theirs,/).waitFor();
    assert.deepEqual(await settings(), { isUsed: true, names });

    // The editor may not watch the file yet.
    await waitFor('a change of the file', 20_000, async () => {
      writeServers({ theirs, later: theirs });
      const shown = viewRow(page, /^later,/).waitFor({ timeout: 1_000 });
      return shown.then(
        () => true,
        () => undefined,
      );
    });
  },
);
