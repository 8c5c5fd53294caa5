import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseChat } from '../../src/chat/parse.ts';
import { planLenses } from '../../src/vscode/lensPlan.ts';

/** Each lens as `LINE TITLE → COMMAND`, lines counted from 1. */
function lenses(text: string, running = false): readonly string[] {
  return planLenses(text, parseChat(text), running).map(
    ({ offset, title, command }) => `${text.slice(0, offset).split('\n').length} ${title} → ${command}`,
  );
}

const CALL = '```tool_call a.b c1\n{}\n```\n';
const CALLS = `${CALL}\n${CALL.replace('c1', 'c2')}`;

describe('what can be clicked above the turns of a chat', () => {
  const cases: readonly [name: string, text: string, expected: readonly string[]][] = [
    ['an empty chat offers nothing', '# %% user\n', []],
    ['a question can be run', '# %% user\nHi\n', ['1 $(play) Run → filechat.run']],
    ['text above the first marker is a question too', 'Hi\n', ['1 $(play) Run → filechat.run']],
    ['one call', `# %% user\n${CALL}`, ['1 $(play) Run 1 tool call → filechat.run']],
    [
      'two calls of the assistant, and the question can be forked',
      `# %% user\nHi\n\n# %% assistant\n${CALLS}`,
      ['1 $(repo-forked) Fork → filechat.fork', '4 $(play) Run 2 tool calls → filechat.run'],
    ],
    [
      'a call that is answered asks to go on',
      `# %% user\nHi\n# %% assistant\n${CALL}# %% tool a.b c1\nok\n`,
      ['1 $(repo-forked) Fork → filechat.fork', '3 $(play) Run → filechat.run'],
    ],
    [
      'after an answer it is the user’s turn',
      '# %% user\nHi\n# %% assistant\nYo\n# %% user\n',
      ['1 $(repo-forked) Fork → filechat.fork'],
    ],
    [
      'the next question runs, the one before forks, a question without an answer does not',
      '# %% user\nA\n# %% assistant\nB\n# %% user\nC\n# %% user\nD\n',
      ['1 $(repo-forked) Fork → filechat.fork', '7 $(play) Run → filechat.run'],
    ],
    [
      'a reply that was cut can be resumed',
      '# %% user\nHi\n\n# %% assistant\nWell\n<!-- filechat:interrupted stopped -->\n',
      ['1 $(repo-forked) Fork → filechat.fork', '4 $(debug-continue) Resume → filechat.resume'],
    ],
    [
      'so can one whose editor was killed while it wrote',
      '# %% user\nHi\n\n# %% assistant\nWell\n<!-- filechat:writing abc123 -->\n',
      ['1 $(repo-forked) Fork → filechat.fork', '4 $(debug-continue) Resume → filechat.resume'],
    ],
    ['a chat that cannot be read offers no run', '# %% user\n```tool_call bad\n{}\n```\n', []],
  ];
  for (const [name, text, expected] of cases) it(name, () => assert.deepEqual(lenses(text), expected));

  it('a chat that runs can only be stopped or forked', () => {
    assert.deepEqual(lenses('# %% user\nHi\n# %% assistant\nYo', true), [
      '1 $(repo-forked) Fork → filechat.fork',
      '3 $(debug-stop) Stop → filechat.stop',
    ]);
  });
});
