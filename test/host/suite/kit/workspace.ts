import { isDeepStrictEqual } from 'node:util';
import * as vscode from 'vscode';
import { until } from '../../../kit/until.ts';

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

/** The words that can be clicked above the lines of a chat, from top to bottom. */
export async function lensTitles(uri: vscode.Uri): Promise<readonly string[]> {
  const lenses = await vscode.commands.executeCommand<vscode.CodeLens[]>(
    'vscode.executeCodeLensProvider',
    uri,
    100,
  );
  return lenses.map(({ command }) => (command?.title ?? '').replace(/^\$\([\w-]+\)\s/, ''));
}

/** Waits for the question in a notification, and gives its first or second answer. */
export async function answerNotice(number: 0 | 1): Promise<void> {
  const answers = async () =>
    (await vscode.commands.getCommands(true)).filter((id) => /^filechat\.answer\.\d+\.\d$/.test(id));
  await until(async () => (await answers()).length > 0);
  const id = (await answers()).find((each) => each.endsWith(`.${number}`));
  await vscode.commands.executeCommand(id ?? '');
}

/** The sample server as the user's own, allowed to run without a question: dialogs cannot be answered here. */
export async function useSampleServer(): Promise<void> {
  const program = inWorkspace('..', 'dist', 'sample-server.js').fsPath;
  await setSetting('mcpServers', { mine: { command: 'node', args: [program] } });
  await setSetting('approve', 'auto');
}

/** Each write of a setting takes the workbench a tenth of a second, so a value that is already set is not written. */
export async function setSetting(name: string, value: unknown): Promise<void> {
  const settings = vscode.workspace.getConfiguration('filechat');
  if (isDeepStrictEqual(settings.inspect(name)?.globalValue, value)) return;
  await settings.update(name, value, vscode.ConfigurationTarget.Global);
}
