const MIN_REPEATED_CHARS = 12;
const MIN_REPEATED_LETTERS = 6;
/** How far back a repetition of the end may begin. */
const MAX_LOOK_BACK_CHARS = 2000;

/** The number of incoming characters that repeat existing text. */
type Repeated = number | 'unknown';

/** Drops the repetition with which a model sometimes begins when it continues a reply. */
export class RepeatFilter {
  readonly #partial: string;
  /** Of the reply that is continued, without those that were repeated. */
  readonly #blocks: string[];
  #held = '';
  #isDecided: boolean;

  /** `blocks` are what Filechat has written between the texts: problems, and calls of the provider. */
  constructor(partial: string, blocks: readonly string[] = []) {
    this.#partial = partial;
    this.#blocks = [...blocks];
    this.#isDecided = partial === '';
  }

  push(chunk: string): string {
    if (this.#isDecided) return chunk;
    this.#held += chunk;
    return this.#held === '' ? '' : this.#decide(false);
  }

  /** Whether the continuation repeats a block. In repeated text it is one, even if it differs. */
  skips(block: string): boolean {
    const at = this.#blocks.indexOf(block);
    if (at >= 0) this.#blocks.splice(at, 1);
    if (at < 0 && !this.#isHolding) return false;
    this.skipFile();
    return true;
  }

  /** A file between two texts is repeated. */
  skipFile(): void {
    if (this.#isHolding && !this.#held.endsWith('\n\n')) this.#held += '\n\n';
  }

  /** Whether what comes next continues the reply. */
  get isOver(): boolean {
    return this.#isDecided;
  }

  get #isHolding(): boolean {
    return !this.#isDecided && this.#held !== '';
  }

  /** If the continuation was cut, held-back text is dropped: it only repeats existing text. */
  end(isWhole = true): string {
    if (this.#isDecided) return '';
    return isWhole ? this.#decide(true) : this.#pass(this.#held.length);
  }

  #decide(isAll: boolean): string {
    for (const find of [repeatedAll, repeatedEnd, repeatedWord]) {
      const repeated = find(this.#partial, this.#held, isAll);
      if (repeated === 'unknown') return '';
      if (repeated > 0) return this.#pass(repeated);
    }
    return this.#pass(0);
  }

  #pass(from: number): string {
    const rest = this.#held.slice(from);
    this.#held = '';
    this.#isDecided = true;
    return rest;
  }
}

/** The whole reply is repeated, perhaps after white space. */
function repeatedAll(partial: string, incoming: string, isAll: boolean): Repeated {
  const whole = partial.trimStart();
  if (whole === '') return 0;
  const said = incoming.trimStart();
  if (said.startsWith(whole)) return incoming.length - said.length + whole.length;
  return !isAll && whole.startsWith(said) ? 'unknown' : 0;
}

/** The end of the reply is repeated; longer repetitions are tried first. */
function repeatedEnd(partial: string, incoming: string, isAll: boolean): Repeated {
  const first = Math.max(0, partial.length - MAX_LOOK_BACK_CHARS);
  for (let at = first; at <= partial.length - MIN_REPEATED_CHARS; at += 1) {
    if (partial[at] !== incoming[0]) continue;
    const end = partial.slice(at);
    if (countLetters(end) < MIN_REPEATED_LETTERS) break;
    if (incoming.startsWith(end)) return end.length;
    if (!isAll && end.startsWith(incoming)) return 'unknown';
  }
  return 0;
}

/** The word that was cut is repeated from its beginning. */
function repeatedWord(partial: string, incoming: string, isAll: boolean): Repeated {
  const word = /\p{L}{3,}$/u.exec(partial.slice(-60))?.[0];
  if (word === undefined) return 0;
  if (incoming.startsWith(word) && /^\p{L}/u.test(incoming.slice(word.length))) return word.length;
  return !isAll && word.startsWith(incoming) ? 'unknown' : 0;
}

function countLetters(text: string): number {
  return text.slice(0, MAX_LOOK_BACK_CHARS).match(/[\p{L}\p{N}]/gu)?.length ?? 0;
}
