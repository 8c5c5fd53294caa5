import assert from 'node:assert/strict';
import { it } from 'node:test';
import { chatStem } from '../../../../src/chat/outline/title.ts';

it('a typed name loses the ending of chats, whole or in part', () => {
  const stems = {
    plan: 'plan',
    'plan.md': 'plan',
    'plan.chat': 'plan',
    'plan.chat.md': 'plan',
    'Plan.MD': 'Plan',
  };
  for (const [typed, stem] of Object.entries(stems)) assert.equal(chatStem(typed), stem);
});

it('other endings belong to the name', () => {
  for (const name of ['plan.txt', 'v1.2', 'plan.md.txt', 'chatmd', '.md', '.chat'])
    assert.equal(chatStem(name), name);
});
