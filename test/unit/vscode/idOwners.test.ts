import assert from 'node:assert/strict';
import { it } from 'node:test';
import { groupByOwner } from '../../../src/vscode/idOwners.ts';

it('an id belongs to the extension that declares it, not to one that only mentions it', () => {
  const manifests: Record<string, unknown> = {
    keys: { contributes: { keybindings: [{ command: 'f.new' }] } },
    commands: { contributes: { commands: [{ command: 'f.old' }, { command: 'f.new' }] } },
    single: { contributes: { commands: { command: 'f.one' } } },
    others: {
      activationEvents: ['onCommand:f.none', 'onFileSystem:f-files', 'onWebviewPanel:f.panel'],
      contributes: { mcpServerDefinitionProviders: [{ id: 'f.mcp' }] },
    },
  };
  const broken = [undefined, null, 7, {}, { contributes: null, activationEvents: 1 }];
  const all = { ...broken, broken: { contributes: { commands: [null] } }, ...manifests };
  const installed = Object.entries(all).map(([id, packageJSON]) => ({ id, packageJSON }));
  const ids = ['f.new', 'f.none', 'f.one', 'f.old', 'f-files', 'f.panel', 'f.mcp'];
  assert.deepEqual(
    [...groupByOwner(ids, installed)].map(([owner, owned]) => [owner?.id, owned]),
    [
      ['commands', ['f.new', 'f.old']],
      [undefined, ['f.none']],
      ['single', ['f.one']],
      ['others', ['f-files', 'f.panel', 'f.mcp']],
    ],
  );
});
