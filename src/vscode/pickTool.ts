import * as vscode from 'vscode';
import { showInvisible } from '../chat/escape.ts';
import type { ToolInfo, ToolList } from '../ports.ts';

interface ToolItem extends vscode.QuickPickItem {
  readonly tool?: ToolInfo;
}

/** One list of all tools, by server; it opens at once and fills when the servers have answered. */
export async function pickTool(tools: Promise<ToolList>): Promise<ToolInfo | undefined> {
  const pick = vscode.window.createQuickPick<ToolItem>();
  pick.title = 'Filechat: Call Tool';
  pick.placeholder = 'Asking the servers for their tools…';
  pick.matchOnDescription = true;
  pick.matchOnDetail = true;
  pick.busy = true;
  pick.show();
  try {
    const chosen = acceptedTool(pick);
    const fill = tools.then((list) => {
      pick.items = listItems(list);
      pick.placeholder = list.tools.length > 0 ? 'Which tool?' : NO_TOOLS;
      pick.busy = false;
    });
    await Promise.race([fill, chosen]);
    return await chosen;
  } finally {
    pick.dispose();
  }
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
      label: `$(tools) ${showInvisible(tool.tool)}`,
      description: showInvisible(tool.title ?? ''),
      detail: showInvisible(tool.description?.split('\n')[0] ?? ''),
      tool,
    });
  }
  for (const failure of failures) {
    items.push({ label: failure.server, kind: vscode.QuickPickItemKind.Separator });
    items.push({ label: '$(warning) This server cannot be used', detail: showInvisible(failure.reason) });
  }
  return items;
}
