import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ChatReader, parseChat } from '../../../../src/chat/format/parse.ts';
import { anyChat, anyEdits, editText } from '../anyChat.ts';

describe('reading a chat while it is edited', () => {
  it('equals a full parse after any edits', () => {
    fc.assert(
      fc.property(anyChat, anyEdits, (start, edits) => {
        const reader = new ChatReader();
        let now = start;
        assert.deepEqual(reader.read(now), parseChat(now));
        for (const edit of edits) {
          now = editText(now, edit);
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
