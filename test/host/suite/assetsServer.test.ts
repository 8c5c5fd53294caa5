import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { suite, suiteSetup, test } from 'mocha';
import * as vscode from 'vscode';
import { inWorkspace } from './kit/workspace.ts';

/** VS Code joins the extension and the server's label. */
const SERVER = 'filechat.filechat/Filechat Assets';

interface Entry {
  readonly command: string;
  readonly args: string[];
}

async function copy(argument: object): Promise<string> {
  const copied = await vscode.commands.executeCommand<{ text: string }>(
    'filechat.copyMcpConfiguration',
    argument,
  );
  return copied.text;
}

/** Starts the copied configuration like another client, and lists its resources. */
async function listResources({ command, args }: Entry): Promise<readonly string[]> {
  const client = new Client({ name: 'filechat-test', version: '1' });
  await client.connect(new StdioClientTransport({ command, args, stderr: 'inherit' }));
  try {
    const { resources } = await client.listResources();
    return resources.map(({ uri }) => uri);
  } finally {
    await client.close();
  }
}

suite('the assets server', () => {
  suiteSetup(() => vscode.extensions.getExtension('filechat.filechat')?.activate());

  test('is started by VS Code without a dialog, and offers its tools there', async () => {
    await vscode.commands.executeCommand('workbench.mcp.startServer', SERVER, { waitForLiveTools: true });
    const ours = vscode.lm.tools.map(({ name }) => name).filter((name) => name.startsWith('mcp_filechat'));
    const short = ours.map((name) => name.replace(/^mcp_filechat.*?_(?=(?:list|read|search|save)_)/, ''));
    assert.deepEqual(short.sort(), ['list_assets', 'read_asset', 'save_asset', 'search_chats']);

    const search = ours.find((name) => name.endsWith('search_chats')) ?? '';
    const { content } = await vscode.lm.invokeTool(search, {
      input: { query: 'Start here' },
      toolInvocationToken: undefined,
    });
    assert.match(JSON.stringify(content), /tour\.chat\.md/);
    await vscode.commands.executeCommand('workbench.mcp.stopServer', SERVER);
  });

  test('is started by the configuration for other clients, with the Node on the path', async () => {
    const { mcpServers } = JSON.parse(await copy({ client: 'claude-desktop' }));
    const entry: Entry = mcpServers['filechat-assets'];
    assert.equal(entry.command, 'node');
    assert.match(entry.args[0] ?? '', /globalStorage.filechat\.filechat.assets-server\.mjs$/);
    assert.equal(entry.args[1], inWorkspace().fsPath);
    const uris = await listResources(entry);
    assert.ok(uris.includes('filechat://tour.chat.md'), uris.join());
    assert.equal(await copy({}), await copy({ client: 'json' }));
  });

  test('serves the folders that the caller names, whatever characters they have', async () => {
    const folder = mkdtempSync(join(tmpdir(), "o'neil $HOME ü #%25 "));
    try {
      writeFileSync(join(folder, 'plans.chat.md'), '# %% user\nHello\n');
      const { servers } = JSON.parse(await copy({ client: 'vscode', folders: [folder] }));
      assert.deepEqual(await listResources(servers['filechat-assets']), ['filechat://plans.chat.md']);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test('has no configuration for an unknown client, or for a folder that is not on a disk', async () => {
    await assert.rejects(
      copy({ client: 'none' }),
      /“none” is not a supported client\. Clients: claude-desktop, /,
    );
    await assert.rejects(
      copy({ folders: [vscode.Uri.parse('memfs:/x')] }),
      /memfs:\/x is not a folder on a disk/,
    );
  });
});
