import { createReadStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { temporaryName } from '../../assets/writeFile.ts';
import { type ZipEntry, type ZipOptions, zipFiles } from '../../assets/zip.ts';
import { messageOf } from '../../base/errors.ts';
import { describeSize } from '../../base/size.ts';
import { renderFileLink } from '../../chat/edits/fileLink.ts';
import type { Action } from '../../views/gallery/messages.ts';
import { activeChat, chatName, showAt } from '../chat/chatFiles.ts';
import { relativeTarget } from '../chat/paths.ts';
import { textTabs } from '../chat/tabs.ts';
import { announceBriefly } from '../ui/announce.ts';
import { showProblem } from '../ui/outcomes.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import { withNotice } from '../ui/progress.ts';
import { confirm, describeUndeleted, listNames, moveFilesToTrash } from '../ui/trash.ts';
import type { ActionDeps, GalleryScope, ListedAsset } from './assets.ts';

export async function act(action: Action, assets: readonly ListedAsset[], deps: ActionDeps): Promise<void> {
  if (assets.length === 0) return;
  try {
    await ACTIONS[action](assets, deps);
  } catch (error) {
    showProblem(messageOf(error));
  }
}

const ACTIONS: Readonly<Record<Action, (assets: readonly ListedAsset[], deps: ActionDeps) => Promise<void>>> =
  {
    open,
    reveal: ([asset]) => (asset ? reveal(asset) : Promise.resolve()),
    copyLink: (assets, { scope }) => copy(assets.map((asset) => linkTo(asset, scope))),
    copyReference: (assets) => copy(assets.map(({ name }) => `asset:${name}`)),
    attach,
    delete: deleteAssets,
    export: exportAssets,
  };

const MAX_OPENED = 20;

async function open(assets: readonly ListedAsset[]): Promise<void> {
  const options = { preview: assets.length === 1 };
  for (const { uri } of assets.slice(0, MAX_OPENED)) {
    await vscode.commands.executeCommand('vscode.open', uri, options);
  }
}

async function reveal({ title, uses: [use] }: ListedAsset): Promise<void> {
  if (!use) {
    const words = vscode.l10n.t('No chat links to {0}.', title);
    return void vscode.window.showInformationMessage(plainMessage(words));
  }
  const document = await vscode.workspace.openTextDocument(use.chat);
  await showAt(document, use.offset, { viewColumn: columnOf(use.chat) });
}

function columnOf(chat: vscode.Uri): vscode.ViewColumn {
  return textTabs(chat)[0]?.group.viewColumn ?? vscode.ViewColumn.One;
}

/** Links are for the chat of the gallery, or for the active one. */
function chatFor(scope: GalleryScope): vscode.Uri | undefined {
  return scope.chat ?? activeChat()?.uri;
}

function linkTo({ uri, folder, name, uses: [use] }: ListedAsset, scope: GalleryScope): string {
  const chat = chatFor(scope) ?? use?.chat;
  const near = chat && chat.scheme === uri.scheme && chat.authority === uri.authority;
  const from = near ? chat : vscode.Uri.joinPath(folder, 'x.chat.md');
  const target = relativeTarget(from.path, uri.path);
  return renderFileLink({ label: name, target, isImage: IMAGE.test(name) });
}

const IMAGE = /\.(?:png|jpe?g|gif|webp|avif|bmp|apng)$/i;

async function copy(lines: readonly string[]): Promise<void> {
  await vscode.env.clipboard.writeText(lines.join('\n'));
  const words =
    lines.length === 1
      ? vscode.l10n.t('Copied: {0}', lines[0] ?? '')
      : vscode.l10n.t('Copied {0} lines.', lines.length);
  announceBriefly(words);
}

async function attach(assets: readonly ListedAsset[], { scope }: ActionDeps): Promise<void> {
  const uri = chatFor(scope);
  if (!uri) throw new Error(vscode.l10n.t('Open a chat first. The links are inserted there.'));
  const files = assets.map((asset) => asset.uri);
  await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri), columnOf(uri));
  await vscode.commands.executeCommand('filechat.attachFile', { uri, files });
}

/** Asks before it moves assets to the trash, and again before it deletes those that cannot be moved. */
async function deleteAssets(assets: readonly ListedAsset[]): Promise<void> {
  if (!vscode.workspace.isTrusted) {
    throw new Error(vscode.l10n.t('Assets cannot be deleted in an untrusted workspace.'));
  }
  const move = vscode.l10n.t('Move to Trash');
  const question =
    assets.length === 1
      ? vscode.l10n.t('Move 1 asset to the trash?')
      : vscode.l10n.t('Move {0} assets to the trash?', assets.length);
  const names = new Map(assets.map(({ uri, title }) => [uri, title]));
  if (!(await confirm(question, `${describeLinks(assets)}\n\n${listNames([...names.values()])}`, move)))
    return;
  const { failed, reason, isDeclined } = await moveFilesToTrash(names);
  if (!isDeclined && failed.length > 0) throw new Error(describeUndeleted(failed, reason));
}

function describeLinks(assets: readonly ListedAsset[]): string {
  const linked = assets.filter(({ uses }) => uses.length > 0).length;
  if (linked === 0) {
    return assets.length === 1
      ? vscode.l10n.t('No chat links to it.')
      : vscode.l10n.t('No chat links to them.');
  }
  if (assets.length === 1) return vscode.l10n.t('A chat still links to it. The link will be broken.');
  return linked === 1
    ? vscode.l10n.t('A chat still links to 1 of them. The link will be broken.')
    : vscode.l10n.t('Chats still link to {0} of them. The links will be broken.', linked);
}

async function exportAssets(assets: readonly ListedAsset[], { scope, storage }: ActionDeps): Promise<void> {
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

/** Resolves to undefined when the user cancels. */
function withProgress(entries: readonly ZipEntry[], work: (options: ZipOptions) => Promise<void>) {
  const total = entries.reduce((sum, { bytes }) => sum + bytes, 0);
  const title = vscode.l10n.t('Exporting assets');
  return withNotice(title, async (signal, notice) => {
    let done = 0;
    let shown = 0;
    const onProgress = (bytes: number) => {
      done += bytes;
      // Once per percent: a message per chunk would take longer than the zip.
      if (done < total && done - shown < total / 100) return;
      shown = done;
      const size = vscode.l10n.t('{0} of {1}', describeSize(done), describeSize(total));
      notice.report({ message: `${title} · ${size}`, percent: (100 * done) / Math.max(1, total) });
    };
    await work({ signal, onProgress });
    return true;
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
