import * as vscode from 'vscode';
import { renderFileLink } from '../../chat/edits/fileLink.ts';
import type { Action } from '../../gallery/messages.ts';
import { activeChat } from '../chat/chatFiles.ts';
import { relativeTarget } from '../chat/fileLink.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import type { ListedAsset } from './assets.ts';
import { deleteAssets } from './deleteAssets.ts';
import { exportAssets } from './export.ts';
import type { GalleryScope } from './scope.ts';

export interface ActionParts {
  readonly scope: GalleryScope;
  /** A folder of our own, for what cannot be streamed to where it goes. */
  readonly storage: vscode.Uri;
}

type Act = (assets: readonly ListedAsset[], parts: ActionParts) => Promise<void>;

/** What can be done with assets that were listed; what goes wrong is told. */
export async function act(action: Action, assets: readonly ListedAsset[], parts: ActionParts): Promise<void> {
  if (assets.length === 0) return;
  try {
    await ACTIONS[action](assets, parts);
  } catch (error) {
    void vscode.window.showErrorMessage(plainMessage(error instanceof Error ? error.message : String(error)));
  }
}

const ACTIONS: Readonly<Record<Action, Act>> = {
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

/** Shows the chat at the link, beside the gallery where it is open there. */
async function reveal({ name, uses: [use] }: ListedAsset): Promise<void> {
  if (!use) {
    const words = vscode.l10n.t('No chat links to {0}.', name);
    return void vscode.window.showInformationMessage(plainMessage(words));
  }
  const document = await vscode.workspace.openTextDocument(use.chat);
  const at = document.positionAt(use.offset);
  const selection = new vscode.Range(at, at);
  const editor = await vscode.window.showTextDocument(document, {
    viewColumn: columnOf(use.chat),
    selection,
  });
  editor.revealRange(selection, vscode.TextEditorRevealType.InCenter);
}

/** Where a tab shows the chat already. */
function columnOf(chat: vscode.Uri): vscode.ViewColumn {
  const key = chat.toString();
  const shows = ({ input }: vscode.Tab) =>
    input instanceof vscode.TabInputText && input.uri.toString() === key;
  const group = vscode.window.tabGroups.all.find(({ tabs }) => tabs.some(shows));
  return group?.viewColumn ?? vscode.ViewColumn.One;
}

/** The chat that links are for: that of the gallery, or the one beside it. */
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
  vscode.window.setStatusBarMessage(words, 5000);
}

async function attach(assets: readonly ListedAsset[], { scope }: ActionParts): Promise<void> {
  const uri = chatFor(scope);
  if (!uri) throw new Error(vscode.l10n.t('Open a chat first: the links go into it.'));
  const files = assets.map((asset) => asset.uri);
  await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri), columnOf(uri));
  await vscode.commands.executeCommand('filechat.attachFile', { uri, files });
}
