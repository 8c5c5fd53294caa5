import assert from 'node:assert/strict';
import { it } from 'node:test';
import { isAgentName, readAgent } from '../../../../src/model/request/conversation.ts';

it('an agent has settings and a system text', () => {
  const cases: readonly (readonly [file: string, settings: object, system: string])[] = [
    [
      '---\nmodel: sonnet\ntools: ["charts.*"]\n---\n\nYou draw.\n',
      { model: 'sonnet', tools: ['charts.*'] },
      'You draw.',
    ],
    ['You draw.\n\n---\n\nReally.', {}, 'You draw.\n\n---\n\nReally.'],
    ['---\r\nmodel: x\r\n---\r\nYou draw.\r\n', { model: 'x' }, 'You draw.'],
    ['\uFEFF---\nmodel: x\n---\n', { model: 'x' }, ''],
    ['---\n---\nA', {}, 'A'],
    ['A <!-- for me --> B', {}, 'A  B'],
    ['', {}, ''],
  ];
  for (const [file, settings, system] of cases) assert.deepEqual(readAgent(file), { settings, system }, file);
});

it('an agent name cannot lead to another folder', () => {
  for (const name of ['reviewer', 'my-agent_2', 'Prüfer']) assert.ok(isAgentName(name), name);
  const bad = ['', '.', '..', 'a/b', 'a\\b', '../x', 'a.b', 'con', 'C:', 'a b', '-x', 'x'.repeat(65), 'a\0'];
  for (const name of bad) assert.equal(isAgentName(name), false, name);
});
