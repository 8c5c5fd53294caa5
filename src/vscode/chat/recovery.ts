import * as vscode from 'vscode';
import { newResultId } from '../../assets/store.ts';

const OPEN = vscode.l10n.t('Open');

/**
 * Keeps what a model or a tool has said when its chat did not take it: it may have cost something. Resolves when the
 * copy is kept; the notification stays until the user has seen it.
 */
export async function keepCopy(
  markdown: string,
  { globalStorageUri }: Pick<vscode.ExtensionContext, 'globalStorageUri'>,
): Promise<void> {
  const file = vscode.Uri.joinPath(globalStorageUri, 'recovered', copyName(new Date()));
  try {
    await vscode.workspace.fs.createDirectory(vscode.Uri.joinPath(file, '..'));
    await vscode.workspace.fs.writeFile(file, new TextEncoder().encode(markdown));
  } catch {
    // No disk takes it, so it goes where the user sees it at once.
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

/** Not `.chat.md`: it is a piece of a chat and nothing to run. */
function copyName(time: Date): string {
  const stamp = time.toISOString().replace(/[-:]/g, '').replace('T', '-').slice(0, 15);
  return `recovered-${stamp}-${newResultId()}.md`;
}
