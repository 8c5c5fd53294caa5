/** From an empty workspace to the first reply of a model. */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { until } from '../../../../kit/until.ts';
import { type Evaluate, waitForText } from '../../../bridge.ts';
import {
  activeTab,
  answer,
  button,
  focusEditor,
  pick,
  quickInput,
  quickPickLabels,
  quickPickRow,
  runCommand,
  toast,
} from '../../../workbench/page.ts';
import { fakeProvider, setEnvironment } from '../../fakeProvider.ts';
import { takeInBothThemes, uiSession } from '../../session.ts';

const ui = uiSession();
const KEY = 'sk-ant-right';
const anthropic = fakeProvider({
  key: KEY,
  models: [
    { id: 'claude-haiku-4-5', display_name: 'Claude Haiku 4.5', created_at: '2025-10-01T00:00:00Z' },
    {
      id: 'claude-sonnet-4-6',
      display_name: 'Claude Sonnet 4.6',
      created_at: '2026-02-01T00:00:00Z',
      max_input_tokens: 200_000,
    },
    { id: 'claude-opus-5', display_name: 'Claude Opus 5', created_at: '2026-06-01T00:00:00Z' },
  ],
  reply: 'Hello from Claude.',
});
const gateway = fakeProvider({
  key: 'secret',
  models: [{ id: 'big', context_length: 128_000, pricing: { prompt: '0.000001', completion: '0.000002' } }],
  reply: 'Hello from the gateway.',
});

/** Nothing listens there. */
const NO_OLLAMA = '127.0.0.1:9';

/** A row of the open list, by its whole label. */
const row = (page: Page, label: string) => quickPickRow(page, { exact: label });

const box = (page: Page) => quickInput(page).locator('.quick-input-box input');
const back = (page: Page) => quickInput(page).getByRole('button', { name: 'Back' });

/** What the user has configured, and the text and the cursor of the chat. */
function state(evaluate: Evaluate): Promise<unknown> {
  return evaluate((vscode) => {
    const settings = vscode.workspace.getConfiguration('filechat');
    const editor = vscode.window.activeTextEditor;
    return {
      models: settings.inspect('models')?.globalValue ?? null,
      defaultModel: settings.inspect('defaultModel')?.globalValue ?? null,
      text: editor?.document.getText(),
      caret: editor && [editor.selection.active.line, editor.selection.active.character],
    };
  });
}

/** Creates a chat and writes a question as a user does. */
async function write(page: Page, evaluate: Evaluate, file: string, question: string): Promise<void> {
  await runCommand(page, 'Filechat: New Chat');
  await activeTab(page, file).waitFor();
  await focusEditor(page);
  await page.keyboard.type(question);
  await waitForText(evaluate, question);
}

ui.test('a canceled run changes nothing, and a wrong key stays in its box', async (session) => {
  const { page, evaluate, workspace } = session;
  rmSync(workspace.path('.vscode'), { recursive: true });
  await setEnvironment(evaluate, { ANTHROPIC_BASE_URL: anthropic.url, OLLAMA_HOST: NO_OLLAMA });
  await write(page, evaluate, 'new.chat.md', 'Who are you?');
  const before = await state(evaluate);
  await page.keyboard.press('Shift+Enter');
  await row(page, 'Anthropic').waitFor();
  assert.deepEqual((await quickPickLabels(page)).slice(0, 8), [
    'Anthropic',
    'OpenAI',
    'Google',
    'OpenRouter',
    'Mistral',
    'Groq',
    'DeepSeek',
    'xAI',
  ]);
  await takeInBothThemes(session, 'first-model');
  await row(page, 'Anthropic').click();
  await quickInput(page).getByText('API Key for Anthropic').waitFor();
  assert.equal(await box(page).getAttribute('type'), 'password');
  await page.keyboard.press('Enter');
  await quickInput(page).getByText('Paste the key, or press Escape').waitFor();
  await box(page).fill('sk-ant-wrong');
  await page.keyboard.press('Enter');
  await quickInput(page).getByText('Anthropic did not accept the key: invalid x-api-key').waitFor();
  await takeInBothThemes(session, 'first-model-wrong-key');
  assert.equal(await box(page).inputValue(), 'sk-ant-wrong');
  await back(page).click();
  await quickPickRow(page, 'OpenRouter').waitFor();
  await page.keyboard.press('Escape');
  await quickInput(page).waitFor({ state: 'hidden' });
  assert.deepEqual(await state(evaluate), before);
  await page.keyboard.type(' And why?');
  await waitForText(evaluate, 'Who are you? And why?');
});

ui.test('four interactions lead from a new chat to the first token', async (session) => {
  const { page, evaluate } = session;
  await write(page, evaluate, 'new-2.chat.md', 'Hello?');
  await page.keyboard.press('Shift+Enter');
  await row(page, 'Anthropic').click();
  await answer(page, 'API Key for Anthropic', `  "${KEY}" `);
  const text = await waitForText(evaluate, 'Hello from Claude.');
  assert.match(text, /^---\ntitle: Hello\?\n---\n|^# %% user/);
  assert.doesNotMatch(text, /model:/);
  assert.deepEqual(anthropic.asked, ['claude-sonnet-4-6']);
  await button(toast(page, 'Using anthropic/claude-sonnet-4-6.'), 'Change Model…').waitFor();
  await takeInBothThemes(session, 'first-model-reply');
  const saved = (await state(evaluate)) as { models: object; defaultModel: string };
  const model = { provider: 'anthropic', model: 'claude-sonnet-4-6', baseUrl: `${anthropic.url}/v1` };
  assert.deepEqual(saved.models, { 'anthropic/claude-sonnet-4-6': model });
  assert.equal(saved.defaultModel, 'anthropic/claude-sonnet-4-6');
});

ui.test('Select Model lists what the provider offers, and the chat names it', async (session) => {
  const { page, evaluate } = session;
  await focusEditor(page);
  await runCommand(page, 'Filechat: Select Model');
  await row(page, 'Anthropic').getByText('key saved').waitFor();
  await takeInBothThemes(session, 'select-model');
  await row(page, 'Anthropic').click();
  await quickPickRow(page, 'claude-sonnet-4-6').getByText('Recommended · Claude Sonnet 4.6').waitFor();
  assert.deepEqual(await quickPickLabels(page), [
    'claude-opus-5',
    'claude-sonnet-4-6',
    'claude-haiku-4-5',
    'Enter a Model Name…',
  ]);
  await takeInBothThemes(session, 'select-model-of-provider');
  await page.locator('.monaco-list-row.focused', { hasText: 'claude-sonnet-4-6' }).waitFor();
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Enter');
  await waitForText(evaluate, 'model: anthropic/claude-opus-5');
  const saved = (await state(evaluate)) as { models: object; defaultModel: string };
  assert.deepEqual(Object.keys(saved.models), ['anthropic/claude-sonnet-4-6', 'anthropic/claude-opus-5']);
  assert.equal(saved.defaultModel, 'anthropic/claude-sonnet-4-6');
});

ui.test('the buttons of a row set the default and remove the model', async (session) => {
  const { page, evaluate } = session;
  await runCommand(page, 'Filechat: Select Model');
  const opus = row(page, 'anthropic/claude-opus-5');
  await opus.hover();
  await opus.getByRole('button', { name: 'Set as Default' }).click();
  await toast(page, 'anthropic/claude-opus-5 is now the default model').waitFor();
  await opus.getByText('· default').waitFor();
  await opus.hover();
  await takeInBothThemes(session, 'select-model-buttons');
  await opus.getByRole('button', { name: 'Remove' }).click();
  await button(toast(page, 'claude-opus-5 was removed'), 'Undo').waitFor();
  await quickPickRow(page, 'anthropic/claude-sonnet-4-6').waitFor();
  await opus.waitFor({ state: 'detached' });
  await page.keyboard.press('Escape');
  await button(toast(page, 'claude-opus-5 was removed'), 'Undo').click();
  await until(async () => /opus/.test(JSON.stringify((await state(evaluate)) as object)));
});

ui.test('another address is asked for its key and its models', async (session) => {
  const { page, evaluate } = session;
  await focusEditor(page);
  await runCommand(page, 'Filechat: Select Model');
  await pick(page, 'Which model should answer in this chat?', 'Other OpenAI-Compatible Address…');
  await answer(page, 'Filechat: OpenAI-Compatible Address', 'not an address');
  await quickInput(page).getByText('This is not a valid address.').waitFor();
  await box(page).fill(gateway.url);
  await page.keyboard.press('Enter');
  await quickInput(page).getByText('API Key for 127.0.0.1').waitFor();
  await back(page).click();
  await quickInput(page).getByText('OpenAI-Compatible Address').waitFor();
  assert.equal(await box(page).inputValue(), `${gateway.url}`);
  await page.keyboard.press('Enter');
  await quickInput(page).getByText('API Key for 127.0.0.1').waitFor();
  await box(page).fill('Bearer secret');
  await page.keyboard.press('Enter');
  await quickPickRow(page, 'big').getByText('128k context · $1 in, $2 out per million tokens').waitFor();
  await takeInBothThemes(session, 'select-model-of-address');
  // A look elsewhere does not lose the address and the key.
  await page.locator('.view-line', { hasText: /Hello.from.Claude/ }).click();
  await quickPickRow(page, 'big').click();
  await waitForText(evaluate, `model: "${new URL(gateway.url).host}/big"`);
  await setEnvironment(evaluate, { ANTHROPIC_BASE_URL: null, OLLAMA_HOST: null });
});
