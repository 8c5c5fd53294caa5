import assert from 'node:assert/strict';
import { it } from 'node:test';
import { commandLink, plainMessage, quoteLines } from '../../../../src/vscode/ui/plainMessage.ts';

it('no argument ends a command link', () => {
  const link = commandLink('Show', 'filechat.showAssets', { asset: 'a) [x](b "c").png' });
  const address = /^\[Show\]\((\S+)\)$/.exec(link)?.[1] ?? '';
  assert.doesNotMatch(address, /[()\s"]/);
  const [command, argument = ''] = address.split('?');
  assert.equal(command, 'command:filechat.showAssets');
  assert.deepEqual(JSON.parse(decodeURIComponent(argument)), [{ asset: 'a) [x](b "c").png' }]);
});

it('of a long text only the beginning is read', () => {
  const invisible = '\u200b'.repeat(100_000_000);
  assert.equal(plainMessage(`a ${invisible}`, 10), 'a ⟦U+200B⟧…');
  assert.equal(quoteLines(`a\nb${invisible}`, 11), '│ a\n│ b⟦U+200B⟧…');
  assert.equal(plainMessage(`a${' '.repeat(1000)}`, 10), 'a…');
});
