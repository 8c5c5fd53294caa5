import * as vscode from 'vscode';
import { messageOf } from '../base/errors.ts';
import { groupByOwner } from './idOwners.ts';

export type Registrations = Readonly<Record<string, () => vscode.Disposable>>;

/**
 * VS Code throws when another extension has registered an id already; only that registration is lost. The user is
 * warned once per extension. `memory` stores which warnings are silenced.
 */
export function registerAll(registrations: Registrations, memory: vscode.Memento): vscode.Disposable {
  const registered: vscode.Disposable[] = [];
  const refused = new Map<string, unknown>();
  for (const [id, register] of Object.entries(registrations)) {
    try {
      registered.push(register());
    } catch (error) {
      refused.set(id, error);
    }
  }
  if (refused.size > 0) warn(refused, memory);
  return vscode.Disposable.from(...registered);
}

function warn(refused: ReadonlyMap<string, unknown>, memory: vscode.Memento): void {
  const others = vscode.extensions.all.filter(({ id }) => id !== OWN_ID);
  for (const [owner, ids] of groupByOwner([...refused.keys()], others)) {
    if (owner) void warnOfOwner(owner, ids.join(', '), memory);
    else for (const id of ids) warnOfUnknown(id, refused.get(id));
  }
}

const OWN_ID = 'filechat.filechat';
const SILENCED = 'filechat.silencedIdConflicts';

async function warnOfOwner(
  { id, packageJSON }: vscode.Extension<unknown>,
  taken: string,
  memory: vscode.Memento,
): Promise<void> {
  const conflict = `${id}: ${taken}`;
  const silenced = memory.get<readonly string[]>(SILENCED, []);
  if (silenced.includes(conflict)) return;
  const name: unknown = packageJSON.displayName;
  const show = vscode.l10n.t('Show Extension');
  const silence = vscode.l10n.t('Don’t Show Again');
  const answer = await vscode.window.showWarningMessage(
    vscode.l10n.t(
      'The extension “{0}” ({1}) already uses {2}. Everything else in Filechat works. To use this in Filechat, disable the other extension and reload the window.',
      typeof name === 'string' ? name : id,
      id,
      taken,
    ),
    show,
    silence,
  );
  if (answer === show) await vscode.commands.executeCommand('extension.open', id);
  if (answer === silence) await memory.update(SILENCED, [...silenced, conflict]);
}

function warnOfUnknown(id: string, error: unknown): void {
  void vscode.window.showWarningMessage(
    vscode.l10n.t(
      'Filechat could not register {0}, and no other installed extension declares it: {1}. Everything else in Filechat works.',
      id,
      messageOf(error),
    ),
  );
}
