import * as vscode from 'vscode';
import { OutsideFolders } from '../../assets/confined.ts';
import { messageOf } from '../../base/errors.ts';
import { describeSize } from '../../base/size.ts';
import { sinceSummary } from '../../chat/edits/compact.ts';
import type { Turn } from '../../chat/format/chat.ts';
import { findLinks } from '../../chat/format/links.ts';
import { turnBody } from '../../chat/format/parse.ts';
import { readSettings } from '../../chat/format/settings.ts';
import { whyNotSent } from '../../model/request/attachments.ts';
import type { AttachedFile } from '../../ports/files.ts';
import { chatOf, rangeOf } from '../chat/chatFiles.ts';
import { watchChats } from '../chat/watch.ts';
import type { EditorModels } from '../model/models.ts';
import type { Conversations } from '../run/conversations.ts';

const DEBOUNCE_MS = 400;
const MAX_AGE_MS = 5_000;

interface Mark {
  readonly start: number;
  readonly end: number;
  readonly status: LinkStatus;
}

/** Whether the file of a link is sent with the chat. */
interface LinkStatus {
  readonly isSent: boolean;
  /** Shown behind the link. */
  readonly label: string;
  /** Shown in the hover. */
  readonly reason: string;
}

/** Shows behind each link in user turns whether its file is sent, and if not, why. */
export class LinkMarks implements vscode.Disposable {
  readonly #conversations: Conversations;
  readonly #models: EditorModels;
  readonly #sent = createMark('filechat.attached');
  readonly #notSent = createMark('filechat.notAttached');
  /** By chat and target. */
  readonly #files = new Map<string, { readonly at: number; readonly file: Promise<AttachedFile> }>();
  readonly #subscriptions: vscode.Disposable;

  constructor(conversations: Conversations, models: EditorModels) {
    this.#conversations = conversations;
    this.#models = models;
    const watch = watchChats(DEBOUNCE_MS, (document, signal) => this.#mark(document, signal));
    const updateAll = () => {
      for (const { document } of vscode.window.visibleTextEditors) watch.update(document);
    };
    this.#subscriptions = vscode.Disposable.from(
      watch,
      this.#sent,
      this.#notSent,
      vscode.window.onDidChangeVisibleTextEditors(updateAll),
      vscode.window.onDidChangeTextEditorVisibleRanges(updateAll),
    );
    updateAll();
  }

  dispose(): void {
    this.#subscriptions.dispose();
  }

  async #mark(document: vscode.TextDocument, signal: AbortSignal): Promise<void> {
    const now = Date.now();
    for (const [key, { at }] of this.#files) if (now - at > MAX_AGE_MS) this.#files.delete(key);
    const editors = () => vscode.window.visibleTextEditors.filter((each) => each.document === document);
    const visible = editors().flatMap(({ visibleRanges }) => visibleRanges);
    const marks = await Promise.all(this.#marksIn(document, visible));
    if (signal.aborted) return;
    const options = (isSent: boolean) =>
      marks.filter(({ status }) => status.isSent === isSent).map((mark) => decoration(document, mark));
    for (const editor of editors()) {
      editor.setDecorations(this.#sent, options(true));
      editor.setDecorations(this.#notSent, options(false));
    }
  }

  #marksIn(document: vscode.TextDocument, ranges: readonly vscode.Range[]): readonly Promise<Mark>[] {
    const text = document.getText();
    const chat = chatOf(document);
    const visible = ranges.map(({ start, end }) => [document.offsetAt(start), document.offsetAt(end)]);
    const isVisible = ({ start, end }: Turn) =>
      visible.some(([from = 0, to = 0]) => start <= to && end >= from);
    const model = readSettings(chat).settings.model;
    const turns = sinceSummary(chat).turns.filter((turn) => turn.role === 'user' && isVisible(turn));
    return turns.flatMap((turn) =>
      findLinks(turnBody(text, turn)).flatMap(({ offset, end, local, isImage, target }) => {
        const place = { start: turn.bodyStart + offset, end: turn.bodyStart + end };
        const at = (status: LinkStatus): Mark => ({ ...place, status });
        if (local !== undefined) return [this.#linkStatus(document.uri, local, model).then(at)];
        if (!isImage || !/^https?:/i.test(target)) return [];
        return [Promise.resolve(at(notSent(vscode.l10n.t('nothing is loaded from the internet'))))];
      }),
    );
  }

  async #linkStatus(chat: vscode.Uri, target: string, model: string | undefined): Promise<LinkStatus> {
    const key = `${chat.toString()}\n${target}`;
    const file = this.#files.get(key)?.file ?? this.#conversations.attachments(chat).find(target);
    if (!this.#files.has(key)) this.#files.set(key, { at: Date.now(), file });
    try {
      return this.#fileStatus(await file, model);
    } catch (error) {
      return error instanceof OutsideFolders ? outside() : notSent(messageOf(error));
    }
  }

  #fileStatus(file: AttachedFile, model: string | undefined): LinkStatus {
    const { t } = vscode.l10n;
    const { isText, mimeType } = file;
    const size = describeSize(file.size);
    const name = this.#models.configOf(model)?.name ?? t('the model');
    const accepts = (type: string) => this.#models.accepts(model, type);
    const reason = isText ? undefined : whyNotSent(file, { name, accepts });
    if (reason !== undefined) {
      const only = t('The model gets only the name of this file: {0}.', reason);
      return { isSent: false, label: t('✗ only named'), reason: only };
    }
    const sent = isText
      ? t('This file is sent with the turn, as text: {0}.', size)
      : t('This file is sent with the turn: {0}, {1}.', mimeType, size);
    return { isSent: true, label: `✓ ${size}`, reason: sent };
  }
}

function outside(): LinkStatus {
  const reason = vscode.l10n.t('This file is outside of the workspace: you are asked before it is sent.');
  return { isSent: false, label: vscode.l10n.t('? asks first'), reason };
}

function notSent(reason: string): LinkStatus {
  const { t } = vscode.l10n;
  return { isSent: false, label: t('✗ not sent'), reason: t('This is not sent: {0}.', reason) };
}

function createMark(color: string): vscode.TextEditorDecorationType {
  return vscode.window.createTextEditorDecorationType({
    rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
    after: { color: new vscode.ThemeColor(color), margin: '0 0 0 0.6em', fontStyle: 'italic' },
  });
}

function decoration(document: vscode.TextDocument, mark: Mark): vscode.DecorationOptions {
  return {
    range: rangeOf(document, mark),
    hoverMessage: new vscode.MarkdownString().appendText(mark.status.reason),
    renderOptions: { after: { contentText: mark.status.label } },
  };
}
