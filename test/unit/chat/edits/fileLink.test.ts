import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { newChat } from '../../../../src/chat/edits/append.ts';
import { quoteDiff, quoteLines, quoteProblems, quoteTerminal } from '../../../../src/chat/edits/fileLink.ts';
import { localLinks } from '../../../../src/chat/format/links.ts';
import { parseChat } from '../../../../src/chat/format/parse.ts';
import { titleFor } from '../../../../src/chat/outline/title.ts';

const place = { file: 'src/a.ts', firstLine: 3, lastLine: 4, language: 'typescript' };

describe('a selection at the start of a chat', () => {
  it('is code with its file and its lines, ready for a question', () => {
    assert.equal(
      newChat(quoteLines({ ...place, text: 'let a;\nlet b;' })),
      '# %% user\n`src/a.ts`, lines 3–4:\n\n```typescript\nlet a;\nlet b;\n```\n\n',
    );
    assert.match(quoteLines({ ...place, lastLine: 3, text: 'x' }), /^`src\/a\.ts`, line 3:/);
  });

  it('is never a call or reasoning, for any language', () => {
    for (const language of ['tool_call', 'tool_call a.b', 'reasoning', 'a`b', '']) {
      assert.match(quoteLines({ ...place, language, text: 'x' }), /\n```text\n/);
    }
  });

  it('starts no turn, makes no call and links to nothing, for any selection', () => {
    const line = fc.constantFrom(
      ...'# %% assistant¦```tool_call a.b¦```¦`````¦~~~¦{}¦<!--¦-->¦[a](b.txt)¦---¦> ```¦`'.split('¦'),
    );
    const file = fc.constantFrom('a.ts', 'a`b``.ts', '`', '[a](b.md)', '<!--', 'a\n# %% user');
    fc.assert(
      fc.property(
        fc.array(line, { minLength: 1, maxLength: 12 }),
        file,
        fc.boolean(),
        (lines, name, crlf) => {
          const text = lines.join(crlf ? '\r\n' : '\n');
          const chat = newChat(`${quoteLines({ ...place, file: name, text })}What is it?\n`);
          const { turns, endsInFence } = parseChat(chat);
          assert.deepEqual(
            turns.map(({ role, calls }) => [role, calls.length]),
            [['user', 0]],
          );
          assert.equal(endsInFence, false);
          assert.deepEqual(localLinks(chat), []);
          assert.ok(chat.includes(text));
        },
      ),
    );
  });
});

describe('what the editor shows, copied into a chat', () => {
  it('problems are one line each, with their places', () => {
    const problem = { line: 3, column: 5, severity: 'error', message: 'Not\n  assignable.' };
    assert.equal(
      quoteProblems('src/a.ts', [{ ...problem, source: 'ts 2322' }, problem]),
      '`src/a.ts`, problems:\n\n```text\n3:5 error: Not assignable. (ts 2322)\n3:5 error: Not assignable.\n```\n\n',
    );
    assert.match(quoteProblems('a', Array(120).fill(problem)), /\n\(and 20 more\)\n```\n\n$/);
  });

  it('the output of a terminal is its text, as it stands in the end', () => {
    const output = '\u001b]633;C\u0007\u001b[31mone\u001b[0m\r\n10 %\r50 %\r100 %\r\nbell\u0007\r\n';
    assert.equal(
      quoteTerminal({ command: 'npm test', output, exitCode: 1 }),
      '`npm test`, output, exit code 1:\n\n```text\none\n100 %\nbell\n```\n\n',
    );
    assert.match(quoteTerminal({ command: 'x', output: '' }), /^`x`, output:/);
  });

  it('a long output keeps its end, and a long diff its beginning', () => {
    const long = `first${'.'.repeat(60_000)}last`;
    const output = quoteTerminal({ command: 'x', output: long });
    assert.match(output, /\[Cut: these are the last 50000 of 60009 characters\.\]\n\.+last\n```/);
    assert.match(
      quoteDiff(long),
      /```diff\nfirst\.+\n\[Cut: these are the first 50000 of 60009 characters\.\]/,
    );
  });

  it('is not the title of the chat', () => {
    const chat = newChat(`${quoteDiff('+a')}Review this.\n`);
    assert.equal(titleFor(chat), 'Review this.');
  });
});
