/**
 * Finds what a preview would load or read as HTML within a line of a reply. The decision must be the same before
 * and after escaping; otherwise the text could not be restored.
 */

type InlineToken =
  | { readonly kind: 'plain'; readonly end: number }
  /** A `<` before a tag or a `!` before a bracket, with the backslashes before it. */
  | { readonly kind: 'guard'; readonly slashes: number; readonly inAddress: boolean; readonly end: number }
  /** A `<` in a formula, where a backslash would be a command; an empty group after it has the same effect. */
  | { readonly kind: 'group'; readonly end: number };

interface LineState {
  readonly isWhole: boolean;
  /** The line was cut and may continue although `isWhole` is set. */
  readonly isCut: boolean;
  readonly inFormula: boolean;
}

const MAX_CODE_CHARS = 2000;
const MAX_ADDRESS_CHARS = 500;
const MAX_IMAGE_CHARS = 420;
const MAX_TAG_CHARS = 8;
/** These load and hide nothing, and a missing end tag does not affect the next paragraph. */
const HARMLESS_TAG = /^<(?:br ?\/?|\/?(?:kbd|mark|sub|sup))>/i;
const ADDRESS = /^<https?:\/\/[^\s<>`!\\[\]|⟦]*>/i;
const PARTIAL_ADDRESS = /^<h(?:t(?:t(?:ps?(?::(?:\/(?:\/[^\s<>`!\\[\]|⟦]*)?)?)?)?)?)?$/i;
const OWN_IMAGE = /^!\[[^\][`\\<>!$|/⟦]{0,200}\]\(cmdassets\/[A-Za-z0-9](?:[A-Za-z0-9_-]|\.(?!\.)){0,200}\)/;
const PARTIAL_IMAGE = /^!\[[^\][`\\<>!$|/⟦]*(?:\](?:\([A-Za-z0-9._/-]*)?)?$/;
/** Includes `<`, `⟦` and `\` after `<`, which may result from escaping. */
const GUARD = /^(?:<[A-Za-z/?!\\<⟦]|!\[)/;
/** Not a tag because of the character after the name; `:` and `@` would make it an autolink. */
const NO_TAG = /^<[A-Za-z][A-Za-z0-9-]{0,39}[^\sA-Za-z0-9\-/>:@]/;
/** Not a tag because of what follows the white space. At the start of a line, previews may still see a tag. */
const NO_TAG_IN_LINE =
  /^<[A-Za-z][A-Za-z0-9-]{0,39}(?:[ \t]+[^\sA-Za-z_:/>]|(?:[ \t]+[A-Za-z_:][\w.:-]*)+(?:[ \t]*[^\s\w.:=/>-]|[ \t]+[\d.-]))/;
const PARTIAL_TAG = /^<[A-Za-z][A-Za-z0-9-]{0,39}(?:[ \t]+[A-Za-z_:][\w.:-]*)*[ \t]*$/;
const PARTIAL_GROUP = /^<(?:\{\})*(?:\{|[A-Za-z].*)?$/;
const PARTIAL_NAME = /^<[A-Za-z][A-Za-z0-9-]{0,39}$/;
const MAX_PARTIAL_TAG_CHARS = 80;
const ODD_IN_LINK = /[\s<("'\\[|⟦]/;

/**
 * Inline code is left unchanged only if every preview sees the same code: both ends are on one line, and no
 * backtick before it in the paragraph is ambiguous.
 */
export class InlineReader {
  /** Every backtick of the paragraph so far is paired as in a preview. */
  #sure = true;
  /** Whether we are in a link target, where backticks are ordinary characters. */
  #link: 'no' | 'plain' | 'odd' = 'no';
  #inTable = false;
  /** There is code with a `|` above. No table may begin, because its cells would split the code. */
  #hasBarInCode = false;
  #sawLetter = false;
  #inAddress = false;
  /** Whether we may be in an autolink, where backticks are ordinary characters. */
  #inBrackets = false;
  #recent = '';

  get forbidsTable(): boolean {
    return this.#hasBarInCode;
  }

  beginParagraph(): void {
    this.#sure = true;
    this.#link = 'no';
    this.#inTable = false;
    this.#hasBarInCode = false;
    this.#beginLine();
  }

  continueParagraph(lineAbove: string): void {
    if (!this.#hasBarInCode && isTableRule(lineAbove)) this.#inTable = true;
    if (this.#link === 'plain') this.#link = 'odd';
    this.#beginLine();
  }

  #beginLine(): void {
    this.#sawLetter = false;
    this.#inAddress = false;
    this.#inBrackets = false;
    this.#recent = '';
  }

  /** Reads the token at `at`; `undefined` if it depends on text that has not arrived. */
  read(line: string, at: number, state: LineState): InlineToken | undefined {
    const { isWhole } = state;
    const slashes = countOf('\\', line, at);
    const place = at + slashes;
    const character = line[place];
    if (character === undefined && slashes > 0 && !isWhole) return undefined;
    if (character === '<' && slashes === 0 && state.inFormula && !this.#inAddress) {
      const group = this.#readGroup(line, at, state);
      if (group !== 'none') return group;
    }
    if (character === '<' || character === '!') return this.#readGuard(line, at, slashes, state);
    if (character === '`') {
      if (slashes === 0) return this.#readTicks(line, at, isWhole);
      // The last of an odd number of backslashes escapes the first backtick.
      return this.#plain(line, at, place + (slashes % 2));
    }
    const next = line.slice(place).search(/[\\<!`]/);
    return this.#plain(line, at, next < 0 ? line.length : place + next);
  }

  #readGroup(line: string, at: number, { isWhole, isCut }: LineState): InlineToken | undefined | 'none' {
    const groups = /^(?:\{\})*/.exec(line.slice(at + 1))?.[0].length ?? 0;
    const rest = line.slice(at + 1 + groups, at + 1 + groups + MAX_PARTIAL_TAG_CHARS);
    const isPartial = rest === '' || rest === '{';
    if (isPartial && !isWhole) return undefined;
    if (!/^[A-Za-z]/.test(rest)) return 'none';
    const isTag = mayBeTag(`<${rest}`, isWhole, this.#sawLetter);
    if (!isTag || isCut) return isTag === undefined ? undefined : 'none';
    this.feed('<');
    return { kind: 'group', end: at + 1 };
  }

  #readGuard(
    line: string,
    at: number,
    slashes: number,
    { isWhole, isCut }: LineState,
  ): InlineToken | undefined {
    const place = at + slashes;
    const rest = line.slice(place, place + MAX_ADDRESS_CHARS);
    if (!isWhole && rest.length < 2) return undefined;
    // After backslashes, a final character may be the start of a guarded sequence.
    const isPartial = (isCut && PARTIAL_GROUP.test(rest)) || (rest.length === 1 && (isCut || slashes > 0));
    const isGuard = GUARD.test(rest) || isPartial;
    if (!isGuard) return this.#plain(line, at, place + 1);
    const isTag = slashes > 0 || mayBeTag(rest, isWhole, this.#sawLetter);
    if (isTag === undefined) return undefined;
    if (!isTag) return this.#plain(line, at, at + 1);
    const allowed = lengthOfHarmless(rest, isWhole, this.#sawLetter);
    if (allowed === undefined) return undefined;
    if (allowed > 0) return this.#plain(line, at, place + allowed);
    const inAddress = this.#inAddress;
    this.feed(line.slice(at, place + 1));
    return { kind: 'guard', slashes, inAddress, end: place + 1 };
  }

  #readTicks(line: string, at: number, isWhole: boolean): InlineToken | undefined {
    const length = countOf('`', line, at);
    const start = at + length;
    if (start === line.length && !isWhole) return undefined;
    if (this.#inAddress || this.#inBrackets || this.#link !== 'no') this.#sure = false;
    if (!this.#sure) return this.#plain(line, at, start);
    const end = findTicks(line, start, length, isWhole);
    if (end === undefined) return undefined;
    const hasBar = line.slice(start, end).includes('|');
    if (end < 0 || (hasBar && this.#inTable)) {
      this.#sure = false;
      return this.#plain(line, at, start);
    }
    this.#hasBarInCode ||= hasBar;
    this.#inAddress = false;
    this.#recent = '';
    return { kind: 'plain', end };
  }

  #plain(line: string, at: number, end: number): InlineToken {
    this.feed(line.slice(at, end));
    return { kind: 'plain', end };
  }

  /** Updates the state with text that needs no decision. */
  feed(text: string): void {
    this.#sawLetter ||= /\p{L}/u.test(text);
    // A formula can contain backticks, like a link.
    if (text.includes('$')) this.#sure = false;
    for (const character of text) {
      if (character === '(' && this.#recent.endsWith(']')) this.#link = this.#link === 'no' ? 'plain' : 'odd';
      else if (this.#link === 'plain') {
        if (character === ')') this.#link = 'no';
        else if (ODD_IN_LINK.test(character)) this.#link = 'odd';
      }
      this.#recent = (this.#recent + character).slice(-4);
      if (character === '<') this.#inBrackets = true;
      else if (/[\s>]/.test(character)) this.#inBrackets = false;
      // Previews link bare URLs, which include backslashes and backticks.
      if (/^[a-z]:\/\/$/i.test(this.#recent)) this.#inAddress = true;
      else if (/\s/.test(character)) this.#inAddress = false;
    }
  }
}

/** An image in the folder of assets, which is left as it is. */
export function isOwnImage(text: string): boolean {
  return OWN_IMAGE.test(text);
}

/** The line below a table header. */
export function isTableRule(line: string): boolean {
  return /^[ \t>]*[|:-][|:\- \t]*$/.test(line) && line.includes('|') && line.includes('-');
}

/** Whether the text may begin with a tag; `undefined` if undecided. */
function mayBeTag(text: string, isWhole: boolean, sawLetter: boolean): boolean | undefined {
  // A chat.md call is not a tag in a preview, but has a meaning in the chat.
  if (!/^<[A-Za-z]/.test(text) || /^<tool_/i.test(text)) return true;
  const start = text.slice(0, MAX_PARTIAL_TAG_CHARS);
  if (NO_TAG.test(start) || (sawLetter && NO_TAG_IN_LINE.test(start))) return false;
  const mayGoOn = !isWhole && text.length < MAX_PARTIAL_TAG_CHARS;
  return mayGoOn && (sawLetter ? PARTIAL_TAG : PARTIAL_NAME).test(text) ? undefined : true;
}

/** The length of a harmless tag, link or image at the start; `undefined` if undecided. */
function lengthOfHarmless(text: string, isWhole: boolean, sawLetter: boolean): number | undefined {
  if (text.startsWith('!')) {
    const image = OWN_IMAGE.exec(text);
    if (image) return image[0].length;
    return !isWhole && text.length < MAX_IMAGE_CHARS && PARTIAL_IMAGE.test(text) ? undefined : 0;
  }
  // At the start of a line a tag would begin an HTML block, in which backslashes do not escape.
  const harmless = (sawLetter ? HARMLESS_TAG.exec(text) : null) ?? ADDRESS.exec(text);
  if (harmless) return harmless[0].length;
  if (isWhole || text.includes('>')) return 0;
  const isPartial = (sawLetter && text.length < MAX_TAG_CHARS) || PARTIAL_ADDRESS.test(text);
  return isPartial && text.length < MAX_ADDRESS_CHARS ? undefined : 0;
}

/** The end of the next run of exactly `length` backticks; -1 if there is none nearby on the line. */
function findTicks(line: string, from: number, length: number, isWhole: boolean): number | undefined {
  let at = from;
  while (at - from < MAX_CODE_CHARS) {
    at = line.indexOf('`', at);
    if (at < 0) break;
    const run = countOf('`', line, at);
    if (at + run === line.length && !isWhole) return undefined;
    if (run === length && at - from < MAX_CODE_CHARS) return at + run;
    at += run;
  }
  return isWhole || line.length - from > MAX_CODE_CHARS ? -1 : undefined;
}

function countOf(character: string, line: string, at: number): number {
  let end = at;
  while (line[end] === character) end += 1;
  return end - at;
}
