import * as vscode from 'vscode';
import { planRegeneration } from '../../chat/edits/fork.ts';
import type { WrittenCall } from '../../chat/format/callInfo.ts';
import { nextAction, pendingCalls } from '../../chat/format/nextAction.ts';
import { turnAt } from '../../chat/format/parse.ts';
import { editedText } from '../../chat/format/textEdit.ts';
import { retrySaves } from '../../loop/retrySaves.ts';
import type { RunOutcome, TextEdit } from '../../ports/document.ts';
import { applyEdit, askWhere, REPLACE, writeFork } from '../chat/chatCommands.ts';
import { chatOf, selectArguments, withChat } from '../chat/chatFiles.ts';
import { EditorDocument } from '../chat/editorDocument.ts';
import type { StoreFor } from '../chat/stores.ts';
import { autoSave } from '../settings.ts';
import type { Fields } from '../ui/commandArguments.ts';
import { CANCELLED, CHANGED, failed, NOTHING_PENDING, tell } from '../ui/outcomes.ts';
import { placeToWrite } from './lensPlan.ts';
import type { Runs } from './runs.ts';

type Run = (document: vscode.TextDocument, again?: vscode.Command) => Promise<RunOutcome>;

/** Replaces the reply at the given line or the cursor by a new one. */
export function regenerate(argument: unknown, runs: Runs, run: Run): Promise<RunOutcome> {
  // Trust is checked here because the old reply is removed before the run.
  return withChat(argument, (document, fields) => regenerateAt(document, offsetFor(document, fields), run), {
    trust: true,
    idleIn: runs,
  });
}

async function regenerateAt(document: vscode.TextDocument, offset: number, run: Run): Promise<RunOutcome> {
  const { version } = document;
  const plan = planRegeneration(document.getText(), offset, chatOf(document));
  if (!plan) return tell(failed(vscode.l10n.t('There is no reply here to regenerate.')));
  const replacing = vscode.l10n.t('Deletes the reply and all turns below it. Undo restores them.');
  const question = vscode.l10n.t('There are turns below this reply. Regenerate it?');
  const answer = plan.hasLater ? await askWhere(question, { replacing }) : REPLACE;
  if (answer === undefined) return CANCELLED;
  // The edit is only valid for the text at the time of the question.
  if (document.isClosed || document.version !== version) return tell(failed(CHANGED));
  if (answer === REPLACE) return replaceReply(document, plan.edit, run);
  return run(await writeFork(document, editedText(document.getText(), plan.edit)));
}

/** If there is nothing to run yet, puts the cursor where the user writes next. */
export function askForMessage(document: vscode.TextDocument): RunOutcome | undefined {
  const text = document.getText();
  const chat = chatOf(document);
  const action = nextAction(text, chat);
  const place = placeToWrite(text, chat);
  if (action.kind !== 'wait' || place === undefined) return undefined;
  const editor = vscode.window.activeTextEditor;
  if (editor?.document === document) {
    const position = document.positionAt(place);
    editor.selection = new vscode.Selection(position, position);
    editor.revealRange(editor.selection);
  }
  void vscode.window.showInformationMessage(vscode.l10n.t('Write a message first, then run the chat.'));
  return failed(action.reason);
}

/** Saves the files of a chat that could not be saved. */
export function retry(argument: unknown, runs: Runs, storeFor: StoreFor): Promise<RunOutcome> {
  const work = async (document: vscode.TextDocument) => {
    const chat = new EditorDocument(document);
    try {
      const wasSaved = !document.isDirty;
      const outcome = await retrySaves(chat, await storeFor(document.uri));
      if (outcome.assets.length > 0 && wasSaved && autoSave()) await chat.save();
      return tell(outcome);
    } finally {
      chat.dispose();
    }
  };
  return withChat(argument, work, { trust: true, idleIn: runs });
}

/** Puts the cursor into the arguments of the call at the given line or the cursor. */
export async function editArguments(argument: unknown): Promise<void> {
  await withChat(argument, async (document, fields) => {
    const call = pendingCallAt(document, offsetFor(document, fields));
    if (call) await selectArguments(document, call);
    else void vscode.window.showInformationMessage(NOTHING_PENDING);
  });
}

/** Restores the old reply if the run brings nothing. */
async function replaceReply(document: vscode.TextDocument, edit: TextEdit, run: Run): Promise<RunOutcome> {
  const removed = document.getText().slice(edit.start, edit.end);
  const wasSaved = !document.isDirty && !document.isUntitled;
  if (!(await applyEdit(document, edit))) return tell(failed(CHANGED));
  const textBeforeRun = document.getText();
  const chat = new EditorDocument(document);
  let isAnswered = false;
  try {
    const { uri } = document;
    const { line } = document.positionAt(edit.start);
    const again = { title: '', command: 'filechat.regenerate', arguments: [{ uri, line }] };
    const outcome = await run(document, again);
    isAnswered = outcome.ok;
    return outcome;
  } finally {
    const restore = { start: edit.start, end: edit.start + edit.text.length, text: removed };
    const isRestored =
      !isAnswered && (await chat.edit((text) => (text === textBeforeRun ? restore : undefined)));
    // The run has saved the chat without its reply.
    if (isRestored && wasSaved && autoSave()) await chat.save();
    chat.dispose();
  }
}

/** The offset of the given line or of the cursor, or the end of the chat. */
export function offsetFor(document: vscode.TextDocument, fields: Fields): number {
  const line = fields['line'];
  if (typeof line === 'number') return document.offsetAt(new vscode.Position(line, 0));
  const editor =
    vscode.window.activeTextEditor?.document === document
      ? vscode.window.activeTextEditor
      : vscode.window.visibleTextEditors.find((each) => each.document === document);
  return editor ? document.offsetAt(editor.selection.active) : document.getText().length;
}

/** The call at the offset, or the first of its turn, or the next one to run. */
function pendingCallAt(document: vscode.TextDocument, offset: number): WrittenCall | undefined {
  const chat = chatOf(document);
  const turn = turnAt(chat, offset);
  const own = turn ? pendingCalls(chat.turns, chat.turns.indexOf(turn)) : [];
  const action = nextAction(document.getText(), chat);
  const next = action.kind === 'runTools' ? action.calls : [];
  return own.find((call) => call.start <= offset && offset <= call.end) ?? own[0] ?? next[0];
}
