import * as vscode from 'vscode';
import { AuditFile } from '../../assets/auditFile.ts';
import type { Audit, AuditEntry } from '../../ports/tools.ts';
import { isAudited } from '../settings.ts';
import { showProblem } from '../ui/outcomes.ts';

const TURN_ON = vscode.l10n.t('Open Setting');

/** Writes the audit log to a file in the extension's storage, if `filechat.auditLog` is on. */
export class AuditLog implements Audit {
  readonly #uri: vscode.Uri;
  readonly #file: AuditFile;

  constructor({ folder }: { readonly folder: vscode.Uri }) {
    this.#uri = vscode.Uri.joinPath(folder, 'audit.jsonl');
    this.#file = new AuditFile({
      path: this.#uri.fsPath,
      onFailure: showProblem,
    });
  }

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
      await showEmpty();
    }
  }
}

async function showEmpty(): Promise<void> {
  const message = isAudited()
    ? vscode.l10n.t('The audit log is empty. No tools were called since it was turned on.')
    : vscode.l10n.t('There is no audit log: the setting filechat.auditLog is off.');
  const answer = await vscode.window.showInformationMessage(message, ...(isAudited() ? [] : [TURN_ON]));
  if (answer === TURN_ON) {
    await vscode.commands.executeCommand('workbench.action.openSettings', 'filechat.auditLog');
  }
}
