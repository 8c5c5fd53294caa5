import { messageOf } from '../base/errors.ts';
import { parseChat } from '../chat/format/parse.ts';
import type { ChatDocument, Disposable, EditOptions, Log, RunOutcome, TextEdit } from '../ports/document.ts';

/** The document, for callers who would rather hear “no” than catch: one that is gone takes no edit either. */
export class ChatEdits {
  readonly #document: ChatDocument;
  readonly #log: Log;

  constructor(document: ChatDocument, log: Log) {
    this.#document = document;
    this.#log = log;
  }

  text(): string {
    return this.#document.text();
  }

  async edit(compute: (text: string) => TextEdit | undefined, options?: EditOptions): Promise<boolean> {
    try {
      return await this.#document.edit(compute, options);
    } catch (error) {
      this.#log.error(`The chat could not be changed: ${messageOf(error)}`);
      return false;
    }
  }

  async save(): Promise<boolean> {
    try {
      return await this.#document.save();
    } catch (error) {
      this.#log.error(`The chat could not be saved: ${messageOf(error)}`);
      return false;
    }
  }

  onUndo(listener: () => void): Disposable {
    return this.#document.onDidChange(({ undo }) => {
      if (undo) listener();
    });
  }

  whyNotWritten(): string {
    const { endsInFence } = parseChat(this.#document.text());
    return endsInFence ? 'A code fence at the end of the chat is never closed. Close it first.' : NOT_WRITTEN;
  }
}

export const NOT_WRITTEN = 'The document did not take the change. Is it read-only or closed?';
export const STOPPED: RunOutcome = { ok: false, error: 'Stopped.', cancelled: true, assets: [] };

export function failed(error: string): RunOutcome {
  return { ok: false, error, assets: [] };
}
