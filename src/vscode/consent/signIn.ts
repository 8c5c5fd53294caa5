import * as vscode from 'vscode';
import { showInvisible } from '../../chat/format/escape.ts';
import type { Browser } from '../../mcp/oauth/authorization.ts';
import { openInBrowser } from '../ui/openInBrowser.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import { callbackUrl } from './callbackUrl.ts';

const PATH = '/signed-in';
const OPEN = vscode.l10n.t('Open');

/** Leads the user through the pages of an authorization server, and back through an address of the editor. */
export class SignInBrowser implements Browser, vscode.UriHandler, vscode.Disposable {
  readonly #extensionId: string;
  /** Who waits for the browser to come back, by the `state` that it was sent away with. */
  readonly #waiting = new Map<string, (callback: URL) => void>();
  readonly #registration = vscode.window.registerUriHandler(this);

  constructor(extensionId: string) {
    this.#extensionId = extensionId;
  }

  dispose(): void {
    this.#registration.dispose();
  }

  /** An address that nobody waits for means nothing. */
  handleUri(uri: vscode.Uri): void {
    if (uri.path !== PATH) return;
    const callback = callbackUrl(uri, vscode.env.uiKind === vscode.UIKind.Web ? 'web' : 'desktop');
    this.#waiting.get(callback.searchParams.get('state') ?? '')?.(callback);
  }

  async redirectUrl(): Promise<string> {
    const own = vscode.Uri.parse(`${vscode.env.uriScheme}://${this.#extensionId}${PATH}`);
    return (await vscode.env.asExternalUri(own)).toString(true);
  }

  async visit(url: URL, server: string, signal: AbortSignal): Promise<URL> {
    const answer = await vscode.window.showInformationMessage(
      vscode.l10n.t('The MCP server “{0}” wants you to sign in at {1}.', plainMessage(server), url.host),
      { modal: true, detail: showInvisible(url.href) },
      OPEN,
    );
    if (answer !== OPEN || signal.aborted) throw new Error('You did not want to sign in.');
    const state = url.searchParams.get('state') ?? '';
    try {
      return await this.#wait(url, { server, state, signal });
    } finally {
      this.#waiting.delete(state);
    }
  }

  /** As long as it takes, with a way to give up. */
  #wait(
    url: URL,
    {
      server,
      state,
      signal,
    }: { readonly server: string; readonly state: string; readonly signal: AbortSignal },
  ): Promise<URL> {
    const options = {
      location: vscode.ProgressLocation.Notification,
      title: vscode.l10n.t('Waiting for you to sign in to “{0}” in the browser…', plainMessage(server)),
      cancellable: true,
    };
    return new Promise((resolve, reject) => {
      const show = async (_progress: unknown, token: vscode.CancellationToken) => {
        const back = new Promise<URL>((settle, giveUp) => {
          const end = () => giveUp(new Error('You did not sign in.'));
          token.onCancellationRequested(end);
          signal.addEventListener('abort', end, { once: true });
          this.#waiting.set(state, settle);
          openInBrowser(url).then((opened) => opened || end(), giveUp);
        });
        await back.then(resolve, reject);
      };
      void vscode.window.withProgress(options, show);
    });
  }
}
