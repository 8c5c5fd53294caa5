import { restoreInvisible, showInvisible } from '../format/escape.ts';
import { type ReplyDirection, ReplyLines } from './lines.ts';
import { closeWithNote, countClosing } from './notes.ts';

/**
 * A model's text in the file: it starts no turn, makes no call, loads nothing, hides nothing, and is read back
 * exactly, but for its line ends, which become `\n`.
 */
export function escapeReply(text: string): string {
  const escaper = new ReplyEscaper();
  return escaper.push(text) + escaper.end();
}

export function unescapeReply(text: string): string {
  return readBack(text, 'read');
}

/** The same without the comments that a person has written into it: they are not for the model. */
export function readReplyText(text: string): string {
  return readBack(text, 'readWithoutComments');
}

function readBack(text: string, direction: ReplyDirection): string {
  const lines = new ReplyLines(direction);
  const written = withoutClosing(text.replaceAll('\r\n', '\n'));
  return restoreInvisible(lines.push(written) + lines.finish());
}

/** Escapes a text that comes in pieces. However it is cut, the pieces that it gives add up to the same. */
export class ReplyEscaper {
  readonly #invisible = new InvisibleShower();
  readonly #lines = new ReplyLines('write');
  #emitted = '';

  /** What has been emitted ends in code that is still open. */
  get inFence(): boolean {
    return this.closingFence() !== undefined;
  }

  push(chunk: string): string {
    return this.#emit(this.#lines.push(this.#invisible.push(chunk)));
  }

  /** Gives all that was held back, because the text was cut; more may still be pushed. */
  flush(): string {
    const shown = this.#lines.push(this.#invisible.end());
    return this.#emit(shown + this.#lines.flush());
  }

  /** The same, without a fence that has only begun: in two pieces it would be no fence, and it is said again. */
  cut(): string {
    const shown = this.#lines.push(this.#invisible.end());
    this.#lines.dropHalfFence();
    return this.#emit(shown + this.#lines.flush());
  }

  /** Code that the model left open is closed here, with a note that says so to whoever reads it back. */
  end(): string {
    const shown = this.#lines.push(this.#invisible.end());
    const rest = this.#emit(shown + this.#lines.finish());
    const lines = this.#closingLines();
    return lines.length === 0 ? rest : `${rest}\n${closeWithNote(lines)}`;
  }

  /** What closes the code that is open: the end of its fence, or, where that is not all, lines with a note. */
  closingFence(): string | undefined {
    const lines = this.#closingLines();
    if (lines.length === 0) return undefined;
    const [line = ''] = lines;
    return lines.length === 1 && /^(?:`+|~+)$/.test(line) ? line : closeWithNote(lines);
  }

  #closingLines(): readonly string[] {
    const probe = new ReplyLines('read');
    probe.push(`${this.#emitted}\n`);
    return probe.closingLines();
  }

  #emit(text: string): string {
    this.#emitted += text;
    return text;
  }
}

/** Takes away the lines with which we closed the code that a text left open. */
export function withoutClosing(text: string): string {
  const lines = text.split('\n');
  const count = countClosing(lines);
  return count === 0 ? text : lines.slice(0, -count).join('\n');
}

/** Whether a character is shown may depend on the emoji around it: behind one of these it does not. */
const NEUTRAL = /[^\p{Extended_Pictographic}\p{Emoji}\p{Surrogate}\p{Default_Ignorable_Code_Point}⟦]/u;
const DIGIT_LIKE = /[0-9#*]/;

/** Does what `showInvisible` does, piece by piece, and makes every line end `\n`. */
export class InvisibleShower {
  #held = '';
  /** Up to here nothing of what is held can be shown, so nobody has to look again. */
  #unsafe = 0;
  #context = '';
  #endedInReturn = false;

  push(chunk: string): string {
    const text = this.#endedInReturn && chunk.startsWith('\n') ? chunk.slice(1) : chunk;
    if (chunk !== '') this.#endedInReturn = chunk.endsWith('\r');
    this.#held += text.replace(/\r\n?/g, '\n');
    let end = this.#held.length;
    while (end > this.#unsafe && !this.#isSafeEnd(end)) end -= 1;
    if (end > this.#unsafe) return this.#show(end);
    this.#unsafe = this.#held.length;
    return '';
  }

  end(): string {
    return this.#show(this.#held.length);
  }

  #isSafeEnd(end: number): boolean {
    const last = this.#held.charAt(end - 1);
    if (this.#held.charAt(end - 2) === '⟦') return false;
    return DIGIT_LIKE.test(last) || NEUTRAL.test(last);
  }

  #show(end: number): string {
    const context = this.#context;
    const text = this.#held.slice(0, end);
    const last = text.slice(-1);
    if (text !== '') this.#context = DIGIT_LIKE.test(last) ? last : '';
    this.#held = this.#held.slice(end);
    this.#unsafe = this.#held.length;
    return showInvisible(context + text).slice(context.length);
  }
}
