import { open } from 'node:fs/promises';
import * as vscode from 'vscode';
import { chatTitle } from '../../chat/outline/summary.ts';
import { chatName } from '../chat/chatFiles.ts';
import type { FoundChat } from './list.ts';

/** Enough for the front matter and the first question. */
const HEAD_BYTES = 8_192;
/** What is kept of the texts, so that a search that goes on need not read them again. */
const MAX_KEPT_CHARS = 30_000_000;

interface Kept {
  readonly stamp: string;
  readonly text: string;
}

/** The titles and texts of chats, each read once for each of its versions. */
export class ChatTexts {
  readonly #titles = new Map<string, { readonly stamp: string; readonly title: Promise<string> }>();
  readonly #texts = new Map<string, Kept>();
  #keptChars = 0;

  /** Its own title, its first words, or its name. */
  title(chat: FoundChat): Promise<string> {
    const key = chat.uri.toString();
    const known = this.#titles.get(key);
    const stamp = stampOf(chat);
    if (known?.stamp === stamp) return known.title;
    const title = readHead(chat)
      .then(chatTitle)
      .catch(() => undefined)
      .then((found) => found ?? chatName(chat.uri));
    this.#titles.set(key, { stamp, title });
    return title;
  }

  /** The whole of it; what is open in an editor, as it is there. */
  async text(chat: FoundChat): Promise<string> {
    const key = chat.uri.toString();
    const open = openDocument(key);
    if (open) return open.getText();
    const known = this.#texts.get(key);
    if (known?.stamp === stampOf(chat)) return known.text;
    const text = new TextDecoder().decode(await vscode.workspace.fs.readFile(chat.uri));
    this.#keep(key, { stamp: stampOf(chat), text });
    return text;
  }

  /** The oldest make room for the new. */
  #keep(key: string, kept: Kept): void {
    this.#drop(key);
    this.#texts.set(key, kept);
    this.#keptChars += kept.text.length;
    for (const oldest of this.#texts.keys()) {
      if (this.#keptChars <= MAX_KEPT_CHARS) break;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    this.#keptChars -= this.#texts.get(key)?.text.length ?? 0;
    this.#texts.delete(key);
  }
}

function stampOf({ changedAt, bytes }: FoundChat): string {
  return `${changedAt} ${bytes}`;
}

function openDocument(key: string): vscode.TextDocument | undefined {
  return vscode.workspace.textDocuments.find(({ uri }) => uri.toString() === key);
}

/** Other file systems than the disk give whole files only. */
async function readHead({ uri }: FoundChat): Promise<string> {
  const bytes = uri.scheme === 'file' ? await readStart(uri.fsPath) : await vscode.workspace.fs.readFile(uri);
  return new TextDecoder().decode(bytes.subarray(0, HEAD_BYTES)).replace(/\uFFFD$/, '');
}

async function readStart(path: string): Promise<Uint8Array> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(new Uint8Array(HEAD_BYTES), 0, HEAD_BYTES, 0);
  return buffer.subarray(0, bytesRead);
}
