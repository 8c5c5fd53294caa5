import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isPreamble, readPreamble } from '../../../../src/chat/format/legacy.ts';
import { parseChat } from '../../../../src/chat/format/parse.ts';

describe('a preamble of chat.md', () => {
  const cases: Record<string, [text: string, expected: boolean]> = {
    'a setting': ['selectedConfig="a/b"\n', true],
    'with comments, blank lines and other keys': ['# note\n\ntype = x\n  maxTokens = 5 # c\n', true],
    'with CRLF': ['reasoningEffort=low\r\n', true],
    'a sentence is none': ['selectedConfig="a"\nPlease help.\n', false],
    'other keys alone are user text': ['x = 5\ny = 6\n', false],
    'a key without a value is none': ['selectedConfig=\n', false],
    'nothing is none': ['\n\n', false],
  };
  for (const [name, [text, expected]] of Object.entries(cases)) {
    it(name, () => {
      assert.equal(isPreamble(text), expected);
      const roles = parseChat(`${text}# %% assistant\n`).turns.map((turn) => turn.role);
      assert.equal(roles.includes('user'), !expected && text.trim() !== '');
    });
  }

  it('is read entry by entry', () => {
    const text = '# c\nselectedConfig = "a # b"\r\n  maxTokens=5 # c\nreasoningEffort=\'low\'\n';
    assert.deepEqual(readPreamble(text), [
      { key: 'selectedConfig', value: 'a # b', offset: 4 },
      { key: 'maxTokens', value: '5', offset: text.indexOf('maxTokens') },
      { key: 'reasoningEffort', value: 'low', offset: text.indexOf('reasoning') },
    ]);
  });
});
