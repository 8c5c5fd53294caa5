import * as vscode from 'vscode';
import { chatStem } from '../../chat/outline/title.ts';
import { chatName, closeTabs } from '../chat/chatFiles.ts';
import { confirm, moveToTrash } from '../ui/trash.ts';

export async function openPreview(uri: vscode.Uri): Promise<void> {
  await vscode.commands.executeCommand('markdown.showPreviewToSide', uri);
}

export async function revealChat(uri: vscode.Uri): Promise<void> {
  await vscode.commands.executeCommand('revealInExplorer', uri);
}

/** Asks first. The assets stay, because other chats may link to them. */
export async function deleteChat(uri: vscode.Uri): Promise<void> {
  const question = vscode.l10n.t('Move “{0}” to the trash?', chatName(uri));
  const detail = vscode.l10n.t(
    'Its assets in cmdassets/ stay. “Clean Up Assets” finds those that no chat uses.',
  );
  if (!(await confirm(question, detail, vscode.l10n.t('Move to Trash')))) return;
  const again = vscode.l10n.t('“{0}” could not be moved to the trash. Delete it for good?', chatName(uri));
  const { failed, reason, isDeclined } = await moveToTrash([uri], () =>
    confirm(again, '', vscode.l10n.t('Delete')),
  );
  if (isDeclined) return;
  if (failed.length > 0) throw new Error(reason);
  await closeTabs(uri);
}

/** Through a workspace edit, so that open tabs follow. */
export async function renameChat(uri: vscode.Uri): Promise<void> {
  const stem = await vscode.window.showInputBox({
    title: vscode.l10n.t('Rename Chat'),
    prompt: vscode.l10n.t('The name of its file, without .chat.md'),
    value: chatName(uri),
    validateInput: (value) =>
      /^[^\\/:*?"<>|\p{Cc}]+$/u.test(value.trim()) && !/^\.+$/.test(value.trim())
        ? undefined
        : vscode.l10n.t('A file cannot have this name.'),
  });
  const name = chatStem(stem?.trim() ?? '');
  if (!name || name === chatName(uri)) return;
  const target = vscode.Uri.joinPath(uri, '..', `${name}.chat.md`);
  const edit = new vscode.WorkspaceEdit();
  edit.renameFile(uri, target, { overwrite: false });
  if (await vscode.workspace.applyEdit(edit)) return;
  void vscode.window.showErrorMessage(
    vscode.l10n.t('The chat keeps its name: there is another one called “{0}”.', name),
  );
}
