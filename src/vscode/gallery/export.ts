import { createReadStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { temporaryName } from '../../assets/writeFile.ts';
import { type ZipEntry, zipFiles } from '../../assets/zip.ts';
import { describeSize } from '../../base/size.ts';
import { chatName } from '../chat/chatFiles.ts';
import type { ListedAsset } from './assets.ts';
import type { ActionDeps } from './scope.ts';

export async function exportAssets(
  assets: readonly ListedAsset[],
  { scope, storage }: ActionDeps,
): Promise<void> {
  const [first] = assets;
  const name = scope.chat ? `${chatName(scope.chat)}-assets.zip` : 'assets.zip';
  const target = await vscode.window.showSaveDialog({
    title: vscode.l10n.t('Export Assets'),
    filters: { Zip: ['zip'] },
    ...(first ? { defaultUri: vscode.Uri.joinPath(first.folder, name) } : {}),
  });
  if (!target) return;
  const entries = assets.map((asset) => entryOf(asset, scope.chat === undefined));
  const done = await withProgress(entries, (options) =>
    writeTo(target, storage, (path) => zipFiles(path, entries, options)),
  );
  if (!done) return;
  const show = vscode.l10n.t('Show in Explorer');
  const words = vscode.l10n.t('Exported {0} assets to {1}.', assets.length, target.path.replace(/^.*\//, ''));
  if ((await vscode.window.showInformationMessage(words, show)) === show) {
    await vscode.commands.executeCommand('revealInExplorer', target);
  }
}

type Options = Parameters<typeof zipFiles>[2];

/** Returns false when the user cancels. */
async function withProgress(
  entries: readonly ZipEntry[],
  work: (options: Options) => Promise<void>,
): Promise<boolean> {
  const total = entries.reduce((sum, { bytes }) => sum + bytes, 0);
  const stop = new AbortController();
  const progressOptions = {
    location: vscode.ProgressLocation.Notification,
    cancellable: true,
    title: vscode.l10n.t('Exporting assets'),
  };
  return vscode.window.withProgress(progressOptions, async (progress, token) => {
    token.onCancellationRequested(() => stop.abort());
    let done = 0;
    let shown = 0;
    const onProgress = (bytes: number) => {
      done += bytes;
      // Once per percent: a message per chunk would take longer than the zip.
      if (done < total && done - shown < total / 100) return;
      const increment = (100 * (done - shown)) / Math.max(1, total);
      shown = done;
      const message = vscode.l10n.t('{0} of {1}', describeSize(done), describeSize(total));
      progress.report({ increment, message });
    };
    try {
      await work({ signal: stop.signal, onProgress });
      return true;
    } catch (error) {
      if (stop.signal.aborted) return false;
      throw error;
    }
  });
}

/** Virtual file systems can only write whole files, so the zip is first created on the disk. */
async function writeTo(
  target: vscode.Uri,
  storage: vscode.Uri,
  write: (path: string) => Promise<void>,
): Promise<void> {
  if (target.scheme === 'file') return write(target.fsPath);
  await mkdir(storage.fsPath, { recursive: true });
  const path = join(storage.fsPath, temporaryName());
  try {
    await write(path);
    await vscode.workspace.fs.copy(vscode.Uri.file(path), target, { overwrite: true });
  } finally {
    await rm(path, { force: true });
  }
}

/** In folders as in the workspace, so that assets of different chats do not collide. */
function entryOf({ uri, folder, name, bytes, time }: ListedAsset, withFolder: boolean): ZipEntry {
  const path = withFolder ? vscode.workspace.asRelativePath(folder) : '';
  return {
    name: path === '' || path.startsWith('/') ? name : `${path}/${name}`,
    time: new Date(time),
    bytes,
    read: () => (uri.scheme === 'file' ? createReadStream(uri.fsPath) : readWhole(uri)),
  };
}

async function* readWhole(uri: vscode.Uri): AsyncIterable<Uint8Array> {
  yield await vscode.workspace.fs.readFile(uri);
}
