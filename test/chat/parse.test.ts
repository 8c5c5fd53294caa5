import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parseChat, turnBody } from '../../src/chat/parse.ts';

const roles = (text: string) => parseChat(text).turns.map((turn) => turn.role);
const calls = (text: string) =>
  parseChat(text).turns.flatMap((turn) => turn.calls.map(({ server, tool, id }) => ({ server, tool, id })));

describe('turns', () => {
  const cases: Record<string, [text: string, expected: string[]]> = {
    'an empty file has no turn': ['', []],
    'markers begin turns, in any case': [
      '# %% SYSTEM\na\n# %% User\nb\n# %% assistant\n',
      ['system', 'user', 'assistant'],
    ],
    'words may follow the role': ['# %% user at noon\nhi\n# %% tool a.b c1\nx\n', ['user', 'tool']],
    'lines may end in CRLF': ['# %% user\r\nhi\r\n# %% assistant\r\nho\r\n', ['user', 'assistant']],
    'the tool turns of chat.md are tool turns': ['# %% user\n# %% tool_execute\n', ['user', 'tool']],
    'text above the first marker is the user’s': ['hello\n# %% assistant\n', ['user', 'assistant']],
    'front matter is not a turn': ['---\nmodel: x\n---\n# %% user\n', ['user']],
    'front matter with a marker in it is still front matter': [
      '---\n# %% user\n---\n# %% assistant\n',
      ['assistant'],
    ],
    'a rule in the middle is not front matter': ['# %% user\n---\na\n---\n', ['user']],
    'a marker needs column 0': ['# %% user\n # %% assistant\n', ['user']],
    'another word is no role': ['# %% user\n# %% robot\n# %% users\n', ['user']],
    'a marker in a fence is code': ['# %% user\n```\n# %% assistant\n```\n', ['user']],
    'a marker in a tilde fence is code': [
      '# %% user\n~~~~md\n# %% assistant\n~~~\n# %% tool\n~~~~\n',
      ['user'],
    ],
    'a shorter fence does not close': ['# %% user\n````\n```\n# %% assistant\n````\n', ['user']],
    'inline code is no fence': ['# %% user\n```x``` y\n# %% assistant\n', ['user', 'assistant']],
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
    'a long row of list marks takes no time': [
      `# %% user\n${'- '.repeat(5000)}x \`\`\`\n# %% assistant\n`,
      ['user', 'assistant'],
    ],
    'a fence in a list in a quote hides nothing': [
      '# %% user\n> - ```\n# %% assistant\n',
      ['user', 'assistant'],
    ],
    'a fence in a comment is no fence': [
      '# %% user\n<!--\n```\n-->\n# %% assistant\n',
      ['user', 'assistant'],
    ],
    'a comment that is never closed ends with its turn': [
      '# %% user\n<!-- a\n# %% assistant\n',
      ['user', 'assistant'],
    ],
  };
  for (const [name, [text, expected]] of Object.entries(cases)) {
    it(name, () => assert.deepEqual(roles(text), expected));
  }

  it('covers the whole text without gaps', () => {
    const line = fc.constantFrom(
      '# %% user',
      '# %% tool a.b c1',
      '```',
      '~~~',
      'x',
      '',
      '---',
      '<!--',
      '- ```',
      '# %% assistant x',
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

  it('says so when a fence is never closed', () => {
    const { problems } = parseChat('# %% user\n```\n# %% assistant\n');
    assert.deepEqual(
      problems.map((problem) => problem.message),
      ['A code fence in this turn is never closed.'],
    );
  });
});

describe('tool calls', () => {
  const cases: Record<
    string,
    [text: string, expected: { server: string; tool: string; id: string | undefined }[]]
  > = {
    'the first dot divides server and tool': [
      '# %% user\n```tool_call a-1.b.c d2\n{}\n```\n',
      [{ server: 'a-1', tool: 'b.c', id: 'd2' }],
    ],
    'the id may be missing, the body empty': [
      '# %% user\n```tool_call a.b\n```\n',
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
      '# %% user\n```tool_call a.b%20c%60 1\n```\n',
      [{ server: 'a', tool: 'b c`', id: '1' }],
    ],
    'a tool’s text holds none': ['# %% tool a.b c1\n```tool_call a.b\n```\n', []],
    'a system turn holds none': ['# %% system\n```tool_call a.b\n```\n', []],
    'a quoted call is none': ['# %% user\n> ```tool_call a.b\n> ```\n', []],
    'a call in a comment is none': ['# %% user\n<!--\n```tool_call a.b\n```\n-->\n', []],
    'a call within a larger fence is none': ['# %% user\n````\n```tool_call a.b\n```\n````\n', []],
  };
  for (const [name, [text, expected]] of Object.entries(cases)) {
    it(name, () => assert.deepEqual(calls(text), expected));
  }

  it('keeps the arguments as they are written', () => {
    const text = '# %% user\r\n```tool_call a.b\r\n{\r\n  "x": 1\r\n}\r\n```\r\n';
    assert.equal(parseChat(text).turns[0]?.calls[0]?.argumentsText, '{\r\n  "x": 1\r\n}\r\n');
  });

  it('marks a call that is cut off', () => {
    const [turn] = parseChat('# %% assistant\n```tool_call a.b\n{"x": ').turns;
    assert.deepEqual(
      turn?.calls.map((call) => call.closed),
      [false],
    );
  });

  it('reports a call without a tool', () => {
    const { problems } = parseChat('# %% user\n```tool_call nodot\n```\n');
    assert.match(problems[0]?.message ?? '', /SERVER\.TOOL/);
  });
});

it('never throws, whatever the text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      for (const turn of parseChat(text).turns) turnBody(text, turn);
    }),
  );
});
