import { randomInt } from 'node:crypto';
import { ChatReader, parseChat, turnBody } from '../chat/format/parse.ts';
import { renderCut } from '../chat/reply/notes.ts';
import {
  appendToReply,
  closeReply,
  openReply,
  partialReply,
  type ReplyOutcome,
  reopenReply,
  replaceInReply,
} from '../chat/reply/place.ts';
import type { ChatDocument, TextEdit } from '../ports/document.ts';

/** Short enough to read along, and the most that a crash of the editor can lose. */
const BATCH_MS = 150;

/** The pause between two edits is at least this many times as long as the last edit took. */
const PAUSE_PER_EDIT = 4;

/** An editor updates lenses above the reply only when the text rests, so the first pause is longer. */
const FIRST_PAUSE_BATCHES = 3;

/** Writes a reply in batches at its cursor in the document. There is no edit before the first addition. */
export class ReplyWriter {
  readonly #document: ChatDocument;
  readonly #id: string;
  readonly #resumes: boolean;
  readonly #onLost: () => void;
  readonly #batchMs: number;
  /** The number of turns that the reply answers. */
  readonly #turns: number;
  /** Everything that was added, to rescue if the document does not accept it. */
  added = '';
  isOpen = false;
  isLost = false;
  #pending = '';
  /** The text below the additions, as it is now and after the pending edit. */
  #shown = '';
  #wanted = '';
  #timer: NodeJS.Timeout | undefined;
  #queue: Promise<void> = Promise.resolve();
  #editMs = 0;
  #pauseMs: number;
  readonly #reader = new ChatReader();
  /** Parses only the reply again for each batch, however long the chat is. */
  readonly #read = (text: string) => this.#reader.read(text);

  constructor(options: {
    readonly document: ChatDocument;
    readonly id: string;
    /** Continues the interrupted reply in the document. */
    readonly resumes: boolean;
    /** Called when the cursor is gone or the document accepts no more edits. */
    readonly onLost: () => void;
    readonly batchMs?: number | undefined;
  }) {
    this.#document = options.document;
    this.#id = options.id;
    this.#resumes = options.resumes;
    this.#turns = countTurns(options.document.text());
    this.#onLost = options.onLost;
    this.#batchMs = options.batchMs ?? BATCH_MS;
    this.#pauseMs = this.#batchMs;
  }

  /** The chat up to the reply, without the message that the user has begun below it. */
  sentText(): string {
    const text = this.#document.text();
    const { turns } = parseChat(text);
    const last = this.isOpen || this.#resumes ? turns.findLast((turn) => turn.cut) : turns[this.#turns - 1];
    const sent = text.slice(0, last?.end);
    const edit = this.#shown && replaceInReply(sent, this.#id, { before: this.#shown, after: '' });
    return edit ? sent.slice(0, edit.start) + sent.slice(edit.end) : sent;
  }

  add(addition: string): void {
    if (addition === '') return;
    this.added += addition;
    this.#pending += addition;
    this.#schedule();
  }

  /** Shows this below the additions, instead of what was shown there. It is not part of the reply. */
  show(text: string): void {
    if (text === this.#wanted) return;
    this.#wanted = text;
    this.#schedule();
  }

  #schedule(): void {
    const pauseMs = Math.max(this.#pauseMs, PAUSE_PER_EDIT * this.#editMs);
    this.#timer ??= setTimeout(() => void this.flush(), pauseMs);
  }

  /** Replaces what was added last. If the user has changed it in the document, it stays there. */
  rewrite(before: string, after: string): void {
    if (before === '') {
      this.add(after);
      return;
    }
    this.added = replaceEnd(this.added, before, after) ?? `${this.added}${after}`;
    const pending = replaceEnd(this.#pending, before, after);
    if (pending !== undefined) {
      this.#pending = pending;
      return;
    }
    // Taken now: what is added from here on comes after the replacement.
    const written = this.#takePending();
    this.#queue = this.#queue.then(() => this.#write(written)).then(() => this.#replace(before, after));
  }

  async #replace(before: string, after: string): Promise<void> {
    if (!this.isOpen || this.isLost) return;
    const edit = { before: before + this.#shown, after: after + this.#shown };
    await this.#document.edit((text) => replaceInReply(text, this.#id, edit, this.#read), { joinUndo: true });
  }

  /** Resolves when every addition is in the document or lost. Never rejects. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#queue = this.#queue.then(() => this.#write(this.#takePending()));
    return this.#queue;
  }

  /** Moves the cursor to a line of its own, in case the user typed before it: it is recognized only there. */
  async isolateCursor(): Promise<void> {
    await this.flush();
    if (!this.isOpen || this.isLost) return;
    const cursor = renderCut({ kind: 'writing', id: this.#id });
    await this.#document.edit(
      (text) => {
        const at = text.lastIndexOf(cursor);
        return at > 0 && text[at - 1] !== '\n' ? { start: at, end: at, text: '\n' } : undefined;
      },
      { joinUndo: true },
    );
  }

  /** Stops writing. After an undo, another edit would make it impossible to redo. */
  abandon(): void {
    this.isLost = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async end(ending: ReplyOutcome): Promise<void> {
    await this.flush();
    // If the model had nothing to add, the interrupted reply was already complete.
    if (this.#resumes && ending.kind === 'whole' && !this.isOpen) await this.#reopen();
    if (!this.isOpen || this.isLost) return;
    await this.#edit((text) => closeReply(text, this.#id, ending, this.#read));
  }

  async #reopen(): Promise<void> {
    if (partialReply(this.sentText())?.isEmpty !== false) return;
    this.isOpen = await this.#document.edit((text) => reopenReply(text, this.#id));
  }

  #takePending(): string {
    const pending = this.#pending;
    this.#pending = '';
    return pending;
  }

  async #write(addition: string): Promise<void> {
    const [shown, wanted] = [this.#shown, this.#wanted];
    if ((addition === '' && shown === wanted) || this.isLost) return;
    this.#pauseMs = this.isOpen ? this.#batchMs : FIRST_PAUSE_BATCHES * this.#batchMs;
    if (!this.isOpen) {
      this.isOpen = await this.#document.edit((text) =>
        this.#resumes ? reopenReply(text, this.#id) : this.#open(text),
      );
      if (!this.isOpen) return this.#lose();
    }
    const started = performance.now();
    const after = addition + wanted;
    this.#shown = wanted;
    await this.#edit(
      (text) =>
        (shown && replaceInReply(text, this.#id, { before: shown, after }, this.#read)) ||
        appendToReply(text, this.#id, after, this.#read),
    );
    this.#editMs = performance.now() - started;
  }

  /** Opens the reply below the turns that it answers and above a message that the user has begun. */
  #open(text: string): TextEdit | undefined {
    const end = parseChat(text).turns[this.#turns - 1]?.end ?? text.length;
    const edit = openReply(text.slice(0, end), this.#id);
    return edit && end < text.length ? { ...edit, text: `${edit.text}\n` } : edit;
  }

  async #edit(compute: Parameters<ChatDocument['edit']>[0]): Promise<void> {
    if (!(await this.#document.edit(compute, { joinUndo: true }))) this.#lose();
  }

  #lose(): void {
    this.abandon();
    this.#onLost();
  }
}

/** Without the empty user turns at the end. */
function countTurns(text: string): number {
  const { turns } = parseChat(text);
  return turns.findLastIndex((turn) => turn.role !== 'user' || turnBody(text, turn).trim() !== '') + 1;
}

function replaceEnd(text: string, before: string, after: string): string | undefined {
  return text.endsWith(before) ? text.slice(0, text.length - before.length) + after : undefined;
}
const ID_LETTERS = 'abcdefghijkmnpqrstuvwxyz23456789';

/** Names the writer in its mark, so that it never takes the mark of another one for its own. */
export function newId(): string {
  return Array.from({ length: 6 }, () => ID_LETTERS[randomInt(ID_LETTERS.length)]).join('');
}
