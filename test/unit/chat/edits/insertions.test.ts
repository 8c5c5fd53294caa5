import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { appendTurns, insertIntoUserTurn, type NewTurn } from '../../../../src/chat/edits/append.ts';
import { localLinks } from '../../../../src/chat/format/links.ts';
import { parseChat, turnBody } from '../../../../src/chat/format/parse.ts';
import type { ResultPart } from '../../../../src/ports/results.ts';
import { renderForReply, renderForUser } from '../../../../src/result/turnMarkdown.ts';
import { applyEdit } from '../../../kit/applyEdit.ts';
import { eachCase } from '../eachCase.ts';
import { hostileReply } from '../hostileReply.ts';

const insert = (text: string, markdown = 'R') => applyEdit(text, insertIntoUserTurn(text, markdown));

describe('Markdown is inserted into the user’s turn', () => {
  const cases: Record<string, [before: string, after: string]> = {
    'of an empty file': ['', '# %% user\nR\n'],
    'that is empty': ['# %% user\n', '# %% user\nR\n'],
    'that has blank lines only': ['# %% user\n\n \n', '# %% user\nR\n'],
    'whose marker has no line end': ['# %% user', '# %% user\nR\n'],
    'below the user’s text': ['# %% user\nLook at', '# %% user\nLook at\n\nR\n'],
    'below text that ends with a line break': ['# %% user\nLook at\n', '# %% user\nLook at\n\nR\n'],
    'that ends with a lone carriage return': [
      '# %% user\n- ```\n\n\r',
      '# %% user\n- ```\n\n\r\n\n# %% user\nR\n',
    ],
    'that has no marker': ['Look', 'Look\n\nR\n'],
    'that is new after an answer': ['# %% assistant\nHi.\n', '# %% assistant\nHi.\n\n# %% user\nR\n'],
    'that is new after settings': ['---\nmodel: x\n---\n', '---\nmodel: x\n---\n\n# %% user\nR\n'],
    'that is new after an open comment': [
      '# %% user\nx <!-- later\n',
      '# %% user\nx <!-- later\n\n# %% user\nR\n',
    ],
    'that is new after open code in a list': [
      '# %% user\n- ```js\n  foo\n',
      '# %% user\n- ```js\n  foo\n\n# %% user\nR\n',
    ],
  };
  eachCase(cases, (before, after) => assert.equal(insert(before), after));

  it('but never into open code', () => {
    assert.equal(insertIntoUserTurn('# %% user\n```js\nfoo', 'R'), undefined);
  });
});

describe('turns are appended at the end', () => {
  const user: NewTurn = { role: 'user', markdown: 'Q' };
  const assistant: NewTurn = { role: 'assistant', markdown: 'A' };
  const cases: Record<string, [before: string, turns: NewTurn[], after: string]> = {
    'of an empty file': ['', [user], '# %% user\nQ\n'],
    'and the first takes the empty turn of the user': ['# %% user\n\n', [user], '# %% user\nQ\n'],
    'and keep the user’s text': ['# %% user\nmine', [user], '# %% user\nmine\n\n# %% user\nQ\n'],
    'in order, with a user turn at the end': [
      '# %% user\n',
      [user, assistant],
      '# %% user\nQ\n\n# %% assistant\nA\n\n# %% user\n',
    ],
    'each on its own, also two of one role': ['', [user, user], '# %% user\nQ\n\n# %% user\nQ\n'],
    'and an assistant’s comes in the place of the empty turn': [
      '# %% user\nHi\n\n# %% user\n',
      [assistant, user],
      '# %% user\nHi\n\n# %% assistant\nA\n\n# %% user\nQ\n',
    ],
    'but text after a marker stays': [
      '# %% user words\n',
      [assistant],
      '# %% user words\n\n# %% assistant\nA\n\n# %% user\n',
    ],
  };
  eachCase(cases, (before, turns, after) =>
    assert.equal(applyEdit(before, appendTurns(before, turns)), after),
  );

  it('but never into open code, and not when there are none', () => {
    assert.equal(appendTurns('# %% user\n```js\nfoo', [user]), undefined);
    assert.equal(appendTurns('# %% user\n', []), undefined);
  });
});

const asset = {
  kind: 'image',
  number: 1,
  path: 'cmdassets/tool-image-20261116-093012-V1StGXR8a0-1.png',
} as const;
const part: fc.Arbitrary<ResultPart> = fc.oneof(
  { weight: 6, arbitrary: hostileReply.map((text): ResultPart => ({ kind: 'text', text })) },
  hostileReply.map((text): ResultPart => ({ kind: 'text', text, audience: 'user' })),
  fc
    .tuple(hostileReply, hostileReply)
    .map(([text, uri]): ResultPart => ({ kind: 'text', text, source: { uri } })),
  hostileReply.map((preview): ResultPart => ({ kind: 'asset', asset, preview })),
  hostileReply.map((json): ResultPart => ({ kind: 'data', json })),
  hostileReply.map((message): ResultPart => ({ kind: 'problem', message })),
  hostileReply.map((words): ResultPart => ({ kind: 'link', uri: words, name: words, description: words })),
);
/** Never empty, so that an expected turn is always written. */
const someParts = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => [...parts, WORDS]);
const WORDS: ResultPart = { kind: 'text', text: 'The end.' };

/** User text that may leave fences or comments open. */
const chat = hostileReply.map((typed) => `# %% user\n${typed}`);
const callsOf = (text: string) => parseChat(text).turns.flatMap((turn) => turn.calls);
const linksOf = (text: string) =>
  parseChat(text)
    .turns.filter((turn) => turn.role === 'user')
    .flatMap((turn) => localLinks(turnBody(text, turn)).map((link) => link.target));

function assertNoNewLinks(before: string, after: string): void {
  const known = [...linksOf(before), asset.path];
  assert.ok(linksOf(after).every((link) => known.includes(link)));
}

describe('any server text and any user text', () => {
  it('a resource adds at most one user turn, no call, and only links to its own file', () => {
    fc.assert(
      fc.property(chat, someParts, (text, parts) => {
        const edit = insertIntoUserTurn(text, renderForUser(parts));
        const before = parseChat(text);
        if (!edit) return assert.ok(before.endsInFence);
        const after = applyEdit(text, edit);
        assert.equal(text.slice(edit.start, edit.end).trim(), '', 'The user’s words stay.');
        const { turns, endsInFence } = parseChat(after);
        const added = turns.length - before.turns.length;
        assert.ok(added === 0 || added === 1, `${added} turns were added`);
        assert.equal(turns.at(-1)?.role, 'user');
        assert.equal(endsInFence, false);
        assert.equal(callsOf(after).length, callsOf(text).length);
        assertNoNewLinks(text, after);
      }),
      { numRuns: 200 },
    );
  });

  it('each message of a prompt is one turn, without calls and with only links to its own file', () => {
    const message = fc.tuple(fc.constantFrom('user' as const, 'assistant' as const), someParts);
    fc.assert(
      fc.property(chat, fc.array(message, { minLength: 1, maxLength: 3 }), (text, messages) => {
        const turns = messages.map(
          ([role, parts]): NewTurn => ({
            role,
            markdown: role === 'user' ? renderForUser(parts) : renderForReply(parts),
          }),
        );
        const edit = appendTurns(text, turns);
        const before = parseChat(text);
        if (!edit) return assert.ok(before.endsInFence);
        const after = applyEdit(text, edit);
        const taken = text.slice(edit.start, edit.end).trim();
        assert.ok(taken === '' || taken === '# %% user', 'The user’s words stay.');
        const last = before.turns.at(-1);
        const isEmpty = last?.role === 'user' && turnBody(text, last).trim() === '';
        // Text after the marker is the user's and stays; a user message goes below it.
        const isReplaced = isEmpty && (last.markerText === '' || turns[0]?.role === 'user');
        const kept = before.turns.slice(0, isReplaced ? -1 : undefined);
        const expected = [...kept.map((turn) => turn.role), ...turns.map((turn) => turn.role)];
        if (turns.at(-1)?.role !== 'user') expected.push('user');
        assert.deepEqual(
          parseChat(after).turns.map((turn) => turn.role),
          expected,
        );
        assert.equal(callsOf(after).length, callsOf(text).length);
        assertNoNewLinks(text, after);
      }),
      { numRuns: 200 },
    );
  });
});
