import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { asksForReply, caretAfterRun } from '../../../../src/chat/edits/typing.ts';
import { eachCase } from '../eachCase.ts';

/** `‸` marks where the text was inserted. */
function typed(marked: string, inserted: string, removedLength = 0): boolean {
  const offset = marked.indexOf('‸');
  return asksForReply(marked.replace('‸', inserted), { offset, inserted, removedLength });
}

describe('typing asks for a reply', () => {
  const ASKED = '# %% user\nhi\n\n# %% assistant';
  const cases: Record<string, [marked: string, inserted: string, expected: boolean]> = {
    'when Enter completes an empty assistant line': [`${ASKED}‸`, '\n', true],
    'with CRLF': [`${ASKED.replaceAll('\n', '\r\n')}‸`, '\r\n', true],
    'with indentation that the editor adds': [`${ASKED}‸`, '\n  ', true],
    'with white space after it': [`${ASKED}‸\n \n`, '\n', true],
    'not when the line itself is pasted': [
      `${ASKED.replace('# %% assistant', '')}‸`,
      '# %% assistant\n',
      false,
    ],
    'not by several lines': [`${ASKED}‸`, '\n\n', false],
    'not by another key': [`${ASKED}‸`, ' ', false],
    'not when text follows': [`${ASKED}‸\nho\n`, '\n', false],
    'not when another turn follows': [`${ASKED}‸\n# %% user\n`, '\n', false],
    'not with text on the line': [`${ASKED} x‸`, '\n', false],
    'not one line too late': [`${ASKED}\n‸`, '\n', false],
    'not in the middle of the line': ['# %% user\nhi\n\n# %% ‸assistant', '\n', false],
    'not below another marker': ['# %% user\nhi\n# %% user‸', '\n', false],
    'not without a question': ['# %% user\n\n# %% assistant‸', '\n', false],
    'not in an empty file': ['# %% assistant‸', '\n', false],
    'not after a reply': ['# %% user\nhi\n# %% assistant\nho\n# %% assistant‸', '\n', false],
    'not in code': ['# %% user\n```\nhi\n# %% assistant‸', '\n', false],
  };
  eachCase(cases, (marked, inserted, expected) => assert.equal(typed(marked, inserted), expected));

  it('not when something was replaced', () => assert.equal(typed(`${ASKED}‸`, '\n', 3), false));
});

/** `|` marks the caret. */
function moved(before: string, after = before): string {
  const caret = before.indexOf('|');
  const text = after.replace('|', '');
  const at = caretAfterRun({ before: before.replace('|', ''), after: text, caret });
  return `${text.slice(0, at)}|${text.slice(at)}`;
}

const HI = '# %% user\nHi\n';
const HO = `${HI}\n# %% assistant\nHo\n\n# %% user\n`;
const MODEL = '---\nmodel: a\n---\n';

describe('the caret after a run', () => {
  const cases: Record<string, [before: string, after: string, expected: string]> = {
    'goes from the front matter to the new turn': [`|${MODEL}${HI}`, `${MODEL}${HO}`, `${MODEL}${HO}|`],
    'goes from the question to the new turn': [`# %% user\nHi|\n`, HO, `${HO}|`],
    'stays in a question that was not answered': [
      `${MODEL}# %% user\nH|i\n`,
      `${MODEL}${HI}`,
      `${MODEL}# %% user\nH|i\n`,
    ],
    'goes from the front matter to a question that was not answered': [
      `|${MODEL}${HI}`,
      `${MODEL}${HI}`,
      `${MODEL}${HI}|`,
    ],
    'does not stay in a reply that could not be resumed': [
      '# %% assistant\nH|o\n<!-- filechat:interrupted stopped -->\n\n# %% user\n',
      '# %% assistant\nHo\n<!-- filechat:interrupted stopped -->\n\n# %% user\n',
      '# %% assistant\nHo\n<!-- filechat:interrupted stopped -->\n\n# %% user\n|',
    ],
  };
  eachCase(cases, (before, after, expected) => assert.equal(moved(before, after), expected));
});
