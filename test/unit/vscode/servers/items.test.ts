import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ServerAbout, ServerOffers } from '../../../../src/ports/servers.ts';
import type { ToolInfo, ToolList } from '../../../../src/ports/tools.ts';
import {
  childrenOfGroup,
  childrenOfServer,
  type GroupNode,
  groupItem,
  type Lists,
  offerItem,
  promptContents,
  resourceContents,
  type ServerRow,
  serverItem,
  statusText,
  toolContents,
} from '../../../../src/vscode/servers/items.ts';

const NOTHING: ServerOffers = {
  tools: false,
  resources: false,
  subscriptions: false,
  prompts: false,
  completions: false,
  logging: false,
};
const ABOUT: ServerAbout = {
  name: 'charts-mcp',
  version: '1.2.3',
  protocol: '2025-11-25',
  offers: { ...NOTHING, tools: true, resources: true, prompts: true },
};
const row = (state: ServerRow['state'], more: Partial<ServerRow> = {}): ServerRow => ({
  server: 'charts',
  source: 'user',
  isRemote: false,
  state,
  ...more,
});
const READY = row({ kind: 'ready', about: ABOUT });
const FAILED = row({ kind: 'failed', reason: 'It died.\nnode: not found' });
const TOOL: ToolInfo = { server: 'charts', tool: 'bars', inputSchema: {} };

describe('the row of a server', () => {
  const cases: readonly [row: ServerRow, description: string, icon: string, contextValue: string][] = [
    [row({ kind: 'idle' }), 'not started', 'circle-outline', 'server.idle'],
    [row({ kind: 'starting' }), 'starting…', 'loading~spin', 'server.starting'],
    [READY, 'ready · 1.2.3', 'pass-filled', 'server.ready'],
    [FAILED, 'failed · It died. node: not found', 'error', 'server.failed'],
    [
      row({ kind: 'failed', reason: 'Server charts: its process ended.' }),
      'failed · its process ended.',
      'error',
      'server.failed',
    ],
    [row({ kind: 'unasked' }), 'not allowed yet', 'lock', 'server.unasked'],
    [row({ kind: 'idle' }, { isRemote: true }), 'not started', 'circle-outline', 'server.idle.remote'],
    [row({ kind: 'idle' }, { source: 'sample' }), 'not started', 'circle-outline', 'server.idle.sample'],
  ];
  for (const [server, description, icon, contextValue] of cases) {
    it(`${description}: ${contextValue}`, () => {
      const item = serverItem(server);
      assert.deepEqual(
        [item.label, item.description, item.contextValue],
        ['charts', description, contextValue],
      );
      assert.equal(item.icon && 'id' in item.icon && item.icon.id, icon);
    });
  }

  it('shows the whole failure and the source in its tooltip', () => {
    assert.equal(
      serverItem({ ...FAILED, source: 'workspace' }).tooltip,
      'charts: failed\nIt died.\nnode: not found\nFrom .vscode/mcp.json of this workspace.',
    );
  });

  it('marks the server’s own text as such, and shows invisible characters', () => {
    const about = { ...ABOUT, title: 'Char\u202ets', instructions: 'Be\nnice.' };
    assert.equal(
      serverItem(row({ kind: 'ready', about })).tooltip,
      'charts: ready\nName: Char⟦U+202E⟧ts, version: 1.2.3\nMCP protocol version: 2025-11-25\nInstructions: Be\nnice.\nFrom your settings.',
    );
  });

  it('shows no icons and links from a server’s text', () => {
    const about = { ...ABOUT, version: '$(zap) [x](command:y)' };
    assert.equal(serverItem(row({ kind: 'ready', about })).description, 'ready · $ (zap) [x] (command:y)');
  });
});

describe('the children of a server', () => {
  it('that is not started: a command to start it, and nothing that starts it', () => {
    assert.deepEqual(childrenOfServer(row({ kind: 'idle' })), [
      {
        kind: 'note',
        server: 'charts',
        text: 'Not started. Start the server to see its tools.',
        icon: 'play',
        command: 'filechat.startServer',
      },
    ]);
  });

  it('that failed: the reason, a command to restart it, and its log', () => {
    const failed = row({ kind: 'failed', reason: 'Server charts could not be started: no such file.' });
    assert.deepEqual(
      childrenOfServer(failed).map((child) => child.kind === 'note' && [child.text, child.command]),
      [
        ['No such file.', undefined],
        ['Restart Server', 'filechat.restartServer'],
        ['Edit Server', 'filechat.editServer'],
        ['Show Log', 'filechat.showServerLog'],
      ],
    );
  });

  const groups: readonly [offers: Partial<ServerOffers>, expected: readonly string[]][] = [
    [ABOUT.offers, ['tools', 'resources', 'templates', 'prompts']],
    [{ prompts: true }, ['prompts']],
    [{}, ['The server has no tools, resources or prompts.']],
  ];
  for (const [offers, expected] of groups) {
    it(`that is ready: ${expected.join(', ')}`, () => {
      const about = { ...ABOUT, offers: { ...NOTHING, ...offers } };
      const children = childrenOfServer(row({ kind: 'ready', about }));
      assert.deepEqual(
        children.map((child) => (child.kind === 'group' ? child.group : child.text)),
        expected,
      );
    });
  }
});

describe('a group', () => {
  const group: GroupNode = { kind: 'group', server: 'charts', group: 'tools' };
  const contentsOf = (tools: readonly ToolInfo[], failures: ToolList['failures'] = []) =>
    toolContents('charts', { tools, failures }).tools ?? assert.fail('There is no group.');
  const contents = contentsOf(
    [TOOL, { ...TOOL, server: 'other' }],
    [{ server: 'charts', reason: 'Page 2 never came.' }],
  );

  it('shows its count once the list has loaded', () => {
    assert.equal(groupItem(group, undefined).label, 'Tools');
    assert.equal(groupItem(group, contents).label, 'Tools (1)');
  });

  it('shows why its list is incomplete', () => {
    assert.deepEqual(childrenOfGroup(group, contents), [
      { kind: 'tool', server: 'charts', tool: 'bars', info: TOOL },
      { kind: 'note', server: 'charts', text: 'Page 2 never came.', icon: 'warning' },
    ]);
    assert.equal(groupItem(group, contents).tooltip, 'Page 2 never came.');
  });

  it('limits its rows, and shows how many are left out', () => {
    const tools = Array.from({ length: 1_003 }, (_, at) => ({ ...TOOL, tool: `t${at}` }));
    const rows = childrenOfGroup(group, contentsOf(tools));
    assert.equal(rows.length, 1_001);
    assert.deepEqual(rows.at(-1), {
      kind: 'note',
      server: 'charts',
      text: '3 more are not shown.',
      icon: 'ellipsis',
    });
  });
});

describe('the row of a tool, resource or prompt', () => {
  const itemOf = (lists: Lists) => {
    const node = Object.values(lists).flatMap(({ nodes }) => nodes)[0];
    return !node || node.kind === 'server' || node.kind === 'group' ? assert.fail() : offerItem(node);
  };
  const toolItem = (more: Partial<ToolInfo>) =>
    itemOf(toolContents('charts', { tools: [{ ...TOOL, ...more }], failures: [] }));

  it('a tool lists its claims in the tooltip, each text once', () => {
    assert.deepEqual(toolItem({ title: 'bars', description: 'Draws.', destructive: true }), {
      label: 'bars',
      description: 'bars',
      tooltip: 'bars\nDraws.\nMay delete or overwrite data, according to the server.',
      icon: { id: 'warning' },
      contextValue: 'tool',
    });
  });

  it('a tool is shown with its own icon if it has one', () => {
    const icon = 'data:image/png;base64,AAAA';
    assert.deepEqual(toolItem({ icon }).icon, { image: icon });
  });

  it('a tool for apps has its own context value', () =>
    assert.equal(toolItem({ forAppsOnly: true }).contextValue, 'tool.forApps'));

  it('a resource shows its URI, type and size', () => {
    const resource = {
      server: 'charts',
      uri: 'db://a',
      name: 'a',
      title: 'All',
      mimeType: 'text/csv',
      size: 1234,
    };
    const lists = resourceContents('charts', { resources: [resource], templates: [] });
    assert.deepEqual(lists.resources?.nodes, [
      { kind: 'resource', server: 'charts', resource: 'db://a', info: resource },
    ]);
    assert.deepEqual(itemOf(lists), {
      label: 'All',
      description: 'db://a',
      tooltip: 'db://a\nAll\na\ntext/csv\n1,234 bytes',
      icon: { id: 'file' },
      contextValue: 'resource',
    });
  });

  it('a template has its own icon and context value', () => {
    const templates = [{ server: 'charts', uriTemplate: 'db://{id}', name: 'row' }];
    const { description, icon, contextValue } = itemOf(
      resourceContents('charts', { resources: [], templates }),
    );
    assert.deepEqual(
      [description, icon, contextValue],
      ['db://{id}', { id: 'symbol-parameter' }, 'template'],
    );
  });

  it('a prompt lists its arguments', () => {
    const args = [
      { name: 'city', required: true },
      { name: 'day', required: false },
    ];
    const prompts = [{ server: 'charts', prompt: 'trip', description: 'Plans.', arguments: args }];
    const { tooltip } = itemOf(promptContents('charts', { prompts }));
    assert.equal(tooltip, 'trip\nPlans.\nArguments: city, day (optional)');
  });
});

describe('the status bar', () => {
  it('counts the ready servers', () => {
    assert.deepEqual(statusText([READY, row({ kind: 'idle' }, { server: 'b' })]), {
      text: '$(plug) 1/2',
      tooltip: 'MCP servers of Filechat\ncharts: ready\nb: not started',
      isWarning: false,
    });
  });

  it('warns when a server has failed, with the reason', () => {
    const status = statusText([READY, { ...FAILED, server: 'b' }]);
    assert.equal(status?.isWarning, true);
    assert.match(status?.tooltip ?? '', /\nb: failed: It died\. node: not found$/);
  });

  it('is hidden without servers, or with only an idle sample server', () => {
    assert.equal(statusText([]), undefined);
    assert.equal(statusText([row({ kind: 'idle' }, { source: 'sample' })]), undefined);
    assert.equal(statusText([{ ...READY, source: 'sample' }])?.text, '$(plug) 1/1');
  });
});
