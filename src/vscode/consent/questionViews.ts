import * as vscode from 'vscode';
import { groupBy } from '../../base/collections.ts';
import { renderToolName } from '../../chat/format/callInfo.ts';
import { chatName, chatOf, isChat } from '../chat/chatFiles.ts';
import { announce } from '../ui/announce.ts';
import { commandLink, plainMessage } from '../ui/plainMessage.ts';
import { Notice } from '../ui/progress.ts';
import { describeTool } from './allowedTool.ts';
import type { CallQuestions, OpenQuestion } from './callQuestions.ts';
import { describeQuestion, stateOf } from './questionState.ts';

/** Shows the calls that wait for permission: beside the calls, in notifications, and to `when` clauses. */
export function showQuestions(questions: CallQuestions): vscode.Disposable {
  const lines = new QuestionLines(questions);
  const notices = new ChatNotices(questions);
  const update = () => {
    lines.update();
    notices.update();
    showContext(questions);
  };
  return vscode.Disposable.from(
    lines,
    notices,
    questions.onDidChange(update),
    vscode.window.onDidChangeActiveTextEditor(update),
    vscode.window.onDidChangeVisibleTextEditors(() => lines.update()),
  );
}

/** For keybindings and the palette. */
function showContext(questions: CallQuestions): void {
  const uri = vscode.window.activeTextEditor?.document.uri;
  const isWaiting = uri !== undefined && questions.of(uri).length > 0;
  void vscode.commands.executeCommand('setContext', 'filechat.callWaiting', isWaiting);
}

/** A line beside each waiting call. */
class QuestionLines implements vscode.Disposable {
  readonly #questions: CallQuestions;
  readonly #style = lineStyle('editorInfo.foreground');
  readonly #warning = lineStyle('editorWarning.foreground');

  constructor(questions: CallQuestions) {
    this.#questions = questions;
  }

  dispose(): void {
    this.#style.dispose();
    this.#warning.dispose();
  }

  update(): void {
    for (const editor of vscode.window.visibleTextEditors) {
      const { document } = editor;
      if (!isChat(document.uri)) continue;
      const lines = [
        ...this.#questions.of(document.uri).flatMap((each) => lineOf(document, each)),
        ...this.#questions.inTurn(document.uri).flatMap((each) => lineInTurn(document, each)),
      ];
      const only = (isWarning: boolean) =>
        lines.filter((line) => line.isWarning === isWarning).map(({ options }) => options);
      editor.setDecorations(this.#style, only(false));
      editor.setDecorations(this.#warning, only(true));
    }
  }
}

function lineStyle(color: string): vscode.TextEditorDecorationType {
  return vscode.window.createTextEditorDecorationType({
    rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
    after: { color: new vscode.ThemeColor(color), margin: '0 0 0 2em' },
  });
}

interface Line {
  readonly isWarning: boolean;
  readonly options: vscode.DecorationOptions;
}

/** An allowed call runs in its turn. */
function lineInTurn(
  document: vscode.TextDocument,
  { question, after }: ReturnType<CallQuestions['inTurn']>[number],
): Line[] {
  const state = stateOf(question, chatOf(document));
  if (state.kind === 'withdrawn') return [];
  const { range } = document.lineAt(document.positionAt(state.at.infoEnd));
  const contentText = vscode.l10n.t('Allowed · runs after {0}', plainMessage(after));
  return [{ isWarning: false, options: { range, renderOptions: { after: { contentText } } } }];
}

function lineOf(document: vscode.TextDocument, question: OpenQuestion): Line[] {
  const state = stateOf(question, chatOf(document));
  if (state.kind === 'withdrawn') return [];
  const { text, isWarning } = describeQuestion(question, state, (path) =>
    vscode.workspace.asRelativePath(path),
  );
  const { range } = document.lineAt(document.positionAt(state.at.infoEnd));
  const hoverMessage = describeTool(question.tool, question).map((each) =>
    new vscode.MarkdownString().appendText(each),
  );
  return [{ isWarning, options: { range, hoverMessage, renderOptions: { after: { contentText: text } } } }];
}

/** A notification for each chat that waits and is not in front, until it is. */
class ChatNotices implements vscode.Disposable {
  readonly #questions: CallQuestions;
  readonly #notices = new Map<string, { readonly notice: vscode.Disposable; readonly text: string }>();
  /** The question in front, where it is otherwise only drawn. */
  #status: { readonly item: vscode.Disposable; readonly text: string } | undefined;

  constructor(questions: CallQuestions) {
    this.#questions = questions;
  }

  dispose(): void {
    for (const { notice } of this.#notices.values()) notice.dispose();
    this.#status?.item.dispose();
  }

  update(): void {
    const active = vscode.window.activeTextEditor?.document.uri.toString();
    const waiting = groupBy(this.#questions.all, ({ chat }) => chat.toString());
    this.#showStatus(active === undefined ? [] : (waiting.get(active) ?? []));
    if (active !== undefined) waiting.delete(active);
    for (const [chat, { notice }] of this.#notices) {
      if (waiting.has(chat)) continue;
      notice.dispose();
      this.#notices.delete(chat);
    }
    for (const [chat, questions] of waiting) this.#notify(chat, questions);
  }

  #notify(chat: string, questions: readonly OpenQuestion[]): void {
    const text = noticeText(questions);
    const last = this.#notices.get(chat);
    if (last?.text === text) return;
    last?.notice.dispose();
    // Only a progress notification can be closed when the question is answered elsewhere. Its Cancel stops the chat.
    const notice = new Notice(() => {
      for (const each of questions) this.#questions.answer(each, { kind: 'cancel' });
    });
    notice.report({ message: text, counts: false });
    this.#notices.set(chat, { notice, text });
  }

  #showStatus([first]: readonly OpenQuestion[]): void {
    const text = first && `$(shield) ${askingText(first)}`;
    if (text === this.#status?.text) return;
    this.#status?.item.dispose();
    this.#status = text === undefined ? undefined : { item: announce(text), text };
  }
}

function askingText({ call }: OpenQuestion): string {
  return vscode.l10n.t('{0} asks for permission', plainMessage(renderToolName(call)));
}

function noticeText(questions: readonly OpenQuestion[]): string {
  const [first] = questions;
  if (!first) return '';
  const [name, chat] = [plainMessage(renderToolName(first.call)), plainMessage(chatName(first.chat))];
  const argument = { uri: first.chat.toString(), id: first.call.id };
  const show = commandLink(vscode.l10n.t('Show Chat'), 'filechat.showCall', argument);
  return `${askingIn(chat, name, questions.length - 1)} ${show} · ${vscode.l10n.t('Cancel stops the chat.')}`;
}

function askingIn(chat: string, name: string, others: number): string {
  if (others === 0) return vscode.l10n.t('{0} asks for permission in the chat “{1}”.', name, chat);
  return others === 1
    ? vscode.l10n.t('{0} and one more call ask for permission in the chat “{1}”.', name, chat)
    : vscode.l10n.t('{0} and {1} more calls ask for permission in the chat “{2}”.', name, others, chat);
}
