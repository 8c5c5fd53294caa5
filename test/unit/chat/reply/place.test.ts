import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ChatReader, parseChat } from '../../../../src/chat/format/parse.ts';
import {
  appendToReply,
  closeReply,
  openReply,
  partialReply,
  type ReplyOutcome,
  reopenReply,
} from '../../../../src/chat/reply/place.ts';
import type { TextEdit } from '../../../../src/ports/document.ts';
import { editDocument as edit } from '../replyDocument.ts';

const C = '<!-- filechat:writing k1 -->';
const TICKS = '````';

/** A text without a marker is the body of a reply. */
const inReply = (text: string) => (text.startsWith('# %%') ? text : `# %% assistant\n${text}`);

function check(
  cases: Record<string, [before: string, after: string]>,
  compute: (text: string) => TextEdit | undefined,
): void {
  for (const [name, texts] of Object.entries(cases)) {
    const [before = '', after = ''] = texts.map(inReply);
    it(name, () => assert.equal(edit(before, compute(before)), after));
    it(`${name}, with CRLF`, () => {
      const dos = (text: string) => text.replaceAll('\n', '\r\n');
      assert.equal(edit(dos(before), compute(dos(before))), dos(after));
    });
  }
}

describe('a reply begins', () => {
  check(
    {
      'after the question': ['# %% user\nhi\n', `# %% user\nhi\n\n# %% assistant\n${C}\n`],
      'after a question without a line end': [
        '# %% user\nhi\nho',
        `# %% user\nhi\nho\n\n# %% assistant\n${C}\n`,
      ],
      'in the empty turn that waits for it': ['# %% assistant\n\n\n', `# %% assistant\n${C}\n`],
      'before the empty turn that waits for the user': [
        '# %% user\nhi\n\n# %% user\n',
        `# %% user\nhi\n\n# %% assistant\n${C}\n\n# %% user\n`,
      ],
      'in an empty turn before that of the user': [
        '# %% assistant\n\n# %% user\n',
        `# %% assistant\n${C}\n\n# %% user\n`,
      ],
      'after the results of the last calls': [
        '# %% assistant\n```tool_call a.b c1\n```\n\n# %% tool a.b c1\nx\n\n# %% user\n\n',
        `# %% assistant\n\`\`\`tool_call a.b c1\n\`\`\`\n\n# %% tool a.b c1\nx\n\n# %% assistant\n${C}\n\n# %% user\n\n`,
      ],
    },
    (text) => openReply(text, 'k1'),
  );

  it('not in code that is still open', () => assert.equal(openReply('# %% user\n```\n', 'k1'), undefined));
});

describe('a reply continues', () => {
  check(
    {
      'below its marker': [`${C}\n`, `X\n${C}\n`],
      'in the middle of a word': [`ab\n${C}\n`, `abX\n${C}\n`],
      'on a new line': [`ab\n\n${C}\n`, `ab\nX\n${C}\n`],
      'above text typed on the cursor’s line': [`ab\nme${C}too\n`, `abX\nme${C}too\n`],
      'while the user types a fence in the turn above': [
        `# %% user\n\`\`\`\n\n# %% assistant\n${C}\n`,
        `# %% user\n\`\`\`\n\n# %% assistant\nX\n${C}\n`,
      ],
      'after code that looks like a marker': [`\`\`\`\n# %% user\n${C}\n`, `\`\`\`\n# %% userX\n${C}\n`],
    },
    (text) => appendToReply(text, 'k1', 'X'),
  );

  it('with an incremental parser', () => {
    const text = `# %% user\nhi\n\n# %% assistant\nab\n${C}\n`;
    const reader = new ChatReader();
    const read: string[] = [];
    const readAgain = (above: string) => {
      read.push(above);
      return reader.read(above);
    };
    const ending: ReplyOutcome = { kind: 'whole' };
    assert.deepEqual(appendToReply(text, 'k1', 'X', readAgain), appendToReply(text, 'k1', 'X'));
    assert.deepEqual(closeReply(text, 'k1', ending, readAgain), closeReply(text, 'k1', ending));
    assert.deepEqual(read, Array(2).fill(text.slice(0, text.indexOf(C))));
  });

  for (const [name, text] of Object.entries({
    'when its cursor is gone': '# %% assistant\nab\n',
    'when its cursor is another’s': '# %% assistant\n<!-- filechat:writing k2 -->\n',
    'when its cursor is in a turn of the user': `# %% user\n${C}\n`,
  })) {
    it(`no more ${name}`, () => {
      assert.equal(appendToReply(text, 'k1', 'X'), undefined);
      assert.equal(closeReply(text, 'k1', { kind: 'whole' }), undefined);
    });
  }
});

describe('a complete reply', () => {
  check(
    {
      'has no cursor': [`ab\n${C}\n`, 'ab\n'],
      'has one blank line after it': [`ab\n\n\n${C}\n\n\n\n# %% user\n`, 'ab\n\n# %% user\n'],
      'without text is an empty turn': [`${C}\n`, '# %% assistant\n'],
      'leaves text typed below it to the user': [`ab\n${C}\n  me`, 'ab\n\n# %% user\n  me'],
      'leaves text typed after its cursor to the user': [`ab\n${C}me\n`, 'ab\n\n# %% user\nme\n'],
      'keeps text typed beside its cursor': [`ab\nme${C}too\n`, 'ab\nmetoo\n'],
    },
    (text) => closeReply(text, 'k1', { kind: 'whole' }),
  );
});

describe('an interrupted reply', () => {
  const N = '<!-- filechat:interrupted stopped -->';
  const ending = { kind: 'interrupted', reason: 'stopped' } as const;
  check(
    {
      'gets a note': [`ab\n${C}\n`, `ab\n${N}\n`],
      'keeps the end of its text': [`ab\n\n\n${C}\n\n# %% user\n`, `ab\n\n\n${N}\n\n# %% user\n`],
      'has its note on a line of its own': [`ab\nme${C}too\n`, `ab\nme\n${N}\ntoo\n`],
    },
    (text) => closeReply(text, 'k1', ending),
  );
  check(
    {
      'has its code closed': [
        `\`\`\`\na\n\n${C}\n`,
        `\`\`\`\na\n\n\`\`\`\n${N.replace('stopped', 'code: stopped')}\n`,
      ],
    },
    (text) => closeReply(text, 'k1', { ...ending, closeFence: '```' }),
  );

  it('gives a reason that stays in its comment', () => {
    const text = `# %% assistant\n${C}\n`;
    const bad: ReplyOutcome = { kind: 'interrupted', reason: 'a --> <b>\n# %% user' };
    const turns = parseChat(edit(text, closeReply(text, 'k1', bad))).turns;
    assert.deepEqual(
      turns.map((turn) => turn.cut),
      [{ kind: 'interrupted', reason: 'a b # %% user', inCode: false }],
    );
  });
});

describe('a cut reply is opened again', () => {
  const note = (words = 'stopped') => `<!-- filechat:interrupted ${words} -->`;
  check(
    {
      'where it was cut': [`ab\n${note()}\n`, `ab\n${C}\n`],
      'in its code': [`\`\`\`\na\n\`\`\`\n${note('code: stopped')}\n`, `\`\`\`\na\n${C}\n`],
      'without its partial calls': [
        `ab\n\n\`\`\`tool_call_partial x\n{\n\`\`\`\n\n\`\`\`tool_call_partial y\n\`\`\`\n${note()}\n`,
        `ab\n${C}\n`,
      ],
      'in its code, without its partial call': [
        `~~~\na\n~~~\n<!-- filechat:closed 1 -->\n\n\`\`\`tool_call_partial x\n\`\`\`\n${note()}\n`,
        `~~~\na\n${C}\n`,
      ],
      'in its formula': [
        `$$\na\n$$ $$\n<!-- filechat:closed 1 -->\n${note('code: stopped')}\n`,
        `$$\na\n${C}\n`,
      ],
      'in its list': [
        `- ~~~\n  a\n~~~~end\n~~~~\n<!-- filechat:closed 2 -->\n${note('code: stopped')}\n`,
        `- ~~~\n  a\n${C}\n`,
      ],
      'with everything typed between the lines that close its code': [
        `- ~~~\n  a\n~~~~end\n~~~~\nme\n<!-- filechat:closed 2 -->\n${note('code: stopped')}\n`,
        `- ~~~\n  a\n~~~~end\n~~~~\nme\n${C}\n`,
      ],
      'where an editor was killed': [
        'ab\n<!-- filechat:writing old -->\n\n# %% user\n',
        `ab\n${C}\n\n# %% user\n`,
      ],
      'with nothing in it': [`${note()}\n`, `${C}\n`],
      'above text typed below': [`ab\n${note()}\nme\n`, `ab\n${C}\nme\n`],
    },
    (text) => reopenReply(text, 'k1'),
  );

  it('unless it is complete', () => assert.equal(reopenReply('# %% assistant\nab\n', 'k1'), undefined));
});

describe('reading an interrupted reply', () => {
  const cases: Record<string, [body: string, text: string, endsInCode: boolean]> = {
    'is its text to the last character': ['a <b \\<img>\n\n', 'a <b <img>\n\n', false],
    'is without reasoning and calls': [
      `<details><summary>Reasoning</summary>\n\n${TICKS}reasoning\nhm\n${TICKS}\n\n</details>\n\na\n\n\`\`\`tool_call a.b c1\n\`\`\`\n\nb`,
      'a\n\nb',
      false,
    ],
    'may end in code': ['a\n```js\nb', 'a\n```js\nb', true],
    'may be empty': ['', '', false],
  };
  for (const [name, [body, text, endsInCode]] of Object.entries(cases)) {
    it(name, () => {
      const partial = partialReply(`# %% user\nhi\n\n# %% assistant\n${body}\n${C}\n`);
      assert.deepEqual([partial?.text, partial?.endsInCode], [text, endsInCode]);
    });
  }

  it('does not count if a later turn has text', () => {
    assert.equal(partialReply(`# %% assistant\na\n${C}\n\n# %% user\nhi\n`), undefined);
  });
});
