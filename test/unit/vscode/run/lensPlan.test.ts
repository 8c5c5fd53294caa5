import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseChat } from '../../../../src/chat/format/parse.ts';
import { placeToWrite, planLenses } from '../../../../src/vscode/run/lensPlan.ts';

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
    'an empty file has none': ['', ''],
    'a new chat': ['# %% user\n', '1 run, 1 model'],
    'a question can be run': [Q, '1 run, 1 model'],
    'text above the first marker is a question too': ['Hi\n', '1 run, 1 model'],
    'one call': [`# %% user\n${CALL}`, '1 runTools 1, 1 editArguments, 1 model'],
    'two calls of the assistant, and the question can be forked': [
      `${Q}\n# %% assistant\n${CALLS}`,
      '1 fork, 4 runTools 2, 4 editArguments, 4 regenerate, 4 fork, 4 model',
    ],
    'a call with a result can be continued': [DONE, '1 fork, 3 run, 3 regenerate, 3 fork, 3 model'],
    'after a reply, the row is above the empty turn': [
      `${ANSWERED}# %% user\n`,
      '1 fork, 5 run, 5 regenerate, 5 fork, 5 model',
    ],
    'the next question runs, the one before forks, a question without an answer does not': [
      `${ANSWERED}# %% user\nC\n# %% user\nD\n`,
      '1 fork, 7 run, 7 regenerate, 7 fork, 7 model',
    ],
    'a reply that was cut can be resumed': [CUT, '1 fork, 4 resume, 4 regenerate, 4 fork, 4 model'],
    'also above a new question, which can be run': [
      `${CUT}\n# %% user\nNo\n`,
      '1 fork, 4 resume, 8 run, 8 regenerate, 8 fork, 8 model',
    ],
    'a reply that was being written when the editor was killed can be resumed': [
      `${Q}\n# %% assistant\nWell\n<!-- filechat:writing abc123 -->\n`,
      '1 fork, 4 resume, 4 regenerate, 4 fork, 4 model',
    ],
    'an empty assistant turn can be run, but not regenerated': [
      `${Q}\n# %% assistant\n`,
      '1 fork, 4 run, 4 model',
    ],
    'a reply with calls is one reply': [
      `${DONE}# %% assistant\nDone\n# %% user\n`,
      '1 fork, 11 run, 11 regenerate, 11 fork, 11 model',
    ],
    'a reply without a question cannot be regenerated': [
      '# %% assistant\nHello\n\n# %% user\n',
      '4 run, 4 model',
    ],
    'a link to a resource in a result can be read': [
      `${DONE}\n> Resource \`x\` at \`docs://x\`\n`,
      '1 fork, 3 run, 3 regenerate, 3 fork, 3 model, 10 readResource a docs://x',
    ],
    'a file that could not be saved can be retried': [
      '# %% tool a.b c1\n> ⚠ Could not save file 1 to cmdassets/: full. It is kept in /r/tool-file-20261117-101010-V1StGXR8a0-1.txt until Retry saves it.\n',
      '1 run, 1 model, 2 retry',
    ],
    'a chat that cannot be parsed cannot be run': ['# %% user\n```tool_call bad\n{}\n```\n', '1 model'],
  };
  for (const [name, [text, expected]] of Object.entries(cases)) {
    it(name, () => assert.equal(lenses(text).join(', '), expected));
  }

  it('a running chat can be stopped in one place; lenses above the question stay', () => {
    const found = lenses(`${ANSWERED}${Q}# %% assistant\nYo`, true);
    assert.deepEqual(found, ['1 fork', '3 regenerate', '7 stop']);
  });
});

it('only the latest turns of a long chat have lenses, because each has a cost', () => {
  const found = lenses(ANSWERED.repeat(60));
  const expected = [104, `${9 * 4 + 3} regenerate`, `${59 * 4 + 3} model`];
  assert.deepEqual([found.length, found[0], found.at(-1)], expected);
});

describe('the place where the user writes next', () => {
  const cases: Record<string, readonly [text: string, offset: number | undefined]> = {
    'an empty file': ['', 0],
    'a new chat': ['# %% user\n', 10],
    'after a reply': [`${ANSWERED}# %% user\n`, ANSWERED.length + 10],
    'above blank lines': ['# %% user\n\n\n', 10],
    'not beside a marker': ['# %% user', undefined],
    'not in a turn with text': [Q, undefined],
    'not in a reply': [`${Q}# %% assistant\n`, undefined],
  };
  for (const [name, [text, offset]] of Object.entries(cases)) {
    it(name, () => assert.equal(placeToWrite(text, parseChat(text)), offset));
  }
});
