import { mkdir, open, readFile, realpath, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { renameOver, syncFolder, temporaryName } from '../assets/writeFile.ts';
import { newChat } from '../chat/edits/append.ts';
import type { ChatDocument, Disposable, DocumentChange, TextEdit } from '../ports/document.ts';

const BYTE_ORDER_MARK = '\uFEFF';

/** A chat that no editor holds: every edit reads the file again and replaces it whole. */
export class FileDocument implements ChatDocument {
  readonly path: string;
  #text: string;
  #isThere: boolean;
  readonly #listeners = new Set<(change: DocumentChange) => void>();
  #queue: Promise<unknown> = Promise.resolve();

  private constructor(path: string, text: string, isThere: boolean) {
    this.path = path;
    this.#text = text;
    this.#isThere = isThere;
  }

  /** Opens a chat. With `orBegin` it may be a new one, whose file comes with its first edit. */
  static async open(path: string, { orBegin = false } = {}): Promise<FileDocument> {
    const text = await readText(path);
    if (text !== undefined) return new FileDocument(await realpath(path), text, true);
    if (!orBegin) throw new Error(`There is no file ${path}.`);
    return new FileDocument(resolve(path), newChat(), false);
  }

  text(): string {
    return withoutMark(this.#text);
  }

  edit(compute: (text: string) => TextEdit | undefined): Promise<boolean> {
    const done = this.#queue.then(() => this.#editNow(compute));
    this.#queue = done.catch(() => undefined);
    return done;
  }

  /** Every edit is on the disk when it has ended. */
  async save(): Promise<boolean> {
    await this.#queue;
    return true;
  }

  onDidChange(listener: (change: DocumentChange) => void): Disposable {
    this.#listeners.add(listener);
    return { dispose: () => this.#listeners.delete(listener) };
  }

  async #editNow(compute: (text: string) => TextEdit | undefined): Promise<boolean> {
    // Somebody may have the same file open in an editor and have saved it in the meantime.
    const found = await readText(this.path);
    // A chat that was deleted or moved away is not brought back.
    if (found === undefined && this.#isThere) return false;
    this.#text = found ?? this.#text;
    const text = this.text();
    const edit = compute(text);
    if (!edit) return false;
    const addition = text.includes('\r\n') ? edit.text.replaceAll('\n', '\r\n') : edit.text;
    const mark = this.#text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : '';
    this.#text = mark + text.slice(0, edit.start) + addition + text.slice(edit.end);
    await replaceFile(this.path, this.#text);
    this.#isThere = true;
    for (const listener of this.#listeners) listener({ undo: false });
    return true;
  }
}

function withoutMark(text: string): string {
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
}

async function readText(path: string): Promise<string | undefined> {
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new Error(error.code === 'EISDIR' ? `${path} is a folder, not a chat.` : error.message);
  });
  try {
    return bytes && new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Error(`${path} is not UTF-8 text. Nothing was changed.`);
  }
}

/** Through a temporary file, so that a crash leaves the old chat or the new one and never half of it. */
async function replaceFile(path: string, text: string): Promise<void> {
  const mode = await writableMode(path);
  const temporary = join(dirname(path), temporaryName());
  try {
    const file = await open(temporary, 'wx', mode);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await renameOver(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(dirname(path));
}

/** The mode that the file has or gets. A rename would replace even a file that may not be written to. */
async function writableMode(path: string): Promise<number> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return undefined;
  });
  if (found && (found.mode & 0o222) === 0) throw new Error(`${path} is read-only. Nothing was changed.`);
  await mkdir(dirname(path), { recursive: true });
  return found ? found.mode & 0o777 : 0o644;
}
