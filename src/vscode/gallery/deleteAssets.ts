import * as vscode from 'vscode';
import type { ListedAsset } from './assets.ts';

const MAX_LISTED = 10;

/** Moves assets to the trash after a question; where there is none, asks again. */
export async function deleteAssets(assets: readonly ListedAsset[]): Promise<void> {
  if (!vscode.workspace.isTrusted) {
    throw new Error(vscode.l10n.t('Nothing is deleted in a workspace that is not trusted.'));
  }
  const move = vscode.l10n.t('Move to Trash');
  const question =
    assets.length === 1
      ? vscode.l10n.t('Move 1 asset to the trash?')
      : vscode.l10n.t('Move {0} assets to the trash?', assets.length);
  if (!(await isAgreed(question, `${describeLinks(assets)}\n\n${list(assets)}`, move))) return;
  const { failed, reason } = await deleteEach(assets, true);
  if (failed.length === 0) return;
  const again =
    failed.length === 1
      ? vscode.l10n.t('1 asset could not be moved to the trash. Delete for good?')
      : vscode.l10n.t('{0} assets could not be moved to the trash. Delete for good?', failed.length);
  if (!(await isAgreed(again, `${reason}\n\n${list(failed)}`, vscode.l10n.t('Delete for Good')))) return;
  const rest = await deleteEach(failed, false);
  if (rest.failed.length > 0) {
    throw new Error(vscode.l10n.t('{0} assets could not be deleted: {1}', rest.failed.length, rest.reason));
  }
}

async function isAgreed(question: string, detail: string, yes: string): Promise<boolean> {
  return (await vscode.window.showWarningMessage(question, { modal: true, detail }, yes)) === yes;
}

/** A link whose file is gone shows nothing, so it is said before. */
function describeLinks(assets: readonly ListedAsset[]): string {
  const linked = assets.filter(({ uses }) => uses.length > 0).length;
  if (linked === 0) {
    return assets.length === 1
      ? vscode.l10n.t('No chat links to it.')
      : vscode.l10n.t('No chat links to them.');
  }
  if (assets.length === 1) return vscode.l10n.t('A chat still links to it. The link will lead nowhere.');
  return linked === 1
    ? vscode.l10n.t('A chat still links to 1 of them. Its link will lead nowhere.')
    : vscode.l10n.t('Chats still link to {0} of them. Their links will lead nowhere.', linked);
}

async function deleteEach(assets: readonly ListedAsset[], useTrash: boolean) {
  const failed: ListedAsset[] = [];
  let reason = '';
  for (const asset of assets) {
    try {
      await vscode.workspace.fs.delete(asset.uri, { useTrash });
    } catch (error) {
      if (error instanceof vscode.FileSystemError && error.code === 'FileNotFound') continue;
      failed.push(asset);
      reason ||= error instanceof Error ? error.message : String(error);
    }
  }
  return { failed, reason };
}

function list(assets: readonly ListedAsset[]): string {
  const names = assets.slice(0, MAX_LISTED).map(({ name }) => name);
  const more = assets.length - MAX_LISTED;
  return [...names, ...(more > 0 ? [vscode.l10n.t('and {0} more', more)] : [])].join('\n');
}
