import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  assignCallId,
  fillToolResult,
  markSent,
  removeSentMark,
  removeStaleMark,
  unansweredCalls,
} from '../../../../src/chat/edits/append.ts';
import { nextAction } from '../../../../src/chat/format/nextAction.ts';
import { applyEdit } from '../../../kit/applyEdit.ts';

const CALL = (id: string) => `\`\`\`tool_call a.b ${id}\n{}\n\`\`\`\n`;
const SENT = (id: string) => `<!-- filechat:sent ${id} -->\n`;
const RESULT = (id: string) => `\n# %% tool a.b ${id}\nx\n`;
const b = (id: string) => ({ server: 'a', tool: 'b', id });

describe('a call that was sent', () => {
  const cases: Record<string, readonly [text: string, pending: string, unanswered: string]> = {
    'is not pending': [`# %% assistant\n${CALL('c1')}${SENT('c1')}`, '', 'c1'],
    'is not pending when something was typed above its mark': [
      `# %% user\n${CALL('c1')}typed\n${SENT('c1')}typed`,
      '',
      'c1',
    ],
    'leaves the others pending': [
      `# %% assistant\n${CALL('c1')}${CALL('c2')}${SENT('c2')}${CALL('c3')}`,
      'c1 c3',
      'c2',
    ],
    'of two with one id is the one above the mark': [
      `# %% assistant\n${CALL('c1')}${CALL('c1')}${SENT('c1')}`,
      'c1',
      'c1',
    ],
    'has its result': [`# %% user\n${CALL('c1')}${SENT('c1')}${RESULT('c1')}`, '', ''],
    'is marked outside of code only': [`# %% user\n${CALL('c1')}\`\`\`\n${SENT('c1')}\`\`\`\n`, 'c1', ''],
    'is not marked by a comment around the mark': [`# %% user\n${CALL('c1')}<!--\n${SENT('c1')}`, 'c1', ''],
    'is not marked by tool output': [`# %% user\n${CALL('c1')}${RESULT('c0')}${SENT('c1')}`, 'c1', ''],
  };
  for (const [rule, [text, pending, unanswered]] of Object.entries(cases)) {
    it(rule, () => {
      const action = nextAction(text);
      const calls = action.kind === 'runTools' ? action.calls : [];
      assert.equal(calls.map(({ id }) => id).join(' '), pending);
      assert.equal(
        unansweredCalls(text)
          .map(({ id }) => id)
          .join(' '),
        unanswered,
      );
    });
  }

  it('is marked below its fence, and the mark goes without a trace', () => {
    for (const end of ['', '\n', '\nmore\n', '\n# %% user\n']) {
      const text = `# %% user\n${CALL('c1').trimEnd()}${end}`;
      const marked = applyEdit(text, markSent(text, b('c1')));
      assert.match(marked, /^```\n<!-- filechat:sent c1 -->\n/m);
      assert.equal(nextAction(marked).kind, 'runTools');
      assert.equal(markSent(marked, b('c1')), undefined);
      const expected = end === '' ? `${text}\n` : text;
      assert.equal(applyEdit(marked, removeSentMark(marked, b('c1'))), expected);
    }
  });

  it('gets its result behind its turn, and then the mark is one that is left', () => {
    const text = `# %% assistant\n${CALL('c1')}${SENT('c1')}`;
    const filled = applyEdit(text, fillToolResult(text, b('c1'), 'x'));
    assert.deepEqual(unansweredCalls(filled), []);
    const clean = applyEdit(filled, removeStaleMark(filled));
    assert.equal(clean, `# %% assistant\n${CALL('c1')}\n# %% tool a.b c1\nx\n`);
    assert.equal(removeStaleMark(clean), undefined);
  });

  it('may have any id', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), (any) => {
        const id = any.replace(/[\s`]/gu, '') || 'x';
        const text = `# %% user\n${CALL(id)}`;
        if (assignCallId(text) !== undefined || nextAction(text).kind !== 'runTools') return;
        const marked = applyEdit(text, markSent(text, b(id)));
        assert.deepEqual(
          unansweredCalls(marked).map((call) => call.id),
          [id],
        );
        assert.equal(applyEdit(marked, removeSentMark(marked, b(id))), text);
      }),
    );
  });
});
