import assert from 'node:assert/strict';
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { untilNextHost } from '../bridge.ts';
import { waitFor } from '../process.ts';
import {
  button,
  pick,
  quickInput,
  quickPickRow,
  showCommands,
  toast,
  waitForWorkbench,
} from '../workbench/page.ts';
import { takeScreenshot, trustWorkspace, type Ui, uiSession } from './session.ts';

const ui = uiSession({ trust: 'restricted' });

/** Shows the servers of VS Code's own chat, as “MCP: List Servers” does; a list that has just been closed may come late. */
async function listServers({ page, evaluate }: Ui): Promise<void> {
  await waitFor('the list of servers', 30_000, async () => {
    await evaluate((vscode) => void vscode.commands.executeCommand('workbench.mcp.listServer'));
    const shown = quickPickRow(page, 'Add Server').waitFor({ timeout: 5_000 });
    return shown.then(
      () => true,
      () => undefined,
    );
  });
}

/** Looks at the list until it has our server, or has it no more: VS Code fills it in its own time. */
async function waitForOffer(session: Ui, isThere: boolean): Promise<void> {
  const { page } = session;
  await waitFor(`the server to be ${isThere ? 'there' : 'gone'}`, 20_000, async () => {
    await listServers(session);
    const names = await quickInput(page).locator('.monaco-list-row .label-name').allInnerTexts();
    await page.keyboard.press('Escape');
    await quickInput(page).waitFor({ state: 'hidden' });
    return names.includes('Filechat Assets') === isThere ? true : undefined;
  });
}

/** What the extension host has loaded of Filechat, in bytes. */
function loadedBytes({ evaluate }: Ui): Promise<number> {
  return evaluate(() => {
    const session = new (process.getBuiltinModule('node:inspector').Session)();
    let bytes = 0;
    session.connect();
    session.on('Debugger.scriptParsed', ({ params }) => {
      if (params.url.includes('/filechat.filechat-')) bytes += params.length ?? 0;
    });
    session.post('Debugger.enable');
    session.disconnect();
    return bytes;
  });
}

ui.test('listing servers activates the extension, which loads almost nothing', async (session) => {
  const isActive = () =>
    session.evaluate((vscode) => vscode.extensions.getExtension('filechat.filechat')?.isActive ?? false);
  assert.equal(await isActive(), false);
  // A window that has just opened may not know yet who offers servers.
  await waitFor('the extension', 10_000, async () => {
    await waitForOffer(session, false);
    return (await isActive()) || undefined;
  });
  const bytes = await loadedBytes(session);
  assert.ok(bytes > 1_000 && bytes < 12_000, `${bytes} bytes`);
});

ui.test('VS Code’s own chat gets the server only with trust', async (session) => {
  await waitForOffer(session, false);
  await trustWorkspace(session);
  await waitForOffer(session, true);
});

ui.test('VS Code lists the server under Filechat and starts it', async (session) => {
  const { page, evaluate } = session;
  await listServers(session);
  const row = quickPickRow(page, 'Filechat Assets');
  assert.match((await row.innerText()).replace(/\s+/g, ' '), /^Filechat Assets ?Stopped ?Filechat$/);
  await takeScreenshot(page, 'assets-server-list');
  await row.click();
  await quickPickRow(page, 'Start Server').click();
  await waitFor('its tools', 20_000, () =>
    evaluate(
      (vscode) => vscode.lm.tools.some(({ name }) => /^mcp_filechat.*_read_asset$/.test(name)) || undefined,
    ),
  );
  await evaluate((vscode) => vscode.commands.executeCommand('workbench.action.closePanel'));
  await listServers(session);
  await row.getByText('Running').waitFor();
  await takeScreenshot(page, 'assets-server-running');
  await page.keyboard.press('Escape');
});

ui.test('the server disappears with the last chat and returns with the first', async (session) => {
  const { folder, path } = session.workspace;
  const chats = readdirSync(folder).filter((name) => name.endsWith('.chat.md'));
  const texts = chats.map((name) => [path(name), readFileSync(path(name))] as const);
  for (const [file] of texts) rmSync(file);
  try {
    await waitForOffer(session, false);
  } finally {
    for (const [file, text] of texts) writeFileSync(file, text);
  }
  await waitForOffer(session, true);
});

ui.test('the configuration for a client is copied and shown, with the path of its file', async (session) => {
  const { page, evaluate, workspace } = session;
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await evaluate((vscode) => vscode.commands.executeCommand('filechat.chats.focus'));
  await page
    .locator('.pane-body')
    .getByRole('treeitem', { name: /^Start here/ })
    .waitFor();
  const header = page.locator('.pane-header', { hasText: 'Chats' });
  await header.hover();
  await header.getByRole('button', { name: /More Actions/ }).click();
  // A click that comes at once is taken for the one that opened the menu.
  await page.getByRole('menuitem', { name: 'Copy MCP Configuration' }).hover();
  await page.keyboard.press('Enter');
  await quickPickRow(page, 'Cursor').waitFor();
  await takeScreenshot(page, 'copy-mcp-configuration');
  await pick(page, 'Which client should read your chats and assets?', 'Cursor');
  const said = toast(
    page,
    'Configuration for Cursor copied. Paste it into ~/.cursor/mcp.json, next to the existing servers.',
  );
  await said.waitFor();
  await takeScreenshot(page, 'copied-mcp-configuration');
  await button(said, 'Show').click();
  const shown = await waitFor('the configuration in front', 10_000, () =>
    evaluate((vscode) => {
      const { document } = vscode.window.activeTextEditor ?? {};
      return document?.isUntitled ? { text: document.getText(), language: document.languageId } : undefined;
    }),
  );
  assert.equal(shown.language, 'json');
  assert.equal(await evaluate((vscode) => vscode.env.clipboard.readText()), shown.text);
  const { mcpServers } = JSON.parse(shown.text);
  assert.equal(mcpServers['filechat-assets'].args.at(-1), workspace.folder);
  await takeScreenshot(page, 'shown-mcp-configuration');
});

ui.test('the palette offers it, and dismissing the list copies nothing', async ({ page, evaluate }) => {
  await evaluate((vscode) => vscode.env.clipboard.writeText('before'));
  await showCommands(page, 'Filechat: Copy MCP Configuration');
  await quickPickRow(page, 'Filechat: Copy MCP Configuration').click();
  await quickPickRow(page, 'Claude Desktop').waitFor();
  await page.keyboard.press('Escape');
  assert.equal(await evaluate((vscode) => vscode.env.clipboard.readText()), 'before');
});

/** Puts the extension into a folder of another version, as an update does, and comes back to the workspace. */
async function updateFilechat({ page, evaluate }: Ui): Promise<string> {
  const folder = await evaluate(
    (vscode) => vscode.extensions.getExtension('filechat.filechat')?.extensionPath ?? '',
  );
  const next = `${folder}-next`;
  cpSync(folder, next, { recursive: true });
  const list = join(folder, '..', 'extensions.json');
  const name = folder.split(/[\\/]/).at(-1) ?? '';
  writeFileSync(list, readFileSync(list, 'utf8').replaceAll(name, `${name}-next`));
  await untilNextHost(evaluate, () => page.reload({ waitUntil: 'commit' }));
  await waitForWorkbench(page);
  rmSync(folder, { recursive: true, force: true });
  return next;
}

ui.test('a copied configuration starts the new version after an update', async (session) => {
  const { evaluate } = session;
  const copied = await evaluate((vscode) =>
    vscode.commands.executeCommand<{ text: string }>('filechat.copyMcpConfiguration', { client: 'json' }),
  );
  const [launcher] = JSON.parse(copied.text).mcpServers['filechat-assets'].args;
  const next = await updateFilechat(session);
  await evaluate((vscode) =>
    vscode.extensions
      .getExtension('filechat.filechat')
      ?.activate()
      .then(() => true),
  );
  await waitFor('the launcher of the new version', 10_000, () =>
    Promise.resolve(readFileSync(launcher, 'utf8').includes(`${next}/dist/`) || undefined),
  );
});
