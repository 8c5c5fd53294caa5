import assert from 'node:assert/strict';
import { it } from 'node:test';
import { groupByOwner } from '../../../src/vscode/idOwners.ts';

it('an id belongs to the extension that declares it, not to one that only mentions it', () => {
  const keys = { id: 'a.keys', packageJSON: { contributes: { keybindings: [{ command: 'f.new' }] } } };
  const commands = {
    id: 'b.commands',
    packageJSON: { contributes: { commands: [{ command: 'f.old' }, { command: 'f.new' }] } },
  };
  const single = { id: 'c.single', packageJSON: { contributes: { commands: { command: 'f.one' } } } };
  const others = {
    id: 'd.others',
    packageJSON: {
      activationEvents: ['onCommand:f.none', 'onFileSystem:f-files', 'onWebviewPanel:f.panel'],
      contributes: { mcpServerDefinitionProviders: [{ id: 'f.mcp' }] },
    },
  };
  const broken = [
    undefined,
    null,
    7,
    {},
    { contributes: null, activationEvents: 1 },
    { contributes: { commands: [null] } },
  ];
  const installed = [
    ...broken.map((packageJSON, at) => ({ id: `broken.${at}`, packageJSON })),
    ...[keys, commands, single, others],
  ];
  const ids = ['f.new', 'f.none', 'f.one', 'f.old', 'f-files', 'f.panel', 'f.mcp'];
  assert.deepEqual(
    [...groupByOwner(ids, installed)].map(([owner, owned]) => [owner?.id, owned]),
    [
      ['b.commands', ['f.new', 'f.old']],
      [undefined, ['f.none']],
      ['c.single', ['f.one']],
      ['d.others', ['f-files', 'f.panel', 'f.mcp']],
    ],
  );
});
