/**
 * What a Markdown preview may take for code, line by line. `FenceReader` says what the chat means by a fence; a
 * preview may see it otherwise where lists, quotes and half-indented lines are concerned. So this reader follows
 * every state that a preview could be in, and only what is code in all of them counts as code.
 */

interface Outside {
  readonly kind: 'outside';
}

/** Outside, in a preview without mathematics: it goes on as Markdown where another one is in a formula. */
interface Plain {
  readonly kind: 'plain';
}

/** Opened at column 0: nothing but its own end closes it. */
interface TopFence {
  readonly kind: 'top';
  readonly ticks: string;
}

/** Opened in a list item, or a little way in: a fence for every preview while the lines are as far in as it is. */
interface ItemFence {
  readonly kind: 'item';
  readonly ticks: string;
  readonly column: number;
  /** The item that holds it has its words at this column or further in. */
  readonly base: number;
}

/** Opened in a quote: a fence for every preview while the lines begin as it does. */
interface QuoteFence {
  readonly kind: 'quote';
  readonly ticks: string;
  readonly prefix: string;
}

/** Opened elsewhere: it may be in a list or a quote, which may end first, or be no fence at all. */
interface LooseFence {
  readonly kind: 'loose';
  readonly ticks: string;
  /** How a line begins that goes on within the same list or quote; nothing when that cannot be told. */
  readonly margin: string | undefined;
}

/** A formula between lines of `$$`, which previews with mathematics do not read as Markdown. */
interface Formula {
  readonly kind: 'formula';
  /** While the lines are as far in as this, nothing but its own end closes it; nothing when that cannot be told. */
  readonly column: number | undefined;
}

type State = Outside | Plain | TopFence | ItemFence | QuoteFence | LooseFence | Formula;

/** What is known about the lines above besides the state. */
interface Above {
  readonly items: readonly number[];
  readonly isBlank: boolean;
}

const OUTSIDE: Outside = { kind: 'outside' };
const PLAIN: Plain = { kind: 'plain' };
const OPENING = /^((?:[ \t]*(?:[-*+]|\d{1,9}[.)]|>))*[ \t]*)(`{3,}(?=[^`]*$)|~{3,})/;
const FORMULA_OPENING = /^[\s>*+\-0-9.)]*\$\$/;
const MAX_STATES = 12;

export class PreviewFences {
  #states: readonly State[] = [OUTSIDE];
  /** Too many ways to read it: nothing is sure any more. */
  #lost = false;
  #above: Above = { items: [], isBlank: true };
  readonly #longest = { '`': 2, '~': 2 };

  /** The next line is code, however the preview reads what came before, if it keeps its place in lists and quotes. */
  get isCode(): boolean {
    return (
      !this.#lost && this.#states.every(({ kind }) => kind === 'top' || kind === 'item' || kind === 'quote')
    );
  }

  /** Whether a line that has begun so is code for every preview; nothing when that depends on the rest of it. */
  holds(line: string, isWhole: boolean): boolean | undefined {
    if (!this.isCode) return false;
    const answers = this.#states.map((state) => keeps(state, line, isWhole));
    if (answers.includes(false)) return false;
    return answers.includes(undefined) ? undefined : true;
  }

  /** The next line is not in code, however the preview reads what came before. */
  get isOutside(): boolean {
    return !this.#lost && this.#states.every(({ kind }) => kind === 'outside' || kind === 'plain');
  }

  /** The next line is in a formula, if the preview knows formulas. */
  get inFormula(): boolean {
    const isFormula = this.#states.some((state) => state.kind === 'formula' && state.column !== undefined);
    return (
      !this.#lost && isFormula && this.#states.every(({ kind }) => kind === 'formula' || kind === 'plain')
    );
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
    this.#lost ||= next.size > MAX_STATES;
    if (!this.#lost) this.#states = [...next.values()];
    this.#above = { items, isBlank: isBlank(line) };
  }

  /** The items that are surely open below the line. */
  #stepItems(line: string): readonly number[] {
    const { items } = this.#above;
    if (this.isOutside) return readListLine(items, line, this.#above.isBlank).items;
    const isInItem = this.#states.every(
      (state) => ['item', 'formula', 'plain'].includes(state.kind) && keeps(state, line, true) === true,
    );
    return isInItem && !this.#lost ? items : [];
  }

  /**
   * Lines after which every preview is outside. Where it is not known what is open, a fence of its own, too long
   * to be closed by anything before, is opened and closed: that ends whatever there is.
   */
  closingLines(): readonly string[] {
    const [state] = this.#states;
    if (this.isOutside) return [];
    if (this.isCode && this.#states.length === 1 && state?.kind === 'top') return [state.ticks];
    const lines: string[] = [];
    // Such a line closes a formula, and where none is open it is one. It comes first: the line behind a formula that
    // ended with its list is lost in some previews, and must not be the beginning of a fence.
    if (this.#lost || this.#states.some(({ kind }) => kind === 'formula')) lines.push('$$ $$');
    for (const character of ['`', '~'] as const) {
      if (!this.#lost && !this.#states.some((each) => 'ticks' in each && each.ticks.startsWith(character))) {
        continue;
      }
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
      return closes(state.ticks, line) <= MAX_INDENT ? [OUTSIDE] : [state];
    case 'plain':
      return isFormula(line) ? [PLAIN] : stepOutside(line, above).map(asPlain);
    case 'formula':
      if (line.trimEnd().endsWith('$$')) return [OUTSIDE];
      if (keeps(state, line, true)) return [state];
      // Where the list has ended, the formula may have taken this line with it.
      return [{ kind: 'formula', column: undefined }, ...stepOutside(line, above), OUTSIDE];
    case 'item':
      return keeps(state, line, true) ? stepItem(state, line) : leave(state, line, above);
    case 'quote':
      if (!keeps(state, line, true)) return leave(state, line, above);
      return closes(state.ticks, line.slice(state.prefix.length)) <= MAX_INDENT ? [OUTSIDE] : [state];
    case 'loose':
      return stepLoose(state, line, above);
  }
}

function stepOutside(line: string, above: Above): readonly State[] {
  const [, before = '', ticks] = OPENING.exec(line) ?? [];
  if (ticks) {
    const opened = openFence(before, ticks, line, above);
    // With a bar in it, the line may also be the head of a table.
    return line.includes('|') ? [opened, OUTSIDE] : [opened];
  }
  if (!isFormula(line)) return [OUTSIDE];
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

/** Whether a formula may begin on the line that does not end on it. */
function isFormula(line: string): boolean {
  const opening = FORMULA_OPENING.exec(line)?.[0];
  return opening !== undefined && !line.slice(opening.length).trimEnd().endsWith('$$');
}

function asPlain(state: State): State {
  return state.kind === 'outside' ? PLAIN : state;
}

/** Whether a line that has begun so is still in the list item or quote that the state is in. */
function keeps(state: State, line: string, isWhole: boolean): boolean | undefined {
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

/** How far in the line's backticks or tildes are that close such a fence unless they are too far in for that. */
function closes(ticks: string, line: string): number {
  const [, margin = '', run = ''] = /^([ \t]*)(`+|~+)[ \t]*$/.exec(line) ?? [];
  return run.length >= ticks.length && run[0] === ticks[0] ? columnsOf(margin) : Number.POSITIVE_INFINITY;
}

function stepItem(state: ItemFence, line: string): readonly State[] {
  const column = closes(state.ticks, line);
  if (column - state.base <= MAX_INDENT) return [OUTSIDE];
  if (column - state.column > MAX_INDENT) return [state];
  return [{ kind: 'loose', ticks: state.ticks, margin: undefined }, OUTSIDE];
}

/**
 * While the lines keep the margin, it makes no difference whether the preview took the opening for a fence: if
 * it was too far in for that, so is the closing one. All else may be the end of a list, or not.
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
  return leave(state, line, above);
}

/** The line may have left the list or quote, and may still be in the code. */
function leave({ ticks }: { readonly ticks: string }, line: string, above: Above): readonly State[] {
  const lost: LooseFence = { kind: 'loose', ticks, margin: undefined };
  const run = /^[ \t>*+\-0-9.)]*(`+|~+)\s*$/.exec(line)?.[1] ?? '';
  const mayClose = run.length >= ticks.length && run[0] === ticks[0];
  return [lost, ...stepOutside(line, above), ...(mayClose ? [OUTSIDE] : [])];
}

function marginOf(before: string, afterBlank: boolean): string | undefined {
  if (before.includes('\t') || /(?:[-*+]|[.)])(?! )/.test(before)) return undefined;
  // A list that does not begin with 1 cannot interrupt a paragraph.
  if (/\d/.test(before) && !/^[ >]*1[.)] *$/.test(before) && !afterBlank) return undefined;
  return before.replace(/[^ >]/g, ' ');
}

/** Only spaces and tabs are nothing for Markdown: other white space is a word. */
export function isBlank(line: string): boolean {
  return /^[ \t]*$/.test(line);
}

/**
 * In which list items a line of a reply surely is, as every Markdown preview reads it. What previews may disagree
 * about, or what depends on more than the line and the items above it, is not sure and is left out.
 */

export interface ListLine {
  /** The columns at which the words of the open items begin, outermost first. */
  readonly items: readonly number[];
  /** Where the words of the line begin, behind its bullets. */
  readonly column: number;
  /** The innermost item that surely holds these words begins its own here; 0 outside of lists. */
  readonly base: number;
  readonly words: string;
  /** Words that look like the beginning of a block are one: they are no indented code and go on no paragraph. */
  readonly beginsBlock: boolean;
}

const BULLET = /^(?:[-*+]|(\d{1,9})[.)])( {1,4})(?=[^ \t])/;
/** Perhaps a line across the page, and no item. */
const RULE = /^[-*_+= \t]+$/;
const MAX_INDENT = 3;
/** A long row of bullets must not take for ever. */
const MAX_ITEMS = 30;

function readListLine(open: readonly number[], line: string, afterBlank: boolean): ListLine {
  const margin = /^[ \t]*/.exec(line)?.[0] ?? '';
  let column = columnsOf(margin);
  let words = line.slice(margin.length);
  if (words === '') return { items: open, column, base: open.at(-1) ?? 0, words, beginsBlock: false };
  const items = open.filter((item) => item <= column);
  const base = items.at(-1) ?? 0;
  const beginsBlock = column - base <= MAX_INDENT;
  // The paragraph above is in an item that ends here, if there is one.
  let maybeInParagraph = !afterBlank && items.length === open.length;
  // With a bar in it, the line may be the head of a table, bullets and all.
  if (!beginsBlock || line.includes('|')) return { items, column, base, words, beginsBlock };
  for (let bullet = BULLET.exec(words); bullet && !RULE.test(words); bullet = BULLET.exec(words)) {
    // A list that does not begin with 1 cannot interrupt a paragraph.
    if (maybeInParagraph && bullet[1] !== undefined && bullet[1] !== '1') break;
    if (items.length >= MAX_ITEMS) break;
    maybeInParagraph = false;
    column += bullet[0].length;
    words = words.slice(bullet[0].length);
    items.push(column);
  }
  return { items, column, base: items.at(-1) ?? 0, words, beginsBlock };
}

/** How far in a line begins; a tab leads to the next multiple of four. */
function columnsOf(margin: string): number {
  let columns = 0;
  for (const character of margin) columns += character === '\t' ? 4 - (columns % 4) : 1;
  return columns;
}
