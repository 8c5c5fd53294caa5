import * as vscode from 'vscode';
import { AuditFile } from '../../assets/auditFile.ts';
import type { Log } from '../../ports/document.ts';

import type { Audit, AuditEntry } from '../../ports/tools.ts';

import { isAudited } from '../settings.ts';
import { plainMessage } from '../ui/plainMessage.ts';

const TURN_ON = vscode.l10n.t('Open the Setting');

/** Keeps what was called, if the user wants it kept, in a file that belongs to the extension. */
export class AuditLog implements Audit {
  readonly #uri: vscode.Uri;
  readonly #file: AuditFile;

  constructor({ folder, log }: { readonly folder: vscode.Uri; readonly log: Log }) {
    this.#uri = vscode.Uri.joinPath(folder, 'audit.jsonl');
    this.#file = new AuditFile({
      path: this.#uri.fsPath,
      onFailure: (message) => {
        log.error(message);
        void vscode.window.showWarningMessage(plainMessage(message));
      },
    });
  }

  /** The setting is looked at each time, so that a change counts at once. */
  record(entry: AuditEntry): void {
    if (isAudited()) this.#file.record(entry);
  }

  flush(): Promise<void> {
    return this.#file.flush();
  }

  async open(): Promise<void> {
    await this.flush();
    try {
      await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(this.#uri));
    } catch {
      await tellEmpty();
    }
  }
}

async function tellEmpty(): Promise<void> {
  const words = isAudited()
    ? vscode.l10n.t('The audit log is empty: nothing was called since it was turned on.')
    : vscode.l10n.t('There is no audit log: the setting filechat.auditLog is off.');
  const answer = await vscode.window.showInformationMessage(words, ...(isAudited() ? [] : [TURN_ON]));
  if (answer === TURN_ON) {
    await vscode.commands.executeCommand('workbench.action.openSettings', 'filechat.auditLog');
  }
}
