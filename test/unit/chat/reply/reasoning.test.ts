import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { InlineReasoning, withoutInlineReasoning } from '../../../../src/chat/reply/incoming.ts';
import type { ModelEvent } from '../../../../src/ports/models.ts';

/** What the events add up to: reasoning in braces, calls as `!`. */
function show(events: readonly ModelEvent[], mayBeUnopened = true): string {
  const reader = new InlineReasoning(mayBeUnopened);
  let shown = '';
  let last = '';
  for (const event of [...events.flatMap((each) => reader.read(each)), ...reader.end()]) {
    if (event.kind === 'earlierReasoning') shown = `{${event.text}}`;
    else if (event.kind === 'call') shown += '!';
    else if (event.kind === 'reasoning') {
      shown = last === 'reasoning' ? `${shown.slice(0, -1)}${event.text}}` : `${shown}{${event.text}}`;
    } else if (event.kind === 'text') shown += event.text;
    last = event.kind;
  }
  return shown;
}

const call: ModelEvent = { kind: 'call', key: 'k', name: 'a__b', argumentsText: '{}' };
const say = (text: string): ModelEvent => ({ kind: 'text', text });

const cases: readonly (readonly [rule: string, text: string, shown: string])[] = [
  [
    'a block at the start is reasoning',
    '<think>\nHm.\n\nYes.\n</think>\n\nIt is 4.',
    '{Hm.\n\nYes.}\n\nIt is 4.',
  ],
  ['also after white space', '\n <think>Hm.</think>4', '{Hm.}4'],
  ['also with the longer name', '<thinking>Hm.</thinking>4', '{Hm.}4'],
  ['also in capitals', '<THINK>Hm.</Think>4', '{Hm.}4'],
  ['also with another closing tag', '<think>Hm.</thinking>4', '{Hm.}4'],
  ['also as Seed-OSS writes it', '<seed:think>Hm.</seed:think>4', '{Hm.}4'],
  ['also as Magistral writes it', '[THINK]Hm.[/THINK]4', '{Hm.}4'],
  ['also as Command A writes it', '<|START_THINKING|>Hm.<|END_THINKING|>4', '{Hm.}4'],
  ['also as Gemma writes it', '<|channel>thought\nHm.<channel|>4', '{Hm.}4'],
  ['also with another name', '<reasoning>Hm.</reasoning>4', '{Hm.}4'],
  ['also as Kimi writes it', '◁think▷Hm.◁/think▷4', '{Hm.}4'],
  [
    'also as gpt-oss writes it',
    '<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>4',
    '{Hm.}4',
  ],
  ['a link at the start is text', '[Think](a.md) of it.', '[Think](a.md) of it.'],
  ['several blocks in a row', '<think>a</think>\n<think>b</think>c', '{a\n\nb}c'],
  ['a block without an end is all reasoning', '<think>Hm. So 2 + 2', '{Hm. So 2 + 2}'],
  ['an empty block is nothing', '<think>\n\n</think>\n\n4', '\n\n4'],
  [
    'tags inside of it are its text',
    '<think>a <b>c</b> </thin> `</x>`</think>d',
    '{a <b>c</b> </thin> `</x>`}d',
  ],
  [
    'without the opening tag, all text before the end',
    'Hm.\nSo 4.\n</think>\n\nIt is 4.',
    '{Hm.\nSo 4.}\n\nIt is 4.',
  ],
  ['also on one line', 'Hm.</think>It is 4.', '{Hm.}It is 4.'],
  ['also if nothing is before it', '\n</think>\n\n4', '\n\n4'],
  ['a later block is text', 'It is <think>Hm.</think> 4.', 'It is <think>Hm.</think> 4.'],
  ['inline code is text', 'Write `</think>` at the end.', 'Write `</think>` at the end.'],
  ['fenced code is text', 'So:\n```\n</think>\n```\nDone.', 'So:\n```\n</think>\n```\nDone.'],
  ['a block in code at the start is text', '```\n<think>a</think>\n```', '```\n<think>a</think>\n```'],
  ['an end after code counts', '```\n</think>\n```\n</think>\nDone.', '{```\n</think>\n```}\nDone.'],
  ['similar tags are text', '<thinker>a</thinker> <th', '<thinker>a</thinker> <th'],
  ['another element is text', '<p>Hi</p>', '<p>Hi</p>'],
  ['a part of a tag is text', '<thi', '<thi'],
  ['white space is kept', '  code\n', '  code\n'],
];

describe('inline reasoning', () => {
  for (const [rule, text, shown] of cases) {
    it(rule, () => {
      assert.equal(show([say(text)]), shown);
      assert.equal(show([...text].map(say)), shown, 'one character at a time');
      for (let at = 1; at < text.length; at += 1) {
        assert.equal(show([say(text.slice(0, at)), say(text.slice(at))]), shown, `divided at ${at}`);
      }
    });
  }

  it('comes again after a call, and only with its opening tag', () => {
    const events = [say('<think>a</think>b'), call, say('\n<think>c</think>'), call, say('d</think>e')];
    assert.equal(show(events), '{a}b!{c}!d</think>e');
  });

  it('of a continued reply has an opening tag', () => {
    assert.equal(show([say('of it.</think> More.')], false), 'of it.</think> More.');
    assert.equal(show([say('<think>Where was I?</think>of it.')], false), '{Where was I?}of it.');
  });

  it('does not change a reply whose reasoning comes on its own', () => {
    const reasoning = { kind: 'reasoning', text: 'Hm.' } as const;
    assert.equal(show([reasoning, say('a</think>b')]), '{Hm.}a</think>b');
    assert.equal(show([reasoning, say('\n</think>'), say('b')]), '{Hm.}b', 'a leftover of its end');
  });

  it('is no part of a text that is used whole', () => {
    assert.equal(withoutInlineReasoning('Hm.</think>\nYes.'), '\nYes.');
    assert.equal(withoutInlineReasoning('<think>Hm.</think>Yes.'), 'Yes.');
  });
});
