import { randomUUID } from 'node:crypto';
import * as vscode from 'vscode';
import { deferred } from '../../base/deferred.ts';
import { editDocument } from '../chat/editorDocument.ts';
import { plainMessage } from '../ui/plainMessage.ts';

export interface Editing<T> {
  /** A sentence about what is sent or not, around the links that decide it. */
  readonly about: (accept: string, refuse: string) => string;
  /** The word for “yes, as it is now”. */
  readonly accept: string;
  readonly read: (text: string) => T | { readonly problem: string };
  readonly signal: AbortSignal;
}

/**
 * Shows a text in a document of its own, to be changed, with a notification that stays until the user decides.
 * Resolves to nothing when the user does not want it, also when the document is closed.
 */
export async function editInDocument<T extends object>(
  text: string,
  editing: Editing<T>,
): Promise<T | undefined> {
  const { read, signal } = editing;
  const document = await showText(text);
  try {
    for (;;) {
      if (!(await decide(document, editing)) || signal.aborted) return undefined;
      const edited = read(document.getText());
      if (!('problem' in edited)) return edited;
      void vscode.window.showErrorMessage(plainMessage(edited.problem));
    }
  } finally {
    await closeUnsaved(document);
  }
}

/** Filled once it is shown: the editor opens what is unsaved and nowhere to be seen a second time. */
async function showText(text: string): Promise<vscode.TextDocument> {
  const document = await vscode.workspace.openTextDocument({ language: 'markdown' });
  const place = { viewColumn: vscode.ViewColumn.Beside, preview: false };
  const editor = await vscode.window.showTextDocument(document, place);
  const start = new vscode.Position(0, 0);
  await editDocument(document, () => ({ start: 0, end: 0, text }));
  editor.selection = new vscode.Selection(start, start);
  editor.revealRange(editor.selection);
  return document;
}

/** A progress is the only notification that stays; so its links are the buttons. */
async function decide(
  document: vscode.TextDocument,
  { about, accept, signal }: Editing<object>,
): Promise<boolean> {
  const { promise, resolve } = deferred<boolean>();
  const id = randomUUID();
  const [yes, no] = [`filechat.edited.${id}.accept`, `filechat.edited.${id}.refuse`];
  const stop = () => resolve(false);
  signal.addEventListener('abort', stop, { once: true });
  const subscriptions = vscode.Disposable.from(
    vscode.commands.registerCommand(yes, () => resolve(true)),
    vscode.commands.registerCommand(no, stop),
    vscode.window.tabGroups.onDidChangeTabs(
      ({ closed }) => closed.some((tab) => shows(tab, document)) && stop(),
    ),
    vscode.workspace.onDidCloseTextDocument((closed) => closed === document && stop()),
  );
  // The links first: of a long line, the end is out of sight.
  const title = about(`[${accept}](command:${yes})`, `[${vscode.l10n.t('Don’t Send')}](command:${no})`);
  try {
    if (document.isClosed || signal.aborted) return false;
    const location = vscode.ProgressLocation.Notification;
    return await vscode.window.withProgress({ location, title }, () => promise);
  } finally {
    signal.removeEventListener('abort', stop);
    subscriptions.dispose();
  }
}

/** Without the question whether to save it: it was made for this one decision. */
async function closeUnsaved(document: vscode.TextDocument): Promise<void> {
  if (document.isClosed) return;
  const tabs = vscode.window.tabGroups.all
    .flatMap((group) => group.tabs)
    .filter((tab) => shows(tab, document));
  for (const { group } of tabs) {
    await vscode.window.showTextDocument(document, { viewColumn: group.viewColumn, preserveFocus: false });
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
  }
}

function shows(tab: vscode.Tab, document: vscode.TextDocument): boolean {
  return tab.input instanceof vscode.TabInputText && tab.input.uri.toString() === document.uri.toString();
}
