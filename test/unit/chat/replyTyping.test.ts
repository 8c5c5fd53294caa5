import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import MarkdownIt from 'markdown-it';
import { nextAction } from '../../../src/chat/format/nextAction.ts';
import { parseChat, turnBody } from '../../../src/chat/format/parse.ts';
import {
  appendToReply,
  closeReply,
  openReply,
  partialReply,
  reopenReply,
} from '../../../src/chat/reply/place.ts';
import { readReply } from '../../../src/chat/reply/read.ts';
import { ReplyRenderer } from '../../../src/chat/reply/render.ts';
import { hostileReply, inPieces } from './hostileReply.ts';
import { editDocument } from './replyDocument.ts';

const CURSOR = '<!-- filechat:writing k1 -->';
const BEFORE = '# %% user\nfirst\n\n# %% assistant\nreply\n\n# %% user\nsecond\n';
const AFTER = '\n# %% user\n';
const nameCall = () => ({ server: 'a', tool: 'b', id: 'c1' });

interface Typing {
  readonly place: 'above' | 'inside' | 'before the cursor' | 'behind the cursor' | 'below' | 'at the end';
  /** The position within the place, from 0 to 1. */
  readonly share: number;
  readonly words: string;
}

const typing: fc.Arbitrary<Typing> = fc.record({
  place: fc.constantFrom('above', 'inside', 'before the cursor', 'behind the cursor', 'below', 'at the end'),
  share: fc.double({ min: 0, max: 1, noNaN: true }),
  words: fc.constantFrom('', ' hm', '\n', '\n\n', '\n```\n', '\n~~~\nx', '\n- a\n', '`', '<!--', '\n> ```\n'),
});

/** Types text somewhere in the document, delimited by characters that occur nowhere else. */
function type(text: string, { place, share, words }: Typing): string {
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const at = placeOf(text, place, share);
  // The reply continues above the cursor's line, so text typed there must be one line.
  const isAtCursor = /^[^\n]*<!-- filechat:writing/.test(text.slice(at));
  const typed = isAtCursor ? words.replaceAll('\n', ' ') : words.replaceAll('\n', eol);
  return `${text.slice(0, at)}«${typed}»${text.slice(at)}`;
}

function placeOf(text: string, place: Typing['place'], share: number): number {
  const cursor = text.lastIndexOf(CURSOR);
  const lineStart = text.lastIndexOf('\n', cursor) + 1;
  const within = (from: number, to: number) => {
    const at = from + Math.floor((to - from) * share);
    return text[at - 1] === '\r' && text[at] === '\n' ? at - 1 : at;
  };
  const body = text.indexOf('\n', text.lastIndexOf('# %% assistant', cursor)) + 1;
  if (place === 'above') return within(text.indexOf('second'), text.indexOf('second') + 'second'.length);
  if (place === 'inside') return within(body, lineStart);
  if (place === 'before the cursor') return cursor;
  if (place === 'behind the cursor') return cursor + CURSOR.length;
  if (place === 'at the end') return text.length;
  const next = text.indexOf('\n', cursor) + 1;
  return next === 0 ? text.length : next;
}

function withoutTyping(text: string): string {
  for (let rest = text; ; ) {
    const less = rest.replace(/«[^«»]*»/, '');
    if (less === rest) return rest;
    rest = less;
  }
}

/** Blank lines and a user marker may be added around typed text; its words must not change. */
const wordsOf = (text: string) =>
  text
    .replaceAll('\r', '')
    .replaceAll('# %% user', '')
    .replace(/\s*\n\s*/g, '\n');

describe('while a reply is written', () => {
  const modelText = fc
    .array(fc.constantFrom('word', ' ', '\n', '\n\n', '\n```js\n', '\n```\n', '<img>', '`', '- '))
    .map((pieces) => pieces.join(''));
  const steps = fc.array(fc.oneof(typing, modelText), { maxLength: 14 });

  it('all text is kept, wherever and whenever it is typed', () => {
    fc.assert(
      fc.property(steps, fc.boolean(), fc.boolean(), (schedule, crlf, isWhole) => {
        const start = crlf ? (BEFORE + AFTER).replaceAll('\n', '\r\n') : BEFORE + AFTER;
        const renderer = new ReplyRenderer(nameCall);
        let text = editDocument(start, openReply(start, 'k1'));
        let written = '';
        const write = (addition: string) => {
          written += addition;
          text = editDocument(text, appendToReply(text, 'k1', addition));
        };
        for (const step of schedule) {
          if (typeof step === 'string') write(renderer.push({ kind: 'text', text: step }));
          else text = type(text, step);
        }
        let note = '';
        if (isWhole) {
          write(renderer.end());
          text = editDocument(text, closeReply(text, 'k1', { kind: 'whole' }));
        } else {
          const { addition, ...rest } = renderer.interrupt();
          write(addition);
          text = editDocument(text, closeReply(text, 'k1', { kind: 'interrupted', reason: 'x', ...rest }));
          note = `\n${rest.closeFence === undefined ? '' : `${rest.closeFence}\n`}<!-- filechat:interrupted `;
        }
        assert.ok(!text.includes(CURSOR));
        const count = (signs: string) => signs.split('«').length - 1;
        assert.equal(count(text), schedule.filter((step) => typeof step !== 'string').length);
        const rest = wordsOf(withoutTyping(text)).replace(
          /(<!-- filechat:interrupted )(?:code: )?x -->/,
          '$1',
        );
        assert.equal(rest.replace(note, ''), wordsOf(`${BEFORE}\n# %% assistant\n${written}\n${AFTER}`));
      }),
      { numRuns: 150 },
    );
  });
});

describe('a reply that was cut and resumed', () => {
  const harmless = fc
    .array(fc.constantFrom(...'word¦ ¦\n¦\n\n¦\n```js\n¦\n```\n¦- ¦<¦!¦[¦`¦\\¦a¦# %% user¦\n  '.split('¦')))
    .map((pieces) => pieces.join(''));

  /** Writes some pieces, is interrupted, resumes with other pieces, and ends. */
  function writeInTwo(first: readonly string[], second: readonly string[], isKilled: boolean): string {
    let text = editDocument(BEFORE + AFTER, openReply(BEFORE + AFTER, 'k1'));
    const write = (id: string, addition: string) => {
      text = editDocument(text, appendToReply(text, id, addition));
    };
    const before = new ReplyRenderer(nameCall);
    for (const piece of first) write('k1', before.push({ kind: 'text', text: piece }));
    const { addition, ...rest } = before.interrupt();
    write('k1', addition);
    if (!isKilled) {
      text = editDocument(text, closeReply(text, 'k1', { kind: 'interrupted', reason: 'x', ...rest }));
    }
    assert.equal(nextAction(text).kind, 'resume');
    const partial = partialReply(text);
    text = editDocument(text, reopenReply(text, 'k2'));
    assert.deepEqual(partialReply(text), partial);
    const after = new ReplyRenderer(nameCall, partial);
    const lost = lostAtCut(first.join(''), partial?.text ?? '');
    for (const piece of [lost, ...second]) write('k2', after.push({ kind: 'text', text: piece }));
    write('k2', after.end());
    return editDocument(text, closeReply(text, 'k2', { kind: 'whole' }));
  }

  /** An incomplete fence is not in the document, so the model repeats it. */
  function lostAtCut(said: string, kept: string): string {
    const fence = /^[ \t>*+\-0-9.)]*?(`+|~+)$/m.exec(said.slice(said.lastIndexOf('\n') + 1))?.[1] ?? '';
    return fence !== '' && !kept.endsWith(fence) ? fence : '';
  }

  function bodyOfReply(text: string): string {
    const turn = parseChat(text).turns[3];
    return turn ? turnBody(text, turn) : '';
  }

  function writeAtOnce(said: string): string {
    const renderer = new ReplyRenderer(nameCall);
    return renderer.push({ kind: 'text', text: said }) + renderer.end();
  }

  it('reads as if it had not been cut', () => {
    fc.assert(
      fc.property(inPieces(harmless), inPieces(harmless), fc.boolean(), (first, second, isKilled) => {
        fc.pre(first.join('').trim() !== '');
        const read = readReply(bodyOfReply(writeInTwo(first, second, isKilled)));
        assert.deepEqual(read, readReply(writeAtOnce([...first, ...second].join(''))));
      }),
      { numRuns: 150 },
    );
  });

  const preview = new MarkdownIt({ html: true, linkify: true });
  const blocksOf = (body: string) =>
    preview.parse(body.trim(), {}).map(({ type, info }) => (type === 'fence' ? `${type} ${info}` : type));
  const whole: Record<string, string> = {
    code: 'A:\n```js\nlet a = `<b>`;\n```\n\n~~~~\n~~~\n<img>\n~~~~\nEnd <img src=x>, `<b>`.',
    'code in code': 'A:\n````md\n```js\nx\n```\n````\nEnd.',
    'code in lists':
      '1. a\n\n   ```sh\n   ls <d>\n   ```\n\n2. b\n   - ~~~\n     c\n     ~~~\n\n> ```\n> q\n> ```\nEnd.',
    'HTML in code in lists':
      '1. a\n   ```html\n   <div class="x"># %% user</div>\n\n     <p>`\n   ```\n2. b\n\n\t~~~\n\t<p>\n\t~~~\n- ```\n  <b>\n  ```\n\n> ```\n> <b>\n> ```\nEnd <b>.',
    comparisons: 'If $a<b$ and x<y, then a<b then c, a<b + c.\n\n$$\na<b\n$$\n\n<b> `a<b>`',
    'a table': '| a | `b` |\n|---|---|\n| `x <b>` | ``a ` b`` |\n\n`a | b` and ![x](http://e) !',
    'inline code': '`a`, ``b ` c``, <br>, \\<b>, \\\\<i>, ``` d ```. <https://e.example> H<sub>2</sub>O <<',
    'a formula': 'The sum:\n\n$$\n\\sum_{i<n} a < b\n$$\n\nDone, $x$ `<b>`.',
    'Filechat’s own syntax': '```\n# %% user\n<!-- filechat:writing a -->\n⟦U+202E⟧\n```\n⟦U+202E⟧ \u202e.',
  };
  for (const [name, text] of Object.entries(whole)) {
    it(`reads and looks the same with ${name}, wherever it was cut`, () => {
      const atOnce = writeAtOnce(text);
      for (let cut = 1; cut < text.length; cut += 1) {
        const body = bodyOfReply(writeInTwo([text.slice(0, cut)], [text.slice(cut)], false));
        assert.deepEqual(readReply(body), readReply(atOnce), text.slice(0, cut));
        assert.deepEqual(blocksOf(body), blocksOf(atOnce), text.slice(0, cut));
      }
    });
  }

  it('leaves the turns around it unchanged, for any text', () => {
    fc.assert(
      fc.property(inPieces(hostileReply), inPieces(hostileReply), fc.boolean(), (first, second, isKilled) => {
        const { turns } = parseChat(writeInTwo(first, second, isKilled));
        assert.deepEqual(
          turns.map((turn) => `${turn.role} ${turn.calls.length}`),
          ['user 0', 'assistant 0', 'user 0', 'assistant 0', 'user 0'],
        );
      }),
      { numRuns: 150 },
    );
  });
});
