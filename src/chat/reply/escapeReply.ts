import type { OwnCallEvent } from '../../ports/models.ts';
import { restoreInvisible, showInvisible, takesJoiner } from '../format/escapeMarkers.ts';
import { type ReplyDirection, ReplyLines } from './lines.ts';
import {
  closeWithNote,
  countClosingLines,
  OWN_CALL_INFO,
  REASONING_FENCE,
  REASONING_FOOT,
  REASONING_HEAD,
  REASONING_INFO,
  renderOwnCallHead,
} from './notes.ts';

/** The escaped text starts no turn, makes no call, loads and hides nothing. Line ends become `\n`. */
export function escapeReply(text: string): string {
  const escaper = new ReplyEscaper();
  return escaper.push(text) + escaper.end();
}

export function unescapeReply(text: string): string {
  return readBack(text, 'read');
}

/** Also removes comments, which only users write and the model does not get. */
export function readReplyText(text: string): string {
  return readBack(text, 'readWithoutComments');
}

function readBack(text: string, direction: ReplyDirection): string {
  const lines = new ReplyLines(direction);
  const written = withoutClosingLines(text.replaceAll('\r\n', '\n'));
  return restoreInvisible(lines.push(written) + lines.finish());
}

/** Escapes streamed text. The concatenated output does not depend on how the input is split. */
export class ReplyEscaper {
  readonly #invisible = new InvisibleEscaper();
  readonly #lines = new ReplyLines('write');
  #emitted = '';
  /** Reads the output as it comes, so that the end of a long text, or of a long line, takes no time. */
  readonly #reader = new ReplyLines('read');

  push(chunk: string): string {
    return this.#emit(this.#lines.push(this.#invisible.push(chunk)));
  }

  /** Returns all held-back text because the stream was cut; more may follow. */
  flush(): string {
    const shown = this.#lines.push(this.#invisible.end());
    return this.#emit(shown + this.#lines.flush());
  }

  /** Like `flush`, but drops an incomplete opening fence, which the model repeats. */
  cut(): string {
    const shown = this.#lines.push(this.#invisible.end());
    this.#lines.dropPartialFence();
    return this.#emit(shown + this.#lines.flush());
  }

  /** Closes code that the model left open, with a note so that reading can remove it. Nothing may follow. */
  end(): string {
    const shown = this.#lines.push(this.#invisible.end());
    const rest = this.#emit(shown + this.#lines.finish());
    this.#reader.push('\n');
    const lines = this.#reader.closingLines();
    return lines.length === 0 ? rest : `${rest}\n${closeWithNote(lines)}`;
  }

  /** Closes the open code: a closing fence, or lines with a note if one fence is not enough. */
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
    this.#reader.push(text);
    return text;
  }
}

/** Removes the lines that Filechat added to close open code. */
export function withoutClosingLines(text: string): string {
  const lines = text.split('\n');
  const count = countClosingLines(lines);
  return count === 0 ? text : lines.slice(0, -count).join('\n');
}

/** After one of these, the escaping of a character does not depend on an emoji before it. */
const NEUTRAL = /[^\p{Extended_Pictographic}\p{Emoji}\p{Surrogate}\p{Default_Ignorable_Code_Point}⟦]/u;
const DIGIT_LIKE = /[0-9#*]/;

/** A streaming `showInvisible` that also normalizes line ends to `\n`. */
class InvisibleEscaper {
  #held = '';
  /** No safe end before this offset of the held text, which keeps the search linear. */
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
    if (text !== '') this.#context = DIGIT_LIKE.test(last) || takesJoiner(last) ? last : '';
    this.#held = this.#held.slice(end);
    this.#unsafe = this.#held.length;
    return showInvisible(context + text).slice(context.length);
  }
}

/** A line that could close the fence or has a meaning inside code. */
const SPECIAL = /^([ \t]*)(\\*)(?=`{4}|<!-- filechat:|<tool_(?:call|result)>)/gm;
const SPECIAL_ESCAPED = /^([ \t]*)\\(\\*)(?=`{4}|<!-- filechat:|<tool_(?:call|result)>)/gm;
const PARTIAL_SPECIAL = /^[ \t]*\\*(`{0,3}|<[!\-a-z:_ ]{0,13})$/;

/** From this length on, held text is read only after it has grown by a part of its length. */
const LONG_HELD_CHARS = 4096;
const GROWTH = 1 / 16;

export class ReasoningWriter {
  readonly #invisible = new InvisibleEscaper();
  #atLineStart = true;
  #held = '';
  /** Held text that is shorter is not read again. */
  #nextReadChars = 0;

  push(chunk: string): string {
    return this.#take(this.#invisible.push(chunk), false);
  }

  flush(): string {
    return this.#take(this.#invisible.end(), true);
  }

  #take(shown: string, isAll: boolean): string {
    const text = this.#held + shown;
    if (!isAll && text.length < this.#nextReadChars) {
      this.#held = text;
      return '';
    }
    const lineStart = text.lastIndexOf('\n') + 1;
    const mayBePartial = lineStart > 0 || this.#atLineStart;
    const isPartial = !isAll && mayBePartial && PARTIAL_SPECIAL.test(text.slice(lineStart));
    const end = isPartial ? lineStart : text.length;
    this.#held = text.slice(end);
    const { length } = this.#held;
    this.#nextReadChars = length < LONG_HELD_CHARS ? 0 : length * (1 + GROWTH);
    if (end === 0) return '';
    // A leading character prevents `^` from matching in the middle of a line.
    const before = this.#atLineStart ? '' : '.';
    this.#atLineStart = isPartial || text.endsWith('\n');
    return (before + text.slice(0, end)).replace(SPECIAL, '$1\\$2').slice(before.length);
  }
}

export function readReasoning(lines: readonly string[]): string {
  return restoreInvisible(lines.join('\n').replace(SPECIAL_ESCAPED, '$1$2'));
}

/** Detects edited reasoning. It does not need to resist deliberate collisions. */
export function checksum(text: string): string {
  let sum = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    sum = Math.imul(sum ^ text.charCodeAt(at), 0x01000193);
  }
  return (sum >>> 0).toString(16).padStart(8, '0');
}

export function beginReasoning(): string {
  return `${REASONING_HEAD}\n\n${REASONING_FENCE}${REASONING_INFO}\n`;
}

export function renderOwnCall({ name, query, text }: OwnCallEvent): string {
  const writer = new ReasoningWriter();
  const written = writer.push(text) + writer.flush();
  const fenced = `${REASONING_FENCE}${OWN_CALL_INFO} ${name}\n${written}\n${REASONING_FENCE}`;
  return `${renderOwnCallHead(name, query)}\n\n${fenced}\n\n${REASONING_FOOT}`;
}
