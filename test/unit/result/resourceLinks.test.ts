import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseChat } from '../../../src/chat/format/parse.ts';
import type { ResultPart } from '../../../src/ports/results.ts';
import { renderToolResult } from '../../../src/result/markdown.ts';
import { findResourceLinks } from '../../../src/result/resourceLinks.ts';

const LINK = '> Resource `a` at `docs://a`';

function find(text: string) {
  return findResourceLinks(text, parseChat(text));
}

describe('the links to resources in a chat', () => {
  for (const uri of [
    'docs://a',
    'x:`',
    '`x`y``',
    'x:a b',
    'x:](command:y)',
    'x:ä\u202eb',
    ' x ',
    'https://e.x/?a=`b`',
  ]) {
    it(`keep ${JSON.stringify(uri)}, whatever is beside it`, () => {
      const link = { kind: 'link', name: 'n`a`me at `x`', uri } as const;
      const parts: ResultPart[] = [
        link,
        { ...link, mimeType: 'a/b`c', size: 7, description: 'At `y`' },
        { ...link, audience: 'user' },
      ];
      const text = `# %% tool docs.find c1\n${renderToolResult({ isError: false, parts })}\n`;
      const links = find(text.replaceAll('\n', '\r\n'));
      assert.deepEqual(
        links.map(({ server, uri: found }) => [server, found]),
        parts.map(() => ['docs', uri]),
      );
    });
  }

  it('have the place of the URI and of the line', () => {
    const text = `# %% user\nHi\n\n# %% tool docs.find c1\n${LINK}\n`;
    const [link] = find(text);
    assert.equal(text.slice(link?.start, link?.end), 'docs://a');
    assert.equal(text.slice(link?.lineStart, link?.end), LINK.slice(0, -1));
  });

  const none: Readonly<Record<string, string>> = {
    'in the user’s turn': `# %% user\n${LINK}\n`,
    'in a reply': `# %% assistant\n${LINK}\n`,
    'in code': `# %% tool docs.find c1\n\`\`\`\n${LINK}\n\`\`\`\n`,
    'in a comment': `# %% tool docs.find c1\n<!--\n${LINK}\n-->\n`,
    'in a result without a tool': `# %% tool\n${LINK}\n`,
    'in text': `# %% tool docs.find c1\n${LINK} and more\n`,
    'in a line without end': `# %% tool docs.find c1\n${LINK}${'`a`'.repeat(200_000)}\n`,
  };
  for (const [name, text] of Object.entries(none)) {
    it(`are none ${name}`, () => assert.deepEqual(find(text), []));
  }
});
