import * as vscode from 'vscode';
import { newResultId } from '../../assets/store.ts';
import { insertIntoUserTurn } from '../../chat/edits/append.ts';
import { cutAfter, forkAt, hasLaterTurns, planRegeneration } from '../../chat/edits/fork.ts';
import { readSettings, setFrontMatter } from '../../chat/format/frontMatter.ts';
import { parseChat } from '../../chat/format/parse.ts';
import { DEFAULT_STEM } from '../../chat/outline/fileName.ts';
import { titleFor } from '../../chat/outline/title.ts';
import type { EditOptions, RunOutcome, TextEdit } from '../../ports/document.ts';
import { CHANGED, failed, tell } from '../ui/outcomes.ts';
import { chatName, moveToEnd, rangeOf, writeNewChat } from './chatFiles.ts';
import { type EditorDocument, editDocument } from './editorDocument.ts';
import { linkToFile } from './paths.ts';
import { latestUri } from './renames.ts';
import { recoveryFolder } from './stores.ts';

const FORK = vscode.l10n.t('Fork to a New Chat');
export const REPLACE = vscode.l10n.t('Replace Turns Below');
const AT_END = vscode.l10n.t('Run at the End');

/** Asks what to do if the cursor is in an earlier question. Resolves to the chat to run, or undefined if cancelled. */
export async function chooseWhereToRun(
  document: vscode.TextDocument,
): Promise<vscode.TextDocument | undefined> {
  const editor = vscode.window.activeTextEditor;
  if (editor?.document !== document) return document;
  const { version } = document;
  const offset = document.offsetAt(editor.selection.active);
  const text = document.getText();
  if (!hasLaterTurns(text, offset)) return document;
  const answer = await askWhere(vscode.l10n.t('The cursor is in an earlier question. Run from there?'), {
    replacing: vscode.l10n.t('Deletes all turns below the question. Undo restores them.'),
    // A corrected question is rarely meant for another file.
    isReplaceFirst: planRegeneration(text, offset)?.hasLater === false,
    more: [{ label: AT_END, detail: vscode.l10n.t('Runs the last turn and keeps everything.') }],
  });
  // The offset is only valid for the text at the time of the question.
  if (answer !== undefined && (document.isClosed || document.version !== version)) {
    tell(failed(CHANGED));
    return undefined;
  }
  if (answer === FORK) return forkChat(document, offset);
  if (answer === REPLACE) {
    return (await applyEdit(document, cutAfter(document.getText(), offset))) ? document : undefined;
  }
  return answer === AT_END ? document : undefined;
}

interface WhereOptions {
  /** What replacing deletes. */
  readonly replacing: string;
  readonly isReplaceFirst?: boolean;
  readonly more?: readonly vscode.QuickPickItem[];
}

/** Resolves to `FORK`, `REPLACE` or the label of another row, or undefined if cancelled. */
export async function askWhere(
  question: string,
  { replacing, isReplaceFirst = false, more = [] }: WhereOptions,
): Promise<string | undefined> {
  const fork = {
    label: FORK,
    detail: vscode.l10n.t('Keeps this chat as it is and continues in a new file.'),
  };
  const replace = { label: REPLACE, detail: replacing };
  const rows = isReplaceFirst ? [replace, fork] : [fork, replace];
  const picked = await vscode.window.showQuickPick([...rows, ...more], { placeHolder: question });
  return picked?.label;
}

/** Creates a chat beside this one, with everything up to the turn at the offset. */
export async function forkChat(document: vscode.TextDocument, offset: number): Promise<vscode.TextDocument> {
  return writeFork(document, forkAt(document.getText(), offset));
}

export async function writeFork(document: vscode.TextDocument, text: string): Promise<vscode.TextDocument> {
  const stem = chatName(document.uri).replace(/-fork(?:-\d+)?$/, '');
  return writeNewChat({ folder: folderFor(document), stem: `${stem}-fork`, text });
}

function folderFor(document: vscode.TextDocument): vscode.Uri {
  if (!document.isUntitled) return vscode.Uri.joinPath(document.uri, '..');
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  if (!folder) throw new Error(vscode.l10n.t('Save the chat first. The fork is created beside it.'));
  return folder.uri;
}

/** Inserts links to files at the cursor if it is in a user turn, or else at the end of the chat. */
export async function attachFiles(
  document: vscode.TextDocument,
  files: readonly vscode.Uri[],
): Promise<RunOutcome> {
  const links = files.map((file) => linkToFile(document.uri, file));
  const editor = await showInUserTurn(document);
  const done = await insertAtCaret(editor, (before) => `${/\S$/.test(before) ? ' ' : ''}${links.join(' ')}`);
  return done ? { ok: true, assets: [] } : failed(vscode.l10n.t('Could not insert the links.'));
}

/** Shows a chat with the cursor in a user turn: where it is, or else at the end. */
export async function showInUserTurn(document: vscode.TextDocument): Promise<vscode.TextEditor> {
  const editor = await vscode.window.showTextDocument(document);
  const { turns } = parseChat(document.getText());
  const offset = document.offsetAt(editor.selection.active);
  const inUserTurn = turns.some(
    ({ role, bodyStart, end }) => role === 'user' && bodyStart <= offset && offset <= end,
  );
  if (!inUserTurn) moveToEnd(editor);
  return editor;
}

/** `compute` receives the text of the line before the caret. The caret moves after the inserted text. */
export async function insertAtCaret(
  editor: vscode.TextEditor,
  compute: (before: string) => string,
  options?: EditOptions,
): Promise<boolean> {
  const { document, selection } = editor;
  const caret = document.offsetAt(selection.active);
  let end = caret;
  const done = await editDocument(
    document,
    (text) => {
      const start = Math.min(caret, text.length);
      const added = compute(text.slice(text.lastIndexOf('\n', start - 1) + 1, start));
      end = start + added.length;
      return { start, end: start, text: added };
    },
    options,
  );
  const place = document.positionAt(end);
  if (done) editor.selection = new vscode.Selection(place, place);
  return done;
}

/** Adds a title from the first question to a chat that had its default name when it was run. */
export async function giveTitle(chat: EditorDocument, nameBefore: string): Promise<void> {
  // In one undo step with the reply: Undo should remove both.
  if (DEFAULT_STEM.test(nameBefore)) await chat.edit(addTitle, { joinUndo: true });
}

function addTitle(text: string): TextEdit | undefined {
  const chat = parseChat(text);
  if (readSettings(chat).settings.title !== undefined) return undefined;
  if (!chat.turns.some((turn) => turn.role === 'assistant')) return undefined;
  const title = titleFor(text);
  return title === undefined ? undefined : setFrontMatter(text, 'title', title);
}

/** The edit must have been computed from the current text, without an `await` in between. */
export async function applyEdit(document: vscode.TextDocument, edit: TextEdit | undefined): Promise<boolean> {
  if (!edit) return false;
  const change = new vscode.WorkspaceEdit();
  change.replace(document.uri, rangeOf(document, edit), edit.text);
  return vscode.workspace.applyEdit(change);
}

/** Inserts text, which must be safe as Markdown, into the user turn at the end of a chat. */
export async function addToChat(chat: vscode.Uri, addition: string): Promise<void> {
  const document = await vscode.workspace.openTextDocument(latestUri(chat));
  await editDocument(document, (text) => insertIntoUserTurn(text, addition));
}

const OPEN = vscode.l10n.t('Open');

/** Saves a reply or result that could not be written to its chat. Resolves when the copy is saved. */
export async function keepCopy(
  markdown: string,
  { globalStorageUri }: Pick<vscode.ExtensionContext, 'globalStorageUri'>,
): Promise<void> {
  const file = vscode.Uri.joinPath(recoveryFolder(globalStorageUri), copyName(new Date()));
  try {
    await vscode.workspace.fs.createDirectory(vscode.Uri.joinPath(file, '..'));
    await vscode.workspace.fs.writeFile(file, new TextEncoder().encode(markdown));
  } catch {
    // The copy cannot be saved either, so it is shown in an untitled document.
    await show(await vscode.workspace.openTextDocument({ language: 'markdown', content: markdown }));
    return;
  }
  void offerToOpen(file);
}

async function offerToOpen(file: vscode.Uri): Promise<void> {
  const answer = await vscode.window.showWarningMessage(
    vscode.l10n.t('The reply could not be written to the chat. A copy was saved.'),
    OPEN,
  );
  if (answer === OPEN) await show(await vscode.workspace.openTextDocument(file));
}

async function show(document: vscode.TextDocument): Promise<void> {
  await vscode.window.showTextDocument(document, { preview: false, preserveFocus: true });
}

/** Not `.chat.md`, because it is a fragment that must not be run. */
function copyName(time: Date): string {
  const stamp = time.toISOString().replace(/[-:]/g, '').replace('T', '-').slice(0, 15);
  return `recovered-${stamp}-${newResultId()}.md`;
}
