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
import type { AttachedFile, AttachmentSource } from '../../ports/files.ts';

import { isChat } from '../chat/chatFiles.ts';
import { chatOf } from '../chat/openChats.ts';
import type { EditorModels } from '../model/models.ts';
import type { Conversations } from '../run/conversations.ts';

const DEBOUNCE_MS = 400;
/** How long a look at a file counts while its chat is edited. */
const FRESH_MS = 5_000;

interface Mark {
  readonly start: number;
  readonly end: number;
  readonly fate: Fate;
}

/** What becomes of a link when the chat is sent. */
interface Fate {
  readonly kind: 'sent' | 'kept';
  /** Few, because they stand in the text. */
  readonly words: string;
  readonly reason: string;
}

export interface LinkMarksDeps {
  readonly conversations: Conversations;
  readonly models: EditorModels;
}

/** Says behind each link of the user's whether its file goes along, and if not, why. */
export class LinkMarks implements vscode.Disposable {
  readonly #deps: LinkMarksDeps;
  readonly #sent = createMark('filechat.attached');
  readonly #kept = createMark('filechat.notAttached');
  readonly #subscriptions: vscode.Disposable;
  readonly #looks = new Map<string, { readonly at: number; readonly file: Promise<AttachedFile> }>();
  #timer: NodeJS.Timeout | undefined;

  constructor(deps: LinkMarksDeps) {
    this.#deps = deps;
    this.#subscriptions = vscode.Disposable.from(
      this.#sent,
      this.#kept,
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
    for (const [key, { at }] of this.#looks) if (now - at > FRESH_MS) this.#looks.delete(key);
    const chats = vscode.window.visibleTextEditors.filter(({ document }) => isChat(document.uri));
    await Promise.all(chats.map((editor) => this.#mark(editor)));
  }

  async #mark(editor: vscode.TextEditor): Promise<void> {
    const { document } = editor;
    const { version } = document;
    const marks = await Promise.all(this.#marksOf(editor));
    // What was found for a text that is gone would stand in the wrong places; the next look is on its way.
    if (document.version !== version || !vscode.window.visibleTextEditors.includes(editor)) return;
    const options = (kind: Fate['kind']) =>
      marks.filter(({ fate }) => fate.kind === kind).map((mark) => decoration(document, mark));
    editor.setDecorations(this.#sent, options('sent'));
    editor.setDecorations(this.#kept, options('kept'));
  }

  #marksOf({ document, visibleRanges }: vscode.TextEditor): readonly Promise<Mark>[] {
    const text = document.getText();
    const chat = chatOf(document);
    const seen = visibleRanges.map((range) => [document.offsetAt(range.start), document.offsetAt(range.end)]);
    const isSeen = ({ start, end }: Turn) => seen.some(([from = 0, to = 0]) => start <= to && end >= from);
    const model = readSettings(chat).settings.model;
    const turns = sinceSummary(chat).turns.filter((turn) => turn.role === 'user' && isSeen(turn));
    const attachments = this.#deps.conversations.attachments(document.uri);
    const judge = (target: string) => this.#judge(target, { document, model, attachments });
    return turns.flatMap((turn) =>
      findLinks(turnBody(text, turn)).flatMap(({ offset, end, local, isImage, target }) => {
        const at = (fate: Fate): Mark => ({
          start: turn.bodyStart + offset,
          end: turn.bodyStart + end,
          fate,
        });
        if (local !== undefined) return [judge(local).then(at)];
        return isImage && /^https?:/i.test(target) ? [Promise.resolve(at(remote()))] : [];
      }),
    );
  }

  async #judge(
    target: string,
    chat: {
      readonly document: vscode.TextDocument;
      readonly model: string | undefined;
      readonly attachments: AttachmentSource;
    },
  ): Promise<Fate> {
    try {
      return this.#fateOf(await this.#look(target, chat), chat.model);
    } catch (error) {
      if (error instanceof OutsideFolders) return outside();
      return notSent(messageOf(error));
    }
  }

  #look(
    target: string,
    { document, attachments }: { document: vscode.TextDocument; attachments: AttachmentSource },
  ): Promise<AttachedFile> {
    const key = `${document.uri.toString()}\n${target}`;
    const known = this.#looks.get(key);
    if (known) return known.file;
    const file = attachments.find(target);
    this.#looks.set(key, { at: Date.now(), file });
    return file;
  }

  #fateOf(file: AttachedFile, model: string | undefined): Fate {
    const size = describeSize(file.size);
    const sent: Fate = {
      kind: 'sent',
      words: `✓ ${size}`,
      reason: file.isText
        ? vscode.l10n.t('This file is sent with the turn, as text: {0}.', size)
        : vscode.l10n.t('This file is sent with the turn: {0}, {1}.', file.mimeType, size),
    };
    if (file.isText) return sent;
    const name = this.#deps.models.configOf(model)?.name ?? vscode.l10n.t('the model');
    const reason = whyNotSent(file, {
      name,
      accepts: (mimeType) => this.#deps.models.takes(model, mimeType),
    });
    if (reason === undefined) return sent;
    return {
      kind: 'kept',
      words: vscode.l10n.t('✗ only named'),
      reason: vscode.l10n.t('The model gets only the name of this file: {0}.', reason),
    };
  }
}

function outside(): Fate {
  return {
    kind: 'kept',
    words: vscode.l10n.t('? asks first'),
    reason: vscode.l10n.t('This file is outside of the workspace: you are asked before it is sent.'),
  };
}

function remote(): Fate {
  return notSent(vscode.l10n.t('nothing is loaded from the internet'));
}

function notSent(reason: string): Fate {
  return {
    kind: 'kept',
    words: vscode.l10n.t('✗ not sent'),
    reason: vscode.l10n.t('This is not sent: {0}.', reason),
  };
}

function createMark(color: string): vscode.TextEditorDecorationType {
  return vscode.window.createTextEditorDecorationType({
    rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
    after: { color: new vscode.ThemeColor(color), margin: '0 0 0 0.6em', fontStyle: 'italic' },
  });
}

function decoration(document: vscode.TextDocument, { start, end, fate }: Mark): vscode.DecorationOptions {
  return {
    range: new vscode.Range(document.positionAt(start), document.positionAt(end)),
    hoverMessage: new vscode.MarkdownString().appendText(fate.reason),
    renderOptions: { after: { contentText: fate.words } },
  };
}
