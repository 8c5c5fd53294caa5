import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { assignCallId, fillToolResult } from '../../../../src/chat/edits/append.ts';
import {
  isPreamble,
  nameServer,
  readChatMdResult,
  readPreamble,
} from '../../../../src/chat/format/legacy.ts';
import { nextAction, pendingCalls } from '../../../../src/chat/format/nextAction.ts';
import { parseChat, turnBody } from '../../../../src/chat/format/parse.ts';
import { escapeReply } from '../../../../src/chat/reply/escapeReply.ts';
import { applyEdit } from '../../../kit/applyEdit.ts';
import { eachCase } from '../eachCase.ts';

const fixture = (name: string) => readFileSync(new URL(`../fixtures/${name}`, import.meta.url), 'utf8');
const XML = (name: string, params = '') =>
  `<tool_call>\n<tool_name>${name}</tool_name>\n${params}</tool_call>\n`;
const FENCED = (name: string, info = 'tool_call') => `\`\`\`${info}\n${XML(name)}\`\`\`\n`;

function describeChat(text: string) {
  const chat = parseChat(text);
  return chat.turns.map((turn, at) => {
    const calls = turn.calls.map((call) => `${call.server}.${call.tool}`);
    const pending = pendingCalls(chat.turns, at).length;
    return [turn.role, ...calls, ...(pending > 0 ? [`${pending} pending`] : [])].join(' ');
  });
}

function action(text: string): string {
  const next = nextAction(text);
  if (next.kind === 'wait') return `wait: ${next.reason}`;
  const names = next.kind === 'runTools' ? next.calls.map((call) => `${call.server}.${call.tool}`) : [];
  return [next.kind, ...names].join(' ');
}

describe('a chat of chat.md', () => {
  it('with settings, fenced calls and all forms of results is read correctly', () => {
    const text = fixture('chatmd-fenced.chat.md');
    assert.deepEqual(describeChat(text), [
      'user',
      'assistant shell.run',
      'tool',
      'assistant shell.write',
      'tool',
      'assistant',
      'user',
    ]);
    assert.deepEqual(parseChat(text).problems, []);
    assert.match(action(text), /^wait: It is your turn/);
    assert.equal(action(`${text}And now?\n`), 'reply');
  });

  it('with calls without a server, in fences of other names, is read correctly', () => {
    const text = fixture('chatmd-plain.chat.md');
    assert.deepEqual(describeChat(text), [
      'system',
      'user',
      'assistant _.Initialize',
      'tool',
      'assistant _.Write',
      'tool',
      'assistant',
    ]);
    assert.deepEqual(parseChat(text).problems, []);
    assert.equal(action(text), 'reply');
  });

  for (const info of ['tool_call', 'xml']) {
    for (const after of ['', '\n\n# %% user\n']) {
      it(`continues in Filechat’s own format (${info}, ${JSON.stringify(after)})`, () => {
        let text = `# %% user\nhi\n# %% assistant\n${FENCED('a.b', info)}\n# %% tool_execute\n${after}`;
        assert.equal(action(text), 'runTools a.b');
        text = applyEdit(text, assignCallId(text));
        assert.equal(parseChat(text).turns[1]?.calls[0]?.id, 'c1');
        text = applyEdit(text, fillToolResult(text, { server: 'a', tool: 'b', id: 'c1' }, 'R'));
        assert.ok(text.includes('<tool_name>a.b c1</tool_name>'));
        assert.ok(text.endsWith(`\`\`\`\n\n# %% tool a.b c1\nR\n${after.trim() && '\n# %% user\n'}`), text);
        assert.equal(action(text), 'reply');
      });
    }
  }

  it('that broke off in a call continues with the next turn', () => {
    const broken = '# %% user\nhi\n# %% assistant\nNow.\n```tool_call\n<tool_call>\n<tool_name>x';
    assert.deepEqual(describeChat(`${broken}\n# %% user\nGo on.\n`), ['user', 'assistant', 'user']);
    assert.equal(action(`${broken}\n# %% user\nGo on.\n`), 'reply');
    assert.equal(parseChat(broken).endsInFence, false);
    // A call of Filechat and other code hide markers, because their contents can come from a model.
    for (const info of ['tool_call a.b', 'xml', '']) {
      assert.deepEqual(describeChat(`# %% assistant\n\`\`\`${info}\n# %% user\nGo on.\n`).length, 1);
    }
  });

  it('that names no server gets the one of the only tool that fits', () => {
    const text = `# %% assistant\n${XML('x')}\n${XML('look')}`;
    const find = (tool: string) => (tool === 'look' ? { server: 'a', tool: 'Look' } : undefined);
    const edit = nameServer(text, parseChat(text).turns[0]?.calls ?? [], find);
    assert.equal(applyEdit(text, edit), `# %% assistant\n${XML('x')}\n${XML('a.Look')}`);
  });
});

function shown(body: string): string | undefined {
  const pieces = readChatMdResult(body);
  return pieces?.map((piece) => (piece.kind === 'text' ? piece.text : piece.written)).join('\n');
}

describe('recognizing calls', () => {
  const cases: Record<string, [text: string, expected: string]> = {
    'outside of fences': [XML('a.b'), 'runTools a.b'],
    'in a fence tool_call': [FENCED('a.b'), 'runTools a.b'],
    'in a fence that begins after a sentence': [`Now.${FENCED('a.b')}`, 'runTools a.b'],
    'in a fence that is never closed': [`\`\`\`tool_call\n${XML('a.b')}`, 'runTools a.b'],
    'in a fence of another name, when its turn follows': [
      `${FENCED('a.b', 'xml')}# %% tool_execute\n`,
      'runTools a.b',
    ],
    'in a fence of another name, when nothing follows: an example': [
      FENCED('a.b', 'xml'),
      'wait: It is your turn: write below “# %% user”, then run.',
    ],
    'in a tool turn of Filechat: never': [`x\n# %% tool a.b c1\n${XML('a.b')}`, 'wait'],
    'in a user’s turn: never': [`# %% user\n${XML('a.b')}`, 'reply'],
    'in a comment: never': [`<!--\n${XML('a.b')}-->\n`, 'wait'],
    'escaped: never': [`\\${XML('a.b')}`, 'wait'],
    'quoted or indented: never': [`> ${XML('a.b')}\n    ${XML('a.b')}`, 'wait'],
    'in the middle of a fence: never': [
      `\`\`\`xml\nsee:\n${XML('a.b')}\`\`\`\n# %% tool_execute\nx\n`,
      'wait',
    ],
    'not closed before the next turn: never': ['<tool_call>\n<tool_name>a.b</tool_name>\n', 'wait'],
    'closed after the next turn’s marker: never': [
      '<tool_call>\n<tool_name>a.b</tool_name>\n# %% user\nhi\n</tool_call>\n',
      'reply',
    ],
    'not answered by the result of another call': [`${FENCED('a.b')}# %% tool a.x c1\nx\n`, 'runTools a.b'],
    'without a name: never': ['<tool_call>\n</tool_call>\n', 'wait'],
    'without a server: reports how to fix it': [
      XML('Run'),
      'wait: Line 2: This call names no server: write <tool_name>SERVER.Run</tool_name>, then run.',
    ],
    'answered by a result': [
      `${FENCED('a.b')}# %% tool_execute\n<tool_result>\nx\n</tool_result>\n`,
      'reply',
    ],
    'answered without a server': [`${FENCED('Run')}# %% tool_execute\nfailed\n`, 'reply'],
    'not answered by an empty turn': [`${FENCED('a.b')}# %% tool_execute\n\n`, 'runTools a.b'],
    'one result for two calls is the last one’s': [
      `${FENCED('a.b')}${FENCED('a.c')}# %% tool_execute\nx\n`,
      'runTools a.b',
    ],
    'two results for two calls': [
      `${FENCED('a.b')}${FENCED('a.c')}# %% tool_execute\nx\n# %% tool_execute\ny\n`,
      'reply',
    ],
    'a fence in a result swallows no turn': [
      `${FENCED('a.b')}# %% tool_execute\n<tool_result>\n\`\`\`\n</tool_result>\n# %% user\nhi\n`,
      'reply',
    ],
    'a fence in an argument swallows no turn': [
      `${XML('a.b', '<param name="x">\n```\n</param>\n')}# %% tool_execute\n`,
      'runTools a.b',
    ],
  };
  eachCase(cases, (text, expected) => {
    // A text without a marker is the body of a reply.
    const found = action(text.startsWith('# %%') ? text : `# %% assistant\n${text}`);
    assert.equal(expected === 'wait' ? found.slice(0, 4) : found, expected);
  });
});

describe('arguments', () => {
  const cases: Record<string, [written: string, expected: unknown]> = {
    'a text': ['hello', 'hello'],
    'a text of several lines keeps its indentation and its last line break': [
      '\n  a\n    b\n',
      '  a\n    b\n',
    ],
    'a line of its own is that line': ['\n/tmp/x\n', '/tmp/x'],
    'a text that begins after the tag keeps its last line break': ['a\nb\n', 'a\nb\n'],
    'an object': ['{"a": [1]}', { a: [1] }],
    'an object over several lines': ['{\n  "a": 1\n}', { a: 1 }],
    'a list': ['[]', []],
    'a number, true and null': ['100', 100],
    'a number too long to be exact is text': ['12345678901234567890', '12345678901234567890'],
    'a number with a leading zero is text': ['007', '007'],
    true: ['true', true],
    null: ['null', null],
    'invalid JSON is text': ['{a}', '{a}'],
    'a quoted string keeps its quotes': ['"a"', '"a"'],
    nothing: ['', ''],
    'entities stay': ['a &lt; b', 'a &lt; b'],
    'CDATA is verbatim text': ['<![CDATA[\n {"a": 1}</param>\n]]>', '\n {"a": 1}</param>\n'],
  };
  eachCase(cases, (written, expected) => {
    const text = `# %% assistant\n${XML('a.b', `<param name="x">${written}</param>\n<param name='y'>1</param>\n`)}`;
    const [call] = parseChat(text).turns[0]?.calls ?? [];
    assert.deepEqual(JSON.parse(call?.argumentsText ?? ''), { x: expected, y: 1 });
  });

  it('a parameter may have any name', () => {
    const text = `# %% assistant\n${XML('a.b', '<param name="__proto__">{"x": 1}</param>\n')}`;
    assert.equal(parseChat(text).turns[0]?.calls[0]?.argumentsText, '{"__proto__":{"x":1}}');
  });

  it('a closing tag in CDATA does not end the call', () => {
    const text = `# %% assistant\n${XML('a.b', '<param name="x"><![CDATA[\n</tool_call>\n]]></param>\n')}`;
    assert.equal(parseChat(text).turns[0]?.calls[0]?.argumentsText, '{"x":"\\n</tool_call>\\n"}');
  });

  it('with CRLF too', () => {
    const text = `# %% assistant\n${FENCED('a.b')}# %% tool_execute\n`.replaceAll('\n', '\r\n');
    assert.equal(action(text), 'runTools a.b');
  });
});

describe('results', () => {
  const cases: Record<string, [body: string, expected: string | undefined]> = {
    plain: ['<tool_result>\na\n b\n</tool_result>\n', 'a\n b'],
    fenced: ['```\n<tool_result>\na\n</tool_result>\n```\n', 'a'],
    empty: ['<tool_result>\n</tool_result>\n', ''],
    'with a tag of its own name in it': [
      '<tool_result>\n</tool_result>\nb\n</tool_result>\n',
      '</tool_result>\nb',
    ],
    'with CRLF': ['<tool_result>\r\na\r\n</tool_result>\r\n', 'a'],
    'not closed': ['<tool_result>\na', undefined],
    'after other text': ['see <tool_result>\na\n</tool_result>', undefined],
    none: ['a', undefined],
  };
  eachCase(cases, (body, expected) => assert.deepEqual(shown(body), expected));

  it('with files', () => {
    const body = `<tool_result>\nSee:\n\n![Tool generated image 2](cmdassets/a%20b.png) and [x](y.txt)\n[Tool Result](cmdassets/c.txt)\n</tool_result>`;
    assert.deepEqual(readChatMdResult(body), [
      { kind: 'text', text: 'See:' },
      { kind: 'image', path: 'cmdassets/a b.png', written: '![Tool generated image 2](cmdassets/a%20b.png)' },
      { kind: 'text', text: ' and [x](y.txt)' },
      { kind: 'file', path: 'cmdassets/c.txt', written: '[Tool Result](cmdassets/c.txt)' },
    ]);
  });

  it('of a fixture', () => {
    const text = fixture('chatmd-fenced.chat.md');
    const results = parseChat(text).turns.filter((turn) => turn.role === 'tool');
    assert.deepEqual(
      results.map((turn) => shown(turnBody(text, turn))),
      [
        'README.md\n\n---\n\nstatus = done',
        '[Tool Result](cmdassets/tool-result-20260101-101010-abcdef.txt)',
      ],
    );
  });
});

it('model text is never a call', () => {
  const piece = fc.constantFrom(
    ...'<tool_call>\n¦<tool_name>a.b</tool_name>\n¦</tool_call>\n¦```tool_call\n¦```\n¦~~~\n'.split('¦'),
    ...'`¦```xml\n¦Now.```tool_call\n¦\\¦\n¦  ¦<!--\n¦-->\n¦- ¦# %% tool_execute\n¦x'.split('¦'),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 16 }), (pieces) => {
      const said = `${pieces.join('')}<tool_call>\n<tool_name>a.b</tool_name>\n</tool_call>\n`;
      const text = `# %% user\nhi\n# %% assistant\n${escapeReply(said)}\n<!-- filechat:interrupted stopped -->\n`;
      const calls = parseChat(text).turns.flatMap((turn) => turn.calls);
      assert.deepEqual(calls, [], JSON.stringify(said));
    }),
    { numRuns: 1_000 },
  );
});

it('calls in any XML are inside their turn', () => {
  const piece = fc.constantFrom(
    ...'<tool_call>\n¦</tool_call>\n¦<tool_name>a.b</tool_name>\n¦<param name="x">'.split('¦'),
    ...'</param>\n¦```\n¦<![CDATA[¦]]>¦# %% tool_execute\n¦# %% assistant\n¦```tool_call\n¦x'.split('¦'),
    ...'\n'.split('¦'),
  );
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      const text = `# %% assistant\n${pieces.join('')}`;
      for (const turn of parseChat(text).turns) {
        for (const call of turn.calls) {
          assert.ok(turn.bodyStart <= call.start && call.start < call.infoEnd && call.infoEnd <= call.end);
          assert.ok(call.end <= turn.end);
        }
      }
    }),
  );
});

describe('reading XML takes linear time', () => {
  const tags = ['<tool_call>\n', '<param name="x">', '<param name="x"><![CDATA[', '```\n<tool_call>\n'];
  for (const tag of tags) {
    const countCalls = (body: string) => parseChat(`# %% assistant\n${body}`).turns[0]?.calls.length;
    it(`with ${JSON.stringify(tag)} 20,000 times`, () => assert.equal(countCalls(tag.repeat(20_000)), 0));
    it(`with ${JSON.stringify(tag)} 20,000 times in a call`, () => {
      const content = `<tool_name>a.b</tool_name>${tag.repeat(20_000)}]]>`;
      assert.equal(countCalls(`<tool_call>\n${content}\n</tool_call>\n`), 1);
    });
  }
});

describe('a preamble of chat.md', () => {
  const cases: Record<string, [text: string, expected: boolean]> = {
    'a setting': ['selectedConfig="a/b"\n', true],
    'with comments, blank lines and other keys': ['# note\n\ntype = x\n  maxTokens = 5 # c\n', true],
    'with CRLF': ['reasoningEffort=low\r\n', true],
    'a block of settings': ['# %% settings\n[mcp]\nservers = [\n  "a"\n]\n', true],
    'settings above such a block': ['maxTokens=5\n\n# %% Settings\nfree text\n', true],
    'a sentence above such a block': ['Please help.\n# %% settings\na = 1\n', false],
    'a sentence is not a setting': ['selectedConfig="a"\nPlease help.\n', false],
    'other keys alone are user text': ['x = 5\ny = 6\n', false],
    'a key without a value is not a setting': ['selectedConfig=\n', false],
    'blank lines are not a preamble': ['\n\n', false],
  };
  eachCase(cases, (text, expected) => {
    assert.equal(isPreamble(text), expected);
    const roles = parseChat(`${text}# %% assistant\n`).turns.map((turn) => turn.role);
    assert.equal(roles.includes('user'), !expected && text.trim() !== '');
  });

  it('is read entry by entry', () => {
    const text = '# c\nselectedConfig = "a # b"\r\n  maxTokens=5 # c\nreasoningEffort=\'low\'\n';
    assert.deepEqual(readPreamble(text), [
      { key: 'selectedConfig', value: 'a # b', offset: 4 },
      { key: 'maxTokens', value: '5', offset: text.indexOf('maxTokens') },
      { key: 'reasoningEffort', value: 'low', offset: text.indexOf('reasoning') },
    ]);
  });
});
