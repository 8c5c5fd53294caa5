/** What models do besides what their formats say, through the command line. */
import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { createChatFolder } from '../helpers/chatFolder.ts';
import { checkEnd } from '../helpers/runCli.ts';
import { serveTools } from '../helpers/toolServer.ts';
import { end, sendAll, toolCall, words } from '../helpers/wireServer.ts';

const NO_BUILT_INS = ['--settings', 'settings.json'] as const;

interface SentCall {
  readonly function: { readonly name: string; readonly arguments: string };
}

interface SentMessage {
  readonly role: string;
  readonly content: unknown;
  readonly tool_calls?: readonly SentCall[];
}

const messagesOf = (body: string | undefined) =>
  (JSON.parse(body ?? '{}') as { messages: readonly SentMessage[] }).messages;

describe('a call of a model', () => {
  it('is understood if one tool fits its name and the schema leaves one reading of its arguments', async (t) => {
    const written = JSON.stringify({ zone: null, hours: '24', tags: 'a', raw: '24' });
    const folder = await createChatFolder(t, '# %% user\nHi\n', (asked) => {
      if (asked.number > 1) return sendAll(asked, words('Done.'), end());
      const calls = [
        toolCall(0, 'x', 'functions.time__current_time', JSON.stringify(written)),
        toolCall(1, 'y', 'Current-Time<|channel|>commentary', '{"hours": 1, /* one */ }'),
        toolCall(2, 'z', 'functions.set_clock', '{}'),
      ];
      sendAll(asked, ...calls, end('tool_calls'));
    });
    await folder.write('settings.json', '{"builtInTools": false}');
    const properties = {
      zone: { type: 'string' },
      hours: { type: 'integer' },
      tags: { type: 'array', items: { type: 'string' } },
      raw: { type: 'string' },
    };
    await serveTools(folder, {
      time: [{ name: 'current_time', inputSchema: { type: 'object', properties } }, { name: 'stop' }],
      watch: [{ name: 'stop' }],
    });
    checkEnd(await folder.runChat(...NO_BUILT_INS), { code: 0 });
    const chat = await folder.chat();
    const sent = '{"hours":24,"tags":["a"],"raw":"24"}';
    assert.ok(
      chat.includes(`\`\`\`tool_call time.current_time c1\n{"hours": 24, "tags": ["a"], "raw": "24"}\n`),
      chat,
    );
    assert.ok(
      chat.includes(
        '<!-- filechat:repaired they were JSON in a string; zone: null was removed; hours: a string became a number; tags: one value became a list -->',
      ),
      chat,
    );
    assert.ok(chat.includes(`# %% tool time.current_time c1\n\`\`\`\nCalled with ${sent}\n`), chat);
    assert.match(
      chat,
      /tool_call time\.current_time c2\n\{"hours": 1\}\n```\n<!-- filechat:repaired comments/,
    );
    const names = 'The tools of this chat: time__current_time, time__stop, watch__stop.';
    assert.ok(
      chat.includes(`> ⚠ There is no tool “functions.set_clock”. No tool was called. ${names}`),
      chat,
    );

    const [, reply, ...results] = messagesOf(folder.server.asked[1]?.body).slice(-5);
    assert.deepEqual(
      reply?.tool_calls?.map(({ function: { name, arguments: args } }) => `${name} ${args}`),
      [`time__current_time ${sent}`, 'time__current_time {"hours":1}', 'functions__set_clock {}'],
    );
    assert.match(String(results.at(-1)?.content), /The tools of this chat: time__current_time/);
    assert.ok(!folder.server.asked[1]?.body.includes('repaired'));
  });
});

describe('a long description of a tool', () => {
  for (const [provider, isCut] of [
    ['openai-chat', true],
    ['openai-compatible', false],
  ] as const) {
    it(`${isCut ? 'is cut at a sentence, with a warning,' : 'is whole'} for ${provider}`, async (t) => {
      const folder = await createChatFolder(t, '# %% user\nHi\n', (asked) => {
        const first = [toolCall(0, 'x', 'a__think', '{}'), end('tool_calls')];
        sendAll(asked, ...(asked.number === 1 ? first : [words('Done.'), end()]));
      });
      const model = { provider, model: 'm', baseUrl: folder.server.url };
      await folder.write('models.json', JSON.stringify({ models: { it: model } }));
      await folder.write('settings.json', '{"builtInTools": false}');
      const description = 'This sentence has forty-two characters now. '.repeat(60).trim();
      await serveTools(folder, { a: [{ name: 'think', description }] });
      const { stderr } = checkEnd(await folder.runChat(...NO_BUILT_INS), { code: 0 });
      const { tools } = JSON.parse(folder.server.asked[1]?.body ?? '{}') as {
        tools: readonly { function: { description: string } }[];
      };
      const sent = tools[0]?.function.description ?? '';
      if (isCut) assert.match(sent, /^.{900,1022} now\. …$/);
      else assert.equal(sent, description);
      const warnings = stderr.match(/accepts at most 1024 characters .* were cut: a\.think\./g) ?? [];
      assert.equal(warnings.length, isCut ? 1 : 0, stderr);
    });
  }
});

describe('the reasoning of a local model', () => {
  const folded = (reasoning: string) =>
    `<details><summary>Reasoning</summary>\n\n\`\`\`\`reasoning\n${reasoning}\n\`\`\`\`\n\n</details>\n\n`;
  const replies: readonly (readonly [how: string, text: string, written: string])[] = [
    ['in tags', '<think>\nHm, 2 + 2.\n</think>\n\nIt is `4`.', `${folded('Hm, 2 + 2.')}It is \`4\`.`],
    ['without its opening tag', 'Hm, 2 + 2.\n</think>\n\nIt is 4.', `${folded('Hm, 2 + 2.')}It is 4.`],
    ['that never ends', '<think>Hm, 2 + 2.', folded('Hm, 2 + 2.').trimEnd()],
    ['that is only mentioned', 'It ends with `</think>`.', 'It ends with `</think>`.'],
  ];
  for (const [how, text, written] of replies) {
    it(`${how} is folded and not sent again`, async (t) => {
      const folder = await createChatFolder(t, '# %% user\nHi\n', (asked) => {
        const pieces = asked.number === 1 ? [...text] : ['Yes.'];
        sendAll(asked, ...pieces.map(words), end());
      });
      const run = () => folder.run('run', 'a.chat.md', '--models', 'models.json');
      checkEnd(await run(), { code: 0 });
      assert.equal(await folder.chat(), `# %% user\nHi\n\n# %% assistant\n${written}\n\n# %% user\n`);
      await folder.write('a.chat.md', `${await folder.chat()}Sure?\n`);
      checkEnd(await run(), { code: 0 });
      const sent = messagesOf(folder.server.asked[1]?.body).map(
        ({ role, content }) => `${role}: ${typeof content === 'string' ? content : JSON.stringify(content)}`,
      );
      const said = text.replace(/^[\s\S]*<\/think>\n+|^<think>[\s\S]*/, '');
      assert.deepEqual(
        sent.filter((each) => !each.startsWith('system')),
        said === ''
          ? ['user: [{"type":"text","text":"Hi"},{"type":"text","text":"Sure?"}]']
          : ['user: Hi', `assistant: ${said}`, 'user: Sure?'],
      );
    });
  }
});

describe('a chat of chat.md', () => {
  const XML = (tool: string) =>
    `<tool_call>\n<tool_name>${tool}</tool_name>\n<param name="n">1</param>\n</tool_call>\n\`\`\`\n`;
  const PNG =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  const CHAT = `# %% user
Look.
# %% assistant
I will look.\`\`\`tool_call
${XML('look')}
# %% tool_execute
<tool_result>
[Tool Result](cmdassets/tool-result-20250414-180412-6u42y3.txt)
</tool_result>

# %% assistant
\`\`\`tool_call
${XML('look')}
# %% tool_execute
<tool_result>
Here:

![Tool generated image](cmdassets/tool-image-example.png)

Done.
</tool_result>

# %% assistant
It broke off:
\`\`\`tool_call
<tool_call>
<tool_name>lo
# %% user
Again.
# %% assistant
\`\`\`xml
${XML('look')}
# %% tool_execute
`;

  it('continues: its files reach the model, and calls find their server', async (t) => {
    const folder = await createChatFolder(t, CHAT, (asked) => sendAll(asked, words('I see.'), end()));
    await mkdir(join(folder.path, 'cmdassets'));
    await folder.write('cmdassets/tool-result-20250414-180412-6u42y3.txt', 'line 1\nline 2\n');
    await folder.write('cmdassets/tool-image-example.png', Buffer.from(PNG, 'base64'));
    await folder.write('settings.json', '{"builtInTools": false}');
    await serveTools(folder, { eye: [{ name: 'look' }], ear: [{ name: 'listen' }] });
    checkEnd(await folder.runChat(...NO_BUILT_INS), { code: 0 });
    const chat = await folder.chat();
    const [before = '', after = ''] = chat.split('Again.\n');
    assert.ok(CHAT.startsWith(before), 'the answered turns are unchanged');
    assert.match(
      after,
      /<tool_name>eye\.look c1<\/tool_name>[\s\S]*```\n\n# %% tool eye\.look c1\n```\nCalled with \{"n":1\}\n```\n\n# %% assistant\nI see\.\n\n# %% user\n$/,
    );
    const sent = messagesOf(folder.server.asked[0]?.body).filter(({ role }) => role !== 'system');
    assert.deepEqual(
      sent.map(({ role, content, tool_calls: calls = [] }) =>
        [role, showContent(content), ...calls.map((call) => call.function.name)]
          .filter((each) => each !== '')
          .join(' ')
          .trim(),
      ),
      [
        'user Look.',
        'assistant I will look. eye__look',
        'tool line 1\nline 2\n',
        'assistant eye__look',
        'tool Here:\n\n[asset:tool-image-example.png]\n\n[image 1: see the next message]\n\nDone.',
        'user image_url',
        'assistant It broke off:',
        'user Again.',
        'assistant eye__look',
        'tool Called with {"n":1}',
      ].map((each) => each.trim()),
    );
    assert.ok(folder.server.asked[0]?.body.includes(PNG));
  });
});

function showContent(content: unknown): string {
  if (!Array.isArray(content)) return typeof content === 'string' ? content : '';
  return content.map((part: { type: string; text?: string }) => part.text ?? part.type).join(' ');
}
