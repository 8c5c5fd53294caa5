import * as vscode from 'vscode';
import type { ToolInfo, ToolList } from '../ports.ts';
import { plainMessage } from './plainMessage.ts';

interface ToolItem extends vscode.QuickPickItem {
  readonly tool?: ToolInfo;
}

/** One list of all tools, by server; it opens at once and grows as the servers answer, so that none waits for another. */
export async function pickTool(lists: readonly Promise<ToolList>[]): Promise<ToolInfo | undefined> {
  const pick = vscode.window.createQuickPick<ToolItem>();
  pick.title = 'Filechat: Call Tool';
  pick.placeholder = 'Asking the servers for their tools…';
  pick.matchOnDescription = true;
  pick.matchOnDetail = true;
  pick.busy = true;
  pick.show();
  try {
    const chosen = acceptedTool(pick);
    const filled = fill(pick, lists);
    await Promise.race([filled, chosen]);
    return await chosen;
  } finally {
    pick.dispose();
  }
}

async function fill(pick: vscode.QuickPick<ToolItem>, lists: readonly Promise<ToolList>[]): Promise<void> {
  await Promise.all(
    lists.map(async (list) => {
      const items = listItems(await list);
      pick.placeholder = 'Which tool?';
      pick.items = [...pick.items, ...items];
    }),
  );
  pick.busy = false;
  if (pick.items.length === 0) pick.placeholder = NO_TOOLS;
}

const NO_TOOLS =
  'There are no tools. Add a server to the setting filechat.mcpServers or to .vscode/mcp.json.';

function acceptedTool(pick: vscode.QuickPick<ToolItem>): Promise<ToolInfo | undefined> {
  return new Promise((resolve) => {
    pick.onDidAccept(() => {
      const tool = pick.selectedItems[0]?.tool;
      if (tool) resolve(tool);
    });
    pick.onDidHide(() => resolve(undefined));
  });
}

function listItems({ tools, failures }: ToolList): ToolItem[] {
  const items: ToolItem[] = [];
  let server: string | undefined;
  for (const tool of tools) {
    if (tool.server !== server) items.push({ label: tool.server, kind: vscode.QuickPickItemKind.Separator });
    server = tool.server;
    items.push({
      label: `$(tools) ${plainMessage(tool.tool)}`,
      description: plainMessage(tool.title ?? ''),
      detail: plainMessage(tool.description ?? ''),
      tool,
    });
  }
  for (const failure of failures) {
    items.push({ label: failure.server, kind: vscode.QuickPickItemKind.Separator });
    items.push({ label: '$(warning) This server cannot be used', detail: plainMessage(failure.reason) });
  }
  return items;
}
