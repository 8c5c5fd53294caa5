import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import type { Page } from 'playwright-core';
import { type Evaluate, waitForText } from '../../../bridge.ts';
import { waitFor } from '../../../process.ts';
import {
  activeTab,
  button,
  codeLens,
  focusEditor,
  quickInput,
  quickPickRow,
  toast,
} from '../../../workbench/page.ts';
import { heldModel } from '../../heldModel.ts';
import {
  takeInBothThemes,
  takeScreenshot,
  type Ui,
  uiSession,
  useTheme,
  wantsScreenshots,
} from '../../session.ts';

const broken = { command: process.execPath, args: ['-e', 'console.error("No token."); process.exit(3)'] };
const absent = { command: 'no-such-program' };
const ui = uiSession({ settings: { 'filechat.mcpServers': { broken, absent }, 'editor.wordWrap': 'on' } });
const model = heldModel();

const GHOST = 'Ask anything. Shift+Enter sends. @ tools, # files, / commands';

/** Decorations are drawn by the style sheet. A color that a theme lacks is transparent. */
const countGhosts = (page: Page): Promise<number> =>
  page.evaluate(`[...document.querySelectorAll('.view-line span')].map((span) => getComputedStyle(span, '::after'))
    .filter(({ content, color }) => content.includes(${JSON.stringify(GHOST)}) && color !== 'rgba(0, 0, 0, 0)').length`);

async function waitForGhosts(page: Page, count: number): Promise<void> {
  await waitFor(`${count} ghost texts`, 15_000, async () =>
    (await countGhosts(page)) === count ? true : undefined,
  );
}

/** The lenses of the last row, as words. */
const lastRow = (page: Page): Promise<string> =>
  page.evaluate(`[...document.querySelectorAll('.codelens-decoration')]
    .filter((row) => row.querySelector('a'))
    .sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top)
    .at(-1)?.textContent.replace(/[^\\p{L}\\d\\s…|]/gu, '').split('|').map((each) => each.trim()).join(' | ') ?? ''`);

async function waitForRow(page: Page, expected: string): Promise<void> {
  let seen = '';
  await waitFor(`the lenses ${expected}`, 15_000, async () => {
    seen = await lastRow(page);
    return seen === expected || undefined;
  }).catch((error: unknown) => assert.equal(seen, expected, String(error)));
}

const ALONE = '---\nservers: []\n---\n';

/** Opens a chat with this question, and the cursor after it. */
async function openText(
  { page, evaluate, workspace }: Ui,
  name: string,
  question: string,
  head = ALONE,
): Promise<void> {
  writeFileSync(workspace.path(name), `${head}# %% user\n${question}`);
  await evaluate(async (vscode, path) => {
    const document = await vscode.workspace.openTextDocument(path);
    const end = document.positionAt(document.getText().length);
    await vscode.window.showTextDocument(document, { preview: false, selection: new vscode.Range(end, end) });
  }, workspace.path(name));
  await activeTab(page, name).waitFor();
  await focusEditor(page);
}

const clear = (evaluate: Evaluate) =>
  evaluate((vscode) => vscode.commands.executeCommand('notifications.clearAll'));

ui.test('an empty turn, the lenses and the status bar say what to do next', async (session) => {
  const { page, evaluate } = session;
  await model.use(evaluate);
  await openText(session, 'next.chat.md', '');
  await waitForGhosts(page, 1);
  await waitForRow(page, 'Run | held');
  const item = page.locator('[id*="filechat.cost"]').first();
  await item.filter({ hasText: /^\s*held\s*$/ }).waitFor();
  await takeInBothThemes(session, 'new-chat');
  // Nothing to send yet: the cursor is where to write.
  await codeLens(page, 'Run').click();
  await toast(page, 'Write a message first').waitFor();
  await clear(evaluate);
  await focusEditor(page);
  await page.keyboard.type('How many?');
  await waitForGhosts(page, 0);
  assert.equal(await waitForText(evaluate, 'How many?'), `${ALONE}# %% user\nHow many?`);
  await page.keyboard.press('Shift+Enter');
  const reply = await model.next();
  reply.say('Four.');
  await waitForText(evaluate, 'Four.');
  await waitForGhosts(page, 0);
  reply.finish();
  await waitForText(evaluate, 'Four.\n\n# %% user\n');
  await waitForGhosts(page, 1);
  await waitForRow(page, 'Run | Regenerate | Fork | held');
  await takeInBothThemes(session, 'after-a-reply');
  if (wantsScreenshots) {
    await page.setViewportSize({ width: 900, height: 800 });
    await takeInBothThemes(session, 'after-a-reply-900');
    await page.setViewportSize({ width: 1400, height: 900 });
  }

  await codeLens(page, 'held').click();
  await quickInput(page).filter({ visible: true }).waitFor();
  await page.keyboard.press('Escape');
  await focusEditor(page);
  await page.keyboard.press('Alt+M');
  await page.keyboard.press('I');
  await quickPickRow(page, 'Show What Will Be Sent').filter({ hasText: 'tokens' }).waitFor();
  await quickPickRow(page, 'Select Model…').filter({ hasText: 'held' }).waitFor();
  for (const label of ['Set API Key…', 'Show Servers', 'Show Log', 'Open Settings'])
    await quickPickRow(page, label).waitFor();
  await takeInBothThemes(session, 'status-menu');
  await page.keyboard.type('cost');
  await quickPickRow(page, 'Show Cost of This Chat').filter({ hasText: 'so far $0.0013' }).waitFor();
  await page.keyboard.press('Enter');
  await quickPickRow(page, '1. held').filter({ hasText: '1.2k tokens in, 30 out' }).waitFor();
  await takeScreenshot(page, 'cost-of-a-chat');
  await page.keyboard.press('Escape');
});

ui.test(
  'the menu of the status bar shows the size of the next request as soon as it is known',
  async (session) => {
    const { page } = session;
    await openText(session, 'menu.chat.md', 'How many?');
    await page.keyboard.press('Alt+M');
    await page.keyboard.press('I');
    await quickPickRow(page, 'Show What Will Be Sent').filter({ hasText: 'tokens' }).waitFor();
    // The first row can be chosen without moving to it.
    await page.keyboard.press('Enter');
    await quickInput(page).getByText('Filechat: Select Model').waitFor();
    await page.keyboard.press('Escape');
  },
);

const LONG = `Incorrect API key provided: sk-abc***xyz. ${'You can find your API key in your account. '.repeat(8)}The end.`;

ui.test('an error is shown in full, offers actions, and stays at its turn', async (session) => {
  const { page, evaluate } = session;
  await openText(session, 'errors.chat.md', 'Why?');
  await page.keyboard.press('Shift+Enter');
  (await model.next()).refuse(401, {}, { message: LONG, code: 'invalid_api_key' });
  const key = toast(page, /The key was not accepted for 127\.0\.0\.1:\d+: Incorrect API key .* The end\./);
  await key.waitFor();
  assert.doesNotMatch((await key.textContent()) ?? '', /sk-abc/);
  await waitForRow(page, 'API key not accepted | Set API Key… | Run | held');
  await takeInBothThemes(session, 'error-key');
  assert.equal(
    await evaluate((vscode) => vscode.window.activeTextEditor?.document.getText()),
    `${ALONE}# %% user\nWhy?`,
  );
  await button(key, 'Set API Key…').click();
  await quickInput(page).getByText('API key for held').waitFor();
  await page.keyboard.press('Escape');
  await key.waitFor({ state: 'detached' });
  // The words are there as long as the lens is.
  await codeLens(page, 'API key not accepted').click();
  await key.waitFor();
  await clear(evaluate);

  await codeLens(page, 'Run').click();
  (await model.next()).refuse(403, {}, { message: 'No access to this model.' });
  const access = toast(page, 'denied access to the model held-1: No access to this model.');
  await waitForRow(page, 'Access denied | Select Model… | Set API Key… | Run');
  await button(access, 'Select Model…').click();
  await quickInput(page).filter({ visible: true }).waitFor();
  await page.keyboard.press('Escape');
  await clear(evaluate);

  await codeLens(page, 'Run').click();
  (await model.next()).refuse(429, { 'retry-after': '20' }, { message: 'Slow down.' });
  const limited = toast(page, /is limiting the rate of requests: Slow down\. Retrying in \d+ s\./);
  await limited.waitFor();
  await takeInBothThemes(session, 'error-countdown');
  await button(limited, 'Cancel').click();
  await waitForRow(page, 'Run | held');

  await codeLens(page, 'Run').click();
  const tooLong = { message: 'Too much.', code: 'context_length_exceeded' };
  (await model.next()).refuse(400, {}, tooLong);
  await button(toast(page, 'The chat is too long for held-1: Too much.'), 'Compact').waitFor();
  await waitForRow(page, 'Chat too long | Compact | Run | held');
  // A changed question is another one.
  await focusEditor(page);
  await page.keyboard.type(' And how?');
  await waitForRow(page, 'Run | held');
  await clear(evaluate);
});

ui.test('what could not be reached is named, and Try Again runs the chat', async (session) => {
  const { page, evaluate, workspace } = session;
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  await evaluate(async (vscode, baseUrl) => {
    const held = { provider: 'openai-compatible', model: 'held-1', baseUrl };
    await vscode.workspace.getConfiguration('filechat').update('models', { held }, true);
  }, `http://127.0.0.1:${port}/v1`);
  await openText(session, 'away.chat.md', 'Anybody there?');
  await page.keyboard.press('Shift+Enter');
  const told = toast(page, `Could not connect to http://127.0.0.1:${port}/v1: the connection was refused.`);
  await told.waitFor();
  await waitForRow(page, 'No connection | Open Settings | Run | held');
  await takeInBothThemes(session, 'error-connection');
  await model.use(evaluate);
  await evaluate(async (vscode, path) => {
    await vscode.window.showTextDocument(vscode.Uri.file(path), { preview: false });
  }, workspace.path('next.chat.md'));
  await button(told, 'Try Again').click();
  (await model.next()).refuse(402, {}, { message: 'Insufficient Balance' });
  const elsewhere = toast(page, /away: The account at .* has no credit left: Insufficient Balance\./);
  await elsewhere.waitFor();
  await takeScreenshot(page, 'error-elsewhere');
  await button(elsewhere, 'Show Chat').click();
  await waitForRow(page, 'No credit left | Select Model… | Run');
  await codeLens(page, 'Run').click();
  const reply = await model.next();
  reply.say('Yes.');
  reply.finish();
  await waitForText(evaluate, 'Yes.\n\n# %% user\n');
  await waitForRow(page, 'Run | Regenerate | Fork | held');
});

ui.test('a server that does not start is named, with its log', async (session) => {
  const { page, evaluate } = session;
  await openText(session, 'server.chat.md', 'Hi', '---\nservers: [broken]\n---\n');
  await page.keyboard.press('Shift+Enter');
  const reply = await model.next();
  reply.say('Hello.');
  reply.finish();
  await waitForText(evaluate, 'Hello.\n\n# %% user\n');
  const told = toast(page, /broken.*No token\./);
  await button(told, 'Edit Server').waitFor();
  await waitForRow(
    page,
    'Run | Server broken failed | Restart Server | Show Log | Edit Server | Regenerate | Fork | held',
  );
  await takeInBothThemes(session, 'error-server');
  await button(told, 'Show Log').click();
  await page.locator('.part.panel').getByText('No token.').first().waitFor();
  await evaluate((vscode) => vscode.commands.executeCommand('workbench.action.closePanel'));
  await clear(evaluate);
  // Several have one lens, and what was told already is not told again.
  await openText(session, 'servers.chat.md', 'Hi', '---\nservers: [broken, absent]\n---\n');
  await page.keyboard.press('Shift+Enter');
  const second = await model.next();
  second.say('Hello again.');
  second.finish();
  await toast(
    page,
    /Server absent could not be started: the command "no-such-program" was not found\./,
  ).waitFor();
  await waitForRow(page, 'Run | 2 servers failed | Regenerate | Fork | held');
  assert.equal(await toast(page, 'broken').count(), 0);
  await codeLens(page, '2 servers failed').click();
  await page.locator('.pane-body .monaco-list-row', { hasText: 'absent' }).first().waitFor();
});

ui.test('the hint of an empty turn is visible in high contrast', async (session) => {
  const { page, evaluate } = session;
  await openText(session, 'contrast.chat.md', '');
  await useTheme(evaluate, 'Default High Contrast');
  await page.locator('.monaco-workbench.hc-black').waitFor();
  await waitForGhosts(page, 1);
  await useTheme(evaluate, 'Default Dark Modern');
});
