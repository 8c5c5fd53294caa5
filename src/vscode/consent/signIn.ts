import * as vscode from 'vscode';
import { deferred, unlessAborted } from '../../base/async.ts';
import { showInvisible } from '../../chat/format/escapeMarkers.ts';
import type { Browser } from '../../mcp/oauth/authorization.ts';
import { openInBrowser } from '../ui/openInBrowser.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import { callbackUrl } from './callbackUrl.ts';
import { askInNotice } from './noticeQuestion.ts';

const PATH = '/signed-in';
const OPEN = vscode.l10n.t('Open');
const DECLINE = vscode.l10n.t('Decline');

/** Opens the authorization page in a browser, and receives the redirect through VS Code's URI handler. */
export class SignInBrowser implements Browser, vscode.UriHandler, vscode.Disposable {
  readonly #extensionId: string;
  /** Sign-ins without a response yet, by their `state` parameter. */
  readonly #pending = new Map<string, (callback: URL) => void>();
  readonly #registration = vscode.window.registerUriHandler(this);

  constructor(extensionId: string) {
    this.#extensionId = extensionId;
  }

  dispose(): void {
    this.#registration.dispose();
  }

  /** Ignores responses with an unknown `state`. */
  handleUri(uri: vscode.Uri): void {
    if (uri.path !== PATH) return;
    const callback = callbackUrl(uri, vscode.env.uiKind === vscode.UIKind.Web ? 'web' : 'desktop');
    this.#pending.get(callback.searchParams.get('state') ?? '')?.(callback);
  }

  async redirectUrl(): Promise<string> {
    const uri = vscode.Uri.parse(`${vscode.env.uriScheme}://${this.#extensionId}${PATH}`);
    return (await vscode.env.asExternalUri(uri)).toString(true);
  }

  async visit(url: URL, server: string, signal: AbortSignal): Promise<URL | 'declined'> {
    const message = vscode.l10n.t(
      'The MCP server “{0}” requires you to sign in at {1}.',
      plainMessage(server),
      plainMessage(url.host),
    );
    const answer = await askInNotice(
      { message, answers: [OPEN, DECLINE], details: showInvisible(url.href) },
      signal,
    );
    signal.throwIfAborted();
    if (answer !== OPEN) return 'declined';
    const state = url.searchParams.get('state') ?? '';
    const { promise, resolve, reject } = deferred<URL | 'declined'>();
    this.#pending.set(state, resolve);
    const options = {
      location: vscode.ProgressLocation.Notification,
      title: vscode.l10n.t('Waiting for you to sign in to “{0}” in the browser…', plainMessage(server)),
      cancellable: true,
    };
    const callback = vscode.window.withProgress(options, (_progress, token) => {
      token.onCancellationRequested(() => resolve('declined'));
      openInBrowser(url).then((opened) => opened || resolve('declined'), reject);
      return unlessAborted(promise, signal);
    });
    try {
      return await callback;
    } finally {
      this.#pending.delete(state);
    }
  }
}
