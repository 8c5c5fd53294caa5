import assert from 'node:assert/strict';
import { it } from 'node:test';
import { commandLink } from '../../../../src/vscode/ui/plainMessage.ts';

it('no argument ends a command link', () => {
  const link = commandLink('Show', 'filechat.showAssets', { asset: 'a) [x](b "c").png' });
  const address = /^\[Show\]\((\S+)\)$/.exec(link)?.[1] ?? '';
  assert.doesNotMatch(address, /[()\s"]/);
  const [command, argument = ''] = address.split('?');
  assert.equal(command, 'command:filechat.showAssets');
  assert.deepEqual(JSON.parse(decodeURIComponent(argument)), [{ asset: 'a) [x](b "c").png' }]);
});
