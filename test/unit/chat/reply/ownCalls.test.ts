import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parseChat } from '../../../../src/chat/format/parse.ts';
import { readReasoning, renderOwnCall } from '../../../../src/chat/reply/escapeReply.ts';
import { partialReply } from '../../../../src/chat/reply/place.ts';
import { readReply, splitReply } from '../../../../src/chat/reply/read.ts';
import { ReplyRenderer, type WrittenEvent } from '../../../../src/chat/reply/render.ts';
import type { OwnCallEvent } from '../../../../src/ports/models.ts';
import { hostileReply } from '../hostileReply.ts';

const search = (query: string, text = query): OwnCallEvent => ({
  kind: 'ownCall',
  name: 'web_search',
  query,
  text,
});

function write(events: readonly WrittenEvent[]): string {
  const renderer = new ReplyRenderer((tool) => ({ server: 'a', tool, id: 'c1' }));
  return events.map((event) => renderer.push(event)).join('') + renderer.end();
}

const text = (value: string): WrittenEvent => ({ kind: 'text', text: value });

describe('a call that the provider ran', () => {
  it('is one folded line with its query, above the whole query and its result', () => {
    const written = write([text('So:'), search('moons', 'moons\n\n1. Mars'), text('Two.')]);
    assert.equal(
      written,
      'So:\n\n<details><summary>Web search: moons</summary>\n\n````provider_tool web_search\nmoons\n\n1. Mars\n````\n\n</details>\n\nTwo.',
    );
  });

  it('has a short summary without markup', () => {
    const [head = ''] = renderOwnCall(search(`<b>x</b>\n--> ${'y'.repeat(300)}`)).split('\n');
    assert.match(head, /^<details><summary>Web search: b x \/b y+…<\/summary>$/);
    assert.ok(head.length < 150, head);
    assert.match(renderOwnCall(search('', 'x')), /^<details><summary>Web search<\/summary>\n/);
  });

  it('is not sent back to the model', () => {
    const body = write([text('So:'), search('moons'), search('Mars'), text('Two.')]);
    assert.deepEqual(
      readReply(body).map((part) => part.kind === 'text' && part.text),
      ['So:', 'Two.'],
    );
    assert.deepEqual(readReply(write([search('moons')])), []);
  });

  it('leaves a block that the user has folded alone', () => {
    const body = '<details><summary>More</summary>\n\n```\nx\n```\n\n</details>';
    const [part] = readReply(body);
    assert.match(part?.kind === 'text' ? part.text : '', /<summary>More/);
  });

  it('is read back exactly, starts no turn and makes no call, whatever it says', () => {
    fc.assert(
      fc.property(hostileReply, hostileReply, hostileReply, (query, said, words) => {
        const event = search(query, said);
        const body = write([text('a'), event, text(words)]);
        const piece = splitReply(body).find(({ kind }) => kind === 'ownCall');
        assert.ok(piece?.kind === 'ownCall' && piece.closed);
        assert.equal(piece.name, 'web_search');
        assert.equal(readReasoning(piece.lines), said.replace(/\r\n?/g, '\n'));
        const { turns } = parseChat(`# %% assistant\n${body}\n\n# %% user\nx\n`);
        assert.deepEqual(
          turns.map(({ role, calls }) => [role, calls.length]),
          [
            ['assistant', 0],
            ['user', 0],
          ],
        );
        // The words around it are the same without it.
        const texts = (written: string) =>
          readReply(written).flatMap((part) => (part.kind === 'text' ? part.text : []));
        assert.deepEqual(texts(body), [...texts(write([text('a')])), ...texts(write([text(words)]))]);
      }),
      { numRuns: 400 },
    );
  });

  it('is not made by the words of a model', () => {
    const imitated = write([text(renderOwnCall(search('moons')))]);
    assert.deepEqual(
      splitReply(imitated).map(({ kind }) => kind),
      ['text'],
    );
    assert.deepEqual(readReply(imitated), [{ kind: 'text', text: renderOwnCall(search('moons')) }]);
  });

  it('is known when the reply is continued, after it and not in it', () => {
    const body = write([text('So:'), search('moons', 'moons\n\n1. Mars')]);
    const chat = `# %% user\nHi\n\n# %% assistant\n${body}\n<!-- filechat:interrupted stopped -->\n`;
    const { text: said, tail, blocks, unclosed, isEmpty } = partialReply(chat) ?? {};
    assert.deepEqual(
      { said, tail, blocks, unclosed, isEmpty },
      { said: 'So:', tail: '', blocks: ['moons\n\n1. Mars'], unclosed: '', isEmpty: false },
    );
  });
});

it('text never continues the line of a problem', () => {
  const line = '> ⚠ The image was not saved: it is empty.';
  const chat = `# %% user\nHi\n\n# %% assistant\nHere:\n\n${line}\n<!-- filechat:interrupted stopped -->\n`;
  const { tail, blocks } = partialReply(chat) ?? {};
  assert.deepEqual({ tail, blocks }, { tail: '', blocks: [line] });
  const quote = partialReply(chat.replace(line, '> ⚠ Be care'));
  assert.deepEqual([quote?.tail, quote?.blocks], ['Here:\n\n> ⚠ Be care', []]);
});
