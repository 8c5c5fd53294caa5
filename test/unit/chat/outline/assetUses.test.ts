import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseChat } from '../../../../src/chat/format/parse.ts';
import { findAssetUses, resolvePath, useAt } from '../../../../src/chat/outline/references.ts';

const CHART = 'tool-image-20261116-093012-V1StGXR8a0-1.png';
const CHAT = `# %% user
Look at [this](<cmdassets/my notes.txt>) and [that](other/x.txt), see https://example.org/cmdassets/no.png.

# %% assistant
\`\`\`tool_call charts.bar a1
{"from": "asset:old.csv"}
\`\`\`

# %% tool charts.bar a1
![Tool generated image 1](cmdassets/${CHART})

\`\`\`
![in code](cmdassets/code.png)
\`\`\`
`;
const uses = findAssetUses(CHAT, parseChat(CHAT));

describe('uses of an asset', () => {
  it('is a link or a reference, with its turn and its tool', () => {
    assert.deepEqual(
      uses.map(({ path, turn, tool }) => [path, turn, tool]),
      [
        ['cmdassets/my notes.txt', 1, undefined],
        ['other/x.txt', 1, undefined],
        ['cmdassets/old.csv', 2, undefined],
        [`cmdassets/${CHART}`, 3, 'charts.bar'],
      ],
    );
  });
  it('is said with its place in the chat', () => {
    const link = uses.at(-1);
    assert.ok(CHAT.slice(link?.offset).startsWith('![Tool generated image 1]'));
    assert.ok(CHAT.slice(uses[2]?.offset).startsWith('asset:old.csv'));
  });
  it('is found on the line of the cursor, before it or else behind it', () => {
    const at = (words: string) => useAt(CHAT, uses, CHAT.indexOf(words))?.path;
    assert.equal(at('Look at'), 'cmdassets/my notes.txt');
    assert.equal(at(', see'), 'other/x.txt');
    assert.equal(at('Tool generated'), `cmdassets/${CHART}`);
    assert.equal(at('# %% tool'), undefined);
  });
});

describe('a link leads to a path', () => {
  for (const [target, path] of [
    ['cmdassets/a.png', '/w/chats/cmdassets/a.png'],
    ['./cmdassets/../cmdassets/a.png', '/w/chats/cmdassets/a.png'],
    ['../other/cmdassets/a.png', '/w/other/cmdassets/a.png'],
    ['../../../../../../etc/passwd', '/etc/passwd'],
    ['/w/chats/cmdassets/a.png', '/w/chats/cmdassets/a.png'],
    ['C:\\w\\a.png', '/c:/w/a.png'],
  ] as const) {
    it(`${target} → ${path}`, () => assert.equal(resolvePath('/w/chats', target), path));
  }
});
