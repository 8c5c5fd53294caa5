import { open, readFile, realpath, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { makeFolders, renameOver, syncFolder, temporaryName, withHandle } from '../assets/writeFile.ts';
import { readFailure } from '../base/fileErrors.ts';
import { decodeUtf8 } from '../base/lines.ts';
import { newChat } from '../chat/edits/append.ts';
import type { ChatDocument, Disposable, DocumentChange, TextEdit } from '../ports/document.ts';

const BYTE_ORDER_MARK = '\uFEFF';

/** A chat file without an editor: every edit reads the file again and replaces it. */
export class FileDocument implements ChatDocument {
  readonly path: string;
  #text: string;
  #exists: boolean;
  readonly #listeners = new Set<(change: DocumentChange) => void>();
  #queue: Promise<unknown> = Promise.resolve();

  private constructor(path: string, text: string, exists: boolean) {
    this.path = path;
    this.#text = text;
    this.#exists = exists;
  }

  /** With `orCreate` the chat may be new; its file is created by the first edit. */
  static async open(path: string, { orCreate = false } = {}): Promise<FileDocument> {
    const text = await readChat(path);
    if (text !== undefined) return new FileDocument(await realpath(path), text, true);
    if (!orCreate) throw new Error(`The chat ${path} does not exist. Check the path.`);
    return new FileDocument(resolve(path), newChat(), false);
  }

  text(): string {
    return this.#text.startsWith(BYTE_ORDER_MARK) ? this.#text.slice(1) : this.#text;
  }

  edit(compute: (text: string) => TextEdit | undefined): Promise<boolean> {
    const done = this.#queue.then(() => this.#editNow(compute));
    this.#queue = done.catch(() => undefined);
    return done;
  }

  /** Every edit is on disk when its promise resolves. */
  async save(): Promise<boolean> {
    await this.#queue;
    return true;
  }

  onDidChange(listener: (change: DocumentChange) => void): Disposable {
    this.#listeners.add(listener);
    return { dispose: () => this.#listeners.delete(listener) };
  }

  async #editNow(compute: (text: string) => TextEdit | undefined): Promise<boolean> {
    // The file may have been saved by an editor in the meantime.
    const found = await readChat(this.path);
    // Do not recreate a chat that was deleted or moved.
    if (found === undefined && this.#exists) return false;
    this.#text = found ?? this.#text;
    const text = this.text();
    const edit = compute(text);
    if (!edit) return false;
    const addition = text.includes('\r\n') ? edit.text.replace(/\r?\n/g, '\r\n') : edit.text;
    const mark = this.#text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : '';
    this.#text = mark + text.slice(0, edit.start) + addition + text.slice(edit.end);
    await replaceFile(this.path, this.#text);
    this.#exists = true;
    for (const listener of this.#listeners) listener({ undo: false });
    return true;
  }
}

async function readChat(path: string): Promise<string | undefined> {
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    if (error.code === 'EISDIR') throw new Error(`${path} is a folder. Name a chat file.`);
    throw new Error(`The chat ${path} cannot be read: ${readFailure(error) ?? error.message}.`);
  });
  const text = bytes && decodeUtf8(bytes);
  if (bytes && text === undefined)
    throw new Error(`${path} is not UTF-8 text, so nothing was changed. Convert it to UTF-8 first.`);
  return text;
}

/** Writes a temporary file and renames it, so that a crash leaves either the old file or the new one. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const mode = await writableMode(path);
  const temporary = join(dirname(path), temporaryName());
  try {
    await withHandle(open(temporary, 'wx', mode), async (file) => {
      await file.writeFile(text);
      await file.sync();
    });
    await renameOver(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(dirname(path));
}

/** The mode for the file. Throws if it is read-only, because a rename would replace it anyway. */
async function writableMode(path: string): Promise<number> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return undefined;
  });
  if (found && (found.mode & 0o222) === 0)
    throw new Error(`${path} is read-only, so nothing was changed. Make it writable and run again.`);
  await makeFolders(dirname(path));
  return found ? found.mode & 0o777 : 0o644;
}
