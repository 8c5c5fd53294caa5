import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checksum } from '../../../../src/chat/reply/escape.ts';
import { ASSET_HINT } from '../../../../src/model/request/request.ts';
import { build, call, chat, MemoryAttachments, messages, show } from './requests.ts';

describe('turns become messages', () => {
  const cases: readonly (readonly [rule: string, text: string, expected: string])[] = [
    ['a question', chat('# %% user', 'Hello', '', 'there'), messages('user', '  Hello↵↵there')],
    [
      'a conversation',
      chat('# %% user', 'Hello', '# %% assistant', 'Hi.', '# %% user', 'More'),
      messages('user', '  Hello', 'assistant', '  text: Hi.', 'user', '  More'),
    ],
    ['comments are left out', chat('# %% user', 'A', '<!-- b -->', 'C'), messages('user', '  A↵C')],
    [
      'what is empty is left out',
      chat('# %% user', '', '# %% user', 'A', '# %% assistant', '', '# %% user'),
      messages('user', '  A'),
    ],
    [
      'a marker that was made harmless',
      chat('# %% user', '\\# %% user', 'x'),
      messages('user', '  # %% user↵x'),
    ],
    ['users in a row are one', chat('# %% user', 'A', '# %% user', 'B'), messages('user', '  A', '  B')],
    [
      'assistants in a row are one',
      chat('# %% user', 'A', '# %% assistant', 'B', '# %% assistant', 'C', '# %% user', 'D'),
      messages('user', '  A', 'assistant', '  text: B', '  text: C', 'user', '  D'),
    ],
    [
      'an assistant’s first word has a user’s before it',
      chat('# %% assistant', 'Hi.', '# %% user', 'A'),
      messages('user', '  (You have the first word.)', 'assistant', '  text: Hi.', 'user', '  A'),
    ],
    [
      'an empty turn at the end is no message',
      chat('# %% user', 'A', '# %% assistant', 'B', '# %% user'),
      messages('user', '  A', 'assistant', '  text: B'),
    ],
    ['text above the first marker is the user’s', chat('Hello'), messages('user', '  Hello')],
    ['nothing is nothing', '', ''],
  ];
  for (const [rule, text, expected] of cases) it(rule, async () => assert.equal(await show(text), expected));
});

it('the system text is the agent’s, the front matter’s, and that of all system turns', async () => {
  const text = chat('# %% system', 'C <!-- x -->', '# %% user', 'A', '# %% system', 'D');
  const settings = { system: 'B', maxTokens: 5, temperature: 0.5, reasoning: 'low' } as const;
  const { request } = await build(text, { agentSystem: 'A', settings });
  assert.equal(request.system.replace(/ +\n/g, '\n'), `A\n\nB\n\nC\n\nD\n\n${ASSET_HINT}`);
  assert.deepEqual([request.maxTokens, request.temperature, request.reasoning], [5, 0.5, 'low']);
});

describe('reasoning', () => {
  const thought = (of: string) => [
    '<details><summary>Reasoning</summary>',
    '',
    '```reasoning',
    'Hm.',
    '```',
    `<!-- filechat:metadata {"of":"${of}","anthropic":{"signature":"s"}} -->`,
    '',
    '</details>',
    '',
  ];

  it('is sent back as it was signed', async () => {
    const text = chat('# %% user', 'A', '# %% assistant', ...thought(checksum('Hm.')), 'B', '# %% user', 'C');
    assert.match(
      await show(text),
      /assistant\n {2}reasoning: Hm\. \{"anthropic":\{"signature":"s"\}\}\n {2}text: B/,
    );
  });

  it('that was edited or not signed is not sent', async () => {
    const text = chat('# %% user', 'A', '# %% assistant', ...thought('00000000'), 'B', '# %% user', 'C');
    assert.equal(await show(text), messages('user', '  A', 'assistant', '  text: B', 'user', '  C'));
  });
});

describe('an interrupted reply', () => {
  const cut = ['# %% assistant', 'Once upon', '<!-- filechat:interrupted stopped -->'];

  it('at the end is continued and is in the request once', async () => {
    for (const end of [[], ['', '# %% user']]) {
      const { request } = await build(chat('# %% user', 'Tell', ...cut, ...end));
      const json = JSON.stringify(request.messages);
      assert.equal(request.messages.length, 1);
      assert.equal(json.split('Once upon').length, 2);
      assert.match(json, /exactly where it ends/);
    }
  });

  it('with complete calls lists them, so that the model does not repeat them', async () => {
    const text = chat('# %% user', 'Tell', '# %% assistant', 'Look:', ...call('c1'), cut.at(-1) ?? '');
    const { request } = await build(text);
    assert.equal(request.messages.length, 1);
    assert.match(JSON.stringify(request.messages), /charts\.bar \{\\"x\\":1\}/);
  });

  it('before its first word is not mentioned', async () => {
    const text = chat('# %% user', 'Tell', '# %% assistant', cut.at(-1) ?? '');
    assert.equal(await show(text), messages('user', '  Tell'));
  });

  it('with results for its calls is in the request once', async () => {
    const text = chat(
      '# %% user',
      'A',
      ...cut.slice(0, 2),
      ...call('c1'),
      cut.at(-1) ?? '',
      '# %% tool charts.bar c1',
      'r',
    );
    assert.equal(JSON.stringify((await build(text)).request).split('Once upon').length, 2);
  });

  it('with a later user message is an ordinary reply', async () => {
    assert.equal(
      await show(chat('# %% user', 'Tell', ...cut, '', '# %% user', 'Stop it')),
      messages('user', '  Tell', 'assistant', '  text: Once upon', 'user', '  Stop it'),
    );
  });
});

it('a summary replaces the turns before it', async () => {
  const text = chat(
    '# %% system',
    'S',
    '# %% user',
    'Old',
    '# %% assistant',
    'Older',
    '# %% system summary',
    'They talked.',
    '# %% user',
    'New',
  );
  const { request } = await build(text);
  assert.equal(request.system, `S\n\n${ASSET_HINT}`);
  assert.equal(
    await show(text),
    messages('user', '  This is a summary of our conversation up to here:↵They talked.', '  New'),
  );
});

it('the same chat gives the same request, so that providers can cache it', async () => {
  const attachments = new MemoryAttachments({ 'a.txt': { bytes: 'x' } });
  const start = chat(
    '# %% user',
    'See [a](a.txt)',
    '# %% assistant',
    ...call('c1'),
    '# %% tool charts.bar c1',
    'r',
  );
  const before = (await build(start, { attachments })).request;
  const after = (await build(`${start}\n# %% assistant\nB\n\n# %% user\nMore\n`, { attachments })).request;
  assert.equal(
    JSON.stringify(after.messages.slice(0, before.messages.length)),
    JSON.stringify(before.messages),
  );
});
