import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { withoutComments } from '../../../../src/chat/format/comments.ts';
import { ChatReader, parseChat, turnBody } from '../../../../src/chat/format/parse.ts';
import { anySign } from '../../../kit/anySign.ts';
import { anyChat, anyEdits, editText } from '../anyChat.ts';
import { eachCase } from '../eachCase.ts';

const roles = (text: string) => parseChat(text).turns.map((turn) => turn.role);
const calls = (text: string) =>
  parseChat(text).turns.flatMap((turn) => turn.calls.map(({ server, tool, id }) => ({ server, tool, id })));

const closed = (text: string) => parseChat(text).turns[0]?.calls.map((call) => call.closed);

describe('turns', () => {
  const cases: Record<string, [text: string, expected: string[]]> = {
    'an empty file has no turn': ['', []],
    'markers begin turns, in any case': [
      '# %% SYSTEM\na\n# %% User\nb\n# %% assistant\n',
      ['system', 'user', 'assistant'],
    ],
    'text may follow the role': ['# %% user at noon\nhi\n# %% tool a.b c1\nx\n', ['user', 'tool']],
    'lines may end in CRLF': ['# %% user\r\nhi\r\n# %% assistant\r\nho\r\n', ['user', 'assistant']],
    'the tool turns of chat.md are tool turns': ['# %% user\n# %% tool_execute\n', ['user', 'tool']],
    'text above the first marker is the user’s': ['hello\n# %% assistant\n', ['user', 'assistant']],
    'front matter is not a turn': ['---\nmodel: x\n---\n# %% user\n', ['user']],
    'front matter that was not closed before the first turn cannot be closed by a turn': [
      '---\nmodel: x\n# %% user\n---\n# %% assistant\n',
      ['user', 'user', 'assistant'],
    ],
    'a rule in the middle is not front matter': ['# %% user\n---\na\n---\n', ['user']],
    'a marker needs column 0': ['# %% user\n # %% assistant\n', ['user']],
    'other words are not roles': ['# %% user\n# %% robot\n# %% users\n', ['user']],
    'a marker in a fence is code': ['# %% user\n```\n# %% assistant\n```\n', ['user']],
    'a marker in a tilde fence is code': [
      '# %% user\n~~~~md\n# %% assistant\n~~~\n# %% tool\n~~~~\n',
      ['user'],
    ],
    'a shorter fence does not close': ['# %% user\n````\n```\n# %% assistant\n````\n', ['user']],
    'inline code is not a fence': ['# %% user\n```x``` y\n# %% assistant\n', ['user', 'assistant']],
    'a fence in a list ends with the list': [
      '# %% user\n- ```js\n  a\n# %% assistant\n',
      ['user', 'assistant'],
    ],
    'a closed fence in a list hides nothing': [
      '# %% user\n- ```js\n  a\n  ```\n# %% assistant\n',
      ['user', 'assistant'],
    ],
    'an indented fence in a list hides nothing': [
      '# %% user\n- a\n\n  ```\n  b\n# %% assistant\n',
      ['user', 'assistant'],
    ],
    'a fence in a list in a quote hides nothing': [
      '# %% user\n> - ```\n# %% assistant\n',
      ['user', 'assistant'],
    ],
    'a fence in a comment does not count': [
      '# %% user\n<!--\n```\n-->\n# %% assistant\n',
      ['user', 'assistant'],
    ],
    'a comment that is never closed ends with its turn': [
      '# %% user\n<!-- a\n# %% assistant\n',
      ['user', 'assistant'],
    ],
  };
  eachCase(cases, (text, expected) => assert.deepEqual(roles(text), expected));

  it('reads a long row of list marks', () => {
    const text = `# %% user\n${'- '.repeat(20_000)}x \`\`\`\n# %% assistant\n`;
    assert.deepEqual(roles(text), ['user', 'assistant']);
  });

  it('covers the whole text without gaps', () => {
    const line = fc.constantFrom(
      ...'# %% user¦# %% tool a.b c1¦```¦~~~¦x¦¦---¦<!--¦- ```¦# %% assistant x'.split('¦'),
    );
    fc.assert(
      fc.property(fc.array(line), fc.constantFrom('\n', '\r\n'), (lines, eol) => {
        const text = lines.join(eol);
        const { turns } = parseChat(text);
        for (const [at, turn] of turns.entries()) {
          assert.ok(turn.start <= turn.bodyStart && turn.bodyStart <= turn.end);
          assert.equal(turn.end, turns[at + 1]?.start ?? text.length);
        }
      }),
    );
  });

  it('reports an unclosed fence where it begins', () => {
    const text = '# %% user\nSee:\n```\nclosed\n```\n\n```tool_call a.b\n# %% assistant\n';
    assert.deepEqual(parseChat(text).problems, [
      { offset: text.indexOf('```tool_call'), message: 'A code fence in this turn is never closed.' },
    ]);
  });
});

describe('tool calls', () => {
  const cases: Record<
    string,
    [text: string, expected: { server: string; tool: string; id: string | undefined }[]]
  > = {
    'the first dot divides server and tool': [
      '```tool_call a-1.b.c d2\n{}\n```\n',
      [{ server: 'a-1', tool: 'b.c', id: 'd2' }],
    ],
    'the id may be missing, the body empty': [
      '```tool_call a.b\n```\n',
      [{ server: 'a', tool: 'b', id: undefined }],
    ],
    'a turn may hold several': [
      '# %% assistant\n```tool_call a.b 1\n```\ntext\n~~~tool_call a.c 2\n~~~\n',
      [
        { server: 'a', tool: 'b', id: '1' },
        { server: 'a', tool: 'c', id: '2' },
      ],
    ],
    'a name that is not one word is written encoded': [
      '```tool_call a.b%20c%60 1\n```\n',
      [{ server: 'a', tool: 'b c`', id: '1' }],
    ],
    'a tool’s text holds none': ['# %% tool a.b c1\n```tool_call a.b\n```\n', []],
    'a system turn holds none': ['# %% system\n```tool_call a.b\n```\n', []],
    'a quoted call is not a call': ['> ```tool_call a.b\n> ```\n', []],
    'a call in a comment is not a call': ['<!--\n```tool_call a.b\n```\n-->\n', []],
    'a call in a comment that begins within a line is not a call': [
      'not now <!--\n```tool_call a.b\n```\n-->\n```tool_call a.c\n```\n',
      [{ server: 'a', tool: 'c', id: undefined }],
    ],
    'the same in a reply': ['# %% assistant\nno <!--\n\n```tool_call a.b\n```\n\n--> more\n', []],
    'a call of chat.md in a comment is not a call': [
      '# %% assistant\nno <!--\n<tool_call>\n<tool_name>a.b</tool_name>\n</tool_call>\n-->\n',
      [],
    ],
    'a comment inside a chat.md call is part of the call': [
      `# %% assistant\n${'<tool_call>\n<tool_name>a.b</tool_name>\n<param name="x">y <!-- z</param>\n</tool_call>\n'.repeat(2)}-->\n`,
      Array(2).fill({ server: 'a', tool: 'b', id: undefined }),
    ],
    'text that is not a comment hides no call': [
      '`a <!--`\n```tool_call a.b\n```\n\\<!-- -->\n',
      [{ server: 'a', tool: 'b', id: undefined }],
    ],
    'an unclosed comment within a line hides no call': [
      'a <!-- b\n```tool_call a.b\n```\n',
      [{ server: 'a', tool: 'b', id: undefined }],
    ],
    'a reply that was cut in code ends its code': [
      '# %% assistant\n```\na <!--\n<!-- filechat:writing a1 -->\n```tool_call a.b\n```\n-->\n',
      [{ server: 'a', tool: 'b', id: undefined }],
    ],
    'a call within a longer fence is not a call': ['````\n```tool_call a.b\n```\n````\n', []],
  };
  // A text without a marker is the user's.
  eachCase(cases, (text, expected) => assert.deepEqual(calls(text), expected));

  it('a user’s call that runs is never in a comment, which would not be sent', () => {
    const piece = fc.constantFrom('<!--', '-->', 'a ', '`', '\\', '\n', '\n\n', '- ', '\n~~~\n', 'CALL');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
        const parts = pieces.map((each, at) =>
          each === 'CALL' ? `\n\`\`\`tool_call a.b c${at}\n\`\`\`\n` : each,
        );
        const body = parts.join('');
        const sent = withoutComments(body);
        for (const { id } of calls(`# %% user\n${body}`))
          assert.ok(sent.includes(`tool_call a.b ${id}\n`), sent);
      }),
      { numRuns: 400 },
    );
  });

  it('a commented call is not a problem', () => {
    assert.deepEqual(parseChat('# %% user\na <!--\n```tool_call x\n```\n-->\n').problems, []);
  });

  it('finds many calls with comments between them', () => {
    const size = 20_000;
    const [turn] = parseChat(`# %% user\n${'a <!-- b --> c\n```tool_call a.b\n```\n'.repeat(size)}`).turns;
    assert.equal(turn?.calls.length, size);
  });

  it('keeps the arguments as they are written', () => {
    const text = '# %% user\r\n```tool_call a.b\r\n{\r\n  "x": 1\r\n}\r\n```\r\n';
    assert.equal(parseChat(text).turns[0]?.calls[0]?.argumentsText, '{\r\n  "x": 1\r\n}\r\n');
  });

  it('marks a call that is cut off', () => {
    assert.deepEqual(closed('# %% assistant\n```tool_call a.b\n{"x": '), [false]);
  });

  it('reports a call without a tool', () => {
    const { problems } = parseChat('# %% user\n```tool_call nodot\n```\n');
    assert.match(problems[0]?.message ?? '', /SERVER\.TOOL/);
  });
});

describe('an incomplete turn', () => {
  const writing = '<!-- filechat:writing a1 -->';
  const cases: Record<string, [text: string, expected: unknown]> = {
    'is being written': [`# %% assistant\na\n${writing}\n`, { kind: 'writing', id: 'a1' }],
    'was interrupted': [
      '# %% assistant\na\n<!-- filechat:interrupted connection lost -->\n',
      { kind: 'interrupted', reason: 'connection lost', inCode: false },
    ],
    'was interrupted in code': [
      '# %% assistant\r\n```\r\n```\r\n<!-- filechat:interrupted code: stopped -->\r\n',
      { kind: 'interrupted', reason: 'stopped', inCode: true },
    ],
    'may have text below its cursor': [`# %% assistant\n${writing}\nme\n`, { kind: 'writing', id: 'a1' }],
    'may have text after its cursor': [`# %% assistant\n${writing} me\n`, { kind: 'writing', id: 'a1' }],
    'ends its code with its cursor': [
      `# %% assistant\n\`\`\`\n${writing}\n# %% user\n`,
      { kind: 'writing', id: 'a1' },
    ],
    'has its cursor at column 0': [`# %% assistant\n ${writing}\n\\${writing}\n`, undefined],
    'can only be an assistant turn': [`# %% user\n${writing}\n`, undefined],
  };
  eachCase(cases, (text, expected) => assert.deepEqual(parseChat(text).turns[0]?.cut, expected));

  it('leaves the turn after its open code a turn', () => {
    const open = (role: string) => `# %% ${role}\n\`\`\`\na\n${writing}\n\n# %% user\nb\n`;
    assert.deepEqual(roles(open('assistant')), ['assistant', 'user']);
    assert.deepEqual(roles(open('tool a.b c1')), ['tool'], 'a tool cannot do that');
  });

  it('contains no complete call where a call is cut', () => {
    assert.deepEqual(closed(`# %% assistant\n\`\`\`tool_call a.b c1\n{"x"\n${writing}\n`), [false]);
  });
});

it('never throws, whatever the text', () => {
  fc.assert(
    fc.property(fc.string({ unit: anySign }), (text) => {
      for (const turn of parseChat(text).turns) turnBody(text, turn);
    }),
  );
});

describe('reading a chat while it is edited', () => {
  it('equals a full parse after any edits', () => {
    fc.assert(
      fc.property(anyChat, anyEdits, (start, edits) => {
        const reader = new ChatReader();
        let now = start;
        assert.deepEqual(reader.read(now), parseChat(now));
        for (const edit of edits) {
          now = editText(now, edit);
          assert.deepEqual(reader.read(now), parseChat(now), JSON.stringify(now));
        }
      }),
      { numRuns: 300 },
    );
  });

  it('keeps the turns before the edit as they are', () => {
    const reader = new ChatReader();
    const before = reader.read('# %% user\na\n# %% assistant\nb\n# %% user\nc\n');
    const after = reader.read('# %% user\na\n# %% assistant\nb\n# %% user\ncd\n');
    assert.equal(after.turns[0], before.turns[0]);
    assert.equal(after.turns[1], before.turns[1]);
    assert.notEqual(after.turns[2], before.turns[2]);
  });

  it('front matter may be closed by an edit far below', () => {
    const reader = new ChatReader();
    reader.read('---\n# %% user\na\n# %% user\nb\n');
    const text = '---\n# %% user\na\n# %% user\nb\n---\n# %% user\n';
    assert.deepEqual(reader.read(text), parseChat(text));
  });

  it('gives the same chat for the same text', () => {
    const reader = new ChatReader();
    assert.equal(reader.read('# %% user\na\n'), reader.read('# %% user\na\n'));
  });
});
