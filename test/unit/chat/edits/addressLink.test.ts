import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addressAt, linkFetched } from '../../../../src/chat/edits/addressLink.ts';
import { localLinks } from '../../../../src/chat/format/links.ts';
import { parseChat } from '../../../../src/chat/format/parse.ts';
import { applyEdit } from '../../../kit/applyEdit.ts';

const PATH = 'cmdassets/tool-file-20261116-093012-V1StGXR8a0-1.html';
const linked = (text: string, address = 'https://example.test/a') => {
  const edit = linkFetched(text, address, PATH);
  assert.ok(edit);
  return applyEdit(text, edit);
};

describe('the link to an address that was fetched', () => {
  const cases: readonly (readonly [rule: string, before: string, after: string])[] = [
    [
      'leads to the file, and its title names the address',
      '# %% user\nSee [the *page*](https://example.test/a).\n',
      `# %% user\nSee [the *page*](${PATH} "https://example.test/a").\n`,
    ],
    [
      'is found by its address, however that is written',
      '# %% user\n[x](<HTTPS://EXAMPLE.test:443/a> "t") and [y][1]\n\n[1]: https://example.test/a\n',
      `# %% user\n[x](${PATH} "https://example.test/a") and [y](${PATH} "https://example.test/a")\n\n[1]: https://example.test/a\n`,
    ],
    [
      'is that of the last turn of the user, and never an image, code or a link of the model',
      '# %% user\n[x](https://example.test/a)\n\n# %% assistant\n[x](https://example.test/a)\n\n# %% user\n`[x](https://example.test/a)` ![x](https://example.test/a) [x](https://example.test/a)\n\n# %% assistant\n[x](https://example.test/a)\n',
      `# %% user\n[x](https://example.test/a)\n\n# %% assistant\n[x](https://example.test/a)\n\n# %% user\n\`[x](https://example.test/a)\` ![x](https://example.test/a) [x](${PATH} "https://example.test/a")\n\n# %% assistant\n[x](https://example.test/a)\n`,
    ],
    [
      'is added if there is none',
      '# %% user\nHello.\n',
      `# %% user\nHello.\n\n[https://example.test/a](${PATH} "https://example.test/a")\n`,
    ],
  ];
  for (const [rule, before, after] of cases) it(rule, () => assert.equal(linked(before), after));

  it('stays one link for any address', () => {
    for (const query of ['"', '\\', ')', "'", '&quot;', '<!--', ' x']) {
      const { href } = new URL(`https://example.test/a?${query}#${query}`);
      const [link, ...more] = localLinks(linked('# %% user\n', href).replace('# %% user\n', ''));
      assert.deepEqual([link?.target, more], [PATH, []], href);
    }
  });
});

describe('the link at the cursor', () => {
  const text =
    '# %% user\na [x](https://example.test/a) b [y](b.txt)\n\n# %% assistant\n[z](https://example.test/z)\n';
  const at = (word: string) => addressAt(text, parseChat(text), text.indexOf(word))?.address;

  it('is one to an address, in a turn of the user', () => {
    assert.equal(at('[x]'), 'https://example.test/a');
    assert.equal(at('test/a'), 'https://example.test/a');
    for (const word of ['a [x]', 'b [y]', '[y]', '[z]']) assert.equal(at(word), undefined, word);
  });
});
