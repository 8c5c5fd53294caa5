// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the variables of a configuration look like that.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive, waitFor } from '../../../process.ts';
import { answer, button, dialog, pick, runCommand, toast } from '../../../workbench/page.ts';
import { checkout, type Workspace } from '../../../workspace.ts';
import { type Ui, uiSession } from '../../session.ts';

const ui = uiSession();

/** Loaded before the server, it tells what the server was given and which process it is. */
const TELL = `require('node:fs').appendFileSync('told.txt', process.env.KEY + ' ' + process.pid + '\\n')`;

/** The processes of the program so far, once the last one has this key. One start may take two of them. */
async function processes(workspace: Workspace, key: string): Promise<readonly number[]> {
  const file = workspace.path('told.txt');
  return waitFor(`the program with ${key}`, 30_000, async () => {
    const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
    if (!lines.at(-1)?.startsWith(`${key} `)) return undefined;
    return lines.map((line) => Number(line.split(' ')[1]));
  });
}

async function startAsking({ page, workspace }: Ui): Promise<void> {
  const args = ['--require', workspace.path('tell.cjs'), join(checkout, 'dist', 'sample-server.js')];
  const servers = { asks: { command: 'node', args, env: { KEY: '${input:key}' } } };
  writeFileSync(workspace.path('tell.cjs'), TELL);
  mkdirSync(workspace.path('.vscode'), { recursive: true });
  writeFileSync(workspace.path('.vscode', 'mcp.json'), JSON.stringify({ servers }));
  await runCommand(page, 'Filechat: Start Server');
  await pick(page, 'Select a server to start', 'asks');
  await button(dialog(page, 'the MCP server “asks”'), 'Allow').click();
  await answer(page, 'The MCP server “asks” needs key', 'mistyped');
}

ui.test('a wrong input can be changed, and the server starts with the new value', async (session) => {
  const { page, workspace } = session;
  await startAsking(session);
  await processes(workspace, 'mistyped');
  await runCommand(page, 'Filechat: Change Server Inputs');
  await pick(page, 'Select a server to change its inputs', 'asks');
  await button(toast(page, 'The inputs of asks were cleared.'), 'Restart').click();
  await answer(page, 'The MCP server “asks” needs key', 'right');
  await processes(workspace, 'right');
});

ui.test('forgetting permissions stops a workspace server', async (session) => {
  const { page, workspace, evaluate } = session;
  // Resolves when it is ready, so no other process of it will come.
  await evaluate((vscode) => vscode.commands.executeCommand('filechat.startServer', { server: 'asks' }));
  const pids = await processes(workspace, 'right');
  assert.equal(isAlive(pids.at(-1) ?? 0), true);
  await runCommand(page, 'Filechat: Forget Permissions');
  await toast(page, 'All saved permissions and sign-ins were cleared').waitFor();
  await waitFor('the end of the server', 30_000, async () => !pids.some(isAlive) || undefined);
});
