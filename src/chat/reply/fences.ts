/**
 * Tracks what a Markdown preview may render as code, line by line. `FenceReader` defines what the chat means by a
 * fence; previews may differ in lists, quotes and partly indented lines. This reader follows every state that a
 * preview could be in, and only code in all of them counts as code.
 */

type State =
  | { readonly kind: 'outside' }
  /** Outside code in a preview without math, where another preview may be in a formula. */
  | { readonly kind: 'plain' }
  /** Opened at column 0; only its own end closes it. */
  | { readonly kind: 'top'; readonly ticks: string }
  /** Opened in a quote: code in every preview while lines have the same prefix. */
  | { readonly kind: 'quote'; readonly ticks: string; readonly prefix: string }
  | ItemFence
  | LooseFence
  /**
   * A `$$` block, which previews with math do not read as Markdown. While lines are indented as far as `column`,
   * only its own end closes it; `undefined` if unknown.
   */
  | { readonly kind: 'formula'; readonly column: number | undefined };

/** Opened in a list item or slightly indented: code in every preview while lines are indented at least as far. */
interface ItemFence {
  readonly kind: 'item';
  readonly ticks: string;
  readonly column: number;
  /** The text of the list item begins at this column or further right. */
  readonly base: number;
}

/** Opened elsewhere: its list or quote may end first, or it may not be a fence. */
interface LooseFence {
  readonly kind: 'loose';
  readonly ticks: string;
  /** The prefix of lines in the same list or quote; `undefined` if unknown. */
  readonly margin: string | undefined;
}

interface Above {
  readonly items: readonly number[];
  readonly isBlank: boolean;
}

const OUTSIDE: State = { kind: 'outside' };
const PLAIN: State = { kind: 'plain' };
const OPENING = /^((?:[ \t]*(?:[-*+]|\d{1,9}[.)]|>))*[ \t]*)(`{3,}(?=[^`]*$)|~{3,})/;
const FORMULA_OPENING = /^[\s>*+\-0-9.)]*\$\$/;
const MAX_STATES = 12;

export class PreviewFences {
  #states: readonly State[] = [OUTSIDE];
  /** There were too many states to follow, so nothing is certain. */
  #isAmbiguous = false;
  #above: Above = { items: [], isBlank: true };
  readonly #longest = { '`': 2, '~': 2 };

  /** The next line is code in every preview if it stays in its list or quote. */
  get isCode(): boolean {
    return this.#isOnly('top', 'item', 'quote');
  }

  /** Whether a line that begins so is code in every preview; `undefined` if undecided. */
  isCodeLine(line: string, isWhole: boolean): boolean | undefined {
    if (!this.isCode) return false;
    const answers = this.#states.map((state) => staysInside(state, line, isWhole));
    if (answers.includes(false)) return false;
    return answers.includes(undefined) ? undefined : true;
  }

  /** The next line is outside code in every preview. */
  get isOutside(): boolean {
    return this.#isOnly('outside', 'plain');
  }

  /** The next line is in a formula in every preview with math. */
  get inFormula(): boolean {
    const isFormula = this.#states.some((state) => state.kind === 'formula' && state.column !== undefined);
    return isFormula && this.#isOnly('formula', 'plain');
  }

  #isOnly(...kinds: readonly State['kind'][]): boolean {
    return !this.#isAmbiguous && this.#states.every(({ kind }) => kinds.includes(kind));
  }

  step(line: string): void {
    const ticks = OPENING.exec(line)?.[2] ?? /[`~]{3,}/.exec(line)?.[0] ?? '';
    const character = ticks.startsWith('~') ? '~' : '`';
    this.#longest[character] = Math.max(this.#longest[character], ticks.length);
    const next = new Map<string, State>();
    for (const state of this.#states) {
      for (const each of stepState(state, line, this.#above)) next.set(JSON.stringify(each), each);
    }
    const items = this.#stepItems(line);
    this.#isAmbiguous ||= next.size > MAX_STATES;
    if (!this.#isAmbiguous) this.#states = [...next.values()];
    this.#above = { items, isBlank: isBlank(line) };
  }

  /** The list items that are certainly open below the line. */
  #stepItems(line: string): readonly number[] {
    const { items } = this.#above;
    if (this.isOutside) return readListLine(items, line, this.#above.isBlank).items;
    const staysInItem = this.#states.every((state) => staysInside(state, line, true) === true);
    return staysInItem && this.#isOnly('item', 'formula', 'plain') ? items : [];
  }

  /**
   * Lines after which every preview is outside code. If it is uncertain what is open, a fence longer than any
   * before is opened and closed, which ends everything.
   */
  closingLines(): readonly string[] {
    const [state] = this.#states;
    if (this.isOutside) return [];
    if (this.isCode && this.#states.length === 1 && state?.kind === 'top') return [state.ticks];
    const lines: string[] = [];
    // Closes a formula, or is a formula of its own. It comes first because some previews drop the line after
    // a formula that ended with its list, and that line must not open a fence.
    if (this.#isAmbiguous || this.#states.some(({ kind }) => kind === 'formula')) lines.push('$$ $$');
    for (const character of ['`', '~'] as const) {
      const isOpen = this.#states.some((each) => 'ticks' in each && each.ticks.startsWith(character));
      if (!this.#isAmbiguous && !isOpen) continue;
      const ticks = character.repeat(this.#longest[character] + 1);
      lines.push(`${ticks}end`, ticks);
    }
    return lines;
  }
}

function stepState(state: State, line: string, above: Above): readonly State[] {
  switch (state.kind) {
    case 'outside':
      return stepOutside(line, above);
    case 'top':
      return closingColumn(state.ticks, line) <= MAX_INDENT ? [OUTSIDE] : [state];
    case 'plain':
      return opensFormula(line)
        ? [PLAIN]
        : stepOutside(line, above).map((next) => (next === OUTSIDE ? PLAIN : next));
    case 'formula':
      if (line.trimEnd().endsWith('$$')) return [OUTSIDE];
      if (staysInside(state, line, true)) return [state];
      // If the list has ended, the formula may include this line.
      return [{ kind: 'formula', column: undefined }, ...stepOutside(line, above), OUTSIDE];
    case 'item':
      return staysInside(state, line, true) ? stepItem(state, line) : leaveContainer(state, line, above);
    case 'quote':
      if (!staysInside(state, line, true)) return leaveContainer(state, line, above);
      return closingColumn(state.ticks, line.slice(state.prefix.length)) <= MAX_INDENT ? [OUTSIDE] : [state];
    case 'loose':
      return stepLoose(state, line, above);
  }
}

function stepOutside(line: string, above: Above): readonly State[] {
  const [, before = '', ticks] = OPENING.exec(line) ?? [];
  if (ticks) {
    const opened = openFence(before, ticks, line, above);
    // A line with a `|` may also be a table header.
    return line.includes('|') ? [opened, OUTSIDE] : [opened];
  }
  if (!opensFormula(line)) return [OUTSIDE];
  const { words, column, beginsBlock } = readListLine(above.items, line, above.isBlank);
  const isSure = beginsBlock && words.startsWith('$$') && !line.includes('\t');
  return isSure ? [PLAIN, { kind: 'formula', column }] : [OUTSIDE, { kind: 'formula', column: undefined }];
}

function openFence(before: string, ticks: string, line: string, above: Above): State {
  if (before === '') return { kind: 'top', ticks };
  if (/^(?:> )+$/.test(before)) return { kind: 'quote', ticks, prefix: before };
  const { words, column, base, beginsBlock } = readListLine(above.items, line, above.isBlank);
  if (beginsBlock && words.startsWith(ticks)) return { kind: 'item', ticks, column, base };
  return { kind: 'loose', ticks, margin: marginOf(before, above.isBlank) };
}

/** Whether a formula may begin on the line without ending on it. */
function opensFormula(line: string): boolean {
  const opening = FORMULA_OPENING.exec(line)?.[0];
  return opening !== undefined && !line.slice(opening.length).trimEnd().endsWith('$$');
}

/** Whether a line that begins so is still in the list item or quote of the state. */
function staysInside(state: State, line: string, isWhole: boolean): boolean | undefined {
  if (state.kind === 'item') {
    const margin = /^[ \t]*/.exec(line)?.[0] ?? '';
    if (columnsOf(margin) >= state.column) return true;
    if (margin.length < line.length) return false;
    return isWhole || undefined;
  }
  if (state.kind === 'formula') {
    // Some previews count a tab as one column here.
    const margin = /^ */.exec(line)?.[0] ?? '';
    return state.column !== undefined && (margin.length >= state.column || isBlank(line));
  }
  if (state.kind === 'quote') {
    if (line.startsWith(state.prefix)) return true;
    if (isWhole) return line === state.prefix.trimEnd();
    return state.prefix.startsWith(line) ? undefined : false;
  }
  return true;
}

/** The column of a run that closes the fence unless it is indented too far; infinite if there is none. */
function closingColumn(ticks: string, line: string): number {
  const [, margin = '', run = ''] = /^([ \t]*)(`+|~+)[ \t]*$/.exec(line) ?? [];
  return run.length >= ticks.length && run[0] === ticks[0] ? columnsOf(margin) : Number.POSITIVE_INFINITY;
}

function stepItem(state: ItemFence, line: string): readonly State[] {
  const column = closingColumn(state.ticks, line);
  if (column - state.base <= MAX_INDENT) return [OUTSIDE];
  if (column - state.column > MAX_INDENT) return [state];
  return [{ kind: 'loose', ticks: state.ticks, margin: undefined }, OUTSIDE];
}

/**
 * Inside the margin, it does not matter whether the preview accepted the opening fence: if it was indented too far,
 * so is the closing one. Other lines may or may not end the list.
 */
function stepLoose(state: LooseFence, line: string, above: Above): readonly State[] {
  const { ticks, margin } = state;
  if (margin !== undefined) {
    const isInside = line.startsWith(margin) || line.trimEnd() === margin.trimEnd();
    if (isInside || (line.trim() === '' && !margin.includes('>'))) {
      const rest = line.slice(margin.length).replace(/[ \t]+$/, '');
      if (rest.length >= ticks.length && rest === ticks.charAt(0).repeat(rest.length)) return [OUTSIDE];
      if (!/^[ \t>*+\-0-9.)]*(?:```|~~~|\$\$)/.test(line)) return [state];
    }
  }
  return leaveContainer(state, line, above);
}

/** The line may have left the list or quote, or may still be code. */
function leaveContainer({ ticks }: { readonly ticks: string }, line: string, above: Above): readonly State[] {
  const loose: LooseFence = { kind: 'loose', ticks, margin: undefined };
  const run = /^[ \t>*+\-0-9.)]*(`+|~+)\s*$/.exec(line)?.[1] ?? '';
  const mayClose = run.length >= ticks.length && run[0] === ticks[0];
  return [loose, ...stepOutside(line, above), ...(mayClose ? [OUTSIDE] : [])];
}

function marginOf(before: string, afterBlank: boolean): string | undefined {
  if (before.includes('\t') || /(?:[-*+]|[.)])(?! )/.test(before)) return undefined;
  // Only a list that begins with 1 can interrupt a paragraph.
  if (/\d/.test(before) && !/^[ >]*1[.)] *$/.test(before) && !afterBlank) return undefined;
  return before.replace(/[^ >]/g, ' ');
}

/** Markdown counts only spaces and tabs as blank. */
export function isBlank(line: string): boolean {
  return /^[ \t]*$/.test(line);
}

/**
 * The list items that a line is in, in every Markdown preview. Items are omitted if previews may disagree, or if
 * they depend on more than the line and the items above it.
 */

interface ListLine {
  /** The columns where the text of the open items begins, outermost first. */
  readonly items: readonly number[];
  /** Where the text after the bullets begins. */
  readonly column: number;
  /** Where the text of the innermost certain item begins; 0 outside lists. */
  readonly base: number;
  readonly words: string;
  /** The text can begin a block: it is not indented code and does not continue a paragraph. */
  readonly beginsBlock: boolean;
}

const BULLET = /^(?:[-*+]|(\d{1,9})[.)])( {1,4})(?=[^ \t])/;
/** May be a thematic break instead of an item. */
const RULE = /^[-*_+= \t]+$/;
const MAX_INDENT = 3;
/** Limits the cost of a long row of bullets. */
const MAX_ITEMS = 30;

function readListLine(open: readonly number[], line: string, afterBlank: boolean): ListLine {
  const margin = /^[ \t]*/.exec(line)?.[0] ?? '';
  let column = columnsOf(margin);
  let words = line.slice(margin.length);
  if (words === '') return { items: open, column, base: open.at(-1) ?? 0, words, beginsBlock: false };
  const items = open.filter((item) => item <= column);
  const base = items.at(-1) ?? 0;
  const beginsBlock = column - base <= MAX_INDENT;
  // If an item ends here, the paragraph above was in that item.
  let maybeInParagraph = !afterBlank && items.length === open.length;
  // A line with a `|` may be a table header, including its bullets.
  if (!beginsBlock || line.includes('|')) return { items, column, base, words, beginsBlock };
  for (let bullet = BULLET.exec(words); bullet && !RULE.test(words); bullet = BULLET.exec(words)) {
    // Only a list that begins with 1 can interrupt a paragraph.
    if (maybeInParagraph && bullet[1] !== undefined && bullet[1] !== '1') break;
    if (items.length >= MAX_ITEMS) break;
    maybeInParagraph = false;
    column += bullet[0].length;
    words = words.slice(bullet[0].length);
    items.push(column);
  }
  return { items, column, base: items.at(-1) ?? 0, words, beginsBlock };
}

/** A tab advances to the next multiple of four. */
function columnsOf(margin: string): number {
  let columns = 0;
  for (const character of margin) columns += character === '\t' ? 4 - (columns % 4) : 1;
  return columns;
}
