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
import type { AttachedFile } from '../../ports/document.ts';
import { isChat } from '../chat/chatFiles.ts';
import { chatOf, rangeOf } from '../chat/openChats.ts';
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
  readonly #subscriptions: vscode.Disposable;
  /** By chat and target. */
  readonly #files = new Map<string, { readonly at: number; readonly file: Promise<AttachedFile> }>();
  #timer: NodeJS.Timeout | undefined;

  constructor(conversations: Conversations, models: EditorModels) {
    this.#conversations = conversations;
    this.#models = models;
    this.#subscriptions = vscode.Disposable.from(
      this.#sent,
      this.#notSent,
      vscode.window.onDidChangeVisibleTextEditors(() => this.#markSoon()),
      vscode.window.onDidChangeTextEditorVisibleRanges(() => this.#markSoon()),
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        if (isChat(document.uri)) this.#markSoon();
      }),
    );
    this.#markSoon();
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#subscriptions.dispose();
  }

  #markSoon(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#markAll(), DEBOUNCE_MS);
  }

  async #markAll(): Promise<void> {
    const now = Date.now();
    for (const [key, { at }] of this.#files) if (now - at > MAX_AGE_MS) this.#files.delete(key);
    const chats = vscode.window.visibleTextEditors.filter(({ document }) => isChat(document.uri));
    await Promise.all(chats.map((editor) => this.#mark(editor)));
  }

  async #mark(editor: vscode.TextEditor): Promise<void> {
    const { document } = editor;
    const { version } = document;
    const marks = await Promise.all(this.#marksOf(editor));
    // Marks of an outdated text are at the wrong offsets; the change has scheduled an update.
    if (document.version !== version || !vscode.window.visibleTextEditors.includes(editor)) return;
    const options = (isSent: boolean) =>
      marks.filter(({ status }) => status.isSent === isSent).map((mark) => decoration(document, mark));
    editor.setDecorations(this.#sent, options(true));
    editor.setDecorations(this.#notSent, options(false));
  }

  #marksOf({ document, visibleRanges }: vscode.TextEditor): readonly Promise<Mark>[] {
    const text = document.getText();
    const chat = chatOf(document);
    const visible = visibleRanges.map(({ start, end }) => [document.offsetAt(start), document.offsetAt(end)]);
    const isVisible = ({ start, end }: Turn) =>
      visible.some(([from = 0, to = 0]) => start <= to && end >= from);
    const model = readSettings(chat).settings.model;
    const turns = sinceSummary(chat).turns.filter((turn) => turn.role === 'user' && isVisible(turn));
    return turns.flatMap((turn) =>
      findLinks(turnBody(text, turn)).flatMap(({ offset, end, local, isImage, target }) => {
        const at = (status: LinkStatus): Mark => ({
          start: turn.bodyStart + offset,
          end: turn.bodyStart + end,
          status,
        });
        if (local !== undefined) return [this.#linkStatus(document.uri, local, model).then(at)];
        return isImage && /^https?:/i.test(target) ? [Promise.resolve(at(remote()))] : [];
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
    const size = describeSize(file.size);
    const sent: LinkStatus = {
      isSent: true,
      label: `✓ ${size}`,
      reason: file.isText
        ? vscode.l10n.t('This file is sent with the turn, as text: {0}.', size)
        : vscode.l10n.t('This file is sent with the turn: {0}, {1}.', file.mimeType, size),
    };
    if (file.isText) return sent;
    const name = this.#models.configOf(model)?.name ?? vscode.l10n.t('the model');
    const accepts = (mimeType: string) => this.#models.accepts(model, mimeType);
    const reason = whyNotSent(file, { name, accepts });
    if (reason === undefined) return sent;
    return {
      isSent: false,
      label: vscode.l10n.t('✗ only named'),
      reason: vscode.l10n.t('The model gets only the name of this file: {0}.', reason),
    };
  }
}

function outside(): LinkStatus {
  return {
    isSent: false,
    label: vscode.l10n.t('? asks first'),
    reason: vscode.l10n.t('This file is outside of the workspace: you are asked before it is sent.'),
  };
}

function remote(): LinkStatus {
  return notSent(vscode.l10n.t('nothing is loaded from the internet'));
}

function notSent(reason: string): LinkStatus {
  return {
    isSent: false,
    label: vscode.l10n.t('✗ not sent'),
    reason: vscode.l10n.t('This is not sent: {0}.', reason),
  };
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
