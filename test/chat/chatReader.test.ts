import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ChatReader } from '../../src/chat/chatReader.ts';
import { parseChat } from '../../src/chat/parse.ts';

const piece = fc.constantFrom(
  '# %% user\n',
  '# %% user',
  '# %% assistant\r\n',
  '# %% tool a.b c1\n',
  '# %% tool_execute\n',
  '```tool_call a.b c1\n{}\n```\n',
  '```tool_call\n',
  '<tool_call>\n<tool_name>a.b</tool_name>\n',
  '<tool_call>\n<tool_name>x</tool_name>\n</tool_call>\n',
  '</tool_call>\n',
  '```tool_call x\n',
  '<tool_result>\nx\n</tool_result>\n',
  '```\n',
  '~~~\n',
  '---\n',
  '<!--\n',
  '-->\n',
  'a <!-- b\n',
  '<!-- filechat:writing r1 -->\n',
  '<!-- filechat:interrupted stopped -->\n',
  'maxTokens=5\n',
  '- item\n',
  '  ```js\n',
  'text\n',
  '\n',
  'x',
);
const text = fc.array(piece, { maxLength: 14 }).map((pieces) => pieces.join(''));
const edit = fc.record({ at: fc.nat(), removed: fc.nat(12), inserted: text });

describe('reading a chat while it is edited', () => {
  it('gives what parsing the whole text gives, after any edits', () => {
    fc.assert(
      fc.property(text, fc.array(edit, { minLength: 1, maxLength: 5 }), (start, edits) => {
        const reader = new ChatReader();
        let now = start;
        assert.deepEqual(reader.read(now), parseChat(now));
        for (const { at, removed, inserted } of edits) {
          const from = at % (now.length + 1);
          now = now.slice(0, from) + inserted + now.slice(from + removed);
          assert.deepEqual(reader.read(now), parseChat(now), JSON.stringify(now));
        }
      }),
      { numRuns: 1500 },
    );
  });

  it('keeps the turns before the edit as they are', () => {
    const reader = new ChatReader();
    const before = reader.read('# %% user\na\n# %% assistant\nb\n# %% user\nc\n');
    const after = reader.read('# %% user\na\n# %% assistant\nb\n# %% user\ncd\n');
    assert.equal(after.turns[0], before.turns[0]);
    assert.equal(after.turns[1], before.turns[1]);
    assert.notEqual(after.turns[2], before.turns[2]);
  });

  it('front matter may be closed by an edit far below', () => {
    const reader = new ChatReader();
    reader.read('---\n# %% user\na\n# %% user\nb\n');
    const text = '---\n# %% user\na\n# %% user\nb\n---\n# %% user\n';
    assert.deepEqual(reader.read(text), parseChat(text));
  });

  it('gives the same chat for the same text', () => {
    const reader = new ChatReader();
    assert.equal(reader.read('# %% user\na\n'), reader.read('# %% user\na\n'));
  });
});
