import * as vscode from 'vscode';
import { messageOf } from '../../base/errors.ts';

export interface Removal {
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
      const isGone = error instanceof vscode.FileSystemError && error.code === 'FileNotFound';
      (isGone ? removed : failed).push(uri);
      if (!isGone) reason ||= messageOf(error);
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
