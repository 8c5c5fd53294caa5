import * as vscode from 'vscode';
import { messageOf } from '../../base/errors.ts';
import { isMissing } from '../chat/chatFiles.ts';

interface Removal {
  readonly removed: readonly vscode.Uri[];
  readonly failed: readonly vscode.Uri[];
  readonly reason: string;
}

type ForEach = (uris: readonly vscode.Uri[], remove: (uri: vscode.Uri) => Promise<void>) => Promise<void>;

/** Files that cannot be moved to the trash are deleted if `mayDelete` allows it. */
export async function moveToTrash(
  uris: readonly vscode.Uri[],
  mayDelete: (trashed: Removal) => Promise<boolean>,
  forEach: ForEach = inOrder,
): Promise<Removal & { readonly isDeclined: boolean }> {
  const trashed = await removeEach(uris, true, forEach);
  if (trashed.failed.length === 0) return { ...trashed, isDeclined: false };
  if (!(await mayDelete(trashed))) return { ...trashed, isDeclined: true };
  const deleted = await removeEach(trashed.failed, false, forEach);
  return { ...deleted, removed: [...trashed.removed, ...deleted.removed], isDeclined: false };
}

/** By the names of the files. Asks before it deletes those that cannot be moved. */
export function moveFilesToTrash(names: ReadonlyMap<vscode.Uri, string>, forEach?: ForEach) {
  const mayDelete = ({ failed, reason }: Removal) => {
    const question = vscode.l10n.t(
      '{0} could not be moved to the trash. Delete permanently?',
      countFiles(failed),
    );
    const left = listNames(failed.map((uri) => names.get(uri) ?? ''));
    return confirm(question, `${reason}\n\n${left}`, vscode.l10n.t('Delete Permanently'));
  };
  return moveToTrash([...names.keys()], mayDelete, forEach);
}

export function describeUndeleted(failed: readonly vscode.Uri[], reason: string): string {
  return vscode.l10n.t('{0} could not be deleted: {1}', countFiles(failed), reason);
}

export function countFiles({ length }: readonly unknown[]): string {
  return length === 1 ? vscode.l10n.t('1 file') : vscode.l10n.t('{0} files', length);
}

async function removeEach(
  uris: readonly vscode.Uri[],
  useTrash: boolean,
  forEach: ForEach,
): Promise<Removal> {
  const removed: vscode.Uri[] = [];
  const failed: vscode.Uri[] = [];
  let reason = '';
  await forEach(uris, async (uri) => {
    try {
      await vscode.workspace.fs.delete(uri, { useTrash });
      removed.push(uri);
    } catch (error) {
      (isMissing(error) ? removed : failed).push(uri);
      if (!isMissing(error)) reason ||= messageOf(error);
    }
  });
  // Copies, because a canceled `forEach` may return while a file is still being removed.
  return { removed: [...removed], failed: [...failed], reason };
}

async function inOrder(...[uris, remove]: Parameters<ForEach>): Promise<void> {
  for (const uri of uris) await remove(uri);
}

export async function confirm(question: string, detail: string, yes: string): Promise<boolean> {
  return (await vscode.window.showWarningMessage(question, { modal: true, detail }, yes)) === yes;
}

const MAX_LISTED = 10;

export function listNames(names: readonly string[]): string {
  const more = names.length - MAX_LISTED;
  const rest = more > 0 ? [vscode.l10n.t('and {0} more', more)] : [];
  return [...names.slice(0, MAX_LISTED), ...rest].join('\n');
}
