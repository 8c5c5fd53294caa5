import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { modelTools } from '../../../../src/model/request/tools.ts';
import { ERROR_LINE } from '../../../../src/result/markdown.ts';
import { call, chat, messages, show } from './requests.ts';

const NO_RESULT = 'There is no result: the call was not run, or its result was removed from the chat.';

describe('calls and results', () => {
  const cases: readonly (readonly [rule: string, text: string, expected: string])[] = [
    [
      'a call and its result',
      chat(
        '# %% user',
        'A',
        '# %% assistant',
        'B',
        ...call('c1'),
        '# %% tool charts.bar c1',
        'done',
        '# %% user',
        'C',
      ),
      messages(
        'user',
        '  A',
        'assistant',
        '  text: B',
        '  call c1 charts__bar {"x":1}',
        'tool',
        '  result c1 charts__bar',
        '    done',
        'user',
        '  C',
      ),
    ],
    [
      'results come in the order of the calls',
      chat(
        '# %% user',
        'A',
        '# %% assistant',
        ...call('c1'),
        ...call('c2'),
        '# %% tool charts.bar c2',
        'two',
        '# %% tool charts.bar c1',
        'one',
      ),
      messages(
        'user',
        '  A',
        'assistant',
        '  call c1 charts__bar {"x":1}',
        '  call c2 charts__bar {"x":1}',
        'tool',
        '  result c1 charts__bar',
        '    one',
        '  result c2 charts__bar',
        '    two',
      ),
    ],
    [
      'a call without a result is told so',
      chat('# %% user', 'A', '# %% assistant', ...call('c1'), '# %% user', 'B'),
      messages(
        'user',
        '  A',
        'assistant',
        '  call c1 charts__bar {"x":1}',
        'tool',
        '  result c1 charts__bar (error)',
        `    ${NO_RESULT}`,
        'user',
        '  B',
      ),
    ],
    [
      'an id that comes twice is made two, and one that is none is given',
      chat(
        '# %% user',
        'A',
        '# %% assistant',
        ...call('c1'),
        '# %% tool charts.bar c1',
        'one',
        '# %% assistant',
        ...call('c1'),
        ...call('ö'),
        '# %% tool charts.bar c1',
        'two',
      ),
      messages(
        'user',
        '  A',
        'assistant',
        '  call c1 charts__bar {"x":1}',
        'tool',
        '  result c1 charts__bar',
        '    one',
        'assistant',
        '  call c1_2 charts__bar {"x":1}',
        '  call call charts__bar {"x":1}',
        'tool',
        '  result c1_2 charts__bar',
        '    two',
        '  result call charts__bar (error)',
        `    ${NO_RESULT}`,
      ),
    ],
    [
      'two calls of the same name get a result each',
      chat(
        '# %% user',
        'A',
        '# %% assistant',
        ...call(''),
        ...call(''),
        '# %% tool charts.bar',
        'one',
        '# %% tool charts.bar',
        'two',
      ),
      messages(
        'user',
        '  A',
        'assistant',
        '  call call charts__bar {"x":1}',
        '  call call_2 charts__bar {"x":1}',
        'tool',
        '  result call charts__bar',
        '    one',
        '  result call_2 charts__bar',
        '    two',
      ),
    ],
    [
      'an error is one, and an empty result says so',
      chat(
        '# %% user',
        'A',
        '# %% assistant',
        ...call('c1'),
        ...call('c2'),
        '# %% tool charts.bar c1',
        ERROR_LINE,
        '',
        '```',
        'no',
        '```',
        '# %% tool charts.bar c2',
      ),
      messages(
        'user',
        '  A',
        'assistant',
        '  call c1 charts__bar {"x":1}',
        '  call c2 charts__bar {"x":1}',
        'tool',
        '  result c1 charts__bar (error)',
        '    no',
        '  result c2 charts__bar',
        '    (nothing)',
      ),
    ],
    [
      'a result whose call is gone is told in words',
      chat('# %% user', 'A', '# %% assistant', 'B', '# %% tool charts.bar c1', 'done', '# %% user', 'C'),
      messages('user', '  A', 'assistant', '  text: B', 'user', '  charts.bar returned:', '  done', '  C'),
    ],
    [
      'a call of the user is told in words, where it stands',
      chat(
        '# %% user',
        'See:',
        ...call('c1', '{"x": 2}'),
        'Good?',
        '# %% tool charts.bar c1',
        'done',
        '# %% user',
        'Well?',
      ),
      messages(
        'user',
        '  See:',
        '  I called the tool charts.bar with these arguments:↵{"x": 2}↵It returned:',
        '  done',
        '  Good?',
        '  Well?',
      ),
    ],
  ];
  for (const [rule, text, expected] of cases) it(rule, async () => assert.equal(await show(text), expected));

  it('invalid JSON arguments are sent as none, and the model gets the text back', async () => {
    const shown = await show(
      chat('# %% user', 'A', '# %% assistant', ...call('c1', '{"x":'), '# %% tool charts.bar c1', 'bad'),
    );
    assert.match(shown, /call c1 charts__bar \{\}/);
    assert.match(shown, /not valid JSON.*↵What was written: \{"x":$/m);
  });

  it('calls and results of chat.md are calls and results', async () => {
    const xml = [
      '<tool_call>',
      '<tool_name>charts.bar</tool_name>',
      '<param name="x">1</param>',
      '</tool_call>',
    ];
    const result = ['# %% tool_execute', '<tool_result>', 'done', '</tool_result>'];
    assert.equal(
      await show(chat('# %% user', 'A', '# %% assistant', 'B', ...xml, '', ...result)),
      messages(
        'user',
        '  A',
        'assistant',
        '  text: B',
        '  call call charts__bar {"x":1}',
        'tool',
        '  result call charts__bar',
        '    done',
      ),
    );
  });

  it('a tool that is no longer listed keeps its name', async () => {
    const text = chat(
      '# %% user',
      'A',
      '# %% assistant',
      ...call('c1', '{}', 'gone.x'),
      '# %% tool gone.x c1',
      'r',
    );
    assert.match(await show(text, { tools: modelTools([]) }), /call c1 gone__x \{\}[\s\S]*result c1 gone__x/);
  });
});
