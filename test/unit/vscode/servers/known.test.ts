import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ServerChange, ServerState } from '../../../../src/ports/servers.ts';
import type { ToolInfo, ToolList } from '../../../../src/ports/tools.ts';
import { KnownServers } from '../../../../src/vscode/servers/known.ts';

const READY = { kind: 'ready', about: { offers: {} } } as ServerState;

/** Servers that count their requests. */
function servers(states: Map<string, ServerState>, builtIn: readonly ToolInfo[] = []) {
  const asked: string[] = [];
  const listeners: ((server: string, what: ServerChange) => void)[] = [];
  let answer = (server: string): ToolList => ({
    tools: [{ server, tool: 'draw', inputSchema: { type: 'object' } }],
    failures: [],
  });
  const host = {
    states: async () => states,
    onDidChange: (listener: (server: string, what: ServerChange) => void) => {
      listeners.push(listener);
      return { dispose: () => listeners.splice(0) };
    },
    listTools: async (server = '') => {
      asked.push(server);
      return answer(server);
    },
    listPrompts: async () => ({ prompts: [] }),
    listResources: async () => ({ resources: [], templates: [] }),
  };
  const known = new KnownServers(host, async () => builtIn);
  return {
    known,
    asked,
    tell: (server: string, what: ServerChange) => {
      for (const each of listeners) each(server, what);
    },
    answer: (next: typeof answer) => {
      answer = next;
    },
  };
}

describe('known servers', () => {
  it('the tools of a running server are listed once, and again after a change', async () => {
    const { known, asked, tell } = servers(new Map([['charts', READY]]));
    const [first] = await known.tools();
    const [second] = await known.tools();
    assert.equal(first, second);
    assert.deepEqual(asked, ['charts']);
    tell('charts', 'prompts');
    await known.tools();
    assert.deepEqual(asked, ['charts']);
    tell('charts', 'tools');
    await known.tools();
    assert.deepEqual(asked, ['charts', 'charts']);
  });

  it('a stopped server gets no request, and its last tools stay known', async () => {
    const states = new Map([['charts', READY]]);
    const { known, asked, tell } = servers(states);
    states.set('idle', { kind: 'idle' });
    await known.tools();
    states.set('charts', { kind: 'idle' });
    tell('charts', 'state');
    assert.deepEqual(
      (await known.tools()).map(({ tool }) => tool),
      ['draw'],
    );
    assert.deepEqual(asked, ['charts']);
  });

  const failures: Record<string, (server: string) => ToolList> = {
    failed: (server) => ({ tools: [], failures: [{ server, reason: 'busy' }] }),
    rejected: () => assert.fail('busy'),
  };
  for (const [name, fail] of Object.entries(failures)) {
    it(`a ${name} request is retried at the next use`, async () => {
      const { known, asked, answer } = servers(new Map([['charts', READY]]));
      answer(fail);
      assert.deepEqual(await known.tools().catch(() => []), []);
      answer((server) => ({ tools: [{ server, tool: 'draw', inputSchema: {} }], failures: [] }));
      assert.equal((await known.tools()).length, 1);
      assert.deepEqual(asked, ['charts', 'charts']);
    });
  }

  it('built-in tools are listed after those of servers', async () => {
    const own: ToolInfo = { server: 'filechat', tool: 'list_assets', inputSchema: {} };
    const { known } = servers(new Map([['charts', READY]]), [own]);
    assert.deepEqual(
      (await known.tools()).map(({ server }) => server),
      ['charts', 'filechat'],
    );
    assert.equal(await known.tool({ server: 'filechat', tool: 'list_assets' }), own);
    assert.equal(await known.tool({ server: 'filechat', tool: 'draw' }), undefined);
  });
});
