import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cutAfter, forkAt, hasLaterTurns } from '../../../../src/chat/edits/fork.ts';
import { parseChat, turnAt } from '../../../../src/chat/format/parse.ts';
import { applyEdit } from '../../../kit/applyEdit.ts';

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
  for (const [name, [at, expected]] of Object.entries(cases)) {
    it(name, () => assert.equal(forkAt(CHAT, CHAT.indexOf(at)), expected));
  }

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
  for (const [name, [text, at]] of Object.entries(cases)) {
    it(name, () => {
      assert.equal(hasLaterTurns(text, text.indexOf(at)), false);
      assert.equal(cutAfter(text, text.indexOf(at)), undefined);
    });
  }
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
