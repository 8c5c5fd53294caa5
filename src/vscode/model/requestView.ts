import * as vscode from 'vscode';
import { chatName } from '../chat/chatFiles.ts';

const SCHEME = 'filechat-request';

/** Shows what would be sent, to be read only: a document that nobody has to save or throw away. */
export class RequestView implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #contents = new Map<string, string>();
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.#changed.event;
  readonly #subscriptions: vscode.Disposable;

  constructor() {
    this.#subscriptions = vscode.Disposable.from(
      this.#changed,
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => this.#contents.delete(uri.toString())),
    );
  }

  dispose(): void {
    this.#subscriptions.dispose();
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.#contents.get(uri.toString()) ?? '';
  }

  /** Asked again for the same chat, it shows the new request in the same place. */
  async show(chat: vscode.Uri, markdown: string): Promise<void> {
    const path = `/${vscode.l10n.t('Request of {0}', chatName(chat))}.md`;
    const uri = vscode.Uri.from({ scheme: SCHEME, path, query: chat.toString() });
    this.#contents.set(uri.toString(), markdown);
    this.#changed.fire(uri);
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, preview: true });
  }
}
