import * as vscode from 'vscode';
import type { ChatDocument, Disposable, DocumentChange, EditOptions, TextEdit } from '../ports.ts';

const MAX_EDIT_TRIES = 10;
const MAX_SAVE_TRIES = 3;

/** A chat in the editor, whether or not it is on screen. */
export class EditorDocument implements ChatDocument, Disposable {
  #document: vscode.TextDocument;
  #uri: vscode.Uri;
  #queue: Promise<unknown> = Promise.resolve();
  readonly #renamed: Disposable;

  constructor(document: vscode.TextDocument) {
    this.#document = document;
    this.#uri = document.uri;
    // A renamed file is a new document to the editor, and the same chat to its user.
    this.#renamed = vscode.workspace.onDidRenameFiles(({ files }) => {
      for (const { oldUri, newUri } of files) this.#follow(oldUri, newUri);
    });
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
    this.#renamed.dispose();
  }

  /** A file, or a folder somewhere above it. */
  #follow(from: vscode.Uri, to: vscode.Uri): void {
    if (from.scheme !== this.#uri.scheme || from.authority !== this.#uri.authority) return;
    if (this.#uri.path === from.path) this.#uri = to;
    else if (this.#uri.path.startsWith(`${from.path}/`)) {
      this.#uri = to.with({ path: to.path + this.#uri.path.slice(from.path.length) });
    }
  }

  text(): string {
    return this.#document.getText();
  }

  edit(compute: (text: string) => TextEdit | undefined, options: EditOptions = {}): Promise<boolean> {
    const done = this.#queue.then(() => this.#editNow(compute, options));
    this.#queue = done.catch(() => undefined);
    return done;
  }

  /** The editor flushes what it saves. Without a file there is only its own backup, which it makes by itself. */
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

  /** A tab that was closed, or a file that was renamed, while a tool ran took its document along. */
  get #isElsewhere(): boolean {
    return this.#document.isClosed || this.#document.uri.toString() !== this.#uri.toString();
  }

  async #reopen(): Promise<void> {
    if (this.#isElsewhere) this.#document = await vscode.workspace.openTextDocument(this.#uri);
  }

  async #saveNow(): Promise<boolean> {
    for (let tries = 0; tries < MAX_SAVE_TRIES; tries += 1) {
      await this.#reopen();
      if (this.#document.isUntitled || (await this.#document.save())) return true;
      // A save fails also when the file is renamed meanwhile. Behind this answer the editor has told so.
      await vscode.workspace.fs.stat(this.#uri).then(undefined, () => undefined);
    }
    return !this.#document.isDirty;
  }

  async #editNow(compute: (text: string) => TextEdit | undefined, options: EditOptions): Promise<boolean> {
    for (let tries = 0; tries < MAX_EDIT_TRIES; tries += 1) {
      await this.#reopen();
      // From here to the edit nothing waits: the offsets must be those of the text that the editor checks.
      const edit = compute(this.#document.getText());
      if (!edit) return false;
      const range = new vscode.Range(
        this.#document.positionAt(edit.start),
        this.#document.positionAt(edit.end),
      );
      if (await this.#apply(range, edit.text, options)) return true;
    }
    return false;
  }

  /** Only an editor on the screen can join edits to one step of undo. */
  async #apply(range: vscode.Range, text: string, { joinUndo = false }: EditOptions): Promise<boolean> {
    const editor = vscode.window.visibleTextEditors.find((each) => each.document === this.#document);
    if (editor) {
      const options = { undoStopBefore: !joinUndo, undoStopAfter: false };
      return editor.edit((builder) => builder.replace(range, text), options);
    }
    const change = new vscode.WorkspaceEdit();
    change.replace(this.uri, range, text);
    return vscode.workspace.applyEdit(change);
  }
}
