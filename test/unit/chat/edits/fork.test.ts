import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  cutAfter,
  forkAt,
  hasLaterTurns,
  planRegeneration,
  replyStarts,
} from '../../../../src/chat/edits/fork.ts';
import { parseChat, turnAt } from '../../../../src/chat/format/parse.ts';
import { editedText } from '../../../../src/chat/format/textEdit.ts';
import { applyEdit } from '../../../kit/applyEdit.ts';
import { eachCase } from '../eachCase.ts';

const CALL = '```tool_call a.b c1\n{}\n```\n';

const CHAT = `---\nmodel: x\n---\n# %% user\none\n\n# %% assistant\ntwo\n${CALL}\n# %% tool a.b c1\nthree\n\n# %% assistant\nfour\n\n# %% user\n`;
const upTo = (word: string) => CHAT.slice(0, CHAT.indexOf(word) + word.length);

describe('a fork', () => {
  const cases: Record<string, [at: string, expected: string]> = {
    'at a question ends with it': ['one', `${upTo('one')}\n`],
    'at a reply has the results of its calls': ['two', `${upTo('three')}\n\n# %% user\n`],
    'at a result ends with it': ['three', `${upTo('three')}\n\n# %% user\n`],
    'at the last reply is all': ['four', CHAT],
    'in the front matter has nothing else': ['model', '---\nmodel: x\n---\n\n# %% user\n'],
  };
  eachCase(cases, (at, expected) => assert.equal(forkAt(CHAT, CHAT.indexOf(at)), expected));

  it('at the end is all', () => assert.equal(forkAt(CHAT, CHAT.length), CHAT));
  it('of an empty file is a turn to write in', () => assert.equal(forkAt('', 0), '# %% user\n'));
  it('has the line ends of its chat', () => {
    const text = '# %% user\r\na\r\n# %% assistant\r\nb';
    assert.equal(forkAt(text, text.length), `${text}\r\n\r\n# %% user\r\n`);
  });
});

describe('running a question again', () => {
  it('removes everything after it', () => {
    const offset = CHAT.indexOf('one');
    assert.equal(hasLaterTurns(CHAT, offset), true);
    assert.equal(applyEdit(CHAT, cutAfter(CHAT, offset)), `${upTo('one')}\n`);
  });

  const cases: Record<string, [text: string, at: string]> = {
    'not a reply': [CHAT, 'four'],
    'not a result': [CHAT, 'three'],
    'not an empty question': ['# %% user\n\n# %% assistant\nx\n', 'user'],
    'not a question without a reply': ['# %% user\na\n# %% user\nb\n', 'a\n'],
  };
  eachCase(cases, (text, at) => {
    assert.equal(hasLaterTurns(text, text.indexOf(at)), false);
    assert.equal(cutAfter(text, text.indexOf(at)), undefined);
  });
});

it('the turn at an offset', () => {
  const chat = parseChat(CHAT);
  const cases: [offset: number, expected: number][] = [
    [0, -1],
    [CHAT.indexOf('# %% user'), 0],
    [CHAT.indexOf('two'), 1],
    [CHAT.length, 4],
  ];
  for (const [offset, expected] of cases) assert.equal(turnAt(chat, offset), chat.turns[expected]);
});

/** `|` marks the cursor. Returns the remaining text, with a leading `!` if later text would be removed. */
function regenerated(marked: string): string | undefined {
  const offset = marked.indexOf('|');
  const text = marked.replace('|', '');
  const plan = planRegeneration(text, offset);
  return plan && `${plan.hasLater ? '!' : ''}${editedText(text, plan.edit)}`;
}

describe('removing a reply so that it is requested again', () => {
  const cases: readonly [name: string, text: string, expected: string | undefined][] = [
    ['the last reply', '# %% user\nA\n\n# %% assistant\nB|\n', '# %% user\nA\n\n'],
    [
      'the empty turn below it stays, and means the reply above',
      '# %% user\nA\n\n# %% assistant\nB\n\n# %% user\n|',
      '# %% user\nA\n\n# %% user\n',
    ],
    ['in the question, the reply to it', '# %% user\n|A\n\n# %% assistant\nB\n', '# %% user\nA\n\n'],
    [
      'with its calls and their results, from any of its turns',
      `# %% user\nA\n\n# %% assistant\n${CALL}\n# %% tool a.b c1\n|ok\n\n# %% assistant\nB\n\n# %% user\n`,
      '# %% user\nA\n\n# %% user\n',
    ],
    [
      'removing later turns needs a confirmation',
      '# %% user\nA\n\n# %% assistant\nB|\n\n# %% user\nC\n\n# %% assistant\nD\n',
      '!# %% user\nA\n\n',
    ],
    [
      'a comment below is text of the user',
      '# %% user\nA\n\n# %% assistant\nB|\n\n# %% user\n<!-- later -->\n',
      '!# %% user\nA\n\n',
    ],
    [
      'with the cursor in a later question, only the later reply is removed',
      '# %% user\nA\n\n# %% assistant\nB\n\n# %% user\nC\n\n# %% assistant\nD|\n',
      '# %% user\nA\n\n# %% assistant\nB\n\n# %% user\nC\n\n',
    ],
    [
      'results of the user’s own call stay, and an empty turn requests the reply',
      `# %% user\n${CALL}\n# %% tool a.b c1\nok\n\n# %% assistant\nB|\n\n# %% user\n`,
      `# %% user\n${CALL}\n# %% tool a.b c1\nok\n\n# %% assistant\n\n# %% user\n`,
    ],
    ['a question without a reply has none', '# %% user\nA|\n', undefined],
    ['a reply without a question cannot be requested again', '# %% assistant\nB|\n', undefined],
    ['an empty file has none', '|', undefined],
    [
      'a question with an invalid call is not sent again, so its reply stays',
      '# %% user\n```tool_call bad\n{}\n```\n\n# %% assistant\nB|\n',
      undefined,
    ],
    [
      'with CRLF',
      '# %% user\r\nA\r\n\r\n# %% assistant\r\nB|\r\n\r\n# %% user\r\n',
      '# %% user\r\nA\r\n\r\n# %% user\r\n',
    ],
  ];
  for (const [name, text, expected] of cases) it(name, () => assert.equal(regenerated(text), expected));

  it('a reply with calls begins once', () => {
    const text = `# %% user\nA\n# %% assistant\n${CALL}# %% tool a.b c1\nok\n# %% assistant\nB\n# %% user\nC\n# %% assistant\nD\n`;
    const starts = replyStarts(parseChat(text)).map(({ start }) => text.slice(0, start).split('\n').length);
    assert.deepEqual(starts, [3, 13]);
  });
});
