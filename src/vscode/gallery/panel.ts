import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import { type GalleryItem, isShown, kindOf } from '../../views/gallery/item.ts';
import { changesBetween, readFromPage, type ToPage } from '../../views/gallery/messages.ts';
import { toHtml } from '../../views/preview/html.ts';
import { activeChat, chatName, isChat } from '../chat/chatFiles.ts';
import { act } from './actions.ts';
import { AssetList, type ListedAsset } from './assets.ts';
import { assetsIn, type GalleryScope, scopeKey } from './scope.ts';
import { galleryWords } from './words.ts';

export interface GalleryPanelParts {
  readonly panel: vscode.WebviewPanel;
  readonly scope: GalleryScope;
  /** The chat that was shown here before; it can be gone back to. */
  readonly before: vscode.Uri | undefined;
  readonly extensionUri: vscode.Uri;
  readonly globalStorage: vscode.Uri;
  /** The asset to begin at. */
  readonly at: string | undefined;
  /** The user wants another scope in this panel. */
  readonly onScope: (scope: GalleryScope) => void;
}

const FILES_DELAY_MS = 300;
const TEXT_DELAY_MS = 700;
const BATCH = 500;

/** The gallery of one scope in a panel: what is listed, kept up to date while somebody looks. */
export class GalleryPanel implements vscode.Disposable {
  readonly #parts: GalleryPanelParts;
  readonly #list: AssetList;
  readonly #disposables: vscode.Disposable[] = [];
  readonly #timers = new Map<Due, NodeJS.Timeout>();
  #at: string | undefined;
  #roots: string | undefined;
  /** Whether the page listens; what is hidden is thrown away by the editor, and starts anew. */
  #ready = false;
  #listed: ReadonlyMap<string, ListedAsset> = new Map();
  #sent: ReadonlyMap<string, GalleryItem> = new Map();
  #work: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(parts: GalleryPanelParts) {
    this.#parts = parts;
    this.#at = parts.at;
    this.#list = new AssetList(parts.scope, parts.globalStorage);
    const { panel, scope } = parts;
    panel.title = scope.chat
      ? vscode.l10n.t('Assets of {0}', chatName(scope.chat))
      : vscode.l10n.t('Assets of the Workspace');
    panel.iconPath = pageIcon(parts.extensionUri);
    this.#disposables.push(
      panel.webview.onDidReceiveMessage((message: unknown) => this.#hear(message)),
      panel.onDidChangeViewState(() => this.#viewChanged()),
      vscode.workspace.onDidChangeTextDocument(({ document }) => this.#textChanged(document)),
      // A run saves its chat when it ends, and has brought files.
      vscode.workspace.onDidSaveTextDocument(({ uri }) => {
        if (isChat(uri)) this.#later('files', FILES_DELAY_MS);
      }),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.#load()),
    );
    this.#watch();
    void this.#queue(() => this.#open());
  }

  get column(): vscode.ViewColumn | undefined {
    return this.#parts.panel.viewColumn;
  }

  /** Brings the panel to the front, at an asset. */
  show(at: string | undefined): void {
    this.#parts.panel.reveal(this.column);
    if (at === undefined) return;
    this.#at = at;
    if (!this.#ready) return;
    this.#at = undefined;
    this.#post({ kind: 'goTo', id: at });
  }

  dispose(): void {
    this.#closed = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
    vscode.Disposable.from(...this.#disposables).dispose();
  }

  async #open(): Promise<void> {
    await this.#read('files');
    if (!this.#closed) this.#load();
  }

  /** A new page, which asks for everything as soon as it is there. */
  #load(): void {
    const { panel, extensionUri } = this.#parts;
    this.#ready = false;
    panel.webview.html = galleryPage(panel.webview, extensionUri);
  }

  /** A page may load what is in the folders that are listed, and nothing else. */
  #allowFolders(): void {
    const { panel, extensionUri } = this.#parts;
    const folders = this.#list.folders.map(assetsIn);
    const roots = folders.map(String).sort().join('\n');
    if (roots === this.#roots) return;
    this.#roots = roots;
    panel.webview.options = {
      enableScripts: true,
      localResourceRoots: [...pageRoots(extensionUri), ...folders],
    };
  }

  #watch(): void {
    const { scope, globalStorage } = this.#parts;
    const folder =
      scope.chat?.scheme === 'untitled' ? globalStorage : scope.chat && vscode.Uri.joinPath(scope.chat, '..');
    const patterns = folder
      ? [new vscode.RelativePattern(folder, 'cmdassets/*'), new vscode.RelativePattern(folder, '*.chat.md')]
      : ['**/cmdassets/*', '**/*.chat.md'];
    for (const pattern of patterns) {
      const watcher = vscode.workspace.createFileSystemWatcher(pattern);
      const changed = (uri: vscode.Uri) => {
        this.#list.changed(uri);
        this.#later('files', FILES_DELAY_MS);
      };
      watcher.onDidCreate(changed);
      watcher.onDidChange(changed);
      watcher.onDidDelete(changed);
      this.#disposables.push(watcher);
    }
  }

  #textChanged(document: vscode.TextDocument): void {
    if (isChat(document.uri)) this.#later('text', TEXT_DELAY_MS);
  }

  #viewChanged(): void {
    const { visible } = this.#parts.panel;
    if (!visible) this.#ready = false;
  }

  /** Once for all that happens within the delay, and not at all for a panel that nobody sees. */
  #later(due: Due, delayMs: number): void {
    if (this.#timers.has(due) || !this.#parts.panel.visible) return;
    const run = () => {
      this.#timers.delete(due);
      void this.#queue(async () => {
        await this.#read(due);
        this.#tellChanges();
      });
    };
    this.#timers.set(due, setTimeout(run, delayMs));
  }

  /** One after the other, so that an old look never comes after a newer one. */
  #queue(work: () => Promise<void>): Promise<void> {
    this.#work = this.#work.then(() => (this.#closed ? undefined : work())).catch(() => undefined);
    return this.#work;
  }

  async #read(due: Due): Promise<void> {
    if (due === 'files') await this.#list.readFiles();
    else this.#list.readOpenChats();
    if (this.#closed) return;
    this.#allowFolders();
    this.#listed = this.#list.list();
  }

  async #hear(message: unknown): Promise<void> {
    const heard = readFromPage(message);
    if (heard?.kind === 'ready') return this.#start();
    if (heard?.kind === 'scope') return this.#changeScope(heard.scope);
    if (heard?.kind !== 'act') return;
    const assets = heard.ids.flatMap((id) => this.#listed.get(id) ?? []);
    const { scope, globalStorage } = this.#parts;
    try {
      await act(heard.action, assets, { scope, storage: globalStorage });
    } finally {
      if (heard.action === 'delete') this.#lookAgainAt(assets);
    }
  }

  /** What is gone should not wait until the editor's watcher has noticed. */
  #lookAgainAt(assets: readonly ListedAsset[]): void {
    for (const { uri } of assets) this.#list.changed(uri);
    this.#later('files', 0);
  }

  #changeScope(wanted: 'chat' | 'workspace'): void {
    const chat = this.chat;
    if (wanted === 'workspace') this.#parts.onScope({});
    else if (chat) this.#parts.onScope({ chat });
  }

  /** The chat that this is about, or could be. */
  get chat(): vscode.Uri | undefined {
    const { scope, before } = this.#parts;
    return scope.chat ?? before ?? activeChat()?.uri;
  }

  /** Tells a page that has just loaded everything, then looks whether that is still so. */
  #start(): void {
    const { scope } = this.#parts;
    const chat = this.chat;
    this.#ready = true;
    this.#post({
      kind: 'start',
      words: galleryWords(),
      scope: {
        ...(scope.chat ? { chat: scopeKey(scope) } : {}),
        ...(chat ? { chatName: chatName(chat) } : {}),
      },
      canDelete: vscode.workspace.isTrusted,
      ...(this.#at === undefined ? {} : { at: this.#at }),
    });
    this.#at = undefined;
    this.#tellAll();
    this.#later('files', 0);
  }

  #tellAll(): void {
    this.#sent = this.#items();
    const items = [...this.#sent.values()];
    for (let at = 0; at === 0 || at < items.length; at += BATCH) {
      const whole = at + BATCH >= items.length;
      this.#post({ kind: 'assets', reset: at === 0, put: items.slice(at, at + BATCH), gone: [], whole });
    }
  }

  #tellChanges(): void {
    if (!this.#ready) return;
    const items = this.#items();
    const changes = changesBetween(this.#sent, items);
    this.#sent = items;
    if (changes.put.length + changes.gone.length === 0) return;
    this.#post({ kind: 'assets', reset: false, ...changes, whole: true });
  }

  #items(): ReadonlyMap<string, GalleryItem> {
    const { panel, scope } = this.#parts;
    return new Map(
      [...this.#listed].map(([id, asset]) => [id, itemOf(id, asset, { webview: panel.webview, scope })]),
    );
  }

  #post(message: ToPage): void {
    void this.#parts.panel.webview.postMessage(message);
  }
}

type Due = 'files' | 'text';

interface Showing {
  readonly webview: vscode.Webview;
  readonly scope: GalleryScope;
}

function itemOf(id: string, asset: ListedAsset, { webview, scope }: Showing): GalleryItem {
  const { uri, name, folder, bytes, time, uses } = asset;
  return {
    id,
    name,
    folder: scope.chat ? '' : vscode.workspace.asRelativePath(folder),
    kind: kindOf(name),
    bytes,
    time,
    uses: uses.map(({ chat, tool, turn }) => ({
      chat: chatName(chat),
      turn,
      ...(tool === undefined ? {} : { tool }),
    })),
    ...(isShown(name, bytes) ? { source: webview.asWebviewUri(uri).toString() } : {}),
  };
}

/** Where the page's own script and style are. */
function pageRoots(extensionUri: vscode.Uri): readonly vscode.Uri[] {
  return [
    vscode.Uri.joinPath(extensionUri, 'dist', 'gallery'),
    vscode.Uri.joinPath(extensionUri, 'media', 'gallery'),
  ];
}

/** What the tab shows beside its title. */
function pageIcon(extensionUri: vscode.Uri) {
  const drawing = (name: string) => vscode.Uri.joinPath(extensionUri, 'media', 'gallery', name);
  return { light: drawing('light.svg'), dark: drawing('dark.svg') };
}

/** The page holds nothing of the assets: they come as messages, and are set as text. */
function galleryPage(webview: vscode.Webview, extensionUri: vscode.Uri): string {
  const nonce = randomBytes(16).toString('base64url');
  const [scripts, styles] = pageRoots(extensionUri).map((root) => webview.asWebviewUri(root));
  const own = webview.cspSource;
  const policy = [
    "default-src 'none'",
    `img-src ${own}`,
    `media-src ${own}`,
    // The page reads sounds to draw them, and the first lines of texts.
    `connect-src ${own}`,
    `style-src ${own}`,
    `script-src 'nonce-${nonce}'`,
    "form-action 'none'",
    "base-uri 'none'",
  ].join('; ');
  return `<!DOCTYPE html>
<html lang="${toHtml(vscode.env.language)}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${toHtml(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${toHtml(vscode.l10n.t('Assets'))}</title>
<link rel="stylesheet" href="${toHtml(`${styles}/gallery.css`)}">
</head>
<body>
<script nonce="${nonce}" src="${toHtml(`${scripts}/gallery.js`)}"></script>
</body>
</html>`;
}
