import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { chatTitle, summarizeChat } from '../../../../src/chat/outline/title.ts';

describe('the summary of a chat', () => {
  const cases: Record<string, [text: string, expected: string | undefined]> = {
    'its own title': ['---\ntitle: Sales\n---\n# %% user\nPlot it\n', 'Sales'],
    'its first words': ['# %% user\nPlot **it**\n', 'Plot it'],
    'a title in one line, and no longer than a line': [
      `---\ntitle: "a\\n\\u202e b${'c'.repeat(200)}"\n---\n`,
      `a b${'c'.repeat(97)}`,
    ],
    'nothing of an empty chat': ['# %% user\n', undefined],
  };
  for (const [name, [text, expected]] of Object.entries(cases)) {
    it(name, () => assert.equal(chatTitle(text), expected));
  }

  it('its model, its turns and how many files it links to', () => {
    const image = '![Tool generated image 1](cmdassets/a.png)';
    const text = `---\nmodel: tour\n---\n# %% user\nGo\n# %% tool a.b c1\n${image}\n\n${image}\n[x](cmdassets/b.pdf)\n`;
    assert.deepEqual(summarizeChat(text), { model: 'tour', turns: 2, assets: 2 });
    assert.deepEqual(summarizeChat(''), { turns: 0, assets: 0 });
  });
});
