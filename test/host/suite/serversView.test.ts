import assert from 'node:assert/strict';
import { setup, suite, suiteSetup, suiteTeardown, teardown, test } from 'mocha';
import * as vscode from 'vscode';
import type { RunOutcome } from '../../../src/ports/document.ts';
import type { ServerChange, ServerHost, ServerState } from '../../../src/ports/servers.ts';
import type { ToolInfo } from '../../../src/ports/tools.ts';
import type { ServerNode } from '../../../src/vscode/servers/items.ts';
import { ServerRows } from '../../../src/vscode/servers/rows.ts';
import { pickServer } from '../../../src/vscode/servers/serverCommands.ts';
import type { ListedServer } from '../../../src/vscode/servers/serverList.ts';
import { ServersView } from '../../../src/vscode/servers/view.ts';
import { until } from '../../kit/until.ts';
import { READY } from './kit/stores.ts';
import { inWorkspace, openChat, useSampleServer } from './kit/workspace.ts';

const tool = (name: string): ToolInfo => ({ server: 'a', tool: name, inputSchema: {} });
const unused = () => Promise.reject(new Error('This must not be requested.'));

/** Records the requests. */
class FakeServers implements ServerHost {
  readonly asked: string[] = [];
  readonly current = new Map<string, ServerState>([
    ['a', { kind: 'idle' }],
    ['b', { kind: 'idle' }],
  ]);
  tools = [tool('bars')];
  failure: string | undefined;
  readonly #listeners = new Set<(server: string, what: ServerChange) => void>();

  change(server: string, what: ServerChange, state?: ServerState): void {
    if (state) this.current.set(server, state);
    for (const listener of this.#listeners) listener(server, what);
  }

  onDidChange(listener: (server: string, what: ServerChange) => void) {
    this.#listeners.add(listener);
    return { dispose: () => this.#listeners.delete(listener) };
  }

  async states() {
    return new Map(this.current);
  }

  async listTools(server?: string) {
    this.asked.push(`tools of ${server}`);
    if (this.failure !== undefined) throw new Error(this.failure);
    return { tools: this.tools, failures: [] };
  }

  async listResources(server: string) {
    this.asked.push(`resources of ${server}`);
    return {
      resources: [{ server, uri: 'db://x', name: 'x' }],
      templates: [],
    };
  }

  callTool = unused;
  start = unused;
  stop = unused;
  restart = unused;
  setLogLevel = unused;
  listPrompts = unused;
  readResource = unused;
  fetchResource = unused;
  getPrompt = unused;
  complete = unused;
  subscribe = () => assert.fail('Nothing must be subscribed to.');
  rootsChanged = () => {};
}

suite('the servers view', () => {
  let host = new FakeServers();
  let listed: ListedServer[] = [];
  let listChanged = new vscode.EventEmitter<void>();
  let rows: ServerRows;
  let view: ServersView;

  setup(() => {
    host = new FakeServers();
    const config = { kind: 'stdio' as const, command: 'x', args: [], env: {} };
    listed = ['a', 'b'].map((name) => ({ name, config, source: 'user' as const, isAllowed: true }));
    listChanged = new vscode.EventEmitter<void>();
    rows = new ServerRows(host, { all: async () => listed, onDidChange: listChanged.event });
    view = new ServersView(host, rows);
  });
  teardown(() => {
    view.dispose();
    rows.dispose();
  });

  const first = async (node?: ServerNode): Promise<ServerNode> =>
    (await view.getChildren(node))[0] ?? assert.fail('There is no row.');
  const labels = async (node?: ServerNode) =>
    Promise.all(
      (await view.getChildren(node)).map(async (child) => {
        const { label, description } = await view.getTreeItem(child);
        return description === undefined ? String(label) : `${label}: ${description}`;
      }),
    );
  /** Resolves to the next node that is refreshed. */
  const nextChange = () =>
    new Promise<ServerNode | undefined>((resolve) => {
      const subscription = view.onDidChangeTreeData((node) => {
        subscription.dispose();
        resolve(node);
      });
    });

  test('showing servers that are not started sends them nothing', async () => {
    assert.deepEqual(await labels(), ['a: not started', 'b: not started']);
    const server = await first();
    assert.deepEqual(await labels(server), ['Not started. Start the server to see its tools.']);
    const { command } = await view.getTreeItem(await first(server));
    assert.deepEqual(command?.command, 'filechat.startServer');
    assert.deepEqual(command?.arguments, [{ server: 'a' }]);
    assert.deepEqual(host.asked, []);
  });

  test('a server without permission is marked', async () => {
    listed = listed.map((each) => ({ ...each, isAllowed: each.name !== 'b' }));
    assert.deepEqual(await labels(), ['a: not started', 'b: not allowed yet']);
  });

  test('a server that becomes ready is refreshed alone, and its groups get their counts', async () => {
    const server = await first();
    const changed = nextChange();
    host.change('a', 'state', READY);
    assert.equal(await changed, server);
    assert.deepEqual(await labels(), ['a: ready · 1.0', 'b: not started']);

    const counted = nextChange();
    assert.deepEqual(await labels(server), ['Tools', 'Resources', 'Templates']);
    await counted;
    const [tools, resources, templates] = await view.getChildren(server);
    assert.ok(tools && resources && templates);
    assert.deepEqual(await labels(tools), ['bars']);
    assert.deepEqual(await labels(resources), ['x: db://x']);
    assert.deepEqual(await labels(templates), []);
    assert.deepEqual(await labels(server), ['Tools (1)', 'Resources (1)', 'Templates (0)']);
    assert.deepEqual(host.asked.toSorted(), ['resources of a', 'tools of a']);
  });

  test('only a list that has changed is requested again', async () => {
    host.current.set('a', READY);
    const server = await first();
    const group = await first(server);
    assert.deepEqual(await labels(group), ['bars']);
    host.tools = [tool('bars'), tool('lines')];
    const changed = nextChange();
    host.change('a', 'tools');
    assert.equal(await changed, group);
    assert.deepEqual(await labels(group), ['bars', 'lines']);
    assert.deepEqual(host.asked, ['tools of a', 'tools of a']);
  });

  test('a list that failed is requested again when its group is shown again', async () => {
    host.current.set('a', READY);
    host.failure = 'It is busy.';
    const server = await first();
    const group = await first(server);
    const failed = nextChange();
    assert.deepEqual(await labels(group), ['It is busy.']);
    assert.equal(await failed, group);
    assert.deepEqual((await labels(server))[0], 'Tools (0): ⚠');
    let changes = 0;
    const counting = view.onDidChangeTreeData(() => (changes += 1));
    assert.deepEqual(await labels(group), ['It is busy.']);
    assert.equal(changes, 0, 'A second failure must not refresh the group, or the requests would never end.');
    counting.dispose();
    host.failure = undefined;
    const loaded = nextChange();
    assert.deepEqual(await labels(group), ['bars']);
    assert.equal(await loaded, group);
    assert.deepEqual((await labels(server))[0], 'Tools (1)');
    assert.deepEqual(await labels(group), ['bars']);
    assert.equal(host.asked.filter((each) => each === 'tools of a').length, 3);
  });

  test('the groups of a stopped server do not start it again', async () => {
    host.current.set('a', READY);
    const group = await first(await first());
    host.change('a', 'state', { kind: 'idle' });
    host.asked.length = 0;
    assert.deepEqual(await labels(group), []);
    assert.deepEqual(host.asked, []);
  });

  test('a command offers the current servers, even before the editor reports a change', async () => {
    assert.equal((await rows.all()).length, 2);
    listed = [];
    // With the old list it would wait for an answer.
    assert.equal(await pickServer(rows, { question: 'Select a server to start' }), undefined);
  });

  test('changed settings refresh all servers', async () => {
    assert.equal((await view.getChildren()).length, 2);
    listed = listed.slice(1);
    const changed = nextChange();
    listChanged.fire();
    assert.equal(await changed, undefined);
    assert.deepEqual(await labels(), ['b: not started']);
  });

  test('changed settings with the same servers leave the rows known, so that an open menu works', async () => {
    const shown = await view.getChildren();
    listed = listed.map((each) => ({ ...each, isAllowed: each.name !== 'b' }));
    const changed: (ServerNode | undefined)[] = [];
    const isOver = new Promise<void>((resolve) => {
      view.onDidChangeTreeData((node) => {
        if (changed.push(node) === shown.length) resolve();
      });
    });
    listChanged.fire();
    await isOver;
    assert.deepEqual(changed, shown);
    assert.deepEqual(await labels(), ['a: not started', 'b: not allowed yet']);
  });

  test('a tool has a checkbox and its own icon, and its text makes no link', async () => {
    host.current.set('a', READY);
    host.tools = [{ ...tool('$(zap)'), description: '[x](command:y)', icon: 'data:image/png;base64,AAAA' }];
    const item = await view.getTreeItem(await first(await first(await first())));
    assert.equal(item.label, '$ (zap)');
    assert.equal(item.tooltip, '$(zap)\n[x](command:y)');
    assert.equal(String(item.iconPath).startsWith('data:image/png'), true);
    assert.deepEqual(item.checkboxState, {
      state: vscode.TreeItemCheckboxState.Checked,
      tooltip: 'Whether chats can use this tool',
    });
  });
});

suite('Read Resource', () => {
  suiteSetup(async () => {
    const program = inWorkspace('..', 'dist', 'sample-server.js').fsPath;
    // A server of the user needs no dialog, and replaces the one of the workspace.
    await vscode.workspace
      .getConfiguration('filechat')
      .update(
        'mcpServers',
        { sample: { command: 'node', args: [program] } },
        vscode.ConfigurationTarget.Global,
      );
  });
  suiteTeardown(useSampleServer);

  test('with a URI as its argument inserts into that chat', async () => {
    const document = await openChat('title.chat.md', '# %% user\n');
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    let isDone = false;
    const run = async () => {
      try {
        return await vscode.commands.executeCommand<RunOutcome>('filechat.readResource', document.uri);
      } finally {
        isDone = true;
      }
    };
    const inserted = run();
    // Accepts the first resource as soon as the list shows it.
    await until(async () => {
      await vscode.commands.executeCommand('workbench.action.acceptSelectedQuickOpenItem');
      return isDone;
    });
    assert.equal((await inserted).error, undefined);
    const text = new TextDecoder().decode(await vscode.workspace.fs.readFile(document.uri));
    assert.match(text, /^# %% user\n.*\S/);
  });
});
