import * as vscode from 'vscode';
import { encodeBase64 } from '../../base/base64.ts';
import { field, isObject, parseJson } from '../../base/json.ts';
import { renderToolName } from '../../chat/format/callInfo.ts';
import { showInvisible } from '../../chat/format/escapeMarkers.ts';
import { type McpApp, policyOf, withPolicy } from '../../mcp/apps/app.ts';
import { AppSession, type AppSessionDeps, type AppTool, quoteForChat } from '../../mcp/apps/session.ts';
import type { Log } from '../../ports/document.ts';
import type { ResourceContents, ServerHost } from '../../ports/servers.ts';
import type { ToolCall } from '../../ports/tools.ts';
import { toHtml } from '../../views/preview/html.ts';
import { askInNotice } from '../consent/noticeQuestion.ts';
import { openInBrowser } from '../ui/openInBrowser.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import type { AppCallDeps, AppCalls } from './appCalls.ts';

export interface AppPanelDeps extends AppCallDeps {
  readonly extensionUri: vscode.Uri;
  readonly globalStorage: vscode.Uri;
  readonly version: string;
  readonly host: AppCallDeps['host'] & Pick<ServerHost, 'listTools' | 'listResources'>;
  /** Inserts text into the user's last message. */
  readonly addToChat: (chat: vscode.Uri, markdownSafeText: string) => Promise<void>;
  readonly log: (server: string) => Log;
  /** Whether a server runs on this machine, so that its apps may connect to localhost. */
  readonly isLocal: (server: string) => Promise<boolean>;
}

interface AppViewDeps extends AppPanelDeps {
  readonly calls: AppCalls;
  readonly chat: vscode.Uri;
  readonly server: string;
  readonly onClose: () => void;
}

export interface ShownApp {
  readonly app: McpApp;
  readonly call: ToolCall;
  readonly tool: AppTool;
  readonly result: unknown;
}

const MAX_READ_BYTES = 10 * 1024 * 1024;
/** What is longer has to be seen in the details. */
const MAX_QUOTED_CHARS = 300;
const MAX_HEIGHT = 20_000;

interface Confirmed {
  readonly message: string;
  readonly details: string;
  readonly button: string;
}

export class AppView implements vscode.Disposable {
  readonly #deps: AppViewDeps;
  readonly #panel: vscode.WebviewPanel;
  readonly #subscriptions: vscode.Disposable[] = [];
  #shown: ShownApp | undefined;
  /** Ends the questions of the app that is shown. */
  #ended = new AbortController();
  #session: AppSession | undefined;
  /** The size and colors that the page reported. */
  #view: unknown;
  #sentContext = '';
  #offered = '';
  #runs = 0;

  constructor(deps: AppViewDeps) {
    this.#deps = deps;
    const media = vscode.Uri.joinPath(deps.extensionUri, 'media', 'apps');
    this.#panel = vscode.window.createWebviewPanel(
      'filechat.app',
      vscode.l10n.t('App'),
      { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true },
      // Otherwise an app would restart whenever its tab was hidden.
      { enableScripts: true, retainContextWhenHidden: true, localResourceRoots: [media] },
    );
    this.#subscriptions.push(
      this.#panel.onDidDispose(() => this.dispose()),
      this.#panel.webview.onDidReceiveMessage((message: unknown) => this.#receive(message)),
      vscode.window.onDidChangeActiveColorTheme(() => this.#sendContext()),
    );
  }

  run(shown: ShownApp): void {
    this.#end();
    this.#ended = new AbortController();
    this.#shown = shown;
    this.#offered = '';
    this.#runs += 1;
    const { webview } = this.#panel;
    const script = vscode.Uri.joinPath(this.#deps.extensionUri, 'media', 'apps', 'frame.js');
    this.#panel.title = titleOf(shown.tool);
    // The number of the run differs each time, so that the editor reloads the page.
    webview.html = appPage(shown, webview, script, this.#runs);
    this.#panel.reveal(undefined, true);
  }

  dispose(): void {
    this.#end();
    for (const each of this.#subscriptions.splice(0)) each.dispose();
    this.#deps.onClose();
    this.#panel.dispose();
  }

  /** Messages come from our own page; only the text of a `message` comes from the app. */
  #receive(message: unknown): void {
    const kind = field(message, 'kind');
    if (kind === 'ready') this.#start(field(message, 'view'));
    else if (kind === 'view') {
      this.#view = field(message, 'view');
      this.#sendContext();
    } else if (kind === 'message') void this.#session?.receive(parseJson(String(field(message, 'text'))));
    else if (kind === 'addContext') void this.#addToChat(this.#offered);
    else if (kind === 'stopped') this.#stopped(String(field(message, 'why')));
  }

  #start(view: unknown): void {
    const shown = this.#shown;
    if (!shown) return;
    this.#view = view;
    this.#session?.dispose();
    this.#session = this.#createSession(shown);
    this.#sentContext = JSON.stringify(this.#context());
    const { html, csp, permissions } = shown.app;
    const allow = permissions.clipboardWrite ? 'clipboard-write' : '';
    this.#post({ kind: 'start', html: withPolicy(html, csp), allow });
  }

  #createSession({ app, call, tool, result }: ShownApp): AppSession {
    const { version, log, server, calls } = this.#deps;
    return new AppSession({
      app,
      call,
      result,
      hostInfo: { name: 'filechat', version },
      log: log(server),
      context: () => ({ ...this.#context(), ...toolInfo(tool) }),
      frame: {
        send: (message) => this.#post({ kind: 'message', message }),
        resize: (height) => this.#post({ kind: 'resize', height }),
        setMode: (mode) => this.#post({ kind: 'mode', mode }),
        offerContext: (text) => {
          this.#offered = text;
          if (text !== '') this.#post({ kind: 'offer' });
        },
        close: () => this.dispose(),
      },
      user: {
        mayCall: (each, about) => calls.mayCall(each, about, this.#ended.signal),
        openLink: (url) => this.#openLink(url),
        addToChat: (text) => this.#addToChat(text),
      },
      server: this.#server(),
    });
  }

  /** An app reaches only its own server. */
  #server(): AppSessionDeps['server'] {
    const { host, server, calls } = this.#deps;
    return {
      name: server,
      tools: async (signal) => (await host.listTools(server, signal)).tools,
      call: (call, signal) => calls.call(call, signal),
      read: async (uri, signal) => {
        const contents = await calls.read({ server, uri }, { maxBytes: MAX_READ_BYTES, signal });
        return { contents: contents.map(asContents) };
      },
      resources: async (signal) => {
        const { resources } = await host.listResources(server, signal);
        return { resources: resources.map(({ server: _server, icon: _icon, ...each }) => each) };
      },
    };
  }

  async #openLink(url: URL): Promise<boolean> {
    const message = vscode.l10n.t(
      'The app of {0} wants to open {1} in your browser.',
      this.#name,
      plainMessage(url.href, MAX_QUOTED_CHARS),
    );
    const details = showInvisible(url.href);
    return (await this.#confirm({ message, details, button: vscode.l10n.t('Open') })) && openInBrowser(url);
  }

  /** Only inserts the text; the user sends it by running the chat. */
  async #addToChat(text: string): Promise<boolean> {
    const shown = this.#shown;
    if (!shown || text === '') return false;
    const message = vscode.l10n.t(
      'The app of {0} wants to insert this text into your message: “{1}”',
      this.#name,
      plainMessage(text, MAX_QUOTED_CHARS),
    );
    const button = vscode.l10n.t('Add to Chat');
    if (!(await this.#confirm({ message, details: showInvisible(text), button }))) return false;
    try {
      await this.#deps.addToChat(this.#deps.chat, quoteForChat(shown.tool, text));
      return true;
    } catch (error) {
      void vscode.window.showWarningMessage(
        plainMessage(vscode.l10n.t('Could not insert the text: {0}', String(error))),
      );
      return false;
    }
  }

  get #name(): string {
    return plainMessage(this.#shown ? renderToolName(this.#shown.tool) : this.#deps.server);
  }

  async #confirm({ message, details, button }: Confirmed): Promise<boolean> {
    const isLong = details.length > MAX_QUOTED_CHARS;
    const question = {
      chat: this.#deps.chat.toString(),
      message,
      answers: [button, vscode.l10n.t('Decline')],
      ...(isLong && { details, mustSeeDetails: true }),
    };
    return (await askInNotice(question, this.#ended.signal)) === button;
  }

  #end(): void {
    this.#ended.abort();
    this.#session?.dispose();
    this.#session = undefined;
  }

  #stopped(why: string): void {
    this.#end();
    const tool = this.#shown?.tool.tool ?? '';
    const reason = why === 'left' ? 'it tried to open another page' : 'it sent too many messages';
    this.#deps.log(this.#deps.server).warn(`app of ${tool}: closed, because ${reason}`);
  }

  #sendContext(): void {
    const context = this.#context();
    const json = JSON.stringify(context);
    if (json === this.#sentContext) return;
    this.#sentContext = json;
    this.#session?.contextChanged(context);
  }

  #context(): Readonly<Record<string, unknown>> {
    const variables = field(this.#view, 'variables');
    return {
      theme: themeOf(vscode.window.activeColorTheme.kind),
      ...(isObject(variables) ? { styles: { variables } } : {}),
      containerDimensions: this.#size(),
      locale: vscode.env.language,
      timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
      userAgent: `filechat/${this.#deps.version}`,
      platform: vscode.env.uiKind === vscode.UIKind.Web ? 'web' : 'desktop',
    };
  }

  /** The page around an inline app scrolls, so the app may be much higher. */
  #size(): Readonly<Record<string, unknown>> {
    const width = field(this.#view, 'width');
    const height = field(this.#view, 'height');
    return { width, ...(this.#session?.mode === 'fullscreen' ? { height } : { maxHeight: MAX_HEIGHT }) };
  }

  #post(message: Readonly<Record<string, unknown>>): void {
    void this.#panel.webview.postMessage(message);
  }
}

function titleOf({ title, tool }: AppTool): string {
  return plainMessage(title ?? tool).slice(0, 60);
}

/** Omitted if the definition does not match the MCP schema, with which apps validate it. */
function toolInfo({ tool, title, description, inputSchema }: AppTool): Readonly<Record<string, unknown>> {
  if (field(inputSchema, 'type') !== 'object') return {};
  return { toolInfo: { tool: { name: tool, title, description, inputSchema } } };
}

function themeOf(kind: vscode.ColorThemeKind): 'light' | 'dark' {
  const { Light, HighContrastLight } = vscode.ColorThemeKind;
  return kind === Light || kind === HighContrastLight ? 'light' : 'dark';
}

function asContents({ uri, mimeType, data }: ResourceContents): Readonly<Record<string, unknown>> {
  const bytes = typeof data === 'string' ? { text: data } : { blob: encodeBase64(data) };
  return { uri, ...(mimeType === undefined ? {} : { mimeType }), ...bytes };
}

/**
 * The page around an app. The app itself arrives later, as a message, and runs in a frame. The frame inherits the
 * page's policy, so that is the app's. It allows inline scripts, but the page has none.
 */
function appPage({ app, tool }: ShownApp, webview: vscode.Webview, script: vscode.Uri, run: number): string {
  const texts = {
    offer: vscode.l10n.t('The app has data for the model.'),
    add: vscode.l10n.t('Add to Chat…'),
    dismiss: vscode.l10n.t('Dismiss'),
    left: vscode.l10n.t('The app was closed because it tried to open another page.'),
    flood: vscode.l10n.t('The app was closed because it sent too many messages.'),
    tooLong: vscode.l10n.t('The app was closed because it sent a message that is too long.'),
  };
  const policy = toHtml(policyOf(app.csp, [webview.cspSource]));
  const why = `data-left="${toHtml(texts.left)}" data-flood="${toHtml(texts.flood)}" data-too-long="${toHtml(texts.tooLong)}"`;
  return `<!DOCTYPE html>
<html lang="${toHtml(vscode.env.language)}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>${toHtml(titleOf(tool))}</title>
<style>${STYLE}</style>
</head>
<body data-run="${run}">
<div id="bar" role="status" hidden>${toHtml(texts.offer)}
<button id="add">${toHtml(texts.add)}</button> <button id="dismiss">${toHtml(texts.dismiss)}</button></div>
<p id="notice" role="alert" ${why} hidden></p>
<main id="stage" data-mode="inline"${app.prefersBorder ? ' class="border"' : ''}></main>
<script src="${toHtml(webview.asWebviewUri(script).toString())}"></script>
</body>
</html>`;
}

const STYLE = `
html, body { height: 100%; margin: 0; padding: 0; }
body { display: flex; flex-direction: column; }
#bar, #notice { margin: 0; padding: 6px 12px; }
#bar { background: var(--vscode-editorWidget-background); border-bottom: 1px solid var(--vscode-widget-border, var(--vscode-contrastBorder, transparent)); }
#bar[hidden], #notice[hidden] { display: none; }
button { color: var(--vscode-button-foreground); background: var(--vscode-button-background); border: 1px solid var(--vscode-button-border, transparent); padding: 3px 10px; }
button:hover { background: var(--vscode-button-hoverBackground); }
#stage { flex: 1; min-height: 0; overflow: auto; }
#stage.border { border: 1px solid var(--vscode-widget-border); border-radius: 4px; margin: 8px; }
iframe { display: block; border: 0; width: 100%; height: var(--app-height, 100%); }
[data-mode="fullscreen"] iframe { height: 100%; }
`;
