import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import MarkdownIt from 'markdown-it';
import { parseChat } from '../../../../src/chat/format/parse.ts';
import { escapeReply, ReplyEscaper, unescapeReply } from '../../../../src/chat/reply/escapeReply.ts';
import { eachCase } from '../eachCase.ts';
import { hostileReply, inPieces } from '../hostileReply.ts';
import { newMathPreview } from '../mathPreview.ts';

const normal = (text: string) => text.replace(/\r\n?/g, '\n');

describe('a reply in the document', () => {
  const unchanged: Record<string, string> = {
    'plain text stays': 'Hello, **world**.\n\n- a < b\n- 1 <2\n',
    'in code a marker stays': '```py\n# %% user\n```\n',
    'an image of this chat is shown': '![x](cmdassets/a-1.png)',
    'a harmless tag within a line stays': 'H<sub>2</sub>O<br>x<br/>',
    'an address in brackets stays': '<https://e.example/a>',
    'inline code stays': 'the `<div>` and ``a ` <b>``',
    'code in a table stays': '| a |\n|---|\n| `<div>` |',
    'code with a bar stays': '`Promise<a> | null`',
    'a blank line ends the effect of an open backtick': '`a\n\n`<img>`',
    'code in a list in a list stays':
      '- a\n  1. b\n\n     ```\n     <b>\n       <i>\n     ```\n  2. c\n     - ~~~\n       <b>\n       ~~~\n',
    'code that is further in than its list needs stays':
      '- a\n\n    ```\n    <b>\n    ```\n\n10. a\n    ```\n    <b>\n    ```',
    'code after a bullet stays': '- ```\n  <b>\n  ```\n\n```\n<b>\n```',
    'a comparison that can be no tag stays': '$x<y$, a<b, (a<b) \\frac{a<b}{c} x<y&z 0<a=1',
    'a comparison whose white space ends no tag stays': '$a<b \\le c$, x<y + 1, $a<b c$',
    'a formula has no effect on the text after it': '$$\na < b\n$$\n\n```\n<b>\n```\n',
  };
  for (const [name, text] of Object.entries(unchanged)) {
    it(name, () => {
      assert.equal(escapeReply(text), text);
      assert.equal(unescapeReply(text), text);
    });
  }

  const cases: Record<string, [text: string, written: string]> = {
    'a marker is escaped': ['a\n# %% user\n', 'a\n\\# %% user\n'],
    'in code, only notes of Filechat are changed': [
      '```\n<!-- filechat:writing x -->\n<!-- x -->\n```',
      '```\n\\<!-- filechat:writing x -->\n<!-- x -->\n```',
    ],
    'an image from elsewhere is not loaded': [
      '![x](https://e.example/a.png)',
      '\\![x](https://e.example/a.png)',
    ],
    'a file like those of models, but elsewhere, is not loaded': [
      '![Model generated image 1](x/model-1.png)',
      '\\![Model generated image 1](x/model-1.png)',
    ],
    'a path outside the assets is not loaded': ['![x](cmdassets/../a.png)', '\\![x](cmdassets/../a.png)'],
    'backslashes that are there are doubled': ['\\\\<img src=x>', '\\\\\\\\\\<img src=x>'],
    'HTML is text': ['<img src=x> </p> <!-- x --> <?x', '\\<img src=x> \\</p> \\<!-- x --> \\<?x'],
    'at the beginning of a line no tag stays': ['<sub>2</sub>', '\\<sub>2</sub>'],
    'below code with a bar begins no table': ['`<a> | b`\n|-|-|', '`<a> | b`\n\\|-|-|'],
    'a backtick without a partner makes no code': ['`a\n`<img>` b`', '`a\n`\\<img>` b`'],
    'a bare address swallows no backslash': [
      'http://e.example/<img src=x>',
      'http://e.example/⟦U+003C⟧img src=x>',
    ],
    'a call in the text is escaped': ['```tool_call a.b\n{}\n```', '```\\tool_call a.b\n{}\n```'],
    'code in a list stays': [
      '1. a\n   ```html\n   <div># x</div>\n\n   ![x](y)\n   ```\n2. b\n   ~~~\n   <p>\n   ~~~\nEnd <b>',
      '1. a\n   ```html\n   <div># x</div>\n\n   ![x](y)\n   ```\n2. b\n   ~~~\n   <p>\n   ~~~\nEnd \\<b>',
    ],
    'code after a tab in a list stays': [
      '1. a\n\n\t```\n\t<b>\n\t\t<i>\n    <u>\n\t```\n<b>',
      '1. a\n\n\t```\n\t<b>\n\t\t<i>\n    <u>\n\t```\n\\<b>',
    ],
    'code in a quote stays': [
      '> ```\n> <b>\n>\n> <i>\n> ```\n> <b>',
      '> ```\n> <b>\n>\n> <i>\n> ```\n> \\<b>',
    ],
    'code in a quote ends with the quote': [
      '> ```\n> <b>\n<img src=x onerror=y>',
      '> ```\n> <b>\n\\<img src=x onerror=y>\n````end\n````\n<!-- filechat:closed 2 -->',
    ],
    'code in a list ends with the list': [
      '1. a\n   ```\n   <p>\n<img src=x onerror=y>\n   <p>',
      '1. a\n   ```\n   <p>\n\\<img src=x onerror=y>\n   \\<p>\n````end\n````\n<!-- filechat:closed 2 -->',
    ],
    'code in a list ends where a line is a little less far in': [
      '1. a\n   ```\n  <img src=x>',
      '1. a\n   ```\n  \\<img src=x>\n````end\n````\n<!-- filechat:closed 2 -->',
    ],
    'a marker in a list’s code is escaped, because it would end the code': [
      '- ```\n  # %% user\n# %% user\n',
      '- ```\n  # %% user\n\\# %% user\n\n````end\n````\n<!-- filechat:closed 2 -->',
    ],
    'a paragraph that looks like a list has no code': [
      'a\n2. b\n\n      ```\n      <b>',
      'a\n2. b\n\n      ```\n      \\<b>\n````end\n````\n<!-- filechat:closed 2 -->',
    ],
    'a paragraph that is far in has no code': [
      'a\n    ```\n    <b>\n',
      'a\n    ```\n    \\<b>\n\n````end\n````\n<!-- filechat:closed 2 -->',
    ],
    'a call of another form makes none': ['<tool_call>\nx <tool_name>', '\\<tool_call>\nx \\<tool_name>'],
    'after code in a list that has ended, the paragraph continues': [
      '- ~~~\n`a\n`<img>`',
      '- ~~~\n`a\n`\\<img>`\n~~~~end\n~~~~\n<!-- filechat:closed 2 -->',
    ],
    'code in a list with a call of another form in it makes none': [
      '- ```\n  <tool_call>\n  ```',
      '- ```\n  \\<tool_call>\n  ```',
    ],
    'a comparison that may become a tag is text': [
      'a<b then c\nd> a<b/ a<b> a<b c=d> a<b\n>',
      'a\\<b then c\nd> a\\<b/ a\\<b> a\\<b c=d> a\\<b\n>',
    ],
    'in a formula an empty group replaces the backslash, which would be a command': [
      '$$\na<b\nc <{}d\ne < f\n<p + 1\n$$\na<b\n',
      '$$\na<{}b\nc <{}{}d\ne < f\n<{}p + 1\n$$\na\\<b\n',
    ],
    'at the beginning of a line white space ends a tag': ['<p + c', '\\<p + c'],
    'an address may swallow a backtick': ['<a=`b@e.example>`c`<img>`', '<a=`b@e.example>`c`\\<img>`'],
    'an email address may begin with any sign': [
      '<{}b`@e.example>![a](https://e.example/a.png)`',
      '<{}b`@e.example>\\![a](https://e.example/a.png)`',
    ],
    'a line of other white space ends no paragraph': ['`a\n\u00a0\n`<img>`', '`a\n\u00a0\n`\\<img>`'],
    'code that is left open is closed': ['a\n```js\nb', 'a\n```js\nb\n```\n<!-- filechat:closed 1 -->'],
    'in a formula, no code begins that would continue after it': [
      '$$\n```\n$$\n<img>\n```\n',
      '$$\n```\n$$\n\\<img>\n```\n\n````end\n````\n<!-- filechat:closed 2 -->',
    ],
    'a formula in a list has no effect on the text after it': [
      '1. x\n   $$\n   a<b\n   $$\n\n   ```\n   <b>\n   ```\n2. y\n\n```\n<b>\n```',
      '1. x\n   $$\n   a<{}b\n   $$\n\n   ```\n   <b>\n   ```\n2. y\n\n```\n<b>\n```',
    ],
    'a formula that is left open is closed': ['$$\na', '$$\na\n$$ $$\n<!-- filechat:closed 1 -->'],
    'invisible characters are shown': ['a\u202eb', 'a⟦U+202E⟧b'],
    'line ends become one': ['a\r\nb\rc', 'a\nb\nc'],
  };
  eachCase(cases, (text, written) => {
    assert.equal(escapeReply(text), written);
    assert.equal(unescapeReply(written), normal(text));
  });
});

describe('a reply that was cut anywhere', () => {
  const cases: Record<string, string> = {
    'in a spelling that the model wrote itself': 'a ⟦U+202E⟧ b',
    'in such a spelling in code': '```\na ⟦U+202E⟧ b',
    'between characters that are escaped': 'a <<b ![[x] \\<',
    'in comparisons': 'a<b then c, a<b + c <a=b',
    'in a formula': '$$\na<b then\n<{}b\n<{}{ <b>\n$$',
    'in code in a list': '1. a\n   ```\n   <p>\n\n     <b>\n   ```\n2. <b>\n\n> ```\n> <b>\n> ```',
    'after backslashes': 'a \\\\<b \\!\n\\<\nb',
  };
  for (const [name, text] of Object.entries(cases)) {
    it(`reads back exactly, ${name}`, () => {
      for (let at = 1; at < text.length; at += 1) {
        const escaper = new ReplyEscaper();
        const given = escaper.push(text.slice(0, at));
        // A killed editor has written only this much.
        assert.ok(text.startsWith(unescapeReply(given)), given);
        const written = given + escaper.flush() + escaper.push(text.slice(at)) + escaper.end();
        assert.equal(unescapeReply(written), text, written);
      }
    });
  }
});

describe('any text of a model', () => {
  it('is read back exactly', () => {
    fc.assert(
      fc.property(hostileReply, (text) => assert.equal(unescapeReply(escapeReply(text)), normal(text))),
      { numRuns: 200 },
    );
  });

  it('is read back exactly from a file with CRLF', () => {
    fc.assert(
      fc.property(hostileReply, (text) => {
        assert.equal(unescapeReply(escapeReply(text).replaceAll('\n', '\r\n')), normal(text));
      }),
    );
  });

  it('is written the same however it is cut', () => {
    fc.assert(
      fc.property(inPieces(hostileReply), (pieces) => {
        const escaper = new ReplyEscaper();
        const written = pieces.map((piece) => escaper.push(piece)).join('') + escaper.end();
        assert.equal(written, escapeReply(pieces.join('')));
      }),
      { numRuns: 150 },
    );
  });

  it('is written the same in tokens as at once, also on a line of any length, which is not read for each token', () => {
    const text = `${'a <b> ![c](d) `e` *f* '.repeat(2000)}\n\`\`\`\n${'<p> '.repeat(5000)}\n\`\`\`\n<b>`;
    const tokens = text.match(/.{1,3}/gs) ?? [];
    const escaper = new ReplyEscaper();
    const pieces = [...tokens.map((token) => escaper.push(token)), escaper.end()];
    assert.equal(pieces.join(''), escapeReply(text));
    assert.ok(pieces.filter((piece) => piece !== '').length < tokens.length / 4);
  });

  for (const end of ['', '\n<!-- filechat:interrupted stopped -->', '\n<!-- filechat:writing a1 -->']) {
    it(`leaves the turns and calls of the chat as they were${end && `, before ${end.trim()}`}`, () => {
      fc.assert(
        fc.property(hostileReply, (text) => {
          const chat = parseChat(
            `# %% user\nhi\n\n# %% assistant\n${escapeReply(text)}${end}\n\n# %% user\nbye\n`,
          );
          assert.deepEqual(
            chat.turns.map((turn) => turn.role),
            ['user', 'assistant', 'user'],
          );
          assert.deepEqual(
            chat.turns.flatMap((turn) => turn.calls),
            [],
          );
        }),
        { numRuns: 150 },
      );
    });
  }

  for (const [name, preview] of Object.entries({
    'a preview': new MarkdownIt({ html: true, linkify: true }),
    'a preview with formulas': newMathPreview(),
  })) {
    it(`makes ${name} load and hide nothing, and leaves it outside of code, even if it was cut and continued`, () => {
      fc.assert(
        fc.property(hostileReply, hostileReply, fc.boolean(), (first, second, isCut) => {
          const escaper = new ReplyEscaper();
          const begun = escaper.push(first) + (isCut ? escaper.flush() : '');
          const third = begun + escaper.push(second) + escaper.end();
          const written = [escapeReply(first), third, escapeReply(second), 'bye'].join('\n\n# %% user\n\n');
          const tokens = preview.parse(written, {}).flatMap((token) => [token, ...(token.children ?? [])]);
          for (const token of tokens) {
            if (token.type === 'html_inline')
              assert.match(token.content, /^<(br ?\/?|\/?(kbd|mark|sub|sup))>$/i);
            if (token.type === 'html_block') assert.match(token.content, /^<!-- filechat:closed \d -->\n?$/);
            if (token.type === 'image') assert.match(String(token.attrGet('src')), /^cmdassets\/[\w.-]+$/);
          }
          assert.ok(
            tokens.filter((token) => token.type === 'inline' && token.content === '%% user').length >= 3,
          );
        }),
        { numRuns: 150 },
      );
    });
  }
});

describe('a line of many signs that could begin a fence', () => {
  for (const sign of ['~', '`']) {
    it(`${sign} is written the same in pieces as in one`, () => {
      const text = `${sign.repeat(200_000)}a ${sign.repeat(2_000)}\nb`;
      const escaper = new ReplyEscaper();
      let written = '';
      for (let at = 0; at < text.length; at += 50) written += escaper.push(text.slice(at, at + 50));
      assert.ok(written + escaper.end() === escapeReply(text));
    });
  }
});
