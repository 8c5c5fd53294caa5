import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseChat } from '../../../../src/chat/format/parse.ts';
import { planLenses } from '../../../../src/vscode/run/lensPlan.ts';

/** Each lens as `LINE KIND COUNT` or `LINE KIND SERVER URI`, lines counted from 1, in the order of the lines. */
function lenses(text: string, running = false): readonly string[] {
  return [...planLenses(text, parseChat(text), running)]
    .sort((a, b) => a.offset - b.offset)
    .map(({ offset, kind, count, resource }) => {
      const line = text.slice(0, offset).split('\n').length;
      const about = resource ? `${resource.server} ${resource.uri}` : count;
      return `${line} ${kind}${about === undefined ? '' : ` ${about}`}`;
    });
}

const Q = '# %% user\nHi\n';
const CALL = '```tool_call a.b c1\n{}\n```\n';
const CALLS = `${CALL}\n${CALL.replace('c1', 'c2')}`;
const DONE = `${Q}# %% assistant\n${CALL}# %% tool a.b c1\nok\n`;
const CUT = `${Q}\n# %% assistant\nWell\n<!-- filechat:interrupted stopped -->\n`;
const ANSWERED = '# %% user\nA\n# %% assistant\nB\n';

describe('the lenses of a chat', () => {
  const cases: Record<string, readonly [text: string, expected: string]> = {
    'an empty chat has none': ['# %% user\n', ''],
    'a question can be run': [Q, '1 run'],
    'text above the first marker is a question too': ['Hi\n', '1 run'],
    'one call': [`# %% user\n${CALL}`, '1 runTools 1, 1 editArguments'],
    'two calls of the assistant, and the question can be forked': [
      `${Q}\n# %% assistant\n${CALLS}`,
      '1 fork, 4 runTools 2, 4 editArguments, 4 regenerate',
    ],
    'a call with a result can be continued': [DONE, '1 fork, 3 run, 3 regenerate'],
    'after a reply there is nothing to run': [`${ANSWERED}# %% user\n`, '1 fork, 3 regenerate'],
    'the next question runs, the one before forks, a question without an answer does not': [
      `${ANSWERED}# %% user\nC\n# %% user\nD\n`,
      '1 fork, 3 regenerate, 7 run',
    ],
    'a reply that was cut can be resumed': [CUT, '1 fork, 4 resume, 4 regenerate'],
    'also above a new question, which can be run': [
      `${CUT}\n# %% user\nNo\n`,
      '1 fork, 4 resume, 4 regenerate, 8 run',
    ],
    'a reply that was being written when the editor was killed can be resumed': [
      `${Q}\n# %% assistant\nWell\n<!-- filechat:writing abc123 -->\n`,
      '1 fork, 4 resume, 4 regenerate',
    ],
    'an empty assistant turn can be run, but not regenerated': [`${Q}\n# %% assistant\n`, '1 fork, 4 run'],
    'a reply with calls is one reply': [`${DONE}# %% assistant\nDone\n# %% user\n`, '1 fork, 3 regenerate'],
    'a reply without a question cannot be regenerated': ['# %% assistant\nHello\n\n# %% user\n', ''],
    'a link to a resource in a result can be read': [
      `${DONE}\n> Resource \`x\` at \`docs://x\`\n`,
      '1 fork, 3 run, 3 regenerate, 10 readResource a docs://x',
    ],
    'a file that could not be saved can be retried': [
      '# %% tool a.b c1\n> ⚠ Could not save file 1 to cmdassets/: full. It is kept in /r/tool-file-20261117-101010-V1StGXR8a0-1.txt until Retry saves it.\n',
      '2 retry',
    ],
    'a chat that cannot be parsed cannot be run': ['# %% user\n```tool_call bad\n{}\n```\n', ''],
  };
  for (const [name, [text, expected]] of Object.entries(cases)) {
    it(name, () => assert.equal(lenses(text).join(', '), expected));
  }

  it('a running chat can be stopped; lenses above the question stay', () => {
    const found = lenses(`${ANSWERED}${Q}# %% assistant\nYo`, true);
    assert.deepEqual(found, ['1 fork', '3 regenerate', '5 fork', '7 stop']);
  });
});

it('only the latest turns of a long chat have lenses, because each has a cost', () => {
  const found = lenses(ANSWERED.repeat(60));
  const expected = [100, `${10 * 4 + 1} fork`, `${59 * 4 + 3} regenerate`];
  assert.deepEqual([found.length, found[0], found.at(-1)], expected);
});
