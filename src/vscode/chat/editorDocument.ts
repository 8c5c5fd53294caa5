import * as vscode from 'vscode';
import { deferred } from '../../base/async.ts';
import type {
  ChatDocument,
  Disposable,
  DocumentChange,
  EditOptions,
  TextEdit,
} from '../../ports/document.ts';

import { autoSave } from '../settings.ts';
import { exists } from './chatFiles.ts';

/** How often a document that does not change may refuse an edit before the edit is given up. */
const MAX_REFUSALS = 10;

/** How often the editor may fail to save a document that does not change. It tells the user why each time. */
const MAX_REFUSED_SAVES = 3;

/** The editor does not report a save that failed, so it is taken to be over after this time. */
const SAVE_TIMEOUT_MS = 5_000;

/**
 * The editor does not report a rename that failed, so writing goes on after this time. A rename that takes longer, with
 * other extensions that take part in it, would leave the rest of the reply under the old name.
 */
const RENAME_TIMEOUT_MS = 30_000;

/** A chat in the editor, whether or not it is on screen. */
export class EditorDocument implements ChatDocument, Disposable {
  #document: vscode.TextDocument;
  #uri: vscode.Uri;
  #queue: Promise<unknown> = Promise.resolve();
  /** The edit that is on its way to the editor. */
  #applying: Promise<unknown> = Promise.resolve();
  /** Pending while the file gets another name. */
  #renaming: Deadline | undefined;
  /** Pending while the document is being saved, by anyone. */
  #saving: Deadline | undefined;
  /** Editors that refused an edit because they were closed; the extension host may still list them. */
  readonly #closedEditors = new WeakSet<vscode.TextEditor>();
  readonly #subscriptions: Disposable;

  constructor(document: vscode.TextDocument) {
    this.#document = document;
    this.#uri = document.uri;
    this.#subscriptions = vscode.Disposable.from(
      vscode.workspace.onWillSaveTextDocument((event) => {
        if (event.document === this.#document) this.#saveBegins();
      }),
      vscode.workspace.onDidSaveTextDocument((saved) => {
        if (saved === this.#document) this.#saving?.end();
      }),
      // The editor copies unsaved text to the new name: an edit between the copy and the rename would be lost.
      vscode.workspace.onWillRenameFiles((event) => {
        if (!event.files.some(({ oldUri, newUri }) => this.#moved(oldUri, newUri))) return;
        this.#renaming?.end();
        this.#renaming = new Deadline(RENAME_TIMEOUT_MS);
        event.waitUntil(this.#settle());
      }),
      // A renamed file is a new document to the editor, and the same chat to its user.
      vscode.workspace.onDidRenameFiles(({ files }) => {
        for (const { oldUri, newUri } of files) {
          const moved = this.#moved(oldUri, newUri);
          if (!moved) continue;
          this.#uri = moved;
          this.#renaming?.end();
        }
      }),
    );
  }

  /** Where the chat is now. */
  get uri(): vscode.Uri {
    return this.#uri;
  }

  /** What the editor holds of it now. */
  get current(): vscode.TextDocument {
    return this.#document;
  }

  dispose(): void {
    this.#renaming?.end();
    this.#saving?.end();
    this.#subscriptions.dispose();
  }

  #saveBegins(): Deadline {
    this.#saving?.end();
    this.#saving = new Deadline(SAVE_TIMEOUT_MS);
    return this.#saving;
  }

  /**
   * A file that is renamed between its write and the editor's look at what was written stays open under its old name,
   * with unsaved changes. So saves are over before, and auto save finds nothing to do.
   */
  async #settle(): Promise<void> {
    await this.#applying;
    if (this.#document.isDirty && savesByItself(this.#document)) await this.#document.save();
    await this.#saving?.over;
  }

  /** Where the chat is after the rename of its file, or of a folder above it. */
  #moved(from: vscode.Uri, to: vscode.Uri): vscode.Uri | undefined {
    if (from.scheme !== this.#uri.scheme || from.authority !== this.#uri.authority) return undefined;
    if (this.#uri.path === from.path) return to;
    if (!this.#uri.path.startsWith(`${from.path}/`)) return undefined;
    return to.with({ path: to.path + this.#uri.path.slice(from.path.length) });
  }

  text(): string {
    return this.#document.getText();
  }

  edit(compute: (text: string) => TextEdit | undefined, options: EditOptions = {}): Promise<boolean> {
    const done = this.#queue.then(() => this.#editNow(compute, options));
    this.#queue = done.catch(() => undefined);
    return done;
  }

  /**
   * Saves what is not saved yet; the editor flushes it to the disk. Resolves to false when that failed. A chat that
   * was never saved has no file, only the backup that the editor makes by itself.
   */
  save(): Promise<boolean> {
    const done = this.#queue.then(() => this.#saveNow());
    this.#queue = done.catch(() => undefined);
    return done;
  }

  onDidChange(listener: (change: DocumentChange) => void): Disposable {
    return vscode.workspace.onDidChangeTextDocument((event) => {
      if (event.document === this.#document) listener({ undo: event.reason !== undefined });
    });
  }

  async #saveNow(): Promise<boolean> {
    if (this.#document.isUntitled) return true;
    for (let refusals = 0; refusals < MAX_REFUSED_SAVES; ) {
      await this.#renaming?.over;
      const name = this.#uri.toString();
      // The file is gone while it gets another name, before the editor reports that.
      const isThere = await exists(this.#uri);
      const document = isThere || !this.#document.isClosed ? await this.#open() : undefined;
      if (document?.isDirty === false) return true;
      const version = document?.version;
      const saving = this.#trySave(document);
      this.#applying = saving.catch(() => undefined);
      const answer = await saving;
      if (answer === 'saved') return true;
      // A user who types or renames at the same time makes a save fail that works the next time.
      if (this.#renaming?.isPending || name !== this.#uri.toString() || document?.version !== version)
        continue;
      refusals += 1;
      if (document?.isDirty && answer === 'ignored') await (this.#saving ?? this.#saveBegins()).over;
    }
    return false;
  }

  /** While extensions look at a document that is being saved, for example by the user, another save is ignored. */
  async #trySave(document: vscode.TextDocument | undefined): Promise<'saved' | 'failed' | 'ignored'> {
    if (!document) return 'failed';
    const before = this.#saving;
    if (await document.save()) return 'saved';
    if (this.#saving === before) return 'ignored';
    this.#saving?.end();
    return 'failed';
  }

  async #editNow(compute: (text: string) => TextEdit | undefined, options: EditOptions): Promise<boolean> {
    for (let refusals = 0; refusals < MAX_REFUSALS; ) {
      await this.#renaming?.over;
      const document = await this.#open();
      if (!document) return false;
      // A rename may have begun while the document was opened.
      if (document.isClosed || this.#renaming?.isPending) continue;
      const { version } = document;
      // From here to the edit nothing waits: the offsets must be those of the text that the editor checks.
      const edit = compute(document.getText());
      if (!edit) return false;
      const applying = this.#apply(document, edit, options);
      this.#applying = applying.catch(() => undefined);
      const answer = await applying;
      if (answer === 'written') return true;
      // The user may have typed, closed or switched the tab meanwhile; then the next try sees the new state.
      if (answer === 'refused' && document.version === version && !document.isClosed) refusals += 1;
    }
    return false;
  }

  /** A tab that was closed, or a file that was renamed, took its document along. */
  async #open(): Promise<vscode.TextDocument | undefined> {
    for (;;) {
      const { isClosed, isUntitled, uri } = this.#document;
      // The editor would open an empty document under the same name.
      if (isClosed && isUntitled) return undefined;
      const wanted = this.#uri;
      if (!isClosed && uri.toString() === wanted.toString()) return this.#document;
      try {
        this.#document = await vscode.workspace.openTextDocument(wanted);
        if (wanted === this.#uri) return this.#document;
      } catch (error) {
        // A file that is being renamed is gone for a moment.
        if (!this.#renaming?.isPending && wanted === this.#uri) throw error;
      }
      await this.#renaming?.over;
    }
  }

  /** Prefers a visible editor, because only that can join edits to one undo step. */
  async #apply(
    document: vscode.TextDocument,
    edit: TextEdit,
    { joinUndo = false }: EditOptions,
  ): Promise<Answer> {
    const range = new vscode.Range(document.positionAt(edit.start), document.positionAt(edit.end));
    const editor = vscode.window.visibleTextEditors.find(
      (each) => each.document === document && !this.#closedEditors.has(each),
    );
    if (editor) {
      const options = { undoStopBefore: !joinUndo, undoStopAfter: false };
      try {
        return answerOf(await editor.edit((builder) => builder.replace(range, edit.text), options));
      } catch {
        // The only reason why an editor rejects: its tab was closed or switched. The text is unchanged.
        this.#closedEditors.add(editor);
        return 'editorClosed';
      }
    }
    const change = new vscode.WorkspaceEdit();
    change.replace(document.uri, range, edit.text);
    const answer = answerOf(await vscode.workspace.applyEdit(change));
    if (answer === 'written' && savesWithoutTab(document)) await document.save();
    return answer;
  }
}

/** Makes one change, as a run of the chat makes it. */
export async function editDocument(
  document: vscode.TextDocument,
  compute: (text: string) => TextEdit | undefined,
  options?: EditOptions,
): Promise<boolean> {
  const chat = new EditorDocument(document);
  try {
    return await chat.edit(compute, options);
  } finally {
    chat.dispose();
  }
}

type Answer = 'written' | 'refused' | 'editorClosed';

function answerOf(isWritten: boolean): Answer {
  return isWritten ? 'written' : 'refused';
}

/**
 * The editor opens a tab again for a file with unsaved changes. A user who closes the tab of a running chat does not
 * want it back. A formatter must not see half a reply, so those who format when they save get the tab. A document that
 * the editor has closed is saved already.
 */
function savesWithoutTab(document: vscode.TextDocument): boolean {
  return savesByItself(document) && !isInTab(document.uri);
}

function savesByItself(document: vscode.TextDocument): boolean {
  if (document.isUntitled || document.isClosed || !autoSave()) return false;
  return vscode.workspace.getConfiguration('editor', document).get('formatOnSave') !== true;
}

function isInTab(uri: vscode.Uri): boolean {
  return vscode.window.tabGroups.all.some(({ tabs }) =>
    tabs.some(({ input }) => {
      const shown =
        input instanceof vscode.TabInputTextDiff
          ? input.modified
          : input instanceof vscode.TabInputText || input instanceof vscode.TabInputCustom
            ? input.uri
            : undefined;
      return shown?.toString() === uri.toString();
    }),
  );
}

/** Something that ends, or is taken to have ended after a time. */
class Deadline {
  readonly over: Promise<void>;
  readonly #resolve: () => void;
  readonly #timer: NodeJS.Timeout;
  isPending = true;

  constructor(ms: number) {
    const { promise, resolve } = deferred<void>();
    this.over = promise;
    this.#resolve = resolve;
    this.#timer = setTimeout(() => this.end(), ms);
  }

  end(): void {
    clearTimeout(this.#timer);
    this.isPending = false;
    this.#resolve();
  }
}
