import * as vscode from 'vscode';
import { ASSET_FOLDER, findUnlinked, readAssetName } from '../../base/assetNames.ts';
import { describeSize } from '../../base/size.ts';
import type { RunOutcome } from '../../ports/document.ts';
import type { AssetKind } from '../../ports/results.ts';
import { isChat, readText } from '../chat/chatFiles.ts';
import { showProblem } from '../ui/outcomes.ts';
import { withNotice } from '../ui/progress.ts';
import { confirm, countFiles, describeUndeleted, listNames, moveFilesToTrash } from '../ui/trash.ts';
import { assetsIn, namesIn } from './assets.ts';

/** Lets the user choose assets of a folder that no chat in it links to, and moves them to the trash. */
export async function cleanUpAssets({
  folder,
  isRunning,
}: {
  readonly folder: vscode.Uri;
  readonly isRunning: () => boolean;
}): Promise<RunOutcome> {
  // A running chat writes files before their links.
  if (isRunning()) throw new Error(RUNNING);
  const unlinked = await withNotice(vscode.l10n.t('Finding unlinked assets'), () => readUnlinked(folder));
  if (!unlinked) return NOTHING_MOVED;
  if (unlinked.length === 0) {
    const place = vscode.workspace.asRelativePath(assetsIn(folder));
    void vscode.window.showInformationMessage(
      vscode.l10n.t('There is nothing to clean up. Chats link to all files in {0}.', place),
    );
    return { ok: true, assets: [] };
  }
  const chosen = await pickFiles(folder, unlinked);
  if (!chosen || chosen.length === 0) return NOTHING_MOVED;
  const question = vscode.l10n.t('Move {0} to the trash?', countFiles(chosen));
  const detail = `${vscode.l10n.t('No chat in this folder links to:')}\n${listNames(chosen)}`;
  if (!(await confirm(question, detail, vscode.l10n.t('Move to Trash')))) return NOTHING_MOVED;
  if (isRunning()) throw new Error(RUNNING);
  return removeFiles(folder, chosen);
}

const RUNNING = vscode.l10n.t('A chat in this folder is running. Stop it first, or wait.');
const NOTHING_MOVED: RunOutcome = {
  ok: false,
  error: vscode.l10n.t('Nothing was moved to the trash.'),
  assets: [],
};

async function removeFiles(folder: vscode.Uri, chosen: readonly string[]): Promise<RunOutcome> {
  // A chat may have added a link since the question was asked.
  const still = new Set(await readUnlinked(folder));
  const names = new Map(
    chosen
      .filter((name) => still.has(name))
      .map((name) => [vscode.Uri.joinPath(assetsIn(folder), name), name]),
  );
  const { removed, failed, reason, isDeclined } = await moveFilesToTrash(names, forEachWithNotice);
  const assets = removed.map((uri) => `${ASSET_FOLDER}/${names.get(uri)}`);
  if (failed.length === 0) return { ok: true, assets };
  if (isDeclined) return { ok: false, error: reason, assets };
  const error = describeUndeleted(failed, reason);
  showProblem(error);
  return { ok: false, error, assets };
}

async function forEachWithNotice(
  uris: readonly vscode.Uri[],
  remove: (uri: vscode.Uri) => Promise<void>,
): Promise<void> {
  await withNotice(vscode.l10n.t('Removing {0} files', uris.length), async (signal, notice) => {
    for (const [at, uri] of uris.entries()) {
      if (signal.aborted) return;
      notice.report({ percent: (at / uris.length) * 100 });
      await remove(uri);
    }
  });
}

async function readUnlinked(folder: vscode.Uri): Promise<readonly string[]> {
  const names = await namesIn(assetsIn(folder));
  // After the names, so that the chat of a new asset is listed too.
  const entries = await vscode.workspace.fs.readDirectory(folder);
  if (names.length === 0) return [];
  const chats = entries
    .filter(([, type]) => type & vscode.FileType.File)
    .map(([name]) => vscode.Uri.joinPath(folder, name))
    .filter(isChat);
  const texts = await readTexts(chats);
  const unlinked = new Set(findUnlinked(texts, names));
  // The file with the rest of a long result links to other assets.
  const linked = names.filter((name) => name.endsWith('.md') && !unlinked.has(name));
  const files = linked.map((name) => vscode.Uri.joinPath(assetsIn(folder), name));
  return findUnlinked([...texts, ...(await readTexts(files))], unlinked);
}

/** Both saved and open texts, so that files survive an undo or a revert. */
async function readTexts(files: readonly vscode.Uri[]): Promise<readonly string[]> {
  const saved = await Promise.all(files.map(readText));
  const open = vscode.workspace.textDocuments.filter(({ uri }) => isChat(uri));
  return [...saved, ...open.map((document) => document.getText())];
}

async function pickFiles(
  folder: vscode.Uri,
  names: readonly string[],
): Promise<readonly string[] | undefined> {
  const items = names.map(async (label) => {
    const uri = vscode.Uri.joinPath(assetsIn(folder), label);
    const found = await vscode.workspace.fs.stat(uri).then(undefined, () => undefined);
    if (!found) return [];
    const description = `${describeKind(readAssetName(label)?.kind)}, ${describeSize(found.size)}`;
    return [{ label, description, picked: true }];
  });
  const picked = await vscode.window.showQuickPick((await Promise.all(items)).flat(), {
    canPickMany: true,
    ignoreFocusOut: true,
    title: vscode.l10n.t('Clean Up Assets'),
    placeHolder: vscode.l10n.t('No chat in this folder links to these files. Select the files to remove.'),
  });
  return picked?.map(({ label }) => label);
}

function describeKind(kind: AssetKind | undefined): string {
  if (kind === 'image') return vscode.l10n.t('image');
  return kind === 'audio' ? vscode.l10n.t('audio') : vscode.l10n.t('file');
}
