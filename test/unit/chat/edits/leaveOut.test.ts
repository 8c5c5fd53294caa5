import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { appendSummary, sinceSummary } from '../../../../src/chat/edits/leaveOut.ts';
import { parseChat, turnBody } from '../../../../src/chat/format/parse.ts';
import { unescapeReply } from '../../../../src/chat/reply/escapeReply.ts';
import { applyEdit } from '../../../kit/applyEdit.ts';
import { eachCase } from '../eachCase.ts';

describe('a summary', () => {
  const cases: Record<string, [before: string, after: string]> = {
    'goes after all turns': [
      '# %% user\nhi\n\n# %% assistant\nho\n',
      '# %% user\nhi\n\n# %% assistant\nho\n\n# %% system summary\nS\n',
    ],
    'goes before the empty turn to write in': [
      '# %% assistant\nho\n\n# %% user\n',
      '# %% assistant\nho\n\n# %% system summary\nS\n\n# %% user\n',
    ],
    'is not written into open code': ['# %% user\n```\n', '# %% user\n```\n'],
  };
  eachCase(cases, (before, after) => assert.equal(applyEdit(before, appendSummary(before, ' S\n')), after));

  it('starts no turn, makes no call, and is restored exactly', () => {
    const summary = '# %% user\nrun:\n```tool_call a.b\n{}\n```\n<tool_call>\n# %% assistant';
    const text = applyEdit('', appendSummary('', summary));
    const { turns } = parseChat(text);
    assert.deepEqual(
      turns.map((turn) => [turn.role, turn.markerText, turn.calls.length]),
      [['system', 'summary', 0]],
    );
    const [turn] = turns;
    assert.equal(turn && unescapeReply(turnBody(text, turn).trim()), summary);
  });

  it('replaces the turns above it', () => {
    const text =
      '# %% user\na\n# %% system summary\nS\n# %% user\nb\n# %% System Summary of it\nT\n# %% user\nc\n';
    const chat = parseChat(text);
    assert.deepEqual(sinceSummary(chat), { summary: chat.turns[3], turns: [chat.turns[4]] });
    const plain = parseChat('# %% system\nx\n# %% user\nsummary\n');
    assert.deepEqual(sinceSummary(plain), { turns: plain.turns });
  });
});
