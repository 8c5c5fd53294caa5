import * as vscode from 'vscode';
import { statusText } from './items.ts';
import type { ServerRows } from './rows.ts';

const PRIORITY = 89;

/** How many servers are ready, in the status bar; a click leads to the view. */
export class ServerStatus implements vscode.Disposable {
  readonly #rows: ServerRows;
  readonly #item: vscode.StatusBarItem;
  readonly #subscription: vscode.Disposable;

  constructor(rows: ServerRows) {
    this.#rows = rows;
    this.#item = vscode.window.createStatusBarItem(
      'filechat.servers',
      vscode.StatusBarAlignment.Right,
      PRIORITY,
    );
    this.#item.name = vscode.l10n.t('Filechat: Servers');
    this.#item.command = 'filechat.servers.focus';
    this.#subscription = rows.onDidChange(() => void this.#show());
    void this.#show();
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#item.dispose();
  }

  async #show(): Promise<void> {
    const status = await this.#rows.all().then(statusText, () => undefined);
    if (!status) return this.#item.hide();
    this.#item.text = status.text;
    this.#item.tooltip = status.tooltip;
    this.#item.accessibilityInformation = { label: status.tooltip.replaceAll('\n', ', ') };
    this.#item.backgroundColor = status.isWarning
      ? new vscode.ThemeColor('statusBarItem.warningBackground')
      : undefined;
    this.#item.show();
  }
}
