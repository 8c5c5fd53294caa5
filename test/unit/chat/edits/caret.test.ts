import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { caretAfterRun } from '../../../../src/chat/edits/typing.ts';

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
  for (const [name, [before, after, expected]] of Object.entries(cases)) {
    it(name, () => assert.equal(moved(before, after), expected));
  }
});
