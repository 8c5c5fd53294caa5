import { groupBy } from '../../base/collections.ts';
import { eachLine, type Line } from '../../base/lines.ts';
import { readCut } from '../reply/notes.ts';
import type { Role } from './chat.ts';
import { FenceReader, NOTE_START } from './fence.ts';
import { countUpTo, type Region, skipBlankLines } from './textEdit.ts';

/**
 * Removes `<!-- … -->` outside code. A comment without an end runs to the end of the turn if it begins a line, as
 * in Markdown; otherwise it is text. A closed comment may contain blank lines. Blank lines left by a comment
 * collapse.
 */
export function withoutComments(body: string): string {
  const kept = new KeptText();
  let from = 0;
  for (const { start, end } of findHidden(body).comments) {
    kept.add(body.slice(from, start));
    from = end;
    const rest = /^[ \t]*(?:\r?\n|$)/.exec(body.slice(from, from + 200))?.[0];
    // A comment on lines of its own is removed with these lines and one adjacent blank line.
    if (rest === undefined || !kept.dropIndent()) continue;
    from += rest.length;
    if (kept.endsBlank) from = skipBlankLines(body, from);
  }
  kept.add(body.slice(from));
  return kept.text();
}

/** A growing text that tracks its last line, so that it need not be scanned again. */
class KeptText {
  #lines = '';
  /** The last line, so far. */
  #line = '';
  #isLastLineBlank = true;

  add(piece: string): void {
    const lineStart = piece.lastIndexOf('\n') + 1;
    if (lineStart > 0) {
      const lines = this.#line + piece.slice(0, lineStart);
      this.#isLastLineBlank = lines.slice(lines.lastIndexOf('\n', lines.length - 2) + 1).trim() === '';
      this.#lines += lines;
      this.#line = '';
    }
    this.#line += piece.slice(lineStart);
  }

  /** True if empty, or if the last line is blank. */
  get endsBlank(): boolean {
    return this.#line === '' && this.#isLastLineBlank;
  }

  /** Removes the indentation of the last line. Returns false if that line has text. */
  dropIndent(): boolean {
    if (this.#line.trim() !== '') return false;
    this.#line = '';
    return true;
  }

  text(): string {
    return this.#lines + this.#line;
  }
}

export function findHidden(body: string): Pick<HiddenReader, 'comments' | 'code'> {
  const reader = new HiddenReader(body, false);
  if (body.includes('<!--') || body.includes('`') || body.includes('~~~')) reader.read();
  return reader;
}

class HiddenReader {
  readonly comments: Region[] = [];
  readonly code: Region[] = [];
  readonly #body: string;
  readonly #fences: FenceReader;
  /** The start of the current paragraph. Code spans do not cross paragraphs. */
  #paragraph = 0;
  /** The text before this offset was read. */
  #done = 0;
  #noMoreComments = false;
  #fenceStart = 0;
  readonly #isReply: boolean;

  constructor(body: string, isReply: boolean) {
    this.#body = body;
    this.#isReply = isReply;
    this.#fences = new FenceReader(isReply);
  }

  read(): void {
    for (const line of eachLine(this.#body)) {
      if (line.start < this.#done) continue;
      if (this.#isReply && line.text.startsWith(NOTE_START)) this.#endAtNote(line);
      const comment = this.#fences.open ? undefined : this.#blockComment(line.start, line.text);
      if (comment) {
        if (this.#readParagraph(line.start)) this.#hideComment(comment);
        continue;
      }
      const state = this.#fences.step(line.text);
      if (state === 'opened') {
        // A comment in the paragraph may extend past the fence's opening line.
        if (!this.#readParagraph(line.start)) this.#fences.reset();
        this.#fenceStart = line.start;
      } else if (state === 'closed') this.#hideCode(line.next);
      else if (state === 'outside' && line.text.trim() === '') this.#readParagraph(line.next);
    }
    if (this.#fences.open) this.#hideCode(this.#body.length);
    else this.#readParagraph(this.#body.length);
  }

  /** A note ends a list; a cut note also ends code. */
  #endAtNote(line: Line): void {
    if (this.#fences.open && !readCut(line.text)) return;
    if (this.#fences.open) this.#hideCode(line.start);
    this.#fences.reset();
  }

  #hideCode(end: number): void {
    this.code.push({ start: this.#fenceStart, end });
    this.#paragraph = end;
  }

  #hideComment(comment: Region): void {
    this.comments.push(comment);
    this.#done = comment.end;
    this.#paragraph = comment.end;
  }

  /** A comment at the start of a line extends to its end, across lines. */
  #blockComment(lineStart: number, line: string): Region | undefined {
    const indent = /^ {0,3}(?=<!--)/.exec(line)?.[0].length;
    if (indent === undefined) return undefined;
    const start = lineStart + indent;
    return { start, end: commentEnd(this.#body, start) ?? this.#body.length };
  }

  /** Reads code spans and inline comments up to `end`. Returns false if a comment extends beyond it. */
  #readParagraph(end: number): boolean {
    const start = this.#paragraph;
    this.#paragraph = end;
    const text = this.#body.slice(start, end);
    // Searching for the end of each code span would be quadratic.
    const runs = groupBy(text.matchAll(/`+/g), ([run]) => run.length);
    const sign = /\\|<!--|`+/g;
    for (let found = sign.exec(text); found; found = sign.exec(text)) {
      const [signs] = found;
      if (signs === '\\') sign.lastIndex += 1;
      else if (signs === '<!--') {
        const comment = this.#inlineComment(start + found.index);
        if (!comment) continue;
        this.#hideComment(comment);
        if (comment.end > end) return false;
        this.#paragraph = end;
        sign.lastIndex = comment.end - start;
      } else {
        const same = runs.get(signs.length) ?? [];
        const closing = same[countUpTo(same, sign.lastIndex - 1, ({ index }) => index)];
        if (!closing) continue;
        sign.lastIndex = closing.index + signs.length;
        this.code.push({ start: start + found.index, end: start + sign.lastIndex });
      }
    }
    return true;
  }

  #inlineComment(start: number): Region | undefined {
    const end = this.#noMoreComments ? undefined : commentEnd(this.#body, start);
    this.#noMoreComments = end === undefined;
    return end === undefined ? undefined : { start, end };
  }
}

/** `<!-->` and `<!--->` are complete comments. */
function commentEnd(text: string, start: number): number | undefined {
  if (text.startsWith('<!-->', start)) return start + 5;
  if (text.startsWith('<!--->', start)) return start + 6;
  const end = text.indexOf('-->', start + 4);
  return end < 0 ? undefined : end + 3;
}

/** In assistant turns, code also ends at Filechat's own notes. */
export function commentsOfTurn(body: string, role: Role): readonly Region[] {
  if (!body.includes('<!--')) return [];
  const reader = new HiddenReader(body, role === 'assistant');
  reader.read();
  return reader.comments;
}
