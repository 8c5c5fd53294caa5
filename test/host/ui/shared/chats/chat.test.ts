import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { waitForText } from '../../../bridge.ts';
import {
  activeTab,
  button,
  codeLens,
  dialog,
  focusEditor,
  runCommand,
  titleButton,
  toast,
  waitForCursor,
  waitForNote,
} from '../../../workbench/page.ts';
import { answerCall } from '../../consent.ts';
import { heldModel } from '../../heldModel.ts';
import { openChat, takeScreenshot, uiSession } from '../../session.ts';

const ui = uiSession();
const model = heldModel();

ui.test(
  'a question, a reply with a call, permission by a click, the result and the next reply',
  async ({ page, evaluate, workspace }) => {
    await model.use(evaluate);
    await runCommand(page, 'Filechat: New Chat');
    await activeTab(page, 'new.chat.md').waitFor();
    await focusEditor(page);
    await page.keyboard.type('How is the weather?');
    await page.keyboard.press('Shift+Enter');
    await button(dialog(page, 'the MCP server “sample”'), 'Allow').click();

    const first = await model.next();
    assert.match(first.body, /How is the weather\?/);
    first.say('I look it up.');
    first.call('sample__weather', { city: 'Paris' });
    first.finish('tool_calls');
    await answerCall(page, 'sample.weather');

    const second = await model.next();
    assert.match(second.body, /"role":"tool"/);
    second.say('It is fine.');
    await codeLens(page, 'Stop').waitFor();
    await takeScreenshot(page, 'reply-while-it-comes');
    second.finish();
    await waitForText(evaluate, 'It is fine.\n\n# %% user\n');
    const text = await waitForText(evaluate, 'title: "How is the weather?"');
    assert.match(text, /```tool_call sample\.weather c1\n\{"city": "Paris"\}\n```/);
    assert.match(text, /^# %% tool sample\.weather c1$/m);
    assert.doesNotMatch(text, /filechat:writing/);
    await activeTab(page, 'how-is-the-weather.chat.md').and(page.locator(':not(.dirty)')).waitFor();
    assert.equal(readFileSync(workspace.path('how-is-the-weather.chat.md'), 'utf8'), text);
  },
);

ui.test('after a run the cursor is in the next user turn', async ({ page, evaluate }) => {
  await page.keyboard.type('And tomorrow?');
  await waitForText(evaluate, 'It is fine.\n\n# %% user\nAnd tomorrow?');
  await page.keyboard.press('Shift+Enter');
  const reply = await model.next();
  reply.say('Rain.');
  reply.finish();
  await waitForText(evaluate, 'And tomorrow?\n\n# %% assistant\nRain.\n\n# %% user\n');
});

ui.test(
  'arguments that are edited while the call waits are those of the call',
  async ({ page, evaluate }) => {
    await openChat({ page, evaluate }, 'Draw another chart.');
    await page.keyboard.press('Shift+Enter');
    const reply = await model.next();
    reply.call('sample__chart', { title: 'Costs', values: [1] });
    reply.finish('tool_calls');
    await answerCall(page, 'sample.chart', 'Edit Arguments');
    await waitForCursor(page, 6, '{"title": "Costs", "values": [1]}'.length + 1);
    await page.keyboard.press('Backspace');
    await waitForNote(page, 'the arguments are not valid JSON');
    await codeLens(page, 'Allow Once').click();
    await toast(page, 'Fix the arguments of sample.chart, then allow the call.').waitFor();
    await focusEditor(page);
    await page.keyboard.type('}');
    await page.keyboard.press('Home');
    for (const _ of '{"title": "') await page.keyboard.press('ArrowRight');
    await page.keyboard.type('Low ');
    await waitForText(evaluate, '"Low Costs"');
    await waitForNote(page, 'arguments edited');
    await takeScreenshot(page, 'edited-while-it-waits');
    await codeLens(page, 'Allow Once').click();
    const second = await model.next();
    assert.match(second.body, /Low Costs/);
    second.finish();
    await waitForText(evaluate, 'Tool generated image 1');
  },
);

ui.test(
  'Stop in the title bar keeps the text so far, and Resume continues there',
  async ({ page, evaluate }) => {
    await openChat({ page, evaluate }, 'Count.');
    await page.keyboard.press('Shift+Enter');
    const first = await model.next();
    first.say('One, two, ');
    await waitForText(evaluate, 'One, two,');
    await titleButton(page, 'Stop').click();
    await first.closed;
    await waitForText(evaluate, '<!-- filechat:interrupted stopped -->');
    await codeLens(page, 'Resume').click();
    const second = await model.next();
    assert.match(second.body, /One, two,/);
    second.say('three.');
    second.finish();
    await waitForText(evaluate, '# %% assistant\nOne, two, three.\n\n# %% user\n');
  },
);

ui.test(
  'Stop above the running turn works too, and the text typed then is sent',
  async ({ page, evaluate }) => {
    await openChat({ page, evaluate }, 'Count again.');
    await page.keyboard.press('Shift+Enter');
    const first = await model.next();
    first.say('One.');
    await waitForText(evaluate, 'One.');
    await codeLens(page, 'Stop').click();
    await first.closed;
    await waitForText(evaluate, 'One.\n<!-- filechat:interrupted stopped -->\n\n# %% user\n');
    await codeLens(page, 'Resume').waitFor();
    await focusEditor(page);
    await page.keyboard.type('No, backwards.');
    await waitForText(evaluate, 'stopped -->\n\n# %% user\nNo, backwards.');
    await takeScreenshot(page, 'correction-after-stop');
    await page.keyboard.press('Shift+Enter');
    const second = await model.next();
    assert.match(second.body, /One\..*No, backwards\./);
    second.say('Two.');
    second.finish();
    await waitForText(evaluate, 'No, backwards.\n\n# %% assistant\nTwo.\n\n# %% user\n');
  },
);

ui.test('a reply that reached its limit says so and offers Resume', async ({ page, evaluate }) => {
  await openChat({ page, evaluate }, 'Tell me a long story.');
  await page.keyboard.press('Shift+Enter');
  const first = await model.next();
  first.say('Once upon a ');
  first.finish('length');
  const told = toast(page, 'The reply reached the token limit.');
  await told.waitFor();
  await takeScreenshot(page, 'error-with-resume');
  await button(told, 'Resume').click();
  const second = await model.next();
  second.say('time.');
  second.finish();
  await waitForText(evaluate, '# %% assistant\nOnce upon a time.\n\n# %% user\n');
});

ui.test('a rate limit shows the waiting time, and Cancel ends it', async ({ page, evaluate }) => {
  await openChat({ page, evaluate }, 'Are you busy?');
  await page.keyboard.press('Shift+Enter');
  (await model.next()).refuse(429, { 'retry-after': '60' });
  const waiting = toast(page, /Retrying in \d+ s/);
  await waiting.waitFor();
  await takeScreenshot(page, 'waiting-for-a-provider');
  await button(waiting, 'Cancel').click();
  await codeLens(page, 'Run').waitFor();
  const text = await waitForText(evaluate, 'Are you busy?');
  assert.doesNotMatch(text, /assistant/);
});

ui.test('Stop in the message about a running chat stops that chat', async (session) => {
  const { page, evaluate } = session;
  await openChat(session, 'First?');
  await page.keyboard.press('Shift+Enter');
  const first = await model.next();
  first.say('One');
  await waitForText(evaluate, 'One');
  await page.keyboard.press('Shift+Enter');
  const told = toast(page, 'This chat is running already.');
  await told.waitFor();
  await openChat(session, 'Second?');
  await page.keyboard.press('Shift+Enter');
  const second = await model.next();
  second.say('Two');
  await waitForText(evaluate, 'Two');
  await button(told, 'Stop').click();
  await first.closed;
  second.finish();
  await waitForText(evaluate, 'Two\n\n# %% user\n');
});
