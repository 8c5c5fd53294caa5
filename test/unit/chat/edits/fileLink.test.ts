import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { newChat } from '../../../../src/chat/edits/append.ts';
import { quoteLines } from '../../../../src/chat/edits/fileLink.ts';
import { localLinks } from '../../../../src/chat/format/links.ts';
import { parseChat } from '../../../../src/chat/format/parse.ts';

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
