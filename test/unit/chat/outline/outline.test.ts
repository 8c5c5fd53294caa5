import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ChatReader, parseChat } from '../../../../src/chat/format/parse.ts';
import { type OutlineEntry, planOutline } from '../../../../src/chat/outline/outline.ts';
import { TurnShapes } from '../../../../src/chat/outline/turnShape.ts';
import { anyChat, anyEdits, editText } from '../anyChat.ts';

describe('the outline of a chat', () => {
  const cases: Record<string, [text: string, expected: string]> = {
    'shows the role and the first words': [
      '# %% user\nPlot the **sales** in [sales.csv](a.csv)\nplease\n\n# %% assistant\nHere.\n',
      'user: Plot the sales in sales.csv\nassistant: Here.',
    ],
    'includes an empty turn': ['# %% user\n\n', 'user: '],
    'has text above the first marker as the user’s': [
      'Hello\n\n# %% assistant\nYes',
      'user: Hello\nassistant: Yes',
    ],
    'skips reasoning, comments and rules': [
      `# %% assistant\n<!-- a\nb -->\n<details><summary>Reasoning</summary>\n\n\`\`\`\`reasoning\n# No\n\`\`\`\`\n\n</details>\n\n---\nYes <!-- c -->indeed\n`,
      'assistant: Yes indeed',
    ],
    'names a reply without text by its calls, with the calls as children': [
      '# %% assistant\n```tool_call a.b c1\n{"x": 1}\n```\n\n```tool_call a.c\n```\n',
      'assistant: a.b, a.c\n  call: a.b c1 {"x": 1}\n  call: a.c',
    ],
    'nests the headings of a reply': [
      '# %% assistant\n# One\n## Two\ntext\n```tool_call a.b c1\n{}\n```\n### Three ###\n## Four\n# Five\n```md\n# Six\n```\n',
      'assistant: One\n  heading: One\n    heading: Two\n      call: a.b c1\n      heading: Three\n    heading: Four\n  heading: Five',
    ],
    'counts the files of a result': [
      '# %% tool a.b c1\nHere:\n\n![Tool generated image 1](cmdassets/a.png)\n\n[Tool generated file 1: x](cmdassets/a.pdf)\n\n```\n![Tool generated image 2](cmdassets/b.png)\n```\n',
      'tool: [a.b c1, 2] Here:',
    ],
    'has the first words of a result of text': [
      '# %% tool a.b c1\n```\n{\n  "city": "Lisbon"\n```\n',
      'tool: [a.b c1, 0] "city": "Lisbon"',
    ],
    'has settings and summaries': [
      '---\nmodel: x\n---\n# %% system summary\nWe spoke.\n',
      'settings: \nsummary: We spoke.',
    ],
  };
  for (const [name, [text, expected]] of Object.entries(cases)) {
    it(name, () => assert.equal(show(planOutline(text, parseChat(text), new TurnShapes())), expected));
  }

  it('is in order, nested and inside the text, whatever that is', () => {
    fc.assert(
      fc.property(anyChat, (text) => {
        checkNested(planOutline(text, parseChat(text), new TurnShapes()), 0, text.length);
      }),
      { numRuns: 1500 },
    );
  });

  it('is the same after incremental parsing', () => {
    fc.assert(
      fc.property(anyChat, anyEdits, (start, edits) => {
        const reader = new ChatReader();
        const shapes = new TurnShapes();
        let text = start;
        planOutline(text, reader.read(text), shapes);
        for (const edit of edits) {
          text = editText(text, edit);
          const fresh = planOutline(text, parseChat(text), new TurnShapes());
          assert.deepEqual(planOutline(text, reader.read(text), shapes), fresh);
        }
      }),
      { numRuns: 500 },
    );
  });
});

function show(entries: readonly OutlineEntry[], indent = ''): string {
  return entries
    .map((entry) => {
      const result = entry.assets === undefined ? '' : `[${entry.call}, ${entry.assets}] `;
      const call = entry.kind === 'call' ? `${entry.call} ` : '';
      const row = `${indent}${entry.kind}: ${call}${result}${entry.words}`;
      const line = entry.kind === 'call' ? row.trimEnd() : row;
      return entry.children.length === 0 ? line : `${line}\n${show(entry.children, `${indent}  `)}`;
    })
    .join('\n');
}

function checkNested(entries: readonly OutlineEntry[], from: number, to: number): void {
  let at = from;
  for (const { start, end, nameEnd, children } of entries) {
    assert.ok(at <= start && start <= nameEnd && nameEnd <= end && end <= to);
    checkNested(children, start, end);
    at = end;
  }
}
