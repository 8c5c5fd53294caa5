import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseChat } from '../../../src/chat/format/parse.ts';
import { editedText } from '../../../src/chat/format/textEdit.ts';
import { leaveOutResult } from '../../../src/result/markdown.ts';

const CHART = '![Tool generated image 1](cmdassets/tool-image-20250101-120000-abcdefgh-1.png)';

function chatWith(body: string) {
  const text = `# %% user\nDraw.\n\n# %% tool charts.bar c1\n\n${body}\n\n# %% user\n`;
  const turn = parseChat(text).turns[1];
  assert.ok(turn);
  return { text, turn };
}

function leftOut(body: string, path?: string): string | undefined {
  const { text, turn } = chatWith(body);
  const edit = leaveOutResult(text, turn, path);
  return edit && editedText(text, edit);
}

describe('a result that is left out', () => {
  it('is kept unchanged, after a note', () => {
    const body = '```\nmany words\n```';
    assert.equal(leftOut(body), chatWith(`<!-- for the user only -->\n\n${body}`).text);
  });

  it('indented text keeps its place before an image that is left out', () => {
    const body = `    indented\n\n${CHART}`;
    assert.equal(
      leftOut(body, 'cmdassets/tool-image-20250101-120000-abcdefgh-1.png'),
      chatWith(`    indented\n\n<!-- for the user only -->\n\n${CHART}`).text,
    );
  });

  for (const body of [
    'By hand **and** <!-- noted -->',
    '```python\nprint(1)\n```',
    '> From `a.txt`\n\nwithout a block',
    '> A quote of mine',
    '![my chart](cmdassets/tool-image-20250101-120000-abcdefgh-1.png)',
    `${CHART} and a note`,
  ]) {
    it(`manual edits stay unchanged: ${JSON.stringify(body)}`, () => {
      assert.equal(leftOut(body), undefined);
    });
  }
});
