/** A newcomer with the settings that everybody starts with, by keyboard and mouse, from an empty folder. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the variables of a configuration look like that.
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { Locator, Page } from 'playwright-core';
import { until } from '../../kit/until.ts';
import { waitForText } from '../bridge.ts';
import { say } from '../progress.ts';
import {
  activeTab,
  answer,
  button,
  codeLens,
  dialog,
  quickInput,
  quickPickRow,
  runCommand,
  toast,
  waitForNote,
} from '../workbench/page.ts';
import { answerCall, waitingCall } from './consent.ts';
import { fakeProvider, setEnvironment } from './fakeProvider.ts';
import { heldModel } from './heldModel.ts';
import { Newcomer } from './newcomer.ts';
import { showFile, takeInBothThemes, takeScreenshot, type Ui, uiSession } from './session.ts';

const FIRST_KEY = 'sk-ant-first';
const SECOND_KEY = 'sk-ant-second';
const CHAT = 'how-do-i-boil-an-egg.chat.md';
const PNG_HEAD = '89504e470d0a1a0a';

const claude = heldModel({
  key: FIRST_KEY,
  wire: 'anthropic',
  models: [{ id: 'claude-sonnet-4-6', display_name: 'Claude Sonnet 4.6', max_input_tokens: 200_000 }],
});
const ollama = fakeProvider({
  models: [
    { id: 'nomic-embed-text', created: 3 },
    { id: 'llama3.2:latest', created: 2 },
    { id: 'qwen3:8b', created: 1 },
  ],
  reply: 'Hello from Llama.',
});
/** Nothing listens there. */
const NOBODY = '127.0.0.1:9';

const ui = uiSession({
  defaults: true,
  // Nobody wants to read about the ports of the tests.
  settings: { 'remote.autoForwardPorts': false },
  prepare: ({ folder }) => {
    rmSync(folder, { recursive: true });
    mkdirSync(folder);
  },
});

/** Much longer than it takes, also beside another window. */
const lifeTimeoutMs = 180_000;

interface Life extends Ui {
  readonly me: Newcomer;
}

ui.test('the first ten minutes, without a break', liveThem, lifeTimeoutMs);

async function liveThem(session: Ui): Promise<void> {
  const { page, evaluate } = session;
  await setEnvironment(evaluate, {
    ANTHROPIC_BASE_URL: claude.address.replace(/\/v1$/, ''),
    OLLAMA_HOST: NOBODY,
  });
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const life = { ...session, me: await Newcomer.at(page) };
  const toToken = await firstReply(life);
  await secondThoughts(life);
  const questions = await firstTool(life);
  await wrongKey(life);
  await addServer(life);
  await callTool(life);
  await nothingWasLost(life);
  const modals = await life.me.modals();
  assert.equal(modals.length, 1, modals.join('\n\n'));
  assert.match(modals[0] ?? '', /the MCP server “sample”/);
  say(`Interactions to the first token of a hosted provider: ${toToken}`);
  say(`Questions before the result of the first tool: ${questions.server} + ${questions.call}`);
  say(`Modal dialogs in the first ten minutes: ${modals.length}, for the servers of the workspace`);
  assert.equal(toToken, 4);
  assert.deepEqual(questions, { server: 1, call: 1 });
}

ui.test('with a running Ollama, a new chat answers after two interactions', async (session) => {
  const { page, evaluate, workspace } = session;
  const me = await Newcomer.at(page);
  rmSync(workspace.path('.vscode'), { recursive: true, force: true });
  await evaluate(async (vscode) => {
    const settings = vscode.workspace.getConfiguration('filechat');
    for (const name of ['models', 'defaultModel', 'mcpServers']) await settings.update(name, undefined, true);
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });
  // No key is stored for this address, so nothing but Ollama could answer.
  await setEnvironment(evaluate, {
    ANTHROPIC_BASE_URL: `http://${NOBODY}`,
    OLLAMA_HOST: new URL(ollama.url).host,
  });
  await newChat(session);
  me.countAnew();
  await me.writes('Who are you?');
  await waitForText(evaluate, 'Who are you?');
  await me.presses('Shift+Enter');
  await waitForText(evaluate, 'Hello from Llama.');
  const toToken = me.interactions;
  say(`Interactions to the first token of a running Ollama: ${toToken}`);
  assert.equal(toToken, 2);
  assert.deepEqual(await me.modals(), []);
  assert.deepEqual(ollama.asked, ['llama3.2:latest']);
  await button(toast(page, 'Using ollama/llama3.2:latest.'), 'Change Model…').click();
  await quickPickRow(page, 'qwen3:8b').waitFor();
  await takeInBothThemes(session, 'local-models');
  await page.keyboard.press('Escape');
});

/** Nobody puts the cursor anywhere: it is where to write. */
async function newChat({ page }: Ui): Promise<void> {
  await runCommand(page, 'Filechat: New Chat');
  await activeTab(page, 'new.chat.md').waitFor();
  await focused(page).waitFor();
  await waitForNote(page, GHOST);
}

const GHOST = 'Ask anything. Shift\\+Enter sends. @ tools, # files, / commands';

/** The reply is whole, and the next question can be written: the caret is in the next turn, also on the page. */
async function untilReplied({ page, evaluate }: Ui, words: string): Promise<string> {
  const text = await waitForText(evaluate, `${words}\n\n# %% user\n`);
  // The page is behind the text, and may still show the last hint.
  await page.locator('.view-line', { hasText: words }).waitFor();
  await waitForNote(page, GHOST);
  await focused(page).waitFor();
  await until(async () => {
    const lines = await evaluate((vscode) => vscode.window.activeTextEditor?.document.lineCount);
    return page.locator('.statusbar-item', { hasText: `Ln ${lines}, Col 1` }).isVisible();
  });
  return text;
}

/** The editor that takes what is typed. */
const focused = (page: Page): Locator =>
  page.locator('.editor-group-container.active .monaco-editor.focused').first();

async function copy({ evaluate }: Ui, text: string): Promise<void> {
  await evaluate((vscode, words) => vscode.env.clipboard.writeText(words), text);
}

/** Resolves to the number of interactions up to the first token. */
async function firstReply(life: Life): Promise<number> {
  const { page, evaluate, workspace, me } = life;
  await newChat(life);
  await takeScreenshot(page, 'ten-1-new-chat');
  await copy(life, ` ${FIRST_KEY}\n`);
  me.keeps('How do I boil an egg?');
  me.countAnew();
  await me.types('How do I boil an egg?');
  await waitForText(evaluate, 'How do I boil an egg?');
  await me.presses('Shift+Enter');
  await quickPickRow(page, 'Anthropic').waitFor();
  await takeScreenshot(page, 'ten-2-providers');
  // It is chosen already.
  await page.locator('.monaco-list-row.focused', { hasText: 'Anthropic' }).waitFor();
  await me.presses('Enter');
  await quickInput(page).getByText('API Key for Anthropic').waitFor();
  await me.pastes();
  const reply = await claude.next();
  reply.say('Boil water,');
  await waitForText(evaluate, 'Boil water,');
  const { interactions } = me;
  assert.deepEqual(await me.modals(), []);
  await takeScreenshot(page, 'ten-3-streaming');
  // Other tabs do not disturb it.
  writeFileSync(workspace.path('notes.md'), '# Notes\n\n');
  await showFile(life, 'notes.md');
  reply.say(' put it in,');
  // The chat has the name of its question already.
  await me.clicks(page.locator(`.tab[data-resource-name="${CHAT}"]`));
  reply.say(' and wait.');
  await waitForText(evaluate, 'Boil water, put it in, and wait.');
  reply.finish();
  await activeTab(page, CHAT).waitFor();
  await untilReplied(life, 'and wait.');
  await takeScreenshot(page, 'ten-4-renamed');
  return interactions;
}

/** A question with a typo is stopped, corrected and asked again. */
async function secondThoughts(life: Life): Promise<void> {
  const { page, evaluate, me } = life;
  await me.types('Until it is hrad');
  await me.presses('Shift+Enter');
  const stopped = await claude.next();
  stopped.say('What is hrad');
  await waitForText(evaluate, 'What is hrad');
  await me.presses('Alt+M', 'x');
  await stopped.closed;
  await codeLens(page, 'Resume').waitFor();
  await takeScreenshot(page, 'ten-5-stopped');
  await me.clicks(page.locator('.view-line', { hasText: /Until.it.is.hrad/ }));
  await me.presses('End', 'ControlOrMeta+Backspace');
  await me.types('hard?');
  me.keeps('Until it is hard?');
  await waitForText(evaluate, 'Until it is hard?');
  await me.presses('Shift+Enter');
  await quickPickRow(page, 'Replace Turns Below').waitFor();
  await takeScreenshot(page, 'ten-6-replace');
  await me.clicks(quickPickRow(page, 'Replace Turns Below'));
  const reply = await claude.next();
  assert.match(reply.body, /is hard\?/);
  assert.doesNotMatch(reply.body, /hrad/);
  reply.say('Ten minutes.');
  reply.finish();
  await untilReplied(life, 'Ten minutes.');
}

/** Somebody else has put a server into the repository. Resolves to the number of questions. */
async function firstTool(life: Life): Promise<{ server: number; call: number }> {
  const { page, evaluate, workspace, me } = life;
  const server = { command: 'node', args: ['${workspaceFolder}/../dist/sample-server.js'] };
  mkdirSync(workspace.path('.vscode'));
  writeFileSync(workspace.path('.vscode', 'mcp.json'), JSON.stringify({ servers: { sample: server } }));
  await me.writes('Draw the minutes.');
  await waitForText(evaluate, 'Draw the minutes.');
  await me.presses('Shift+Enter');
  const program = dialog(page, 'This workspace wants to start a program: the MCP server “sample”.');
  await program.waitFor();
  await takeScreenshot(page, 'ten-7-server');
  assert.notEqual(await page.locator('.monaco-dialog-box :focus').innerText(), 'Allow');
  me.countAnew();
  await me.clicks(button(program, 'Allow'));
  const forServer = me.interactions;
  const reply = await claude.next();
  assert.match(reply.body, /sample__chart/);
  await me.clicks(page.locator('.tab[data-resource-name="notes.md"]'));
  await page.keyboard.press('ControlOrMeta+End');
  await me.types('Buy eggs ');
  reply.say('A chart.');
  reply.call('sample__chart', { title: 'Minutes', values: [4, 10] });
  reply.finish('tool_calls');
  const notice = toast(page, 'sample.chart asks for permission in the chat “how-do-i-boil-an-egg”.');
  await notice.waitFor();
  await me.presses('Enter', 'Space');
  await me.types('and salt.');
  await waitForText(evaluate, 'Buy eggs \n and salt.');
  me.keeps('Buy eggs \n and salt.');
  await takeScreenshot(page, 'ten-8-elsewhere');
  await me.clicks(notice.getByText('Show Chat'));
  await waitingCall(page, 'sample.chart').waitFor();
  await takeScreenshot(page, 'ten-9-permission');
  me.countAnew();
  await me.does(() => answerCall(page, 'sample.chart'));
  const forCall = me.interactions;
  const last = await claude.next();
  assert.match(last.body, /tool_result/);
  last.say('That is all.');
  last.finish();
  const text = await untilReplied(life, 'That is all.');
  const [, asset = ''] = /!\[Tool generated image 1\]\((cmdassets\/[^)]+\.png)\)/.exec(text) ?? [];
  assert.equal(readFileSync(workspace.path(asset)).subarray(0, 8).toString('hex'), PNG_HEAD);
  await takeScreenshot(page, 'ten-10-chart');
  return { server: forServer, call: forCall };
}

/** The key is replaced at the provider. */
async function wrongKey(life: Life): Promise<void> {
  const { page, evaluate, me } = life;
  claude.replaceKey(SECOND_KEY);
  await copy(life, SECOND_KEY);
  await me.writes('And a soft one?');
  await waitForText(evaluate, 'And a soft one?');
  await me.presses('Shift+Enter');
  const problem = toast(page, /The key was not accepted for .*: invalid x-api-key/);
  await problem.waitFor();
  await codeLens(page, 'API key not accepted').waitFor();
  await takeScreenshot(page, 'ten-11-wrong-key');
  await me.clicks(button(problem, 'Set API Key…'));
  await quickInput(page)
    .getByText(/API Key for/i)
    .waitFor();
  await me.pastes();
  await me.clicks(button(toast(page, /The key for .* was saved\./), 'Run'));
  const reply = await claude.next();
  reply.say('Four minutes.');
  reply.finish();
  await untilReplied(life, 'Four minutes.');
}

async function addServer(life: Life): Promise<void> {
  const { page, workspace, me } = life;
  const mine = { command: 'node', args: [workspace.path('..', 'dist', 'sample-server.js')] };
  await copy(life, JSON.stringify({ mcpServers: { mine } }, undefined, 2));
  await runCommand(page, 'Filechat: Add Server');
  await quickInput(page).getByText('Paste a command line, a URL').waitFor();
  await me.pastes();
  await quickPickRow(page, 'Add to User Settings and Start').waitFor();
  await takeScreenshot(page, 'ten-12-add-server');
  await me.presses('Enter');
  await toast(page, /Added mine\. \d+ tools\./).waitFor();
}

/** No model takes part in it. */
async function callTool({ page, evaluate, me }: Life): Promise<void> {
  const before = claude.asked;
  await runCommand(page, 'Filechat: Call Tool');
  await quickInput(page).getByText('Draw a chart', { exact: true }).first().waitFor();
  await takeScreenshot(page, 'ten-13-tools');
  await me.does(() => answer(page, 'Which tool?', 'weather'));
  await me.does(() => answer(page, 'weather (1/', 'Oslo'));
  await me.does(() => answerCall(page, 'sample.weather'));
  await waitForText(evaluate, '# %% tool sample.weather');
  assert.equal(claude.asked, before);
}

/** Every typed character is in a file. */
async function nothingWasLost({ evaluate, workspace, me }: Life): Promise<void> {
  await evaluate((vscode) => vscode.workspace.saveAll());
  const lost = () => {
    const files = readdirSync(workspace.folder).filter((name) => name.endsWith('.md'));
    const texts = files.map((name) => readFileSync(workspace.path(name), 'utf8'));
    return me.kept.filter((words) => !texts.some((text) => text.includes(words)));
  };
  await until(
    () => lost().length === 0,
    () => `Lost: ${lost().join(', ')}`,
  );
}
