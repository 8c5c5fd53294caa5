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
import { exists, rangeOf } from './chatFiles.ts';
import { movedUri } from './renames.ts';
import { isInTab } from './tabs.ts';

/** Attempts on an unchanged document before an edit is given up. */
const MAX_REFUSALS = 10;

/** VS Code shows an error for each failed save. */
const MAX_REFUSED_SAVES = 3;

/** VS Code does not report failed saves, so a save is considered finished after this time. */
const SAVE_TIMEOUT_MS = 5_000;

/** VS Code does not report failed renames. If one takes longer, the rest of a reply goes to the old name. */
const RENAME_TIMEOUT_MS = 30_000;

/** A chat as a VS Code document, visible or not. Follows renames and closed tabs. */
export class EditorDocument implements ChatDocument, Disposable {
  #document: vscode.TextDocument;
  #uri: vscode.Uri;
  #queue: Promise<unknown> = Promise.resolve();
  #applying: Promise<unknown> = Promise.resolve();
  #renaming: Deadline | undefined;
  /** Any save, also the user's. */
  #saving: Deadline | undefined;
  /** Closed editors that the extension host may still list. */
  readonly #closedEditors = new WeakSet<vscode.TextEditor>();
  readonly #subscriptions: Disposable;

  constructor(document: vscode.TextDocument, onDidMove?: () => void) {
    this.#document = document;
    this.#uri = document.uri;
    this.#subscriptions = vscode.Disposable.from(
      vscode.workspace.onWillSaveTextDocument((event) => {
        if (event.document === this.#document) this.#saveBegins();
      }),
      vscode.workspace.onDidSaveTextDocument((saved) => {
        if (saved === this.#document) this.#saving?.end();
      }),
      // VS Code copies unsaved text to the new name: an edit between the copy and the rename would be lost.
      vscode.workspace.onWillRenameFiles((event) => {
        if (!event.files.some((file) => movedUri(this.#uri, file))) return;
        this.#renaming?.end();
        this.#renaming = new Deadline(RENAME_TIMEOUT_MS);
        event.waitUntil(this.#settle());
      }),
      // A renamed file is a new document in VS Code.
      vscode.workspace.onDidRenameFiles(({ files }) => {
        for (const file of files) {
          const moved = movedUri(this.#uri, file);
          if (!moved) continue;
          this.#uri = moved;
          this.#renaming?.end();
          onDidMove?.();
        }
      }),
    );
  }

  get uri(): vscode.Uri {
    return this.#uri;
  }

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

  /** Finishes saves before a rename: a file renamed during a save would stay open under its old name, unsaved. */
  async #settle(): Promise<void> {
    await this.#applying;
    if (mayAutoSave(this.#document)) await this.#document.save();
    await this.#saving?.over;
  }

  text(): string {
    return this.#document.getText();
  }

  edit(compute: (text: string) => TextEdit | undefined, options: EditOptions = {}): Promise<boolean> {
    return this.#enqueue(() => this.#editNow(compute, options));
  }

  /**
   * Resolves to false if the save failed. Untitled chats are backed up by VS Code only. Does not trust `isDirty`: after a
   * save, VS Code reports a document as clean that was changed during that save.
   */
  save(): Promise<boolean> {
    return this.#enqueue(() => this.#saveNow());
  }

  #enqueue(work: () => Promise<boolean>): Promise<boolean> {
    const done = this.#queue.then(work);
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
      // During a rename, the file can be gone before VS Code reports it.
      const isThere = await exists(this.#uri);
      const document = isThere || !this.#document.isClosed ? await this.#open() : undefined;
      const version = document?.version;
      const saving = this.#trySave(document);
      this.#applying = saving.catch(() => undefined);
      const answer = await saving;
      if (answer === 'saved') return true;
      // A save that failed because the user typed or renamed at the same time is retried.
      if (this.#renaming?.isPending || name !== this.#uri.toString() || document?.version !== version)
        continue;
      refusals += 1;
      if (answer === 'ignored') await (this.#saving ?? this.#saveBegins()).over;
    }
    return false;
  }

  /** VS Code ignores a save while save participants of another one run. */
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
      // A rename may have started while the document was opened.
      if (document.isClosed || this.#renaming?.isPending) continue;
      const { version } = document;
      // No await from here to the edit: the offsets must match the text.
      const edit = compute(document.getText());
      if (!edit) return false;
      const applying = this.#apply(document, edit, options);
      this.#applying = applying.catch(() => undefined);
      const answer = await applying;
      if (answer === 'written') return true;
      // If the user typed, or closed or switched the tab, the next attempt uses the new state.
      if (answer === 'refused' && document.version === version && !document.isClosed) refusals += 1;
    }
    return false;
  }

  /** Opens the document again after its tab was closed or its file was renamed. */
  async #open(): Promise<vscode.TextDocument | undefined> {
    for (;;) {
      const { isClosed, isUntitled, uri } = this.#document;
      // VS Code would open an empty document under the same name.
      if (isClosed && isUntitled) return undefined;
      const wanted = this.#uri;
      if (!isClosed && uri.toString() === wanted.toString()) return this.#document;
      try {
        this.#document = await vscode.workspace.openTextDocument(wanted);
        if (wanted === this.#uri) return this.#document;
      } catch (error) {
        // A file is missing for a moment while it is renamed.
        if (!this.#renaming?.isPending && wanted === this.#uri) throw error;
      }
      await this.#renaming?.over;
    }
  }

  /** Prefers a visible editor, because only an editor can join edits to one undo step. */
  async #apply(
    document: vscode.TextDocument,
    edit: TextEdit,
    { joinUndo = false }: EditOptions,
  ): Promise<'written' | 'refused' | 'editorClosed'> {
    const range = rangeOf(document, edit);
    const editor = vscode.window.visibleTextEditors.find(
      (each) => each.document === document && !this.#closedEditors.has(each),
    );
    if (editor) {
      const options = { undoStopBefore: !joinUndo, undoStopAfter: false };
      try {
        const isWritten = await editor.edit((builder) => builder.replace(range, edit.text), options);
        return isWritten ? 'written' : 'refused';
      } catch {
        // Editors only reject when their tab was closed or switched. The text is unchanged.
        this.#closedEditors.add(editor);
        return 'editorClosed';
      }
    }
    const change = new vscode.WorkspaceEdit();
    change.replace(document.uri, range, edit.text);
    if (!(await vscode.workspace.applyEdit(change))) return 'refused';
    // VS Code would reopen the closed tab of a file with unsaved changes.
    if (mayAutoSave(document) && !isInTab(document.uri)) await document.save();
    return 'written';
  }
}

/** Makes one edit with the retries of `EditorDocument`. */
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

/** With `formatOnSave`, a save would format an incomplete reply. */
function mayAutoSave(document: vscode.TextDocument): boolean {
  if (document.isUntitled || document.isClosed || !autoSave()) return false;
  return vscode.workspace.getConfiguration('editor', document).get('formatOnSave') !== true;
}

/** Ends when told to, or after a time. */
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
