import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { profilePath, withServerNames } from '../../../../src/mcp/config/profile.ts';

describe('the mcp.json of VS Code’s profile', () => {
  const WORKSPACE = 'file:///home/me/work';
  const own = ['profiles', '-7a1b3c', 'mcp.json'];
  const state = (id: string, more: object = {}) => ({
    userDataProfiles: [{ location: id, name: 'Python', ...more }],
    profileAssociations: { workspaces: { [WORKSPACE]: id }, emptyWindows: {} },
  });

  it('is that of the profile of the workspace', () =>
    assert.deepEqual(profilePath(state('-7a1b3c'), WORKSPACE), own));

  const shared: readonly (readonly [rule: string, state: unknown, workspace?: string])[] = [
    ['no state is known', undefined, WORKSPACE],
    ['the state is not valid', { userDataProfiles: 1, profileAssociations: [] }, WORKSPACE],
    ['the workspace has no profile of its own', state('-7a1b3c'), 'file:///elsewhere'],
    ['no folder is open', state('-7a1b3c')],
    ['the profile is gone', { ...state('-7a1b3c'), userDataProfiles: [] }, WORKSPACE],
    ['the profile shares its servers', state('-7a1b3c', { useDefaultFlags: { mcp: true } }), WORKSPACE],
    ['its folder is not a name', state('../../secrets'), WORKSPACE],
  ];
  for (const [rule, given, workspace] of shared) {
    it(`is that of the default profile if ${rule}`, () =>
      assert.deepEqual(profilePath(given, workspace), ['mcp.json']));
  }

  it('has names that chats can write, each once', () => {
    const servers = {
      'io.github.me/charts': { url: 'a' },
      'io-github-me-charts': { url: 'b' },
      ok: {},
      '…': {},
    };
    const named = JSON.parse(withServerNames(`// mine\n${JSON.stringify({ servers, inputs: [1] })}`));
    assert.deepEqual(named, {
      servers: {
        'io-github-me-charts': { url: 'a' },
        'io-github-me-charts-2': { url: 'b' },
        ok: {},
        server: {},
      },
      inputs: [1],
    });
    for (const text of ['{', '[]', '{"servers": 1}']) assert.equal(withServerNames(text), text);
  });
});
