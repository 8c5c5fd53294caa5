export interface Fence {
  readonly character: string;
  readonly length: number;
  readonly info: string;
  /** In a list or a quote, so that a turn marker at column 0 ends it. */
  readonly contained: boolean;
}

/** Each repetition consumes its own leading white space, which keeps matching linear for `- - - -`. */
const OPENING = /^((?:[ \t]*(?:[-*+]|\d{1,9}[.)]|>)(?=[ \t>`~]))*)([ \t]*)(`{3,}|~{3,})(.*)$/;
const LIST_ITEM = /^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)/;

/** The info string of calls in chat.md. Filechat names the tool there, and escapes such lines of models. */
export const UNNAMED_CALL = 'tool_call';

/** The start, at column 0, of every note that Filechat writes into a reply. */
export const NOTE_START = '<!-- filechat:';

/**
 * Tracks fenced code (CommonMark) and comments, line by line. The caller calls `reset` at turn markers. In a reply,
 * notes, and code outside lists, end the list before them, so that each part is read as it was written.
 */
export class FenceReader {
  #isReply: boolean;
  #fence: Fence | undefined;
  #inList = false;
  #inComment = false;

  constructor(isReply = false) {
    this.#isReply = isReply;
  }

  get open(): Fence | undefined {
    return this.#fence;
  }

  /** True if a line `# %% user` would be code. It ends a call of chat.md, which broke off there. */
  get hidesMarkers(): boolean {
    if (this.#fence === undefined || this.#fence.contained) return false;
    return !this.#isReply || this.#fence.info !== UNNAMED_CALL;
  }

  get inComment(): boolean {
    return this.#inComment;
  }

  reset(isReply = this.#isReply): void {
    this.#isReply = isReply;
    this.#fence = undefined;
    this.#inList = false;
    this.#inComment = false;
  }

  /** The fast path: accepts a line if its first character shows that it changes no state. */
  stepFast(firstCode: number): boolean {
    if (this.#inComment) return false;
    if (this.#fence) return !MAY_END_CODE.includes(firstCode);
    if (firstCode === 10 || firstCode === 13) return true;
    if (!isLetter(firstCode)) return false;
    this.#inList = false;
    return true;
  }

  step(line: string): 'opened' | 'closed' | 'inside' | 'outside' {
    if (this.#fence) {
      if (!closes(this.#fence, line)) return 'inside';
      if (this.#isReply && !this.#fence.contained) this.#inList = false;
      this.#fence = undefined;
      return 'closed';
    }
    if (this.#isReply && line.startsWith(NOTE_START)) {
      this.reset();
      return 'outside';
    }
    if (this.#inComment || /^ {0,3}<!--/.test(line)) {
      this.#inComment = !line.includes('-->');
      return 'outside';
    }
    this.#fence = readOpening(line, this.#inList);
    if (this.#fence) return 'opened';
    if (LIST_ITEM.test(line)) this.#inList = true;
    else if (/^\S/.test(line)) this.#inList = false;
    return 'outside';
  }
}

/** The characters with which a line can close a fence, begin a turn or begin one of Filechat's notes. */
const MAY_END_CODE = [...'`~ \t>#<'].map((character) => character.charCodeAt(0));

/** Letters of most scripts; other characters take the slow path. */
function isLetter(code: number): boolean {
  const isAscii = (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a);
  return isAscii || (code >= 0xc0 && code < 0x1680) || (code >= 0x3040 && code < 0xd800);
}

function readOpening(line: string, inList: boolean): Fence | undefined {
  if (!line.includes('```') && !line.includes('~~~')) return undefined;
  const match = OPENING.exec(line);
  if (!match) return undefined;
  const [, prefix = '', indent = '', ticks = '', info = ''] = match;
  const character = ticks.charAt(0);
  // An opening fence has no other backticks on its line; otherwise it is inline code.
  if (character === '`' && info.includes('`')) return undefined;
  const contained = prefix !== '' || indent.length > 3 || indent.includes('\t') || (inList && indent !== '');
  return { character, length: ticks.length, info: info.trim(), contained };
}

function closes(fence: Fence, line: string): boolean {
  const rest = fence.contained ? line.replace(/^[ \t>]+/, '') : line.replace(/^ {0,3}/, '');
  const ticks = rest.trimEnd();
  return ticks.length >= fence.length && ticks === fence.character.repeat(ticks.length);
}

/** Wraps text in a fence that the text cannot close. */
export function fence(text: string, info = ''): string {
  const ticks = '`'.repeat(Math.max(3, longestRun(text) + 1));
  return `${ticks}${info}\n${text}\n${ticks}`;
}

/** Renders one line as inline code, in which nothing is a link or a tag. */
export function inlineCode(line: string): string {
  const ticks = '`'.repeat(longestRun(line) + 1);
  const pad = line.startsWith('`') || line.endsWith('`') ? ' ' : '';
  return `${ticks}${pad}${line}${pad}${ticks}`;
}

function longestRun(text: string): number {
  let longest = 0;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  return longest;
}
