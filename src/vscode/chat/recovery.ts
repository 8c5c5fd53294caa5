import * as vscode from 'vscode';
import { newResultId } from '../../assets/store.ts';

const OPEN = vscode.l10n.t('Open');

/** Saves a reply or result that could not be written to its chat. Resolves when the copy is saved. */
export async function keepCopy(
  markdown: string,
  { globalStorageUri }: Pick<vscode.ExtensionContext, 'globalStorageUri'>,
): Promise<void> {
  const file = vscode.Uri.joinPath(globalStorageUri, 'recovered', copyName(new Date()));
  try {
    await vscode.workspace.fs.createDirectory(vscode.Uri.joinPath(file, '..'));
    await vscode.workspace.fs.writeFile(file, new TextEncoder().encode(markdown));
  } catch {
    // The copy cannot be saved either, so it is shown in an untitled document.
    await show(await vscode.workspace.openTextDocument({ language: 'markdown', content: markdown }));
    return;
  }
  void offerToOpen(file);
}

async function offerToOpen(file: vscode.Uri): Promise<void> {
  const answer = await vscode.window.showWarningMessage(
    vscode.l10n.t('What came is no longer in the chat. A copy is kept.'),
    OPEN,
  );
  if (answer === OPEN) await show(await vscode.workspace.openTextDocument(file));
}

async function show(document: vscode.TextDocument): Promise<void> {
  await vscode.window.showTextDocument(document, { preview: false, preserveFocus: true });
}

/** Not `.chat.md`, because it is a fragment that must not be run. */
function copyName(time: Date): string {
  const stamp = time.toISOString().replace(/[-:]/g, '').replace('T', '-').slice(0, 15);
  return `recovered-${stamp}-${newResultId()}.md`;
}
