import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import { type GalleryItem, isShown, kindOf } from '../../views/gallery/items.ts';
import { changesBetween, readFromPage, type ToPage } from '../../views/gallery/messages.ts';
import { galleryWords } from '../../views/gallery/words.ts';
import { toHtml } from '../../views/preview/html.ts';
import { activeChat, chatName, isChat } from '../chat/chatFiles.ts';
import { act } from './actions.ts';
import { AssetList, assetsIn, type GalleryScope, type ListedAsset, scopeKey } from './assets.ts';

export interface GalleryPanelDeps {
  readonly panel: vscode.WebviewPanel;
  readonly scope: GalleryScope;
  /** The chat to offer when the workspace is shown. */
  readonly before?: vscode.Uri | undefined;
  readonly extensionUri: vscode.Uri;
  readonly globalStorage: vscode.Uri;
  readonly at?: string | undefined;
  readonly onScope: (scope: GalleryScope) => void;
}

const FILES_DELAY_MS = 300;
const TEXT_DELAY_MS = 700;
const BATCH = 500;

/** Shows the gallery of one scope, and updates it while it is visible. */
export class GalleryPanel implements vscode.Disposable {
  readonly #deps: GalleryPanelDeps;
  readonly #list: AssetList;
  readonly #disposables: vscode.Disposable[] = [];
  readonly #timers = new Map<Due, NodeJS.Timeout>();
  #at: string | undefined;
  #roots: string | undefined;
  /** False while the page is hidden: the editor discards hidden pages. */
  #ready = false;
  #listed: ReadonlyMap<string, ListedAsset> = new Map();
  #sent: ReadonlyMap<string, GalleryItem> = new Map();
  #work: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(deps: GalleryPanelDeps) {
    this.#deps = deps;
    this.#at = deps.at;
    this.#list = new AssetList(deps.scope, deps.globalStorage);
    const { panel, scope, extensionUri } = deps;
    const drawing = (name: string) => vscode.Uri.joinPath(extensionUri, 'media', 'gallery', name);
    panel.iconPath = { light: drawing('light.svg'), dark: drawing('dark.svg') };
    panel.title = scope.chat
      ? vscode.l10n.t('Assets of {0}', chatName(scope.chat))
      : vscode.l10n.t('Assets of the Workspace');
    this.#disposables.push(
      panel.webview.onDidReceiveMessage((message: unknown) => this.#receive(message)),
      panel.onDidChangeViewState(() => {
        if (!panel.visible) this.#ready = false;
      }),
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        if (isChat(document.uri)) this.#later('text', TEXT_DELAY_MS);
      }),
      // A run saves its chat when it ends, and may have added files.
      vscode.workspace.onDidSaveTextDocument(({ uri }) => {
        if (isChat(uri)) this.#later('files', FILES_DELAY_MS);
      }),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.#load()),
    );
    this.#watch();
    this.#queue(async () => {
      await this.#read('files');
      if (!this.#closed) this.#load();
    });
  }

  show(at: string | undefined): void {
    const { panel } = this.#deps;
    panel.reveal(panel.viewColumn);
    if (at === undefined) return;
    if (this.#ready) this.#post({ kind: 'goTo', id: at });
    else this.#at = at;
  }

  dispose(): void {
    this.#closed = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
    vscode.Disposable.from(...this.#disposables).dispose();
  }

  /** A new page requests everything once it has loaded. */
  #load(): void {
    const { panel, extensionUri } = this.#deps;
    this.#ready = false;
    panel.webview.html = galleryPage(panel.webview, extensionUri);
  }

  /** The page may only load files from the listed folders. */
  #allowFolders(): void {
    const { panel, extensionUri } = this.#deps;
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
    const { scope, globalStorage } = this.#deps;
    const folder =
      scope.chat?.scheme === 'untitled' ? globalStorage : scope.chat && vscode.Uri.joinPath(scope.chat, '..');
    const patterns = folder
      ? [new vscode.RelativePattern(folder, 'cmdassets/*'), new vscode.RelativePattern(folder, '*.chat.md')]
      : ['**/cmdassets/*', '**/*.chat.md'];
    for (const pattern of patterns) {
      const watcher = vscode.workspace.createFileSystemWatcher(pattern);
      this.#disposables.push(watcher);
      for (const event of [watcher.onDidCreate, watcher.onDidChange, watcher.onDidDelete])
        event((uri) => {
          this.#list.changed(uri);
          this.#later('files', FILES_DELAY_MS);
        });
    }
  }

  /** Groups changes within the delay; does nothing while the panel is hidden. */
  #later(due: Due, delayMs: number): void {
    if (this.#timers.has(due) || !this.#deps.panel.visible) return;
    const run = () => {
      this.#timers.delete(due);
      this.#queue(async () => {
        await this.#read(due);
        this.#sendChanges();
      });
    };
    this.#timers.set(due, setTimeout(run, delayMs));
  }

  /** Runs sequentially, so that an older scan never overwrites a newer one. */
  #queue(work: () => Promise<void>): void {
    this.#work = this.#work.then(() => (this.#closed ? undefined : work())).catch(() => undefined);
  }

  async #read(due: Due): Promise<void> {
    if (due === 'files') await this.#list.readFiles();
    else this.#list.readOpenChats();
    if (this.#closed) return;
    this.#allowFolders();
    this.#listed = this.#list.list();
  }

  async #receive(message: unknown): Promise<void> {
    const request = readFromPage(message);
    if (request?.kind === 'ready') return this.#start();
    if (request?.kind === 'scope') return this.#changeScope(request.scope);
    if (request?.kind !== 'act') return;
    const assets = request.ids.flatMap((id) => this.#listed.get(id) ?? []);
    const { scope, globalStorage } = this.#deps;
    try {
      await act(request.action, assets, { scope, storage: globalStorage });
    } finally {
      // Does not wait for the file watcher.
      if (request.action === 'delete') {
        for (const { uri } of assets) this.#list.changed(uri);
        this.#later('files', 0);
      }
    }
  }

  #changeScope(wanted: 'chat' | 'workspace'): void {
    const chat = this.chat;
    if (wanted === 'workspace') this.#deps.onScope({});
    else if (chat) this.#deps.onScope({ chat });
  }

  /** Follows the chat of the scope. */
  renamed(from: vscode.Uri, to: vscode.Uri): void {
    const { scope, onScope } = this.#deps;
    if (scope.chat?.toString() === from.toString() && isChat(to)) onScope({ chat: to });
  }

  /** The chat of the scope, or the one that can be switched to. */
  get chat(): vscode.Uri | undefined {
    const { scope, before } = this.#deps;
    return scope.chat ?? before ?? activeChat()?.uri;
  }

  /** Sends everything to a new page, then checks for changes. */
  #start(): void {
    const { scope } = this.#deps;
    const chat = this.chat;
    this.#ready = true;
    this.#post({
      kind: 'start',
      words: galleryWords(vscode.l10n),
      scope: {
        ...(scope.chat ? { chat: scopeKey(scope) } : {}),
        ...(chat ? { chatName: chatName(chat) } : {}),
      },
      canDelete: vscode.workspace.isTrusted,
      ...(this.#at === undefined ? {} : { at: this.#at }),
    });
    this.#at = undefined;
    this.#sendAll();
    this.#later('files', 0);
  }

  #sendAll(): void {
    this.#sent = this.#items();
    const items = [...this.#sent.values()];
    for (let at = 0; at === 0 || at < items.length; at += BATCH) {
      const whole = at + BATCH >= items.length;
      this.#post({ kind: 'assets', reset: at === 0, put: items.slice(at, at + BATCH), gone: [], whole });
    }
  }

  #sendChanges(): void {
    if (!this.#ready) return;
    const items = this.#items();
    const changes = changesBetween(this.#sent, items);
    this.#sent = items;
    if (changes.put.length + changes.gone.length === 0) return;
    this.#post({ kind: 'assets', reset: false, ...changes, whole: true });
  }

  #items(): ReadonlyMap<string, GalleryItem> {
    return new Map([...this.#listed].map(([id, asset]) => [id, itemOf(id, asset, this.#deps)]));
  }

  #post(message: ToPage): void {
    void this.#deps.panel.webview.postMessage(message);
  }
}

type Due = 'files' | 'text';

function itemOf(
  id: string,
  asset: ListedAsset,
  { panel: { webview }, scope }: Pick<GalleryPanelDeps, 'panel' | 'scope'>,
): GalleryItem {
  const { uri, name, title, folder, bytes, time, uses } = asset;
  return {
    id,
    title,
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

function pageRoots(extensionUri: vscode.Uri): readonly vscode.Uri[] {
  return [
    vscode.Uri.joinPath(extensionUri, 'dist', 'gallery'),
    vscode.Uri.joinPath(extensionUri, 'media', 'gallery'),
  ];
}

/** The HTML contains no data of assets: it is sent as messages and set as text. */
function galleryPage(webview: vscode.Webview, extensionUri: vscode.Uri): string {
  const nonce = randomBytes(16).toString('base64url');
  const [scripts, styles] = pageRoots(extensionUri).map((root) => webview.asWebviewUri(root));
  const own = webview.cspSource;
  const policy = [
    "default-src 'none'",
    `img-src ${own}`,
    `media-src ${own}`,
    // The page fetches audio to draw its waveform, and the first lines of texts.
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
