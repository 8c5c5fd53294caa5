import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  appendCall,
  assignCallId,
  endRun,
  endWithUserTurn,
  fillToolResult,
  markSent,
  newChat,
  removeSentMark,
  removeStaleMark,
  unansweredCalls,
} from '../../../../src/chat/edits/append.ts';
import { nextAction } from '../../../../src/chat/format/nextAction.ts';
import { parseChat } from '../../../../src/chat/format/parse.ts';
import { anySign } from '../../../kit/anySign.ts';
import { applyEdit } from '../../../kit/applyEdit.ts';
import { eachCase } from '../eachCase.ts';

const call = { server: 'a', tool: 'b', id: 'c1', arguments: { x: 1 } };
const BLOCK = '```tool_call a.b c1\n{"x": 1}\n```\n';

describe('writing a call', () => {
  const cases: Record<string, [before: string, after: string]> = {
    'into an empty file': ['', `# %% user\n${BLOCK}`],
    'into the empty user turn': ['# %% user\n', `# %% user\n${BLOCK}`],
    'over the blank lines of an empty user turn': ['# %% user\n\n\n', `# %% user\n${BLOCK}`],
    'below a marker without a line end': ['# %% user', `# %% user\n${BLOCK}`],
    'below the user’s text': ['# %% user\nLook:', `# %% user\nLook:\n\n${BLOCK}`],
    'into a new turn after an open comment, which would hide it': [
      '# %% user\na <!-- b\n',
      `# %% user\na <!-- b\n\n# %% user\n${BLOCK}`,
    ],
    'into a new turn after an answer': [
      '# %% assistant\nHi.\n',
      `# %% assistant\nHi.\n\n# %% user\n${BLOCK}`,
    ],
  };
  eachCase(cases, (before, after) => assert.equal(applyEdit(before, appendCall(before, call)), after));

  it('breaks long arguments into lines', () => {
    const edit = appendCall('', { ...call, arguments: { text: 'x'.repeat(100) } });
    assert.match(edit?.text ?? '', /\n\{\n {2}"text": "x+"\n\}\n/);
  });
});

it('no call is written into a fence that is still open', () => {
  assert.equal(appendCall('# %% user\nlook:\n```js\nfoo\n', call), undefined);
});

describe('giving ids', () => {
  it('numbers on from the highest id in the file', () => {
    const text = '# %% tool x.y c7\nc99 is not an id\n\n# %% user\n```tool_call a.b\n{}\n```\n';
    assert.equal(applyEdit(text, assignCallId(text)), text.replace('a.b\n', 'a.b c8\n'));
  });

  it('never assigns an id twice', () => {
    const text =
      '# %% user\n```tool_call a.b c1000000\n```\n```tool_call a.b c999999\n```\n```tool_call a.b\n```\n';
    assert.match(applyEdit(text, assignCallId(text)), /a\.b c1000001\n/);
  });

  it('leaves calls with an id unchanged', () => {
    assert.equal(assignCallId(`# %% user\n${BLOCK}`), undefined);
  });

  it('works in files with CRLF', () => {
    const text = '# %% user\r\n```tool_call a.b\r\n```\r\n';
    assert.equal(applyEdit(text, assignCallId(text)), text.replace('a.b', 'a.b c1'));
  });
});

describe('writing a result', () => {
  const two = `# %% assistant\n${BLOCK}${BLOCK.replace('c1', 'c2')}`;
  const cases: Record<string, [before: string, id: string, after: string]> = {
    'after the turn of the call': [`# %% user\n${BLOCK}`, 'c1', `# %% user\n${BLOCK}\n# %% tool a.b c1\nR\n`],
    'before the turns that follow': [
      `# %% user\n${BLOCK}\n# %% user\nmore\n`,
      'c1',
      `# %% user\n${BLOCK}\n# %% tool a.b c1\nR\n\n# %% user\nmore\n`,
    ],
    'after text typed below the call': [
      `# %% user\n${BLOCK}typed`,
      'c1',
      `# %% user\n${BLOCK}typed\n\n# %% tool a.b c1\nR\n`,
    ],
    'after the answers of earlier calls': [
      `${two}\n# %% tool a.b c1\nfirst\n`,
      'c2',
      `${two}\n# %% tool a.b c1\nfirst\n\n# %% tool a.b c2\nR\n`,
    ],
    'before the answers of later calls': [
      `${two}\n# %% tool a.b c2\nsecond\n`,
      'c1',
      `${two}\n# %% tool a.b c1\nR\n\n# %% tool a.b c2\nsecond\n`,
    ],
    'to the first of two calls with one id': [
      `# %% assistant\n${BLOCK}${BLOCK}\n# %% tool a.b c1\nfirst\n`,
      'c1',
      `# %% assistant\n${BLOCK}${BLOCK}\n# %% tool a.b c1\nfirst\n\n# %% tool a.b c1\nR\n`,
    ],
    'above code that the user has not closed yet': [
      `# %% user\n${BLOCK}\n\`\`\`js\nfoo`,
      'c1',
      `# %% user\n${BLOCK}\n# %% tool a.b c1\nR\n\n# %% user\n\n\`\`\`js\nfoo`,
    ],
    'before open code, when the call is gone': [
      '# %% user\nx\n\n# %% user\n```js\nfoo',
      'c9',
      '# %% user\nx\n\n# %% tool a.b c9\nR\n\n# %% user\n```js\nfoo',
    ],
    'at the end, when the call is gone': ['# %% user\nhm\n', 'c9', '# %% user\nhm\n\n# %% tool a.b c9\nR\n'],
  };
  eachCase(cases, (before, id, after) =>
    assert.equal(applyEdit(before, fillToolResult(before, { ...call, id }, 'R')), after),
  );

  it('never removes a character', () => {
    const piece = fc.constantFrom(
      '# %% user\n',
      BLOCK,
      '# %% assistant\n',
      '# %% tool a.b c1\n',
      'text\n',
      '\n',
      '```\n',
    );
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const text = pieces.join('');
        const edit = fillToolResult(text, call, 'R');
        assert.equal(edit.start, edit.end);
        const added = parseChat(applyEdit(text, edit)).turns.length - parseChat(text).turns.length;
        // Above open code, the rest of the user turn becomes its own turn.
        assert.ok(added === 1 || (added === 2 && parseChat(text).endsInFence), `${added} turns were added`);
      }),
    );
  });
});

it('a chat ends with a turn of the user, and only one', () => {
  const once = applyEdit('# %% assistant\nHi.', endWithUserTurn('# %% assistant\nHi.'));
  assert.equal(once, '# %% assistant\nHi.\n\n# %% user\n');
  assert.equal(endWithUserTurn(once), undefined);
  assert.equal(endWithUserTurn(`${once}typed`), undefined);
});

it('a run ends with a turn of the user, except below the empty assistant turn that asks for a reply', () => {
  const cut = '# %% assistant\nHi\n<!-- filechat:interrupted stopped -->\n';
  assert.equal(applyEdit(cut, endRun(cut)), `${cut}\n# %% user\n`);
  assert.equal(endRun('# %% user\nHi\n'), undefined);
  assert.equal(endRun('# %% user\nHi\n\n# %% assistant\n'), undefined);
});

it('a new chat contains the given content', () => {
  assert.equal(newChat(), '# %% user\n');
  assert.equal(newChat('Hello'), '# %% user\nHello\n');
});

const CALL = (id: string) => `\`\`\`tool_call a.b ${id}\n{}\n\`\`\`\n`;
const SENT = (id: string) => `<!-- filechat:sent ${id} -->\n`;
const RESULT = (id: string) => `\n# %% tool a.b ${id}\nx\n`;
const b = (id: string) => ({ server: 'a', tool: 'b', id });

describe('a call that was sent', () => {
  const cases: Record<string, [text: string, pending: string, unanswered: string]> = {
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
  const idsOf = (calls: readonly { readonly id?: string }[]) => calls.map(({ id }) => id).join(' ');
  eachCase(cases, (text, pending, unanswered) => {
    const action = nextAction(text);
    assert.equal(idsOf(action.kind === 'runTools' ? action.calls : []), pending);
    assert.equal(idsOf(unansweredCalls(text)), unanswered);
  });

  it('is marked below its fence, and the mark can be removed completely', () => {
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

  it('gets its result after its turn, and then the mark is stale', () => {
    const text = `# %% assistant\n${CALL('c1')}${SENT('c1')}`;
    const filled = applyEdit(text, fillToolResult(text, b('c1'), 'x'));
    assert.deepEqual(unansweredCalls(filled), []);
    const clean = applyEdit(filled, removeStaleMark(filled));
    assert.equal(clean, `# %% assistant\n${CALL('c1')}\n# %% tool a.b c1\nx\n`);
    assert.equal(removeStaleMark(clean), undefined);
  });

  it('may have any id', () => {
    fc.assert(
      fc.property(fc.string({ unit: anySign, minLength: 1 }), (any) => {
        const id = any.replace(/[\s`]/gu, '') || 'x';
        const text = `# %% user\n${CALL(id)}`;
        if (assignCallId(text) !== undefined || nextAction(text).kind !== 'runTools') return;
        const marked = applyEdit(text, markSent(text, b(id)));
        assert.equal(idsOf(unansweredCalls(marked)), id);
        assert.equal(applyEdit(marked, removeSentMark(marked, b(id))), text);
      }),
    );
  });
});
