import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nextAction, openCalls } from '../../../../src/chat/format/nextAction.ts';
import { parseChat } from '../../../../src/chat/format/parse.ts';
import { eachCase } from '../eachCase.ts';

const CALL = (name: string, id = '') => `\`\`\`tool_call ${name} ${id}\n{}\n\`\`\`\n`;

describe('the next action', () => {
  const cases: Record<string, [text: string, expected: string]> = {
    'an empty file waits': ['', 'wait'],
    'an empty user turn waits': ['# %% user\n\n', 'wait'],
    'a question asks for a reply': ['# %% user\nhi\n', 'reply'],
    'an answer waits for the user': ['# %% user\nhi\n# %% assistant\nho\n', 'wait'],
    'an answer with an empty user turn after it waits': [
      '# %% user\nhi\n# %% assistant\nho\n# %% user\n',
      'wait',
    ],
    'an empty assistant turn asks for a reply': ['# %% user\nhi\n# %% assistant\n', 'reply'],
    'a system turn alone waits': ['# %% system\nbe brief\n', 'wait'],
    'a pending call runs': [`# %% assistant\n${CALL('a.b', 'c1')}`, 'runTools a.b'],
    'a pending call runs with an empty user turn after it': [
      `# %% user\n${CALL('a.b')}# %% user\n`,
      'runTools a.b',
    ],
    'an answered call of the model requests a reply': [
      `# %% assistant\n${CALL('a.b', 'c1')}# %% tool a.b c1\nx\n`,
      'reply',
    ],
    'an answered call of the user waits': [`# %% user\n${CALL('a.b', 'c1')}# %% tool a.b c1\nx\n`, 'wait'],
    'an empty answer is an answer': [`# %% user\n${CALL('a.b', 'c1')}# %% tool a.b c1\n`, 'wait'],
    'only unanswered calls run': [
      `# %% assistant\n${CALL('a.b', 'c1')}${CALL('a.c', 'c2')}# %% tool a.b c1\nx\n`,
      'runTools a.c',
    ],
    'a result of another tool does not count': [
      `# %% user\n${CALL('a.b', 'c1')}# %% tool a.x c1\n`,
      'runTools a.b',
    ],
    'of two calls with one id, one answer leaves one': [
      `# %% assistant\n${CALL('a.b', 'c1')}${CALL('a.b', 'c1')}# %% tool a.b c1\nx\n`,
      'runTools a.b',
    ],
    'calls in earlier turns do not run': [`# %% user\n${CALL('a.b', 'c1')}# %% user\nnever mind\n`, 'reply'],
    'a call that cannot be read stops its turn before anything runs': [
      `# %% user\n${CALL('a.b')}\`\`\`tool_call nodot\n\`\`\`\n`,
      'wait',
    ],
    'a call that could not be read long ago stops nothing': [
      '# %% user\n```tool_call nodot\n```\n# %% user\nhi\n',
      'reply',
    ],
    'a cut reply is resumed': ['# %% assistant\na\n<!-- filechat:interrupted stopped -->\n', 'resume'],
    'a cut reply is resumed with an empty user turn after it': [
      '# %% assistant\na\n<!-- filechat:interrupted stopped -->\n\n# %% user\n',
      'resume',
    ],
    'an abandoned reply is resumed': ['# %% assistant\n```\na\n<!-- filechat:writing a1 -->\n', 'resume'],
    'calls of a cut reply wait': [
      `# %% assistant\n${CALL('a.b', 'c1')}<!-- filechat:interrupted stopped -->\n`,
      'resume',
    ],
    'a cut reply that the user has answered is not resumed': [
      '# %% assistant\na\n<!-- filechat:interrupted stopped -->\n\n# %% user\nb\n',
      'reply',
    ],
    'a call that is cut off does not run': ['# %% assistant\n```tool_call a.b c1\n{"x"', 'wait'],
  };
  eachCase(cases, (text, expected) => {
    const action = nextAction(text);
    const names = action.kind === 'runTools' ? action.calls.map((call) => `${call.server}.${call.tool}`) : [];
    assert.equal([action.kind, ...names].join(' '), expected);
  });
});

describe('the calls of a turn without a result', () => {
  const open = (text: string) =>
    openCalls(parseChat(text).turns, 0).map(({ id, sent }) => `${id}${sent ? ' sent' : ''}`);
  const sent = (id: string) => `<!-- filechat:sent ${id} -->\n`;
  const result = (id: string) => `# %% tool a.b ${id}\nx\n`;
  const cases: Record<string, [body: string, expected: readonly string[]]> = {
    'of two with the same id, the second is open': [`${CALL('a.b', 'c1').repeat(2)}${result('c1')}`, ['c1']],
    'a result of another tool answers none': [`${CALL('a.b', 'c1')}# %% tool a.c c1\nx\n`, ['c1']],
    'a mark belongs to the last call above it': [
      `${CALL('a.b', 'c1')}${CALL('a.b', 'c1')}${sent('c1')}`,
      ['c1', 'c1 sent'],
    ],
    'a mark may follow other calls': [
      `${CALL('a.b', 'c1')}${CALL('a.b', 'c2')}${sent('c1')}`,
      ['c1 sent', 'c2'],
    ],
    'a mark above its call is none': [`${sent('c1')}${CALL('a.b', 'c1')}`, ['c1']],
  };
  eachCase(cases, (body, expected) => assert.deepEqual(open(`# %% assistant\n${body}`), expected));

  // Each call was compared with each result and each mark, which took minutes.
  it('are found among thousands', () => {
    const ids = Array.from({ length: 20_000 }, (_, at) => `c${at}`);
    const calls = ids.map((id) => `${CALL('a.b', id)}${sent(id)}`).join('');
    const results = ids.slice(1).toReversed().map(result).join('');
    assert.deepEqual(open(`# %% assistant\n${calls}${results}`), ['c0 sent']);
  });
});
