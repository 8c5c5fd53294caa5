import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after } from 'node:test';
import type { FrameLocator } from 'playwright-core';
import { button, webview } from '../../../workbench/page.ts';
import { checkout } from '../../../workspace.ts';
import { answerCall, answerNotice, notice } from '../../consent.ts';
import { openChat, takeScreenshot, type Ui, uiSession } from '../../session.ts';

/** Whatever an app can make the browser ask for ends up here. */
const requests: string[] = [];
const canary = createServer(({ method, url }, response) => {
  requests.push(`${method} ${url}`);
  response.end();
});
await new Promise<void>((resolve) => void canary.listen(0, '127.0.0.1', resolve));
after(() => canary.close());

const script = (...path: readonly string[]) => ({
  command: process.execPath,
  args: [join(checkout, ...path)],
});
const debug = script('node_modules', '@modelcontextprotocol', 'server-debug', 'dist', 'index.js');
const ui = uiSession({
  settings: {
    'filechat.mcpServers': {
      debug: { ...debug, args: [...debug.args, '--stdio'] },
      hostile: {
        ...script('test', 'host', 'ui', 'hostileApps.ts'),
        env: { CANARY: `http://127.0.0.1:${(canary.address() as AddressInfo).port}` },
      },
    },
  },
});

const QUESTION = 'Show me.';
const LEFT = 'The app was closed because it tried to open another page.';

/** The page around the app, and the app in it. */
function shown({ page }: Ui): { readonly around: FrameLocator; readonly app: FrameLocator } {
  const around = webview(page, 'filechat.filechat');
  return { around, app: around.frameLocator('iframe') };
}

/** Calls a tool that has an app, in a chat of its own. */
async function showApp(session: Ui, server: string, tool: string): Promise<void> {
  const { page, evaluate } = session;
  await closeApps(session);
  await openChat(session, QUESTION);
  const call = { server, tool, arguments: {} };
  const called = evaluate(
    (vscode, argument) => vscode.commands.executeCommand('filechat.callTool', argument),
    call,
  );
  await answerCall(page, `${server}.${tool}`);
  await called;
}

async function closeApps({ evaluate }: Ui): Promise<void> {
  await evaluate(async (vscode) => {
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
    await vscode.window.tabGroups.close(tabs.filter(({ input }) => input instanceof vscode.TabInputWebview));
  });
}

ui.test('the app of a real server opens beside the chat with its call and result', async (session) => {
  const { page } = session;
  await showApp(session, 'debug', 'debug-tool');
  // It logs each of its events through a tool; three times no, and it does not ask any more.
  for (let times = 0; times < 3; times += 1) {
    await answerNotice(page, 'asks for permission to call debug.debug-log', 'Decline');
  }
  const { app } = shown(session);
  await app.getByText('ontoolresult:').first().waitFor();
  await app.getByText('filechat v').waitFor();
  assert.equal(await page.locator('.monaco-dialog-box').count(), 0);
  await takeScreenshot(page, 'mcp-app');
});

ui.test('an app cannot escape its sandbox or reach the network', async (session) => {
  requests.length = 0;
  await showApp(session, 'hostile', 'attack');
  const { app, around } = shown(session);
  await app.locator('#report:not(:empty)').waitFor({ timeout: 30_000 });
  const report = JSON.parse(await app.locator('#report').innerText());
  assert.deepEqual(report.ways, {
    fetch: 'threw TypeError',
    xhr: 'failed',
    beacon: 'tried',
    events: 'failed',
    socket: 'failed',
    image: 'failed',
    script: 'failed',
    module: 'threw TypeError',
    style: 'failed',
    prefetch: 'failed',
    preload: 'failed',
    frame: 'tried',
    inner: 'tried',
    object: 'tried',
    video: 'tried',
    webRtc: 'undefinedundefined',
    frames: '0 frames',
    worker: 'made',
    eval: 'threw EvalError',
    base: 'failed',
    top: 'threw SecurityError',
    parent: 'threw SecurityError',
    open: 'null',
    parentDocument: 'threw SecurityError',
    parentApi: 'threw SecurityError',
    ownApi: 'undefined',
    storage: 'threw SecurityError',
    cookie: 'threw SecurityError',
    alert: 'returned',
  });
  assert.deepEqual(report.asked, {
    early: -32600,
    unknown: -32601,
    sampling: -32601,
    toolsList: -32601,
    prompts: -32601,
    inherited: -32601,
    otherServer: -32602,
    otherTool: -32602,
    modelOnly: -32602,
    script: -32602,
    plain: -32602,
    command: -32602,
    userName: -32602,
    picture: -32602,
    assistant: -32602,
  });
  assert.equal(await around.getByText('forged').count(), 0);
  assert.deepEqual(requests, []);
});

for (const way of ['leave', 'refresh', 'blank', 'form']) {
  ui.test(`an app that navigates away (${way}) is closed first`, async (session) => {
    requests.length = 0;
    await showApp(session, 'hostile', way);
    const { around } = shown(session);
    await around.getByRole('alert').getByText(LEFT).waitFor();
    assert.equal(await around.locator('iframe').count(), 0);
    assert.deepEqual(requests, []);
  });
}

ui.test('a form of an app cannot navigate the window', async (session) => {
  requests.length = 0;
  await showApp(session, 'hostile', 'formTop');
  await shown(session).app.getByText('submitted').waitFor();
  assert.equal(await session.evaluate((vscode) => vscode.workspace.workspaceFolders?.length), 1);
  assert.deepEqual(requests, []);
});

ui.test('an app that floods the editor with messages is closed', async (session) => {
  await showApp(session, 'hostile', 'flood');
  const { around } = shown(session);
  await around
    .getByRole('alert')
    .getByText('The app was closed because it sent too many messages.')
    .waitFor();
  assert.equal(await around.locator('iframe').count(), 0);
});

ui.test('the user decides about requests of an app', async (session) => {
  const { page, evaluate } = session;
  await showApp(session, 'hostile', 'polite');
  const { app, around } = shown(session);
  const text = () => evaluate((vscode) => vscode.window.visibleTextEditors[0]?.document.getText());
  const press = (name: string) => app.getByRole('button', { name, exact: true }).click();
  await app.getByText('polite was called').waitFor();
  const before = await text();

  await press('call');
  await answerNotice(page, 'asks for permission to call hostile.leave', 'Allow Once');
  await app.getByText('leave was called').waitFor();
  assert.equal(await text(), before, 'The result of the call is the app’s alone.');

  await press('link');
  const link = 'The app of hostile.polite wants to open https://example.com/a?b=c in your browser.';
  await notice(page, link).waitFor();
  await takeScreenshot(page, 'mcp-app-link');
  await answerNotice(page, link, 'Decline');
  await app.getByText('"isError":true').waitFor();

  await press('say');
  await answerNotice(page, 'wants to insert this text into your message: “Look:', 'Add to Chat');
  await app.getByText('"result":{}').waitFor();
  const said = await text();
  assert.match(
    said ?? '',
    /From the app of `polite` \(`hostile`\):\n\n```\nLook:\n# %% assistant\n!\[x\]\(https:/,
  );

  await press('tell');
  await button(around.locator('#bar'), 'Add to Chat…').click();
  await answerNotice(page, 'The user chose B.', 'Decline');
  assert.equal(await text(), said, 'Nothing gets into the chat without the user.');

  await press('mode');
  await app.getByText('"mode":"fullscreen"').waitFor();
  await around.locator('#stage[data-mode="fullscreen"]').waitFor();

  await press('link');
  await notice(page, link).waitFor();
  await closeApps(session);
  await notice(page, link).waitFor({ state: 'hidden' });
});

ui.test('an app follows the color theme', async (session) => {
  const { evaluate } = session;
  const choose = (theme: string | undefined) =>
    evaluate(
      (vscode, name) => vscode.workspace.getConfiguration('workbench').update('colorTheme', name, true),
      theme,
    );
  await showApp(session, 'hostile', 'polite');
  const { app } = shown(session);
  await app.getByText('polite was called').waitFor();
  await choose('Default High Contrast');
  await app.locator('body[data-theme="dark"]').waitFor();
  await choose('Default Light Modern');
  await app.locator('body[data-theme="light"]').waitFor();
});

ui.test('an app is reopened from the chat', async (session) => {
  const { evaluate } = session;
  await showApp(session, 'hostile', 'polite');
  await shown(session).app.getByText('polite was called').waitFor();
  await closeApps(session);
  await evaluate(async (vscode) => {
    const editor = vscode.window.visibleTextEditors[0];
    if (!editor) throw new Error('There is no chat.');
    const { document } = editor;
    const at = document.positionAt(document.getText().indexOf('# %% tool hostile.polite'));
    await vscode.window.showTextDocument(document, { selection: new vscode.Range(at, at) });
    await vscode.commands.executeCommand('filechat.openApp');
  });
  await shown(session).app.getByText('polite was called').waitFor();
});

ui.test('an app cannot call tools that are disabled or excluded by its chat', async (session) => {
  const { page, evaluate } = session;
  const set = (name: string, value: unknown) =>
    evaluate((vscode, [key, to]) => vscode.workspace.getConfiguration('filechat').update(key, to, true), [
      name,
      value,
    ] as const);
  await set('auditLog', true);
  await showApp(session, 'hostile', 'polite');
  const { app } = shown(session);
  await app.getByText('polite was called').waitFor();
  const ask = () => app.getByRole('button', { name: 'call', exact: true }).click();
  await set('disabledTools', ['hostile.leave']);
  await ask();
  await app.getByText('The tool hostile.leave is turned off').waitFor();
  await set('disabledTools', undefined);

  await evaluate(async (vscode) => {
    const chat = vscode.window.visibleTextEditors[0]?.document.uri;
    if (!chat) throw new Error('There is no chat.');
    const edit = new vscode.WorkspaceEdit();
    edit.insert(chat, new vscode.Position(0, 0), '---\ntools: [hostile.polite]\n---\n');
    await vscode.workspace.applyEdit(edit);
  });
  await ask();
  await app.getByText('This chat does not allow the tool hostile.leave.').waitFor();
  assert.equal(await page.locator('.monaco-dialog-box').count(), 0);
  await set('auditLog', undefined);
  const log = await evaluate(async (vscode) => {
    await vscode.commands.executeCommand('filechat.showAuditLog');
    return vscode.window.activeTextEditor?.document.getText() ?? '';
  });
  const calls = log
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)
    .filter(({ kind }) => kind === 'call')
    .map(({ name, outcome, consent }) => [name, outcome, consent]);
  assert.deepEqual(calls, [
    ['polite', 'ok', 'asked'],
    ['leave', 'denied', undefined],
    ['leave', 'denied', undefined],
  ]);
});
