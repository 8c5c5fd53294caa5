import * as vscode from 'vscode';
import { findAssetUses, resolvePath, useAt } from '../../chat/outline/references.ts';
import { activeChat, chatOf, isChat } from '../chat/chatFiles.ts';
import { readFields, readString, readUri } from '../ui/commandArguments.ts';
import { assetsIn, type GalleryScope, readScope, scopeKey } from './assets.ts';
import { GalleryPanel, type GalleryPanelDeps } from './panel.ts';

/** Also in package.json and extension.ts. */
const VIEW_TYPE = 'filechat.gallery';

export class Gallery implements vscode.Disposable {
  readonly #context: vscode.ExtensionContext;
  readonly #panels = new Map<string, GalleryPanel>();

  readonly #subscription = vscode.workspace.onDidRenameFiles(({ files }) => {
    for (const panel of [...this.#panels.values()])
      for (const { oldUri, newUri } of files) panel.renamed(oldUri, newUri);
  });

  constructor(context: vscode.ExtensionContext) {
    this.#context = context;
  }

  /** Shows the assets of a chat, at the given asset or the one under the cursor. */
  async show(argument: unknown): Promise<void> {
    const fields = readFields(argument);
    const named = readUri(fields, 'uri');
    const chat = named && isChat(named) ? named : activeChat()?.uri;
    const asset = readString(fields, 'asset');
    const at = chat && (asset === undefined ? assetAtCursor(chat) : assetNamed(chat, asset));
    const scope = chat ? { chat } : {};
    const known = this.#panels.get(scopeKey(scope));
    if (known) return known.show(at);
    const column = chat ? vscode.ViewColumn.Beside : vscode.ViewColumn.Active;
    this.#open(vscode.window.createWebviewPanel(VIEW_TYPE, '', column), { scope, at });
  }

  async restore(panel: vscode.WebviewPanel, state: unknown): Promise<void> {
    const scope = readScope(state);
    if (this.#panels.has(scopeKey(scope))) panel.dispose();
    else this.#open(panel, { scope });
  }

  dispose(): void {
    this.#subscription.dispose();
    for (const panel of this.#panels.values()) panel.dispose();
    this.#panels.clear();
  }

  #open(panel: vscode.WebviewPanel, about: Pick<GalleryPanelDeps, 'scope' | 'at' | 'before'>): void {
    const { extensionUri, globalStorageUri } = this.#context;
    const key = scopeKey(about.scope);
    const onScope = (wanted: GalleryScope) => this.#change(panel, shown, wanted);
    const shown = new GalleryPanel({
      ...about,
      panel,
      extensionUri,
      globalStorage: globalStorageUri,
      onScope,
    });
    this.#panels.set(key, shown);
    panel.onDidDispose(() => {
      if (this.#panels.get(key) === shown) this.#panels.delete(key);
      shown.dispose();
    });
  }

  /** Reuses the panel for another scope, unless there is a panel for it. */
  #change(panel: vscode.WebviewPanel, shown: GalleryPanel, wanted: GalleryScope): void {
    const known = this.#panels.get(scopeKey(wanted));
    if (known === shown) return;
    if (known) {
      known.show(undefined);
      return;
    }
    for (const [key, each] of this.#panels) if (each === shown) this.#panels.delete(key);
    shown.dispose();
    this.#open(panel, { scope: wanted, before: shown.chat });
  }
}

function assetAtCursor(chat: vscode.Uri): string | undefined {
  const key = chat.toString();
  const editor = vscode.window.visibleTextEditors.find(({ document }) => document.uri.toString() === key);
  if (!editor) return undefined;
  const { document, selection } = editor;
  const text = document.getText();
  const use = useAt(text, findAssetUses(text, chatOf(document)), document.offsetAt(selection.active));
  return use && addressOf(chat, resolvePath(vscode.Uri.joinPath(chat, '..').path, use.path));
}

/** Accepts a file name in the assets folder, a path relative to the chat, or a URI. */
function assetNamed(chat: vscode.Uri, asset: string): string {
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(asset)) return vscode.Uri.parse(asset, true).toString();
  const folder = vscode.Uri.joinPath(chat, '..');
  const name = asset.replace(/^asset:/, '');
  return addressOf(chat, resolvePath((name.includes('/') ? folder : assetsIn(folder)).path, name));
}

function addressOf(chat: vscode.Uri, path: string): string {
  return (chat.scheme === 'untitled' ? vscode.Uri.file(path) : chat.with({ path })).toString();
}
