import { eachLine } from '../../base/lines.ts';
import type { ModelEvent } from '../../ports/models.ts';
import { FenceReader } from '../format/fence.ts';

/** All text of the reply so far was reasoning: only its end was marked. */
interface EarlierReasoning {
  readonly kind: 'earlierReasoning';
  readonly text: string;
}

export type ReadEvent = ModelEvent | EarlierReasoning;

const NAMES = ['think', 'Think', 'THINK', 'thinking', 'thought', 'reasoning', 'seed:think'];
/** Of Magistral, Kimi, Command A, Gemma, and gpt-oss, whose channels some servers leave in the text. */
const TAGS: readonly (readonly [opening: string, closing: string])[] = [
  ...NAMES.map((name) => [`<${name}>`, `</${name}>`] as const),
  ['[THINK]', '[/THINK]'],
  ['◁think▷', '◁/think▷'],
  ['<|START_THINKING|>', '<|END_THINKING|>'],
  ['<|channel>thought', '<channel|>'],
  ['<|channel|>analysis<|message|>', '<|end|><|start|>assistant<|channel|>final<|message|>'],
  ['<|channel|>analysis<|message|>', '<|channel|>final<|message|>'],
];
const CLOSING_TAGS = TAGS.map(([, closing]) => closing);
const OPENING_TAGS = TAGS.map(([opening]) => opening);
const OPENING = anyOf(OPENING_TAGS);
const CLOSING = anyOf(CLOSING_TAGS);
const MAX_TAG_CHARS = Math.max(...CLOSING_TAGS.map(({ length }) => length));
/** A tag can begin a text, and only its beginning has arrived. */
const FIRST_TAGS = TAGS.flat();
/** A text with more of them is about tags. For each, all text before it is read. */
const MAX_TAGS_IN_CODE = 20;

function anyOf(tags: readonly string[]): RegExp {
  return new RegExp(tags.map((tag) => tag.replace(/[[\]|]/g, '\\$&')).join('|'), 'g');
}

/** The tag with which the text begins. */
function firstTag(text: string, tags: readonly string[]): string | undefined {
  return tags.find((tag) => text.startsWith(tag));
}

/**
 * Finds the reasoning that local models write into their text as `<think>…</think>`: at the start of a reply or after a
 * call, perhaps without an end. If the opening tag is missing, the text was passed on as text; then an event says so.
 */
export class InlineReasoning {
  #state: 'start' | 'reasoning' | 'text' = 'start';
  #held = '';
  #holdsSpace = false;
  #isBlank = true;
  /** The last event was reasoning, so that another block continues it. */
  #goesOn = false;
  /** The reasoning came on its own, and some servers leave its closing tag in the text. */
  #mayClose = false;
  /** The text of the reply, while a closing tag without an opening one counts. Its end is enough to look for tags. */
  #unopened: { readonly text: string; readonly end: string } | undefined;
  #tagsInCode = 0;

  /** `mayBeUnopened` is false for a reply that continues words of the model. */
  constructor(mayBeUnopened: boolean) {
    this.#unopened = mayBeUnopened ? { text: '', end: '' } : undefined;
  }

  read(event: ModelEvent): readonly ReadEvent[] {
    if (event.kind === 'text') return this.#push(event.text);
    if (event.kind === 'callInput' || event.kind === 'metadata') return [event];
    const held = this.end();
    this.#unopened = undefined;
    this.#mayClose = event.kind === 'reasoning';
    if (event.kind === 'call') this.#state = 'start';
    this.#goesOn = false;
    return [...held, event];
  }

  /** The text that was held back. */
  end(): readonly ReadEvent[] {
    const held = this.#held;
    this.#held = '';
    this.#holdsSpace = false;
    if (held === '') return [];
    if (this.#state === 'reasoning') return held.trim() === '' ? [] : this.#reasoning(held);
    return [{ kind: 'text', text: held }];
  }

  #push(text: string): readonly ReadEvent[] {
    if (text === '') return [];
    // Not read again: white space may arrive in thousands of pieces.
    if (this.#holdsSpace && text.trim() === '') {
      this.#held += text;
      return [];
    }
    const all = this.#held + text;
    [this.#held, this.#holdsSpace] = ['', false];
    switch (this.#state) {
      case 'start':
        return this.#begin(all);
      case 'reasoning':
        return this.#reason(all);
      case 'text':
        return this.#speak(all);
    }
  }

  #begin(text: string): readonly ReadEvent[] {
    const words = text.trimStart();
    const opening = firstTag(words, OPENING_TAGS);
    if (opening !== undefined) {
      this.#state = 'reasoning';
      this.#isBlank = true;
      this.#unopened = undefined;
      return this.#push(words.slice(opening.length));
    }
    const closing = firstTag(words, CLOSING_TAGS);
    if (closing !== undefined && (this.#unopened !== undefined || this.#mayClose)) {
      this.#unopened = undefined;
      this.#mayClose = false;
      return this.#push(words.slice(closing.length));
    }
    if (FIRST_TAGS.some((each) => each.startsWith(words))) {
      this.#held = text;
      this.#holdsSpace = words === '';
      return [];
    }
    this.#state = 'text';
    this.#goesOn = false;
    return this.#push(text);
  }

  #reason(text: string): readonly ReadEvent[] {
    const [closing] = text.matchAll(CLOSING);
    if (closing) {
      this.#state = 'start';
      const said = this.#reasoning(text.slice(0, closing.index).trimEnd());
      return [...said, ...this.#push(text.slice(closing.index + closing[0].length))];
    }
    const whole = withoutPartialEnd(text);
    const kept = whole.trimEnd().length;
    this.#held = text.slice(kept);
    this.#holdsSpace = this.#held !== '' && whole.length === text.length;
    return this.#reasoning(text.slice(0, kept));
  }

  #reasoning(text: string): readonly ReadEvent[] {
    const words = this.#isBlank ? text.trimStart() : text;
    if (words === '') return [];
    const gap = this.#isBlank && this.#goesOn ? '\n\n' : '';
    this.#isBlank = false;
    this.#goesOn = true;
    return [{ kind: 'reasoning', text: `${gap}${words}` }];
  }

  #speak(text: string): readonly ReadEvent[] {
    const before = this.#unopened;
    if (before === undefined) return [{ kind: 'text', text }];
    const recent = before.end + text;
    this.#unopened = { text: before.text + text, end: recent.slice(-MAX_TAG_CHARS) };
    for (const { 0: tag, index } of recent.matchAll(CLOSING)) {
      const rest = recent.slice(index + tag.length);
      // Skips a tag that an earlier call has already checked.
      if (rest.length >= text.length) continue;
      const said = this.#unopened.text.slice(0, -(rest.length + tag.length));
      if (this.#tagsInCode >= MAX_TAGS_IN_CODE || said.search(OPENING) >= 0) {
        this.#unopened = undefined;
        break;
      }
      if (isInCode(said)) {
        this.#tagsInCode += 1;
        continue;
      }
      this.#unopened = undefined;
      this.#state = 'start';
      this.#goesOn = true;
      const earlier = { kind: 'earlierReasoning', text: said.trim() } as const;
      return [earlier, ...this.#push(rest)];
    }
    return [{ kind: 'text', text }];
  }
}

/** The text of a whole reply without its inline reasoning. */
export function withoutInlineReasoning(text: string): string {
  const reader = new InlineReasoning(true);
  let words = '';
  for (const event of [...reader.read({ kind: 'text', text }), ...reader.end()]) {
    if (event.kind === 'text') words += event.text;
    else if (event.kind === 'earlierReasoning') words = '';
  }
  return words;
}

/** The text without the beginning of a closing tag at its end. */
export function withoutPartialEnd(text: string): string {
  const held = Math.max(...CLOSING_TAGS.map((tag) => partialEnd(text, tag)));
  return text.slice(0, text.length - held);
}

/** How many characters at the end of the text are the beginning of the tag. */
function partialEnd(text: string, tag: string): number {
  for (let length = Math.min(tag.length - 1, text.length); length > 0; length -= 1) {
    if (text.endsWith(tag.slice(0, length))) return length;
  }
  return 0;
}

/** Whether the text ends inside fenced or inline code. */
function isInCode(text: string): boolean {
  const fences = new FenceReader(true);
  const last = text.slice(text.lastIndexOf('\n') + 1);
  for (const line of eachLine(text.slice(0, text.length - last.length))) fences.step(line.text);
  return fences.open !== undefined || last.split('`').length % 2 === 0;
}

/**
 * A model that continues a text thinks again before it does. Its reasoning would divide the text, perhaps in the middle
 * of a word, so it is written only if a call follows, which some providers accept only together with its reasoning.
 */
export class HeldReasoning {
  #held: ModelEvent[] | undefined;

  constructor(continuesText: boolean) {
    this.#held = continuesText ? [] : undefined;
  }

  read<Event extends { readonly kind: string }>(event: Event | ModelEvent): readonly (Event | ModelEvent)[] {
    const held = this.#held;
    if (held === undefined || event.kind === 'callInput') return [event];
    if (isOfReasoning(event, held)) {
      held.push(event);
      return [];
    }
    this.#held = undefined;
    return event.kind === 'call' ? [...held, event] : [event];
  }
}

function isOfReasoning(event: { readonly kind: string }, held: readonly ModelEvent[]): event is ModelEvent {
  if (event.kind === 'file') return 'isDraft' in event && event.isDraft === true;
  if (event.kind === 'reasoning' || event.kind === 'ownCall') return true;
  return event.kind === 'metadata' && held.length > 0;
}

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
