import * as vscode from 'vscode';

/** The files of these closed tabs that are not open in another tab. */
export function closedUris(closed: readonly vscode.Tab[]): readonly vscode.Uri[] {
  const open = new Set(
    vscode.window.tabGroups.all.flatMap((group) => group.tabs.flatMap(tabUris)).map(String),
  );
  return closed.flatMap(tabUris).filter((uri) => !open.has(uri.toString()));
}

/** The tabs of text editors that show a file. */
export function textTabs(uri: vscode.Uri): readonly vscode.Tab[] {
  return vscode.window.tabGroups.all
    .flatMap((group) => group.tabs)
    .filter(({ input }) => input instanceof vscode.TabInputText && input.uri.toString() === uri.toString());
}

/** Whether a file is open in any tab. */
export function isInTab(uri: vscode.Uri): boolean {
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
  return tabs.flatMap(tabUris).some((each) => each.toString() === uri.toString());
}

/** The preview of a chat is a webview without an address. */
function tabUris({ input }: vscode.Tab): readonly vscode.Uri[] {
  if (input instanceof vscode.TabInputTextDiff) return [input.modified];
  const hasUri = input instanceof vscode.TabInputText || input instanceof vscode.TabInputCustom;
  return hasUri ? [input.uri] : [];
}
