import * as vscode from 'vscode';

/** A file of the workspace that the suite runs in. */
export function inWorkspace(...segments: string[]): vscode.Uri {
  const folder = vscode.workspace.workspaceFolders?.[0];
  if (!folder) throw new Error('The suite runs without a workspace.');
  return vscode.Uri.joinPath(folder.uri, ...segments);
}

/** Writes a chat and opens it. */
export async function openChat(name: string, text: string): Promise<vscode.TextDocument> {
  const uri = inWorkspace(name);
  await vscode.workspace.fs.writeFile(uri, new TextEncoder().encode(text));
  const document = await vscode.workspace.openTextDocument(uri);
  await vscode.window.showTextDocument(document);
  return document;
}

/** Resolves as soon as the document holds the words. */
export async function holds(document: vscode.TextDocument, words: string): Promise<void> {
  if (document.getText().includes(words)) return;
  await new Promise<void>((resolve) => {
    const subscription = vscode.workspace.onDidChangeTextDocument((event) => {
      if (event.document !== document || !document.getText().includes(words)) return;
      subscription.dispose();
      resolve();
    });
  });
}

/** The sample server as the user's own, allowed to run without a question: dialogs cannot be answered here. */
export async function useSampleServer(): Promise<void> {
  const settings = vscode.workspace.getConfiguration('filechat');
  const program = inWorkspace('..', 'dist', 'sample-server.js').fsPath;
  await settings.update(
    'mcpServers',
    { mine: { command: 'node', args: [program] } },
    vscode.ConfigurationTarget.Global,
  );
  await settings.update('approve', 'auto', vscode.ConfigurationTarget.Global);
}
