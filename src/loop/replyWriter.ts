import { ChatReader, parseChat, turnBody } from '../chat/format/parse.ts';
import { renderCut } from '../chat/reply/notes.ts';
import { appendToReply, closeReply, openReply, partialReply, reopenReply } from '../chat/reply/place.ts';
import type { TextEdit } from '../ports/document.ts';

import type { ChatEdits } from './chatEdits.ts';

/** Often enough to read along, and so that a crash of the editor costs no more than this. */
const BATCH_MS = 150;

/** A document that takes long to change is changed less often: so many times as long it is left alone. */
const RESTS = 4;

/**
 * After its first words a reply waits for so many batches. An editor does not look at a text that keeps changing
 * before it has rested, and what can be clicked above the reply is to be there while it comes.
 */
const FIRST_REST_BATCHES = 3;

export interface ReplyEnding {
  /** Why the reply ends early; nothing when it is whole. */
  readonly interrupted?: string | undefined;
  readonly closeFence?: string | undefined;
}

/**
 * Writes a reply into the document a few times a second, at the reply's own cursor, wherever the user's typing
 * has moved it. The document is not touched before there is something to write.
 */
export class ReplyWriter {
  readonly #document: ChatEdits;
  readonly #id: string;
  /** There is a reply already, which was cut. */
  readonly resumes: boolean;
  readonly #onGone: () => void;
  readonly #batchMs: number;
  /** How many turns there were to answer. */
  readonly #turns: number;
  #everything = '';
  #pending = '';
  #isOpen = false;
  #isGone = false;
  #timer: NodeJS.Timeout | undefined;
  #queue: Promise<void> = Promise.resolve();
  /** How long the last edit took. */
  #editMs = 0;
  #restMs: number;
  readonly #reader = new ChatReader();
  /** At every batch only the reply itself is read again, however long the chat is. */
  readonly #read = (text: string) => this.#reader.read(text);

  constructor(options: {
    readonly document: ChatEdits;
    readonly id: string;
    readonly resumes: boolean;
    /** The cursor is gone, or the document takes no more edits: nothing can be written any longer. */
    readonly onGone: () => void;
    readonly batchMs?: number | undefined;
  }) {
    this.#document = options.document;
    this.#id = options.id;
    this.resumes = options.resumes;
    this.#turns = countSpoken(options.document.text());
    this.#onGone = options.onGone;
    this.#batchMs = options.batchMs ?? BATCH_MS;
    this.#restMs = this.#batchMs;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  /** All that was to be written, for a document that would not take it. */
  get everything(): string {
    return this.#everything;
  }

  /** The chat up to the reply: what the user has begun to write below meanwhile is not yet said. */
  sentText(): string {
    const text = this.#document.text();
    const { turns } = parseChat(text);
    const last = this.#isOpen || this.resumes ? turns.findLast((turn) => turn.cut) : turns[this.#turns - 1];
    return text.slice(0, last?.end);
  }

  add(addition: string): void {
    if (addition === '') return;
    this.#everything += addition;
    this.#pending += addition;
    this.#timer ??= setTimeout(() => void this.flush(), Math.max(this.#restMs, RESTS * this.#editMs));
  }

  /** Resolves when everything that was added is in the document, or cannot be. Never rejects. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#queue = this.#queue.then(() => this.#writePending());
    return this.#queue;
  }

  /** Puts the cursor back on a line of its own, in case somebody has typed before it: only there is it read. */
  async isolateCursor(): Promise<void> {
    await this.flush();
    if (!this.#isOpen || this.#isGone) return;
    const cursor = renderCut({ kind: 'writing', id: this.#id });
    await this.#document.edit(
      (text) => {
        const at = text.lastIndexOf(cursor);
        return at > 0 && text[at - 1] !== '\n' ? { start: at, end: at, text: '\n' } : undefined;
      },
      { joinUndo: true },
    );
  }

  /** Nothing more is written: what the user has just undone could not be done again after another edit. */
  abandon(): void {
    this.#isGone = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async end(ending: ReplyEnding): Promise<void> {
    await this.flush();
    const { interrupted, closeFence } = ending;
    // The model may have nothing to add to what was there: then that is the whole reply.
    if (this.resumes && interrupted === undefined && !this.#isOpen) await this.#openCut();
    if (!this.#isOpen || this.#isGone) return;
    const kind =
      interrupted === undefined
        ? ({ kind: 'whole' } as const)
        : { kind: 'interrupted' as const, reason: interrupted, ...(closeFence ? { closeFence } : {}) };
    await this.#edit((text) => closeReply(text, this.#id, kind, this.#read));
  }

  async #openCut(): Promise<void> {
    if (partialReply(this.sentText())?.isEmpty !== false) return;
    this.#isOpen = await this.#document.edit((text) => reopenReply(text, this.#id));
  }

  async #writePending(): Promise<void> {
    const addition = this.#pending;
    if (addition === '' || this.#isGone) return;
    this.#pending = '';
    this.#restMs = this.#isOpen ? this.#batchMs : FIRST_REST_BATCHES * this.#batchMs;
    if (!this.#isOpen) {
      this.#isOpen = await this.#document.edit((text) =>
        this.resumes ? reopenReply(text, this.#id) : this.#open(text),
      );
      if (!this.#isOpen) return this.#lose();
    }
    const started = performance.now();
    await this.#edit((text) => appendToReply(text, this.#id, addition, this.#read));
    this.#editMs = performance.now() - started;
  }

  /** Behind the turns that it answers; what the user has begun to write below them stays below. */
  #open(text: string): TextEdit | undefined {
    const end = parseChat(text).turns[this.#turns - 1]?.end ?? text.length;
    const edit = openReply(text.slice(0, end), this.#id);
    return edit && end < text.length ? { ...edit, text: `${edit.text}\n` } : edit;
  }

  async #edit(compute: Parameters<ChatEdits['edit']>[0]): Promise<void> {
    if (!(await this.#document.edit(compute, { joinUndo: true }))) this.#lose();
  }

  #lose(): void {
    this.abandon();
    this.#onGone();
  }
}

/** Not counting empty turns at the end, which wait for text. */
function countSpoken(text: string): number {
  const { turns } = parseChat(text);
  return turns.findLastIndex((turn) => turn.role !== 'user' || turnBody(text, turn).trim() !== '') + 1;
}
