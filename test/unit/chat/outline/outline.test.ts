import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ChatReader, parseChat } from '../../../../src/chat/format/parse.ts';
import {
  type Fold,
  isFoldedInitially,
  type OutlineEntry,
  planFolds,
  planOutline,
  SeenFolds,
} from '../../../../src/chat/outline/outline.ts';
import { TurnShapes } from '../../../../src/chat/outline/turnShape.ts';
import { anyChat, anyEdits, editText } from '../anyChat.ts';
import { eachCase } from '../eachCase.ts';

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
  eachCase(cases, (text, expected) =>
    assert.equal(show(planOutline(text, parseChat(text), new TurnShapes())), expected),
  );

  it('is in order, nested and inside the text, for any chat', () => {
    fc.assert(
      fc.property(anyChat, (text) => {
        checkNested(planOutline(text, parseChat(text), new TurnShapes()), 0, text.length);
      }),
      { numRuns: 300 },
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
      { numRuns: 150 },
    );
  });
});

function show(entries: readonly OutlineEntry[], indent = ''): string {
  return entries
    .map((entry) => {
      const result = entry.assets === undefined ? '' : `[${entry.call}, ${entry.assets}] `;
      const call = entry.kind === 'call' ? `${entry.call} ` : '';
      const row = `${indent}${entry.kind}: ${call}${result}${entry.label}`;
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

describe('the folds of a chat', () => {
  const cases: Record<string, [text: string, expected: readonly string[]]> = {
    'are its front matter and its turns, without the blank line between them': [
      '---\nmodel: x\n---\n# %% user\na\n\n# %% assistant\nb\n',
      ['settings 0-2', 'turn 3-4', 'turn 6-7'],
    ],
    'are calls of the provider': [
      '# %% assistant\n<details><summary>Web search: x</summary>\n\n````provider_tool web_search\nx\n````\n\n</details>\n\n<details><summary>More</summary>\n\n````\nx\n````\n\n</details>\n',
      ['turn 0-15', 'ownCall 1-7', 'details 9-15'],
    ],
    'are calls and reasoning in a turn': [
      '# %% assistant\n<details><summary>Reasoning</summary>\n\n````reasoning\nx\n````\n\n</details>\n\n```tool_call a.b c1\n{}\n```\n',
      ['turn 0-11', 'reasoning 1-7', 'call 9-11'],
    ],
    'are a result as a whole': ['# %% tool a.b c1\n```\nx\n```\n', ['result 0-3']],
    'are details that the user wrote': [
      '# %% user\n<details>\n<details>\n</details>\n</details>\n',
      ['turn 0-4', 'details 1-4', 'details 2-3'],
    ],
    'do not include unclosed details': ['# %% assistant\n<details>\nx\n', ['turn 0-2']],
    'do not include details in code': ['# %% user\n```\n<details>\n</details>\n```\n', ['turn 0-4']],
    'do not include details in a result': ['# %% tool a.b\n<details>\n</details>\n', ['result 0-2']],
    'go to the end of a call that was cut': [
      '# %% assistant\n```tool_call a.b\n{\n<!-- filechat:interrupted stopped -->\n',
      ['turn 0-3', 'call 1-2'],
    ],
    'are the same with CRLF': [
      '---\r\nmodel: x\r\n---\r\n# %% user\r\na\r\n\r\n# %% user\r\nb',
      ['settings 0-2', 'turn 3-4', 'turn 6-7'],
    ],
  };
  eachCase(cases, (text, expected) => assert.deepEqual(showFolds(text), expected));

  it('are in order, nested and inside the text, for any chat', () => {
    fc.assert(
      fc.property(anyChat, (text) => {
        const open: Fold[] = [];
        let last = 0;
        for (const fold of planFolds(text, parseChat(text), new TurnShapes())) {
          assert.ok(last <= fold.start && fold.start <= fold.end && fold.end <= text.length);
          while (open.length > 0 && (open.at(-1)?.end ?? 0) <= fold.start) open.pop();
          assert.ok(fold.end <= (open.at(-1)?.end ?? text.length));
          open.push(fold);
          last = fold.start;
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe('initially folded', () => {
  it('is reasoning, calls of the provider, and calls and results that are long', () => {
    for (const kind of ['reasoning', 'ownCall'] as const) assert.equal(isFoldedInitially(kind, 3), true);
    for (const kind of ['call', 'result'] as const) {
      assert.equal(isFoldedInitially(kind, 15), false);
      assert.equal(isFoldedInitially(kind, 16), true);
    }
    for (const kind of ['settings', 'turn', 'details'] as const) {
      assert.equal(isFoldedInitially(kind, 1000), false);
    }
  });

  const fold = (start: number): Fold => ({ kind: 'result', start, end: start + 10 });
  const change = (rangeOffset: number, rangeLength: number, text: string) => ({
    rangeOffset,
    rangeLength,
    text,
  });

  const nobody = () => false;

  it('is new for a moment, and never again', () => {
    const seen = new SeenFolds();
    assert.deepEqual(seen.takeNew([fold(5)], 0, nobody), [fold(5)]);
    assert.deepEqual(seen.takeNew([fold(5), fold(30)], 1000, nobody), [fold(5), fold(30)]);
    assert.deepEqual(seen.takeNew([fold(5), fold(30)], 2000, nobody), [fold(30)]);
    assert.deepEqual(seen.takeNew([fold(5), fold(30)], 3000, nobody), []);
  });

  it('does not include a fold that was seen closed, because whoever opened it wants it open', () => {
    const seen = new SeenFolds();
    seen.takeNew([fold(5), fold(30)], 0, nobody);
    seen.settle(100, (start) => start === 5);
    assert.deepEqual(seen.takeNew([fold(5), fold(30)], 200, nobody), [fold(30)]);
  });

  it('does not include the fold at the cursor, even after the cursor has left it', () => {
    const seen = new SeenFolds();
    assert.deepEqual(
      seen.takeNew([fold(5), fold(30)], 0, ({ start }) => start === 5),
      [fold(30)],
    );
    assert.deepEqual(seen.takeNew([fold(5), fold(30)], 1, nobody), [fold(30)]);
  });

  const moves: Record<string, [changes: ReturnType<typeof change>[], start: number]> = {
    'is recognized after text was inserted above it': [[change(3, 0, 'abc')], 13],
    'is recognized after text above it was removed': [[change(3, 4, '')], 6],
    'is recognized after lines were inserted right before it': [[change(10, 0, 'a\n')], 12],
    'is recognized after its own text has changed': [[change(12, 2, 'abc'), change(10, 1, '')], 10],
    'is recognized after text below it has changed': [[change(25, 0, 'abc')], 10],
    'is recognized after changes in several places': [
      [change(40, 1, ''), change(5, 0, 'a'), change(0, 2, '')],
      9,
    ],
  };
  eachCase(moves, (changes, start) => {
    const seen = new SeenFolds();
    seen.takeNew([fold(10)], 0, nobody);
    seen.applyChanges(changes);
    assert.deepEqual(seen.takeNew([fold(start)], 5000, nobody), []);
  });

  it('is new when it was replaced', () => {
    const seen = new SeenFolds();
    seen.takeNew([fold(10)], 0, nobody);
    seen.applyChanges([change(5, 20, 'x'.repeat(20))]);
    assert.deepEqual(seen.takeNew([fold(10)], 5000, nobody), [fold(10)]);
  });
});

function showFolds(text: string): readonly string[] {
  const lineAt = (offset: number) => text.slice(0, offset).split('\n').length - 1;
  return planFolds(text, parseChat(text), new TurnShapes()).map(
    ({ kind, start, end }) => `${kind} ${lineAt(start)}-${lineAt(end)}`,
  );
}
