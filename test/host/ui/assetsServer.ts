/** The assets server as VS Code’s own chat and other clients find it. */
import assert from 'node:assert/strict';
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'node:test';
import type { Page } from 'playwright-core';
import { until } from '../../kit/until.ts';
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
import { takeScreenshot, type Ui, type UiTests } from './session.ts';

/**
 * Looks at the list of “MCP: List Servers” until it has our server, or has it no more: VS Code fills it in its own time.
 * Resolves to what the row of the server says.
 */
export async function waitForOffer(session: Ui, isThere: boolean): Promise<string> {
  const { page } = session;
  return waitFor(`the server to be ${isThere ? 'there' : 'gone'}`, 20_000, async () => {
    await listServers(session);
    await takeScreenshot(page, 'assets-server-list');
    const rows = await quickInput(page).locator('.monaco-list-row').allInnerTexts();
    await page.keyboard.press('Escape');
    await quickInput(page).waitFor({ state: 'hidden' });
    const ours = rows
      .map((row) => row.replace(/\s+/g, ' ').trim())
      .find((row) => /^Filechat Assets/.test(row));
    return (ours !== undefined) === isThere ? (ours ?? '') : undefined;
  });
}

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

/** The program that a copied configuration starts. */
export async function copyLauncher({ evaluate }: Ui): Promise<string> {
  const { text } = await evaluate((vscode) =>
    vscode.commands.executeCommand<{ text: string }>('filechat.copyMcpConfiguration', { client: 'json' }),
  );
  const [launcher] = JSON.parse(text).mcpServers['filechat-assets'].args;
  return launcher;
}

/** The window writes the state of extensions into its database a moment later; a reload before would forget it. */
async function untilStored(page: Page, key: string): Promise<void> {
  await until(() => page.evaluate(`(${isStored})(${JSON.stringify(key)})`) as Promise<boolean>);
}

/** Runs in the page. */
const isStored = `async (key) => {
  const ended = (request) => new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  for (const { name } of await indexedDB.databases()) {
    const database = await ended(indexedDB.open(name));
    const stores = [...database.objectStoreNames].filter((store) => store === 'ItemTable');
    for (const store of stores) {
      const values = await ended(database.transaction(store).objectStore(store).getAll());
      if (values.some((value) => String(value).includes(key))) return true;
    }
    database.close();
  }
  return false;
}`;

/** Puts the extension into a folder of another version, as an update does, and comes back to the workspace. */
export async function updateFilechat({ page, evaluate }: Ui): Promise<string> {
  const folder = await evaluate(
    (vscode) => vscode.extensions.getExtension('filechat.filechat')?.extensionPath ?? '',
  );
  await untilStored(page, 'assetsServer.launchedFrom');
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

/** For a window with a trusted workspace that has chats. */
export function testAssetsServer(ui: UiTests): void {
  describe('the assets server', () => {
    ui.test('disappears with the last chat and returns with the first', disappearAndReturn);
    ui.test('the configuration for a client is copied and shown, with the path of its file', copyAndShow);
    ui.test('dismissing the list of clients copies nothing', dismiss);
  });
}

async function disappearAndReturn(session: Ui): Promise<void> {
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
}

async function copyAndShow({ page, evaluate, workspace }: Ui): Promise<void> {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await showClients(page);
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
}

async function showClients(page: Page): Promise<void> {
  await showCommands(page, 'Filechat: Copy MCP Configuration');
  await quickPickRow(page, 'Filechat: Copy MCP Configuration').click();
  await quickPickRow(page, 'Claude Desktop').waitFor();
}

async function dismiss({ page, evaluate }: Ui): Promise<void> {
  await evaluate((vscode) => vscode.env.clipboard.writeText('before'));
  await showClients(page);
  await page.keyboard.press('Escape');
  assert.equal(await evaluate((vscode) => vscode.env.clipboard.readText()), 'before');
}
