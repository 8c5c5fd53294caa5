import * as vscode from 'vscode';
import { addressAt, readAddress } from '../../chat/edits/addressLink.ts';
import { attachAddress } from '../../loop/attachAddress.ts';
import { refusalReason } from '../../mcp/config/networkReach.ts';
import type { RunOutcome } from '../../ports/document.ts';
import type { AttachmentConsent } from '../consent/attachments.ts';
import { resultLimits, timeoutMs } from '../settings.ts';
import { readString } from '../ui/commandArguments.ts';
import { CANCELLED, tell } from '../ui/outcomes.ts';
import { withNotice } from '../ui/progress.ts';
import { CHAT_FILES, chatOf, isChat, rangeOf, withChat } from './chatFiles.ts';
import { editDocument } from './editorDocument.ts';
import type { StoreFor } from './stores.ts';

/** Fetches the address of the argument, of the link at the cursor, or one that the user enters. */
export function attachAddressTo(
  argument: unknown,
  { storeFor, consent }: { readonly storeFor: StoreFor; readonly consent: AttachmentConsent },
): Promise<RunOutcome> {
  const attach = async (document: vscode.TextDocument, fields: Readonly<Record<string, unknown>>) => {
    const address = readString(fields, 'address') ?? linkAtCursor(document)?.address ?? (await askAddress());
    if (address === undefined) return CANCELLED;
    // Asked before the notice of progress, which would say that something is being fetched.
    const url = readAddress(address);
    if (url && refusalReason(url) === undefined && !(await consent.mayFetch(url, document.uri)))
      return CANCELLED;
    const assets = await storeFor(document.uri);
    const outcome = await withNotice(vscode.l10n.t('Fetching {0}', address), (signal) =>
      attachAddress(address, {
        document: { edit: (compute, options) => editDocument(document, compute, options) },
        assets,
        limits: resultLimits(),
        mayFetch: (each, until) => consent.mayFetch(each, document.uri, until),
        signal,
        timeoutMs: timeoutMs(),
      }),
    );
    return outcome ? tell(outcome) : CANCELLED;
  };
  return withChat(argument, attach, { trust: true });
}

function linkAtCursor(document: vscode.TextDocument) {
  const editor = vscode.window.activeTextEditor;
  if (editor?.document !== document) return undefined;
  return addressAt(document.getText(), chatOf(document), document.offsetAt(editor.selection.active));
}

async function askAddress(): Promise<string | undefined> {
  return vscode.window.showInputBox({
    title: vscode.l10n.t('Fetch and Attach Web Address'),
    prompt: vscode.l10n.t('The address is fetched once, saved beside the chat, and linked in your turn.'),
    placeHolder: 'https://',
    validateInput: (value) => {
      const url = readAddress(value);
      return url && refusalReason(url) === undefined
        ? undefined
        : vscode.l10n.t('Enter an address that begins with https://.');
    },
  });
}

/** Offers to fetch a link of the user to a web address. Nothing is fetched without this. */
export function registerAddressActions(): vscode.Disposable {
  const provider: vscode.CodeActionProvider = {
    provideCodeActions(document, range) {
      if (!isChat(document.uri)) return [];
      const link = addressAt(document.getText(), chatOf(document), document.offsetAt(range.start));
      const url = link && readAddress(link.address);
      if (!link || !url || refusalReason(url) !== undefined) return [];
      const title = vscode.l10n.t('Fetch and Attach');
      const action = new vscode.CodeAction(title, vscode.CodeActionKind.QuickFix);
      const named = { uri: document.uri, address: link.address };
      action.command = { title, command: 'filechat.attachAddress', arguments: [named] };
      return rangeOf(document, link).intersection(range) ? [action] : [];
    },
  };
  return vscode.languages.registerCodeActionsProvider(CHAT_FILES, provider, {
    providedCodeActionKinds: [vscode.CodeActionKind.QuickFix],
  });
}
