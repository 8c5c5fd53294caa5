import * as vscode from 'vscode';
import { deferred } from '../../base/async.ts';
import { chatName } from '../chat/chatFiles.ts';
import { movedUri } from '../chat/renames.ts';
import { closedUris, textTabs } from '../chat/tabs.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import { renderNotice } from './noticeText.ts';

export interface NoticeQuestion<A extends string> {
  /** The URI of the chat that it is about. The question ends when that chat is closed. */
  readonly chat?: string | undefined;
  /** Plain text; see `plainMessage`. */
  readonly message: string;
  readonly answers: readonly A[];
  /** What is too long for a notification. It is opened if the user wants to see it. */
  readonly details?: string | undefined;
  /** Whether the first answer can only be given after the details were opened. */
  readonly mustSeeDetails?: boolean;
  /** Adds another reason to end the question. */
  readonly until?: (end: () => void) => vscode.Disposable;
}

const SCHEME = 'filechat-question';
const SHOW_DETAILS = vscode.l10n.t('Show Details');
let asked = 0;

/**
 * Asks in a notification, which takes neither the focus nor typed keys. Resolves to undefined when the user presses
 * Cancel, or when the question no longer matters. Only a progress notification can be closed then, so its answers are
 * links.
 */
export async function askInNotice<A extends string>(
  question: NoticeQuestion<A>,
  signal?: AbortSignal,
): Promise<A | undefined> {
  const { chat, answers, details = '', until } = question;
  if (signal?.aborted) return undefined;
  asked += 1;
  const id = `filechat.answer.${asked}`;
  const { promise, resolve } = deferred<A | undefined>();
  const end = () => resolve(undefined);
  const text = new DetailsText(`/${asked}.txt`, details);
  let report: (isSeen: boolean) => void = () => undefined;
  const subscriptions = vscode.Disposable.from(
    ...answers.map((answer, at) => vscode.commands.registerCommand(`${id}.${at}`, () => resolve(answer))),
    vscode.commands.registerCommand(`${id}.details`, () => text.show().then(() => report(true))),
    ...(chat === undefined ? [] : [whenClosed(chat, end)]),
    ...(until ? [until(end)] : []),
  );
  const title = chat === undefined ? 'Filechat' : vscode.l10n.t('Chat “{0}”', nameOf(chat));
  // Cancel also unfolds the notification, so that the answers are not cut off.
  const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
  signal?.addEventListener('abort', end, { once: true });
  try {
    return await vscode.window.withProgress(options, (progress, token) => {
      report = (isSeen) => progress.report({ message: render(question, id, isSeen) });
      report(false);
      token.onCancellationRequested(end);
      return promise;
    });
  } finally {
    signal?.removeEventListener('abort', end);
    subscriptions.dispose();
    await text.close();
  }
}

function render(
  { message, answers, details, mustSeeDetails = false }: NoticeQuestion<string>,
  id: string,
  isSeen: boolean,
): string {
  const links = answers.map((label, at) => ({ label, command: `${id}.${at}` }));
  const showDetails = { label: SHOW_DETAILS, command: `${id}.details` };
  if (details === undefined) return renderNotice(message, links);
  if (mustSeeDetails && !isSeen) return renderNotice(message, [showDetails, ...links.slice(1)]);
  return renderNotice(message, [...links, showDetails]);
}

function nameOf(chat: string): string {
  return plainMessage(chatName(vscode.Uri.parse(chat)));
}

/** A chat that is renamed is closed and opened again; that ends nothing. */
function whenClosed(chat: string, end: () => void): vscode.Disposable {
  let uri = vscode.Uri.parse(chat, true);
  let isRenaming = false;
  return vscode.Disposable.from(
    vscode.workspace.onWillRenameFiles(({ files }) => {
      isRenaming = files.some((file) => movedUri(uri, file));
    }),
    vscode.workspace.onDidRenameFiles(({ files }) => {
      isRenaming = false;
      uri = files.map((file) => movedUri(uri, file)).find((moved) => moved !== undefined) ?? uri;
    }),
    vscode.window.tabGroups.onDidChangeTabs(({ closed }) => {
      if (!isRenaming && closedUris(closed).some((each) => each.toString() === uri.toString())) end();
    }),
  );
}

/** A read-only document that is closed with its question. */
class DetailsText {
  readonly #uri: vscode.Uri;
  readonly #text: string;
  #provider: vscode.Disposable | undefined;

  constructor(path: string, text: string) {
    this.#uri = vscode.Uri.from({ scheme: SCHEME, path });
    this.#text = text;
  }

  async show(): Promise<void> {
    this.#provider ??= vscode.workspace.registerTextDocumentContentProvider(SCHEME, {
      // Other questions have providers of their own for their addresses.
      provideTextDocumentContent: ({ path }) => (path === this.#uri.path ? this.#text : undefined),
    });
    await vscode.window.showTextDocument(this.#uri, {
      viewColumn: vscode.ViewColumn.Beside,
      preview: false,
    });
  }

  async close(): Promise<void> {
    if (!this.#provider) return;
    this.#provider.dispose();
    await vscode.window.tabGroups.close(textTabs(this.#uri));
  }
}
