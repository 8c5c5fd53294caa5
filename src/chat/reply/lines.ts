import { MAX_ASSET_LINK_CHARS, readAssetLink } from '../format/assetLink.ts';
import { spellOut } from '../format/escapeMarkers.ts';
import { FenceReader, NOTE_START } from '../format/fence.ts';
import { isBlank, PreviewFences } from './fences.ts';
import { InlineReader, isOwnImage, isTableRule } from './inline.ts';

/** Where a line start gets one more backslash, and how many it has. */
interface LineStart {
  readonly at: number;
  readonly slashes: number;
}

export type ReplyDirection = 'write' | 'read' | 'readWithoutComments';

/** From this length on, a line that grows is read only after it has grown by a part of its length. */
const LONG_LINE_CHARS = 4096;
const GROWTH = 1 / 64;
/** Each reading copies the line, so that a very long one is read less often. */
const VERY_LONG_LINE_CHARS = 100_000;
const LARGE_GROWTH = 1 / 16;

/**
 * Adds backslashes to the lines of a reply (`write`) or removes them. Both directions go through the same states,
 * which depend only on the text in the file.
 */
export class ReplyLines {
  readonly #direction: ReplyDirection;
  readonly #fences = new FenceReader(true);
  readonly #preview = new PreviewFences();
  readonly #inline = new InlineReader();
  /** The current line as received, how much of it was used, and the output for that part. */
  #line = '';
  #used = 0;
  #out = '';
  #hasBegun = false;
  #inComment = false;
  /** A shorter line is not read again. Reading it for each piece that arrives would be quadratic. */
  #nextReadChars = 0;
  #flushedAt = 0;
  /** Backslashes might be read differently in this paragraph, so characters are spelled out. */
  #spellsOut = false;

  constructor(direction: ReplyDirection) {
    this.#direction = direction;
  }

  /** Takes text with `\n` line ends; returns the output that is certain so far. */
  push(text: string): string {
    let result = '';
    let start = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      this.#line += text.slice(start, end);
      result += this.#advance(true);
      if (!this.#inComment) result += '\n';
      this.#endLine();
      start = end + 1;
    }
    this.#line += text.slice(start);
    return this.#line.length < this.#nextReadChars ? result : result + this.#advance(false);
  }

  /** Returns the held-back output at the end of the text. */
  finish(): string {
    return this.#advance(true);
  }

  /**
   * Returns the held-back output of a line that may continue, because the stream was cut. This output can no longer
   * change, so characters that would give it a meaning are spelled out (`⟦U+…⟧`), which is always safe and
   * reversible.
   */
  flush(): string {
    if (this.#line === '') return '';
    this.#spellsOut = true;
    const isPartialStart = !this.#hasBegun && this.#readStart(true) === undefined;
    const mayGoOn = isPartialStart && this.#readStart(false) === 'unknown';
    const rest = this.#advance(true, true);
    if (mayGoOn) this.#hasBegun = false;
    this.#flushedAt = this.#used;
    return rest;
  }

  /** Drops trailing backticks or tildes that may begin a fence, unless they were already returned. */
  dropPartialFence(): void {
    const [, before] = PARTIAL_FENCE.exec(this.#line) ?? [];
    if (before === undefined || this.#isCode || before.length < this.#used) return;
    this.#line = before;
  }

  /** The next line is in code that would hide a turn marker. */
  get inFence(): boolean {
    return this.#fences.hidesMarkers;
  }

  /** Lines that close everything open after the current line. */
  closingLines(): readonly string[] {
    const lines = [...this.#preview.closingLines()];
    for (const line of lines) this.#fences.step(line);
    const { open } = this.#fences;
    if (open) {
      // A preview may not see this fence; opening and closing one leaves it unaffected.
      const ticks = open.character.repeat(open.length + 1);
      lines.push(`${ticks}end`, ticks);
    }
    return lines;
  }

  /**
   * Whether the line so far is code in every preview and in the chat; `undefined` if that depends on the rest. In
   * lists and quotes, a marker at column 0 would end the code.
   */
  #readCode(isWhole: boolean): boolean | undefined {
    if (!this.#fences.open) return false;
    const isCode = this.#preview.isCodeLine(this.#line, isWhole);
    if (!isCode || this.#fences.hidesMarkers || /^[ \t>]/.test(this.#line)) return isCode;
    return this.#line === '' && !isWhole ? undefined : false;
  }

  get #isCode(): boolean {
    return this.#readCode(true) === true;
  }

  #advance(isWhole: boolean, isCut = false): string {
    const before = this.#out.length;
    const { length } = this.#line;
    const growth = length < VERY_LONG_LINE_CHARS ? GROWTH : LARGE_GROWTH;
    this.#nextReadChars = length < LONG_LINE_CHARS ? 0 : length * (1 + growth);
    if (!this.#hasBegun && !this.#inComment) {
      const start = this.#readStart(isWhole);
      if (start === 'unknown') return '';
      this.#hasBegun = true;
      if (start && this.#used > start.at) this.#spellNext();
      else if (start) this.#writeStart(start);
    }
    if (this.#isJoint()) this.#spellNext();
    if (this.#isCode && !this.#inComment) this.#copyTo(this.#line.length);
    while (this.#used < this.#line.length) {
      if (this.#inComment) {
        this.#skipComment();
        continue;
      }
      const { inFormula } = this.#preview;
      const token = this.#inline.read(this.#line, this.#used, { isWhole, isCut, inFormula });
      if (!token) break;
      if (token.kind === 'guard') {
        this.#writeGuard(token.slashes, token.inAddress, token.end);
        this.#inComment = this.#beginsComment(token.slashes, token.end - 1);
      }
      if (!this.#inComment) this.#copyTo(token.end);
      if (token.kind === 'group') this.#writeGroup();
    }
    return this.#out.slice(before);
  }

  /** The characters before and after a cut would have a meaning together. */
  #isJoint(): boolean {
    const isAtCut = this.#flushedAt > 0 && this.#used === this.#flushedAt;
    if (!isAtCut || this.#used === this.#line.length) return false;
    const around = this.#line.slice(Math.max(0, this.#used - 2), this.#used + 1);
    return JOINT_ANYWHERE.test(around) || (!this.#isCode && JOINT.test(around));
  }

  #spellNext(): void {
    const spelt = spellOut(this.#line.charAt(this.#used));
    this.#inline.feed(spelt);
    this.#out += spelt;
    this.#used += 1;
  }

  /** Comments of a model have a backslash, so others were written by the user. */
  #beginsComment(slashes: number, at: number): boolean {
    if (this.#direction !== 'readWithoutComments' || slashes % 2 === 1) return false;
    return this.#line.startsWith('<!--', at);
  }

  #skipComment(): void {
    const end = this.#line.indexOf('-->', this.#used);
    this.#inComment = end < 0;
    this.#used = end < 0 ? this.#line.length : end + 3;
  }

  #readStart(isWhole: boolean): LineStart | undefined | 'unknown' {
    const line = this.#line;
    const isCode = this.#readCode(isWhole);
    if (isCode === undefined) return 'unknown';
    if (isCode) return readCodeStart(line, isWhole);
    if (!this.#fences.hidesMarkers) {
      if (LIKE_A_MARKER.test(line)) return { at: 0, slashes: leadingSlashes(line) };
      if (!isWhole && PARTIAL_MARKER.test(line)) return 'unknown';
    }
    if (!this.#fences.open) {
      const link = readLikeFile(line, isWhole);
      if (link) return link;
      const [opening, ticks = '', slashes = ''] = OWN_FENCE.exec(line) ?? [];
      if (opening !== undefined) return { at: ticks.length, slashes: slashes.length };
      if (!isWhole && PARTIAL_OWN_FENCE.test(line)) return 'unknown';
    }
    return this.#inline.forbidsTable ? readTableRule(line, isWhole) : undefined;
  }

  #writeStart({ at, slashes }: LineStart): void {
    this.#copyTo(at);
    if (this.#direction === 'write') this.#out += '\\';
    else if (slashes > 0) this.#used += 1;
    this.#copyTo(this.#used + (this.#direction === 'write' || slashes === 0 ? slashes : slashes - 1));
  }

  /** An odd number of backslashes escapes the character. URLs keep them, so there it is spelled out. */
  #writeGuard(slashes: number, inAddress: boolean, end: number): void {
    if (this.#direction === 'write') {
      if (!inAddress && !this.#spellsOut) this.#out += '\\'.repeat(slashes + 1);
      else {
        this.#copyTo(end - 1);
        this.#out += spellOut(this.#line.charAt(end - 1));
        this.#used = end;
      }
    } else if (!inAddress && slashes % 2 === 1) this.#used += (slashes + 1) / 2;
  }

  #writeGroup(): void {
    if (this.#direction === 'write') this.#out += '{}';
    else if (this.#line.startsWith('{}', this.#used)) this.#used += 2;
  }

  #copyTo(end: number): void {
    this.#out += this.#line.slice(this.#used, end);
    this.#used = end;
  }

  #endLine(): void {
    const written = this.#direction === 'write' ? this.#out : this.#line;
    const wasCode = this.#preview.isCodeLine(written, true) === true;
    this.#fences.step(written);
    this.#preview.step(written);
    if (isBlank(written) || wasCode !== this.#preview.isCode) {
      this.#inline.beginParagraph();
      this.#spellsOut = false;
    } else this.#inline.continueParagraph(written);
    this.#flushedAt = 0;
    this.#nextReadChars = 0;
    this.#line = '';
    this.#used = 0;
    this.#out = '';
    this.#hasBegun = false;
  }
}

const JOINT = /(?:\\[<!`\\]|``)$/;
const JOINT_ANYWHERE = /⟦U\+?$/;
const PARTIAL_FENCE = /^((?:[ \t]*(?:[-*+]|\d{1,9}[.)]|>))*[ \t]*)(?:`+|~+)$/;
const LIKE_A_MARKER = /^\\*#[ \t]*%%/;
const PARTIAL_MARKER = /^\\*(?:#[ \t]*%?)?$/;
/** A fence that Filechat would read as a call, as reasoning, or as a call of the provider. */
const OWN_FENCE = /^( {0,3}(?:`{3,}|~{3,})\s*)(\\*)(?:tool_call|reasoning|provider_tool)/;
const PARTIAL_OWN_FENCE = /^ {0,3}(?:`{0,2}|~{0,2}|(?:`{3,}|~{3,})\s*\\*(\w{0,12}))$/;

const LIKE_A_FILE = '![Model generated ';

/** A line that Filechat would read as the link to a file that the model made. */
function readLikeFile(line: string, isWhole: boolean): LineStart | undefined | 'unknown' {
  const slashes = leadingSlashes(line);
  const link = line.slice(slashes);
  const start = link.startsWith('!') ? LIKE_A_FILE : LIKE_A_FILE.slice(1);
  const isLike = link.length < start.length ? start.startsWith(link) : link.startsWith(start);
  if (!isLike || link.length > MAX_ASSET_LINK_CHARS) return undefined;
  if (!isWhole) return 'unknown';
  // Any other image gets a backslash of its own. A second one would escape that, and the image would be loaded.
  if (link.startsWith('!') && !isOwnImage(link)) return undefined;
  return readAssetLink(link.trimEnd(), 'model') ? { at: 0, slashes } : undefined;
}

/** Filechat's notes and chat.md calls have a meaning in code, too. */
const OWN_IN_CODE = /^(\\*)<!-- filechat:|^([ \t]*)(\\*)<tool_(?:call|result)>/;

function readCodeStart(line: string, isWhole: boolean): LineStart | undefined | 'unknown' {
  const [own, slashes, margin = '', behind = ''] = OWN_IN_CODE.exec(line) ?? [];
  if (own !== undefined) return { at: margin.length, slashes: (slashes ?? behind).length };
  const rest = line.replace(/^[ \t]*\\*/, '');
  const isPartial = OWN_STARTS.some((start) => start.startsWith(rest));
  return !isWhole && isPartial ? 'unknown' : undefined;
}

const OWN_STARTS = [NOTE_START, '<tool_call>', '<tool_result>'];

function readTableRule(line: string, isWhole: boolean): LineStart | undefined | 'unknown' {
  const margin = /^[ \t>]*/.exec(line)?.[0].length ?? 0;
  const slashes = leadingSlashes(line.slice(margin));
  const rest = line.slice(margin + slashes);
  if (!isWhole && /^[|:\- \t]*$/.test(rest)) return 'unknown';
  return isTableRule(rest) ? { at: margin, slashes } : undefined;
}

function leadingSlashes(text: string): number {
  return /^\\*/.exec(text)?.[0].length ?? 0;
}
