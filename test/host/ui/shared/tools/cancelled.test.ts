/** Commands without an open chat: nothing is created before the user has confirmed something. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { pick, toast } from '../../../workbench/page.ts';
import { checkout } from '../../../workspace.ts';
import { type Ui, uiSession } from '../../session.ts';

const ui = uiSession({
  settings: {
    'filechat.models': {
      llama: { provider: 'openai-compatible', model: 'l', baseUrl: 'http://127.0.0.1:9/v1' },
    },
    'filechat.mcpServers': { mine: { command: 'node', args: [`${checkout}/dist/sample-server.js`] } },
  },
});

/** Each asks a question at once. */
const ASKING: readonly (readonly [command: string, argument?: object])[] = [
  ['selectModel'],
  ['setApiKey'],
  ['openSample'],
  ['searchChats'],
  ['addServer'],
  ['startServer'],
  ['showServerLog'],
  ['changeInputs'],
  ['copyMcpConfiguration'],
  // About the server of the workspace.
  ['callTool'],
  ['readResource'],
  ['insertPrompt'],
  ['readResource', { server: 'mine' }],
  ['insertPrompt', { server: 'mine' }],
  ['callTool', { server: 'mine' }],
];

/** Everything that a command could leave behind. */
async function traces({ evaluate, workspace }: Ui): Promise<unknown> {
  return {
    files: readdirSync(workspace.folder, { recursive: true }).sort(),
    documents: await evaluate((vscode) =>
      vscode.workspace.textDocuments
        // VS Code writes its own settings when it starts.
        .filter(({ uri }) => !uri.path.endsWith('/User/settings.json'))
        .filter(({ isDirty, isUntitled }) => isDirty || isUntitled)
        .map(({ uri }) => uri.toString()),
    ),
    tabs: await evaluate((vscode) =>
      vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs.map((tab) => tab.label)),
    ),
  };
}

ui.test('a canceled command leaves nothing behind', async (session) => {
  const { page, evaluate } = session;
  const before = await traces(session);
  for (const [command, argument] of ASKING) {
    const ended = evaluate(
      async (vscode, id, given) => {
        await vscode.commands.executeCommand(id, given ?? undefined);
      },
      `filechat.${command}`,
      argument ?? null,
    );
    // Only what has the focus hears Escape.
    const question = page.locator('.quick-input-widget :focus, .monaco-dialog-box :focus');
    await question.waitFor();
    await page.keyboard.press('Escape');
    await ended;
    await question.waitFor({ state: 'hidden' });
    assert.deepEqual(await traces(session), before, JSON.stringify([command, argument]));
  }
});

ui.test('without a chat, Select Model sets the default model', async (session) => {
  const { page, evaluate } = session;
  const before = await traces(session);
  const ended = evaluate((vscode) => vscode.commands.executeCommand('filechat.selectModel').then(() => null));
  await pick(page, 'chats that do not specify one', 'llama');
  await ended;
  await toast(page, 'llama is now the default model').waitFor();
  assert.equal(
    await evaluate(
      (vscode) => vscode.workspace.getConfiguration('filechat').inspect('defaultModel')?.globalValue,
    ),
    'llama',
  );
  assert.deepEqual(await traces(session), before);
});
