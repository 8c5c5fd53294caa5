import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { showMessages } from '../model/request/requests.ts';
import { breaksOff, finish, says, scene, text } from './scriptedChat.ts';

const CHAT = '# %% user\nhi\n\n# %% assistant\nho\n\n# %% user\n';

describe('a summary', () => {
  it('is a turn below the summarized turns, and the next request begins with it', async () => {
    const { document, listener, model } = scene(CHAT, [says('We said ', 'hi.'), says('Yes.')]);
    assert.deepEqual(await listener.compact(), { ok: true, assets: [] });
    assert.equal(
      document.text(),
      '# %% user\nhi\n\n# %% assistant\nho\n\n# %% system summary\nWe said hi.\n\n# %% user\n',
    );
    assert.match(showMessages(model.asked[0]?.request ?? { messages: [] }), /hi[\s\S]*ho[\s\S]*Summarize/);
    document.type((chat) => `${chat}And now?\n`);
    await listener.run();
    const sent = showMessages(model.asked[1]?.request ?? { messages: [] });
    assert.match(sent, /We said hi\.[\s\S]*And now\?/);
    assert.doesNotMatch(sent, /ho$/m);
  });

  it('stays above a pending question, also one that is typed in the meantime', async () => {
    const asked = `${CHAT}What then?\n`;
    for (const before of [asked, CHAT]) {
      const { document, listener, model } = scene(before, [
        async function* ({ document: live }) {
          if (live.text() === CHAT) live.type((chat) => `${chat}What then?\n`);
          yield text('S');
          yield finish();
        },
      ]);
      await listener.compact();
      assert.equal(
        document.text(),
        '# %% user\nhi\n\n# %% assistant\nho\n\n# %% system summary\nS\n\n# %% user\nWhat then?\n',
      );
      assert.doesNotMatch(showMessages(model.asked[0]?.request ?? { messages: [] }), /What then/);
    }
  });

  it('is retried when the provider is busy', async () => {
    const { document, listener, model } = scene(CHAT, [breaksOff([]), says('S')]);
    assert.equal((await listener.compact()).ok, true);
    assert.equal(model.asked.length, 2);
    assert.match(document.text(), /# %% system summary\nS\n/);
  });

  const refusals = {
    'half of one is none': [CHAT, [() => [text('S'), finish('length')]], /token limit/],
    'an empty one is none': [CHAT, [says('')], /empty summary/],
    'a reply that was cut comes first': [
      '# %% user\nhi\n\n# %% assistant\nh\n<!-- filechat:interrupted stopped -->\n',
      [],
      /finish its reply first/,
    ],
    'calls that wait come first': [
      '# %% user\nhi\n\n# %% assistant\n```tool_call a.read c1\n{}\n```\n',
      [],
      /finish its reply first/,
    ],
    'an empty chat has none': ['# %% user\n', [], /nothing to summarize/],
  } as const;
  for (const [name, [chat, answers, reason]] of Object.entries(refusals)) {
    it(`${name}, and the chat is unchanged`, async () => {
      const { document, listener } = scene(chat, answers);
      assert.match((await listener.compact()).error ?? '', reason);
      assert.equal(document.text(), chat);
    });
  }
});
