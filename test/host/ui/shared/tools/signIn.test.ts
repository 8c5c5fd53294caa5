import assert from 'node:assert/strict';
import { after } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { AuthServer, ProtectedServer, startSite } from '../../../../integration/helpers/authServer.ts';
import { waitForText } from '../../../bridge.ts';
import { button, pick, runCommand, toast } from '../../../workbench/page.ts';
import { openChat, takeScreenshot, type Ui, uiSession } from '../../session.ts';

const auth = await startSite({ after }, (origin) => new AuthServer(origin));
const site = await startSite({ after }, (origin) => new ProtectedServer(`${origin}/mcp`, auth));
/**
 * This build leads browsers to ports of 127.0.0.1 through a proxy that only code-server itself has. A browser knows
 * where any other name that ends in localhost is.
 */
const authHost = new URL(auth.issuer).host.replace('127.0.0.1', 'auth.localhost');
const SIGN_IN = { authorization_endpoint: `http://${authHost}/authorize` };
auth.metadata = SIGN_IN;

const ui = uiSession({
  settings: {
    'filechat.mcpServers': { safe: { type: 'http', url: site.url } },
    'filechat.approve': 'auto',
  },
});

const GIVEN_UP = /sign-in to safe was cancelled; restart the server to try again/;
const QUESTION = `The MCP server “safe” requires you to sign in at ${authHost}.`;

interface Outcome {
  readonly ok: boolean;
  readonly error?: string;
}

/** Calls the tool in a new chat. Resolves when the call is over, so the dialogs are answered before it is awaited. */
async function call(session: Ui): Promise<{ readonly outcome: Promise<Outcome> }> {
  await openChat(session, 'Who am I?');
  const outcome = session.evaluate((vscode) =>
    vscode.commands.executeCommand<Outcome>('filechat.callTool', {
      server: 'safe',
      tool: 'whoami',
      arguments: {},
    }),
  );
  // Whoever awaits it hears of a failure; a dialog that does not come is told first.
  outcome.catch(() => {});
  return { outcome };
}

/** Agrees to the sign-in. Resolves to the page that the browser shows in the end. */
async function open(page: Page): Promise<Page> {
  const opened = page.context().waitForEvent('page');
  const question = notification(page, QUESTION);
  const isAnswered = () =>
    question.waitFor({ state: 'hidden', timeout: 3_000 }).then(
      () => true,
      () => false,
    );
  // A notification that comes at the same time moves this one away from under the mouse.
  do await question.getByText('Open', { exact: true }).click();
  while (!(await isAnswered()));
  return opened;
}

/** Goes through the page that was opened, closes it, and comes back. */
async function goThrough(page: Page): Promise<void> {
  const browser = await open(page);
  await browser.getByText('You can close this page now.').waitFor();
  await browser.close();
  await page.bringToFront();
}

ui.test('a call succeeds after sign-in in the browser', async (session) => {
  const { page, evaluate } = session;
  const { outcome } = await call(session);
  await notification(page, QUESTION).waitFor();
  await takeScreenshot(page, 'sign-in');
  assert.deepEqual(auth.authorizations, []);
  await goThrough(page);
  assert.equal((await outcome).ok, true);
  await waitForText(evaluate, '# %% tool safe.whoami');
  assert.equal(auth.authorizations.length, 1);
  assert.ok([...auth.tokens.keys()].includes(site.seen.at(-1) ?? ''));
});

ui.test('a signed-in user is not asked again', async (session) => {
  const { outcome } = await call(session);
  assert.equal((await outcome).ok, true);
  assert.equal(auth.authorizations.length, 1);
});

ui.test(
  'sign-in is asked for again after signing out, and a closed question is not repeated for every call',
  async (session) => {
    const { page } = session;
    await runCommand(page, 'Filechat: Sign Out of Server');
    await pick(page, 'Select a server to sign out of', 'safe');
    await toast(page, 'Signed out of safe.').waitFor();
    const { outcome } = await call(session);
    await notification(page, QUESTION).waitFor();
    // Keys that are typed elsewhere do not answer. Escape only hides it, to the list of notifications.
    for (const key of ['Enter', 'Escape']) await page.keyboard.press(key);
    await toast(page, QUESTION).waitFor({ state: 'hidden' });
    await showNotifications(session);
    await notification(page, QUESTION).getByText('Decline', { exact: true }).click();
    const { ok, error = '' } = await outcome;
    assert.equal(ok, false);
    assert.match(error, GIVEN_UP);
    await hearOfIt(session);
    await takeScreenshot(page, 'sign-in-given-up');
    const again = await (await call(session)).outcome;
    assert.equal(again.ok, false);
    assert.match(again.error ?? '', GIVEN_UP);
    assert.equal(await toast(page, QUESTION).count(), 0);
    assert.equal(auth.authorizations.length, 1);
  },
);

ui.test('a restart asks again, and Cancel ends a pending sign-in', async (session) => {
  const { page } = session;
  // Nobody comes back from there.
  auth.metadata = { authorization_endpoint: `http://${authHost}/nowhere` };
  await listNotifications(session);
  const restarted = restart(session);
  const browser = await open(page);
  await page.bringToFront();
  const waiting = notification(page, 'Waiting for you to sign in to “safe” in the browser');
  await waiting.waitFor();
  await takeScreenshot(page, 'sign-in-waits');
  await button(waiting, 'Cancel').click();
  await restarted;
  await hearOfIt(session);
  await browser.close();
  auth.metadata = SIGN_IN;
});

ui.test('declining in the browser is reported, and a later sign-in succeeds', async (session) => {
  const { page } = session;
  await listNotifications(session);
  auth.answer = { error: 'access_denied', code: undefined };
  const refused = restart(session);
  await goThrough(page);
  await refused;
  await hearOfIt(session);
  auth.answer = {};
  const allowed = restart(session);
  await goThrough(page);
  await allowed;
  assert.equal((await (await call(session)).outcome).ok, true);
});

/** Opens the list without the old ones. The editor shows no toast beyond the third within 0.8 s, which tests reach. */
async function listNotifications({ evaluate }: Ui): Promise<void> {
  await evaluate(async (vscode) => {
    await vscode.commands.executeCommand('notifications.clearAll');
    await vscode.commands.executeCommand('notifications.showList');
  });
}

async function showNotifications({ evaluate }: Ui): Promise<void> {
  await evaluate((vscode) => vscode.commands.executeCommand('notifications.showList').then(() => null));
}

/** In the list, which may have closed, because there may be no toast; see above. */
async function hearOfIt(session: Ui): Promise<void> {
  await showNotifications(session);
  await notification(session.page, GIVEN_UP).waitFor();
}

/** In the list, which closes when it is empty, or as a toast. */
function notification(page: Page, text: string | RegExp): Locator {
  return page.locator('.notification-list-item', { hasText: text }).first();
}

function restart({ evaluate }: Ui): Promise<unknown> {
  const restarted = evaluate((vscode) =>
    vscode.commands.executeCommand('filechat.restartServer', { server: 'safe' }),
  );
  restarted.catch(() => {});
  return restarted;
}
