import * as vscode from 'vscode';

/**
 * Opens exactly this address, and resolves to whether it was opened. It is given as text: the editor would take a
 * `Uri` apart and put it together anew, and `%26` in a query would come out as `&`. It takes both, whatever its types
 * say.
 */
export async function openInBrowser(url: URL): Promise<boolean> {
  return vscode.env.openExternal(url.href as unknown as vscode.Uri);
}
