import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { InlineReasoning, type ReadEvent } from '../../../../src/chat/reply/incoming.ts';
import { ReplyRenderer } from '../../../../src/chat/reply/render.ts';

const PIECES = 100_000;
const SPACE = ' '.repeat(20);

function readInline(pieces: Iterable<string>): readonly ReadEvent[] {
  const reader = new InlineReasoning(true);
  const events = [...pieces].flatMap((text) => reader.read({ kind: 'text', text }));
  return [...events, ...reader.end()];
}

// Each piece was read together with all white space before it, which took minutes.
describe('white space in many pieces', () => {
  const render = (kind: 'text' | 'reasoning', first: string) => {
    const renderer = new ReplyRenderer(() => ({ server: 'a', tool: 'b', id: 'c1' }));
    const pieces = [first, ...Array.from({ length: PIECES }, () => SPACE), 'b'];
    return pieces.map((text) => renderer.push({ kind, text })).join('') + renderer.end();
  };

  it('in a text', () => assert.equal(render('text', 'a'), `a${SPACE.repeat(PIECES)}b`));
  it('before a text', () => assert.equal(render('text', ' '), ` ${SPACE.repeat(PIECES)}b`));
  it('in reasoning', () => assert.ok(render('reasoning', 'a\n').includes(`\n${SPACE.repeat(PIECES)}b`)));

  it('before a text that may begin with reasoning', () => {
    const events = readInline([...Array.from({ length: PIECES }, () => SPACE), 'b']);
    assert.deepEqual(events, [{ kind: 'text', text: `${SPACE.repeat(PIECES)}b` }]);
  });

  it('in reasoning that is written as text', () => {
    const events = readInline(['<think>a', ...Array.from({ length: PIECES }, () => SPACE), 'b</think>c']);
    assert.deepEqual(events, [
      { kind: 'reasoning', text: 'a' },
      { kind: 'reasoning', text: `${SPACE.repeat(PIECES)}b` },
      { kind: 'text', text: 'c' },
    ]);
  });

  it('in one piece before the first line of a text', () => {
    const renderer = new ReplyRenderer(() => ({ server: 'a', tool: 'b', id: 'c1' }));
    const text = `${' '.repeat(1_000_000)}\n  b`;
    assert.equal(renderer.push({ kind: 'text', text }) + renderer.end(), '  b');
  });
});

describe('a closing tag of reasoning without an opening one', () => {
  it('in code is text', () => {
    const text = '```\n</think>\n';
    assert.deepEqual(readInline([text]), [{ kind: 'text', text }]);
  });

  it('is looked for in the text before it, but not for thousands in code', () => {
    const text = `\`\`\`\n${'</think>\n'.repeat(100_000)}`;
    assert.deepEqual(readInline([text]), [{ kind: 'text', text }]);
  });
});
