import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseChat } from '../../../../src/chat/format/parse.ts';
import { findAssetUses, referenceAt, resolvePath, useAt } from '../../../../src/chat/outline/references.ts';

/** `|` marks the pointer. Returns the reference there, with the text that it covers. */
function pointed(marked: string): string | undefined {
  const offset = marked.indexOf('|');
  const text = marked.replace('|', '');
  const found = referenceAt(text, parseChat(text), offset);
  if (!found) return undefined;
  const covered = text.slice(found.start, found.end);
  const what =
    found.kind === 'tool'
      ? `${found.tool.server} ${found.tool.tool}`
      : found.kind === 'file'
        ? found.target
        : found.pattern;
  return `${found.kind} ${what} <${covered}>`;
}

describe('the reference at an offset', () => {
  const cases: readonly [name: string, text: string, expected: string | undefined][] = [
    ['the tool of a call', '# %% user\n```tool_call a.b|ar c1\n{}\n```\n', 'tool a bar <a.bar>'],
    ['the id of a call is not a tool', '# %% user\n```tool_call a.bar c|1\n{}\n```\n', undefined],
    ['the tool of a result', '# %% user\nx\n# %% tool |a.bar c1\nok\n', 'tool a bar <a.bar>'],
    ['a name in the text of a result is text', '# %% user\nx\n# %% tool a.bar c1\na.b|ar\n', undefined],
    ['a name is decoded', '# %% user\n```tool_call a.b%20|r\n{}\n```\n', 'tool a b r <a.b%20r>'],
    ['in the front matter', '---\ntools: [a.|b, "c.*"]\n---\n# %% user\n', 'tool a b <a.b>'],
    ['a pattern', '---\ntools: [a.b, "c.|*"]\n---\n# %% user\n', 'toolPattern c.* <c.*>'],
    ['in a list below its key', '---\ntools:\n  - a.|b\nmodel: x.y\n---\n', 'tool a b <a.b>'],
    ['other settings name no tools', '---\ntools: [a.b]\nmodel: x.|y\n---\n', undefined],
    ['a comment names no tools', '---\ntools: [a.b] # like c.|d\n---\n', undefined],
    ['nor does one in a file with CRLF', '---\r\ntools: [a.b] # like c.|d\r\n---\r\n', undefined],
    ['the key itself is not a reference', '---\nto|ols: [a.b]\n---\n', undefined],
    [
      'an image',
      '# %% tool a.b c1\nSee\n\n![P](cmdassets/x%20|y.png)\n',
      'file cmdassets/x y.png <![P](cmdassets/x%20y.png)>',
    ],
    ['the label of a link', '# %% user\na [b|c](d.md) e\n', 'file d.md <[bc](d.md)>'],
    ['beside a link is nothing', '# %% user\na [bc](d.md) |e\n', undefined],
    ['the second link to a file', '# %% user\n[a](d.md) [b|](d.md)\n', 'file d.md <[b](d.md)>'],
    ['an image in a link', '# %% user\n[![p|](a.png)](b.md)\n', 'file a.png <![p](a.png)>'],
    ['a remote address is not a file', '# %% user\n[b|c](https://example.com/d.md)\n', undefined],
    ['code contains no links', '# %% user\n`[b|c](d.md)`\n', undefined],
    ['an empty chat', '|', undefined],
  ];
  for (const [name, text, expected] of cases) it(name, () => assert.equal(pointed(text), expected));
});

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
  it('includes its offset in the chat', () => {
    const link = uses.at(-1);
    assert.ok(CHAT.slice(link?.offset).startsWith('![Tool generated image 1]'));
    assert.ok(CHAT.slice(uses[2]?.offset).startsWith('asset:old.csv'));
  });
  it('is found on the line of the cursor, before or else after it', () => {
    const at = (words: string) => useAt(CHAT, uses, CHAT.indexOf(words))?.path;
    assert.equal(at('Look at'), 'cmdassets/my notes.txt');
    assert.equal(at(', see'), 'other/x.txt');
    assert.equal(at('Tool generated'), `cmdassets/${CHART}`);
    assert.equal(at('# %% tool'), undefined);
  });
});

describe('a link resolves to a path', () => {
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
