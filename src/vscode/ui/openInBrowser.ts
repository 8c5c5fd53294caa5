import * as vscode from 'vscode';

/**
 * Resolves to whether the address was opened. `openExternal` also accepts a string, despite its types; a `Uri` would
 * turn `%26` in the query into `&`.
 */
export async function openInBrowser(url: URL): Promise<boolean> {
  return vscode.env.openExternal(url.href as unknown as vscode.Uri);
}
