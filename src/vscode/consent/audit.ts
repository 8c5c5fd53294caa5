import * as vscode from 'vscode';
import { AuditFile } from '../../assets/auditFile.ts';
import type { Disposable, Log } from '../../ports/document.ts';
import type { ServerHost } from '../../ports/servers.ts';
import type { Audit, AuditEntry, ConsentSource } from '../../ports/tools.ts';

import { isAudited } from '../settings.ts';
import { plainMessage } from '../ui/plainMessage.ts';

/** Somebody wants it done. Without that, the log says of nobody that they agreed. */
export type Agreed = (by: ConsentSource) => void;

/** The person at the editor does not want what a server asked for. The server may read the message. */
export class Declined extends Error {
  readonly outcome: 'denied' | 'cancelled';

  constructor(outcome: 'denied' | 'cancelled') {
    super('The user declined.');
    this.outcome = outcome;
  }
}

/** Does the work, and leaves one line about it in the audit log. `signal` is that of whoever wanted it done. */
export async function audited<T>(
  audit: Audit,
  entry: Omit<AuditEntry, 'outcome' | 'consent' | 'ms'>,
  work: (agreed: Agreed) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const startedMs = Date.now();
  let consent: ConsentSource | undefined;
  const record = (outcome: AuditEntry['outcome']) =>
    audit.record({ ...entry, ...(consent && { consent }), outcome, ms: Date.now() - startedMs });
  try {
    const answer = await work((by) => {
      consent = by;
    });
    const action = actionOf(answer);
    if (action === 'accept') consent = 'asked';
    record(OUTCOMES.get(action) ?? 'ok');
    return answer;
  } catch (error) {
    record(error instanceof Declined ? error.outcome : signal?.aborted ? 'cancelled' : 'error');
    throw error;
  }
}

/** How the answers of people to forms are called in the log. */
const OUTCOMES: ReadonlyMap<unknown, AuditEntry['outcome']> = new Map([
  ['decline', 'denied'],
  ['cancel', 'cancelled'],
]);

function actionOf(answer: unknown): unknown {
  return typeof answer === 'object' && answer !== null && 'action' in answer ? answer.action : undefined;
}

/** A line for each server that was started, or that could not be. */
export function auditStarts(host: Pick<ServerHost, 'onDidChange' | 'states'>, audit: Audit): Disposable {
  const known = new Map<string, string>();
  const look = async (server: string) => {
    const kind = (await host.states()).get(server)?.kind ?? 'idle';
    if (known.get(server) === kind) return;
    known.set(server, kind);
    if (kind === 'ready' || kind === 'failed') {
      audit.record({ kind: 'start', server, outcome: kind === 'ready' ? 'ok' : 'error' });
    }
  };
  return host.onDidChange((server, what) => {
    if (what === 'state') void look(server);
  });
}

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
